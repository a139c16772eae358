"""Accesses that few kernels have, out of the hot loop: LDGSTS, LDSM, STSM, and the predicates that accesses write.

LDGSTS: the words go to shared memory at once; where its predicate is false zeros go there, and nothing is read. LDSM: the rows of 8-by-8
matrices of halves, 16 bytes each, are dealt to the lanes as PTX's `ldmatrix` says.
"""

import numpy as np

from isa.operations import Form
from isa.vocabulary import PT, AtomicFunction, Space
from sim.compiled.kernel import first_bit, inner, outlined
from sim.functional.flags import REVERSE, ZFILL
from sim.functional.marks import LOADED, mark
from sim.functional.operands import row_of, write_predicate
from sim.functional.stack import fault
from sim.functional.state import FIRST, FULL, RANK_BITS, SCRATCH, SECOND, Code, Fault, Machine, Memory, Progress, Report, Status
from sim.functional.watch import WRITE, Seen, touch
from sim.gpus.path import LINE
from sim.traces.trace import SCATTERED

ROW_BYTES, ROWS = 16, 8  # of a matrix of LDSM


@outlined
def copy_to_shared(i: int, w: int, mask: int, reading: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Execute LDGSTS i for the lanes of `mask`; those of `reading` read global memory, at addresses that have been checked."""
    width = code.width[i]
    mark(reading, width, np.int64(SCATTERED), LOADED, machine, memory)
    for k in range(machine.lanes[0]):
        for part in range(width >> 2):
            value = np.uint32(0)
            rest = width - machine.index[k] - 4 * part if code.flags[i] & ZFILL else 4  # bytes that are read of this word and those behind
            if (reading >> k) & 1 and rest > 0:
                value = memory.words[((machine.target[k] - memory.base) >> 2) + part]
                value = np.uint32(np.int64(value) & ((np.int64(1) << (8 * min(rest, np.int64(4)))) - 1))
            machine.rows[SCRATCH + part, k] = value
    pieces = np.int64(0)
    base = machine.rows[row_of(code.operand[i, FIRST], w, code, machine)]
    more = machine.rows[row_of(code.operand[i, SECOND], w, code, machine)]
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            address = ((np.int64(base[k]) + np.int64(more[k]) + code.function[i]) & FULL) - (machine.rank[0] << RANK_BITS)
            if address < 0 or address + width > memory.shared_bytes or address & (width - 1):
                progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = address, Space.SHARED
                inside = 0 <= address <= memory.shared_bytes - width
                return fault(Fault.MISALIGNED if inside else Fault.OUT_OF_RANGE, w, np.int64(k), i, progress)
            for part in range(width >> 2):
                memory.shared[(address >> 2) + part] = machine.rows[SCRATCH + part, k]
            if memory.watch.asked[0]:
                seen = Seen(np.int64(i), np.int64(w), np.int64(k), WRITE)
                for byte in range(width):
                    touch(address + byte, np.int64(-1), seen, machine, memory.watch)
            machine.index[k] = address // LINE
            pieces += is_new_piece(k, reading, machine)
    machine.index[0] = pieces
    return Status.RUNNING


@inner
def is_new_piece(k: int, reading: int, machine: Machine) -> int:
    """Return 1 if lane k of LDGSTS brings its line, as a lane before it does, to a line of shared memory to which none before it does.

    machine.index holds the lines of shared memory.
    """
    line, new = machine.target[k] // LINE, np.int64(0)
    if not (reading >> k) & 1:
        return new
    for before in range(k):
        if (reading >> before) & 1 and machine.target[before] // LINE == line:
            if machine.index[before] == machine.index[k]:
                return np.int64(0)
            new = np.int64(1)
    return new


@outlined
def spread_rows(width: int, machine: Machine) -> int:
    """Let lane k address `width` bytes of the matrices' rows; return the first lane whose row is misaligned, or -1.

    Rows are addressed by the first lanes, 8 for each matrix; all lanes together then address every byte of them once, neighbours those of
    one matrix: so they pass over the banks, matrix after matrix (measured on an H200).
    """
    of_matrix = machine.lanes[0] * 4 // width
    for k in range(2 * width):
        machine.index[k] = machine.target[k]
        if machine.target[k] & (ROW_BYTES - 1):
            return np.int64(k)
    for k in range(machine.lanes[0]):
        place = k % of_matrix
        machine.target[k] = machine.index[ROWS * (k // of_matrix) + place % ROWS] + width * (place // ROWS)
    return np.int64(-1)


@outlined
def load_matrices(i: int, w: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Execute LDSM i: lane k gets two neighbours of row k / 4 of each matrix, or transposed of column k / 4.

    machine.index holds the addresses of the rows.
    """
    if code.destination[i] < 0:
        return
    first = row_of(code.destination[i], w, code, machine)
    for matrix in range(code.width[i] >> 2):
        for k in range(machine.lanes[0]):
            place = 2 * (k % 4)
            low, high = element(matrix, k // 4, place, machine, memory), element(matrix, k // 4, place + 1, machine, memory)
            if code.flags[i] & REVERSE:
                low, high = element(matrix, place, k // 4, machine, memory), element(matrix, place + 1, k // 4, machine, memory)
            machine.rows[first + matrix, k] = np.uint32(low | high << 16)


@outlined
def store_matrices(i: int, w: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Execute STSM i: what LDSM would load. machine.index holds the addresses of the rows."""
    first = row_of(code.operand[i, FIRST], w, code, machine)
    for matrix in range(code.width[i] >> 2):
        for k in range(machine.lanes[0]):
            bits = np.int64(machine.rows[first + matrix, k])
            for part in range(2):
                row, column = k // 4, 2 * (k % 4) + part
                if code.flags[i] & REVERSE:
                    row, column = column, row
                address = machine.index[ROWS * matrix + row] + 2 * column
                shift = 8 * (address & 2)
                old = np.int64(memory.shared[address >> 2]) & ~(np.int64(0xFFFF) << shift)
                memory.shared[address >> 2] = np.uint32(old | ((bits >> (16 * part)) & 0xFFFF) << shift)


@outlined
def element(matrix: int, row: int, column: int, machine: Machine, memory: Memory) -> int:
    """Return a half of a matrix in shared memory."""
    address = machine.index[ROWS * matrix + row] + 2 * column
    return (np.int64(memory.shared[address >> 2]) >> (8 * (address & 2))) & 0xFFFF


@outlined
def says_where_done(i: int, code: Code) -> bool:
    """Return whether an instruction is a generic atomic with a predicate, which is done in global memory only."""
    return code.form[i] == Form.ATOM and code.predicate_destination[i, 0] != PT and code.function[i] != AtomicFunction.CAST


@outlined
def grant(i: int, w: int, mask: int, done: int, code: Code, machine: Machine) -> None:
    """Write the predicate of an access: of LDSLK, the first of the lanes that name the same word; of atomics, where it was done."""
    granted = done
    if code.form[i] == Form.ATOM and code.function[i] == AtomicFunction.CAST:
        for k in range(machine.lanes[0]):
            granted &= ~(np.int64(machine.rows[SCRATCH, k] == 0) << k)
    elif code.form[i] == Form.LOAD:
        for k in range(machine.lanes[0]):
            for before in range(k):
                if (mask >> before) & 1 and machine.target[before] == machine.target[k]:
                    granted &= ~(np.int64(1) << k)
    write_predicate(i, FIRST, w, granted, mask, code, machine)


@outlined
def take_lengths(width: int, machine: Machine) -> None:
    """Split the addresses of LDGSTS.ZFILL: what lies below the width says how many of the last bytes become zero (to machine.index)."""
    for k in range(machine.lanes[0]):
        machine.index[k] = machine.target[k] & (width - 1)
        machine.target[k] -= machine.index[k]


@outlined
def fill_in(reading: int, machine: Machine) -> None:
    """Give lanes that read nothing the address of one that does, so that they move nothing more."""
    address = machine.target[first_bit(reading)] if reading else np.int64(0)
    for k in range(machine.lanes[0]):
        machine.target[k] = machine.target[k] if (reading >> k) & 1 else address
