"""SYNCS: barriers in shared memory (PTX `mbarrier`), which count arrivals and bytes, phase after phase.

A barrier is 64 bits: for how many arrivals it is, how many are still to come, the bytes that are expected and have not come, and on top
the parity of its phase. PTX leaves their places open; what SYNCS.EXCH writes and the place of the parity are the compiler's, the others
our own. A phase is over when all arrivals and bytes have come: then the next one begins.

A warp that looks at a phase which is not over waits until it is, as SYNCS.PHASECHK.TRYWAIT suspends it (an H100 for some 8,000 cycles at
a time: `programs/measurements/h100/mbarriers.csv`), and looks once. Only where nobody else can go on does it look in vain, once, and go on.

For the timing engines the log has, above a barrier's address, the number of the phase that an instruction counts for or waits for: each
phase of the launch has its own, from 1 on; 0 = none.
"""

from typing import NamedTuple

import numpy as np

from isa.vocabulary import Mbarrier, Space
from sim.compiled.kernel import first_bit, inner, outlined
from sim.functional.addresses import addresses, spacing
from sim.functional.clusters import wrong_rank
from sim.functional.flags import CLUSTER, EVERY
from sim.functional.memory import keep_access, lane_fault, locate, room_for_access
from sim.functional.operands import row_of, write, write_predicate
from sim.functional.stack import fault
from sim.functional.state import (
    AT_PHASE,
    FIRST,
    FULL,
    OUT,
    RANK_BITS,
    WINDOW_BITS,
    Code,
    Fault,
    Log,
    Machine,
    Memory,
    Progress,
    Report,
    Spin,
    Status,
    Store,
)
from sim.functional.translation import device_addresses
from sim.functional.watch import come_after_all
from sim.traces.trace import PHASE_SHIFT, SCATTERED

BYTES, COUNTS, BYTE_COUNTS = np.int64(8), np.int64(1 << 20), np.int64(1 << 22)
PENDING, EXPECTED, PHASE = np.int64(11), np.int64(1), np.int64(31)  # first bits: of the high word, of the low word, of the high word
CURRENT, OVER = 0, 1  # columns of Memory.phases


class Shared(NamedTuple):
    """Shared memory of one block of a cluster."""

    words: np.ndarray  # uint32, as Memory.shared
    phases: np.ndarray  # int64, as Memory.phases
    begun: np.ndarray  # int64 [1] that of Memory


@inner
def shared_of(rank: int, memory: Memory) -> Shared:
    """Return shared memory of the block of a rank."""
    return Shared(memory.cluster[rank], memory.cluster_phases[rank], memory.begun)


