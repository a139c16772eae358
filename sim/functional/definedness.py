"""Registers and predicates that are read before anything wrote them, found in the paths of a trace: each path is looked at once.

Moves may copy what has no value (compilers merge so what only some lanes have), and so may spills to local memory; PRMT may leave out
the bytes that have none; a call does not say which arguments it has. Only what computes, addresses, decides or stores with it counts.
Convergence registers start empty and are left out. A register found counts as written.
"""

import numpy as np

from isa import matrices
from isa.dependences import predicates
from isa.program import Program
from isa.vocabulary import BARRIER_BASE, RZ, UNIFORM_BASE, Operation, Space
from sim.compiled.kernel import kernel
from sim.functional.state import FULL
from sim.traces.trace import Trace

COMPUTES, COPIES, PASSES = 0, 1, 2
LAST_BARRIER = BARRIER_BASE + 15
MOST = 256


@kernel
def scan(
    entries: np.ndarray,
    masks: np.ndarray,
    reads: np.ndarray,
    writes: np.ndarray,
    guard: np.ndarray,
    kind: np.ndarray,
    written: np.ndarray,
    found: np.ndarray,
) -> int:
    """Note in `found` (int64 [MOST, 3]: instruction, register, lanes) what one path reads unwritten; return how many rows.

    entries, masks: the path. reads, writes: int64 [n, columns], -1 = none. guard: int64 [n], the same; a path does not say which
    lanes were there when none of them executes, so one counts when no lane wrote it. written: int64 [registers], lanes that have a value.
    """
    count = 0
    for entry in range(entries.size):
        i, mask = np.int64(entries[entry]), np.int64(masks[entry])
        has_value = mask
        if guard[i] >= 0 and written[guard[i]] == 0 and mask == 0 and count < found.shape[0]:
            found[count, 0], found[count, 1], found[count, 2] = i, guard[i], 1
            written[guard[i]] = FULL
            count += 1
        for column in range(reads.shape[1]):
            register = reads[i, column]
            if register < 0 or mask & ~written[register] == 0:
                continue
            if kind[i] == COPIES:
                has_value &= written[register]
            elif kind[i] == COMPUTES and count < found.shape[0]:
                found[count, 0], found[count, 1], found[count, 2] = i, register, mask & ~written[register]
                written[register] |= mask
                count += 1
        for column in range(writes.shape[1]):
            register = writes[i, column]
            if register >= UNIFORM_BASE and mask:
                written[register] = FULL
            elif register >= 0:
                written[register] = (written[register] & ~mask) | has_value
    return count


def unset_registers(trace: Trace) -> list[tuple[int, int, int, int]]:
    """Return (instruction, register, lanes, first warp) of every register read before it was written, each pair once."""
    program, arrays, found = trace.program, trace.arrays, dict[tuple[int, int], tuple[int, int]]()
    reads, writes, kind = _numbers(program.encoded.reads), _writes(program), _kinds(program)
    guard = np.array([next(iter(predicates((number,))), -1) for number in program.encoded.guard.tolist()], np.int64)
    rows = np.zeros((MOST, 3), np.int64)
    paths, first = np.unique(arrays.warp_path, return_index=True)
    for path, warp in sorted(zip(paths, first, strict=True), key=lambda pair: pair[1]):
        where = slice(*arrays.path_start[path : path + 2])
        written = np.zeros(max(reads.max(initial=0), writes.max(initial=0)) + 1, np.int64)
        for register in _given(trace):
            written[register : register + 1] = FULL
        count = scan(arrays.instruction[where], arrays.mask[where], reads, writes, guard, kind, written, rows)
        for i, register, lanes in rows[:count].tolist():
            found.setdefault((i, register), (lanes, int(warp)))
    return [(i, register, lanes, warp) for (i, register), (lanes, warp) in sorted(found.items())]


def _writes(program: Program) -> np.ndarray:
    """Return what each instruction writes, int64 [n, columns], with the sums of products of warpgroups, which are no dependences."""
    e = program.encoded
    products = np.flatnonzero(np.isin(e.operation, matrices.OF_WARPGROUP) & (e.destination >= 0) & (e.destination < RZ))
    count = [matrices.sums_of_warpgroup(function) for function in e.function[products].tolist()]
    sums = np.full((len(e.operation), max(count, default=0)), -1, np.int64)
    for i, registers in zip(products.tolist(), count, strict=True):
        sums[i, :registers] = e.destination[i] + np.arange(registers)
    return np.hstack([_numbers(e.writes), sums])


def _numbers(dependences: np.ndarray) -> np.ndarray:
    """Return dependences as int64 [n, columns], those that are no register or predicate as -1."""
    numbers = dependences.astype(np.int64)
    return np.where((numbers == RZ) | ((numbers >= BARRIER_BASE) & (numbers <= LAST_BARRIER)), -1, numbers)


def _kinds(program: Program) -> np.ndarray:
    """Return for each instruction whether it computes with its sources, copies them, or passes over what has no value."""
    e = program.encoded
    plain = (e.operation == Operation.IMAD) & (e.source_value[:, :2] == RZ).any(axis=1)
    copies = plain | np.isin(e.operation, (Operation.MOV, Operation.SEL, Operation.FSEL))
    passes = (
        (e.operation == Operation.DRIVER_CALL)
        | (e.operation == Operation.PRMT)
        | ((e.operation == Operation.STORE) & (e.space == Space.LOCAL))
    )
    return np.where(copies, COPIES, np.where(passes, PASSES, COMPUTES)).astype(np.int64)


def _given(trace: Trace) -> list[int]:
    """Return the registers that the launch sets; one set to an array's address is a pair."""
    return [register + k for register, value in trace.launch.preset.items() for k in range(2 if isinstance(value, str) else 1)]