@outlined
def use_barrier(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Execute SYNCS i for the lanes of `mask`; BLOCKED, and nothing done, while the phase is not over that it asks for."""
    room = room_for_access(w, log, store)
    if room != Status.RUNNING:
        return room
    if mask == 0:
        keep_access(w, mask, np.int64(0), np.int64(0), machine, log, store)
        return Status.RUNNING
    if code.function[i] == Mbarrier.STORE:
        status, base, stride = store_async(i, w, mask, code, machine, memory, progress)
        if status == Status.RUNNING:
            keep_access(w, mask, base, stride, machine, log, store)
        return status
    device_addresses(i, w, mask, code, machine, memory)
    rank = rank_of(mask, machine, memory)
    if rank >= memory.ranks or (rank != machine.rank[0] and not code.flags[i] & CLUSTER):
        return wrong_rank(i, w, first_bit(mask), rank, progress)
    base, stride = spacing(mask, machine)
    progress.report[Report.EXPECTED] = Space.SHARED
    if not locate(Space.SHARED, BYTES, base, stride, mask, machine, memory):
        return lane_fault(i, w, mask, Space.SHARED, code, machine, memory, progress)
    function, phase = code.function[i], np.int64(0)
    if function == Mbarrier.SET:
        begin(i, w, mask, code, machine, memory)
    else:
        if stride != 0:
            return fault(Fault.SEVERAL_BARRIERS, w, first_bit(mask), i, progress)
        if function == Mbarrier.CHECK:
            over = lanes_over(i, w, mask, code, machine, memory)
            if over != mask and not machine.spin[w, Spin.TIMED_OUT]:
                machine.waiting[w], machine.spin[w, Spin.PHASE_OF] = AT_PHASE, base
                return Status.BLOCKED
            machine.spin[w, Spin.TIMED_OUT] = 0
            phase = memory.phases[base >> 3, OVER] if over == mask else np.int64(0)
            write_predicate(i, FIRST, w, over, mask, code, machine)
            if memory.watch.asked[0]:
                come_after_all(w, memory.watch)
        else:
            shared = shared_of(rank, memory)
            phase = shared.phases[base >> 3, CURRENT]
            for k in range(machine.lanes[0]):
                if (mask >> k) & 1 and not count(i, w, k, base, code, machine, shared, progress):
                    return fault(Fault.TOO_MANY_ARRIVALS, w, np.int64(k), i, progress)
    if function != Mbarrier.CHECK:
        for part in range(2):
            write(OUT + part, i, np.int64(part), w, mask, code, machine)
    keep_access(w, mask, base | further(rank, machine, memory) | (phase << PHASE_SHIFT), stride, machine, log, store)
    return Status.RUNNING


@inner
def rank_of(mask: int, machine: Machine, memory: Memory) -> int:
    """Take the rank out of the addresses of lanes that name one block's shared memory; return it."""
    rank = machine.target[first_bit(mask)] >> RANK_BITS
    if memory.ranks == 1:
        return machine.rank[0]
    for k in range(machine.lanes[0]):
        machine.target[k] -= rank << RANK_BITS
    return rank


@inner
def further(rank: int, machine: Machine, memory: Memory) -> int:
    """Return what the log has above an address: how many ranks further on its block is."""
    return (rank - machine.rank[0]) % memory.ranks << RANK_BITS


@outlined
def store_async(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> tuple[int, int, int]:
    """Execute STAS i: store at once, and complete the bytes at the barrier that the second registers of the addresses name.

    Return a Status, and what the log keeps: where, and the bytes between lanes.
    """
    addresses(i, w, code, machine)
    first, width, bytes_ = first_bit(mask), code.width[i], np.int64(0)
    barrier = machine.target[first] >> WINDOW_BITS
    rank = barrier >> RANK_BITS if memory.ranks > 1 else machine.rank[0]
    if rank >= memory.ranks:
        return wrong_rank(i, w, first, rank, progress), barrier, first
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1 and machine.target[k] >> WINDOW_BITS != barrier:
            return fault(Fault.SEVERAL_BARRIERS, w, np.int64(k), i, progress), barrier, first
        machine.target[k] = (machine.target[k] & FULL) - (rank << RANK_BITS)
        bytes_ += ((mask >> k) & 1) * width
    barrier -= rank << RANK_BITS
    base, stride = spacing(mask, machine)
    progress.report[Report.EXPECTED] = Space.SHARED
    if not locate(Space.SHARED, width, base, stride, mask, machine, memory):
        return lane_fault(i, w, mask, Space.SHARED, code, machine, memory, progress), barrier, first
    if barrier < 0 or barrier + BYTES > memory.shared_bytes or barrier % BYTES:
        progress.report[Report.ADDRESS] = barrier
        return fault(Fault.OUT_OF_RANGE, w, first, i, progress), barrier, first
    shared, data = shared_of(rank, memory), row_of(code.operand[i, FIRST], w, code, machine)
    for part in range(width >> 2):
        for k in range(machine.lanes[0]):
            if (mask >> k) & 1:
                shared.words[(machine.target[k] >> 2) + part] = machine.rows[data + part, k]
    phase = shared.phases[barrier >> 3, CURRENT]
    change(barrier >> 2, np.int64(0), -bytes_, np.int64(0), shared, progress)
    if stride == SCATTERED:  # logged as if in a row
        base, stride = machine.target[first] - first * width, width
    return np.int64(Status.RUNNING), base | further(rank, machine, memory) | (phase << PHASE_SHIFT), stride


@inner
def begin(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Write a barrier, whose first phase begins."""
    row, latest = row_of(code.operand[i, FIRST], w, code, machine), np.int64(-1)
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            word = machine.target[k] >> 2
            for part in range(2):
                machine.rows[OUT + part, k] = memory.shared[word + part]
                memory.shared[word + part] = machine.rows[row + part, k]
            if word != latest:  # lanes may write the same barrier
                memory.phases[word >> 1, OVER] = 0
                begin_phase(word >> 1, shared_of(machine.rank[0], memory))
            latest = word


@inner
def begin_phase(number: int, shared: Shared) -> None:
    """Let the next phase of a barrier begin."""
    shared.begun[0] += 1
    shared.phases[number, CURRENT] = shared.begun[0]


@inner
def lanes_over(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory) -> int:
    """Return the lanes of `mask` that ask for a phase which is over: whose parity is not the present one's."""
    row, over = row_of(code.operand[i, FIRST], w, code, machine), np.int64(0)
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            parity = np.int64(memory.shared[(machine.target[k] >> 2) + 1]) >> PHASE
            over |= np.int64(np.int64(machine.rows[row, k]) >> PHASE != parity) << k
    return over


@inner
def count(i: int, w: int, k: int, base: int, code: Code, machine: Machine, shared: Shared, progress: Progress) -> bool:
    """Count what lane k brings, and end the phase when nothing is missing; return whether no more arrivals came than were to come."""
    function, given = code.function[i], np.int64(machine.rows[row_of(code.operand[i, FIRST], w, code, machine), k])
    arrivals, expected = np.int64(0), np.int64(0)
    if function == Mbarrier.ARRIVE_EXPECT:
        arrivals, expected = np.int64(1), given
    elif function == Mbarrier.ARRIVE:
        arrivals = np.int64(1)
    elif function == Mbarrier.ARRIVE_COUNT:
        arrivals = given
    else:
        expected = given if function == Mbarrier.EXPECT else -given
    word = base >> 2
    for part in range(2):
        machine.rows[OUT + part, k] = shared.words[word + part]
    return change(word, arrivals, expected, arrivals if code.flags[i] & EVERY else np.int64(0), shared, progress)


@inner
def change(word: int, arrivals: int, expected: int, leaves: int, shared: Shared, progress: Progress) -> bool:
    """Count arrivals and bytes at the barrier in these words of shared memory; return whether the arrivals were still to come.

    expected: bytes more, or less where they have come. leaves: of how many arrivals the next phases do without.
    """
    low, high = np.int64(shared.words[word]), np.int64(shared.words[word + 1])
    whole = -(low >> EXPECTED) & (COUNTS - 1)
    pending = -(high >> PENDING) & (COUNTS - 1)
    missing = ((high & ((1 << PENDING) - 1)) << PENDING | low >> (EXPECTED + 20)) & (BYTE_COUNTS - 1)
    phase = high >> PHASE
    if arrivals > pending:
        return False
    whole, pending, missing = whole - leaves, pending - arrivals, (missing + expected) & (BYTE_COUNTS - 1)
    if pending == 0 and missing == 0:
        phase, pending = phase ^ 1, whole
        shared.phases[word >> 1, OVER] = shared.phases[word >> 1, CURRENT]
        begin_phase(word >> 1, shared)
        progress.moves[0] += 1
    low = (-whole & (COUNTS - 1)) << EXPECTED | (missing << (EXPECTED + 20)) & 0xFFFFFFFF
    high = phase << PHASE | (-pending & (COUNTS - 1)) << PENDING | missing >> PENDING
    shared.words[word], shared.words[word + 1] = np.uint32(low), np.uint32(high)
    return True
