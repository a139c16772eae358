"""How many reads and writes of registers a small cache in front of the register file would take: counted on a trace, without time.

As M. Gebhart et al. describe it (Energy-efficient mechanisms for managing thread context in throughput processors, ISCA 2011): each warp
has a few entries; results are written into them, and the oldest entry goes back to the register file; a read that finds its register is a
hit, if all its lanes were written there; any other takes nothing in. A value that nobody will read is not written back. Results of loads
from beyond shared memory go to the register file at once; the first instruction that needs one puts its warp out of the active set, which
empties the cache, and by the time the warp is back all its loads are.

Registers count once per warp instruction (an entry serves all lanes; a pair is two; a register that an instruction names twice is read
once), predicates and uniform registers do not. That a value will not be read is what the trace shows; a compiler knows less where a warp
may branch.
"""

from bisect import bisect_right
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from isa.program import Program
from isa.vocabulary import PREDICATE_BASE, Operation, Unit
from sim.result.memory_counters import ratio
from sim.traces.trace import Trace

FAR = (int(Unit.GLOBAL), int(Unit.LOCAL))  # whose loads a warp leaves the active set for
RETURNING = (int(Operation.LOAD), int(Operation.ATOM))
READ, WRITE = 0, 1


class Counts(NamedTuple):
    """Accesses to registers of all warps of a launch: what a program asks for, and what is left to the register file."""

    reads: int
    writes: int
    reads_left: int  # that found no entry, or not of all lanes
    writes_left: int  # of entries that went back, and of results that passed the cache by
    returned: int  # results of loads from beyond shared memory: the part of the writes that pass it by

    @property
    def reads_saved(self) -> float:
        """Share of the reads that the cache served, 0 to 1: its hit rate."""
        return ratio(self.reads - self.reads_left, self.reads)

    @property
    def writes_saved(self) -> float:
        """Share of the writes that the register file never saw, 0 to 1."""
        return ratio(self.writes - self.writes_left, self.writes)


class Uses(NamedTuple):
    """Values by how often they are read before they are overwritten; all warps."""

    values: int
    unread: int
    once: int
    soon: int  # read once, by one of the three next instructions of the warp


class Step(NamedTuple):
    """What one instruction of a path does to registers."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    mask: int  # lanes that execute it
    returns: bool  # a load from beyond shared memory


def register_cache(trace: Trace, entries: int, leaves: bool = True) -> Counts:
    """Return what a cache of so many registers per warp (0: none) would save. leaves: a warp that needs a load's result empties it."""
    total = np.zeros(len(Counts._fields), np.int64)
    for steps, warps in _paths(trace):
        total += warps * np.array(_Cache(steps, entries, leaves).run(), np.int64)
    return Counts(*(int(value) for value in total))


def uses(trace: Trace) -> Uses:
    """Return how often values are read, and how soon; an overwrite of some of the lanes makes no new value."""
    total = np.zeros(len(Uses._fields), np.int64)
    for steps, warps in _paths(trace):
        open_: dict[int, list[int]] = {}  # register -> lanes written, where, reads, where the first was
        for at, step in enumerate(steps):
            for register in step.reads:
                if register in open_:
                    open_[register][2] += 1
                    open_[register][3] = open_[register][3] if open_[register][3] >= 0 else at
            for register in step.writes:
                old = open_.get(register)
                if old is not None and old[0] & ~step.mask:
                    old[0] |= step.mask
                    continue
                total += warps * _used(old)
                open_[register] = [step.mask, at, 0, -1]
        for value in open_.values():
            total += warps * _used(value)
    return Uses(*(int(value) for value in total))


def _used(value: list[int] | None) -> np.ndarray:
    if value is None:
        return np.zeros(len(Uses._fields), np.int64)
    _, made, reads, first = value
    return np.array([1, reads == 0, reads == 1, reads == 1 and first - made <= 3], np.int64)


def _paths(trace: Trace) -> list[tuple[list[Step], int]]:
    """Return what each path does, without what no lane executes, and how many warps took it."""
    arrays, program = trace.arrays, trace.program
    reads, writes = _registers(program, program.encoded.reads), _registers(program, program.encoded.writes)
    far = np.isin(program.encoded.unit, FAR) & np.isin(program.encoded.operation, RETURNING)
    warps = np.bincount(arrays.warp_path, minlength=len(arrays.path_start) - 1)
    found = []
    for path, (start, end) in enumerate(zip(arrays.path_start, arrays.path_start[1:], strict=False)):
        pairs = zip(arrays.instruction[start:end].tolist(), arrays.mask[start:end].tolist(), strict=True)
        found.append(([Step(reads[i], writes[i], mask, bool(far[i])) for i, mask in pairs if mask], int(warps[path])))
    return found


def _registers(program: Program, dependences: np.ndarray) -> list[tuple[int, ...]]:
    """Return the general registers among each instruction's dependences."""
    return [tuple(int(d) for d in row if 0 <= d < PREDICATE_BASE) for row in dependences[: len(program)]]


class _Cache:
    """The entries of one warp, the oldest first: register -> lanes written since it had an entry."""

    def __init__(self, steps: list[Step], entries: int, leaves: bool) -> None:
        self.steps, self.size, self.leaves = steps, entries, leaves
        self.entries: OrderedDict[int, int] = OrderedDict()
        self.awaited: set[int] = set()
        self.touched: dict[int, tuple[list[int], list[tuple[int, int]]]] = {}  # register -> steps, what each does with which lanes
        for at, step in enumerate(steps):
            for kind, registers in ((READ, step.reads), (WRITE, step.writes)):
                for register in registers:
                    places, what = self.touched.setdefault(register, ([], []))
                    places.append(at)
                    what.append((kind, step.mask))

    def run(self) -> Counts:
        """Return the counts of this warp."""
        reads = writes = missed = back = returned = 0
        for at, step in enumerate(self.steps):
            if self.leaves and not self.awaited.isdisjoint((*step.reads, *step.writes)):
                back += sum(self.is_needed(register, lanes, at - 1) for register, lanes in self.entries.items())
                self.entries.clear()
                self.awaited.clear()
            reads += len(step.reads)
            missed += sum(bool(step.mask & ~self.entries.get(register, 0)) for register in step.reads)
            writes += len(step.writes)
            if step.returns:
                returned += len(step.writes)
                self.awaited.update(step.writes)
                for register in step.writes:
                    lanes = self.entries.pop(register, 0) & ~step.mask  # of an older value
                    back += bool(lanes) and self.is_needed(register, lanes, at)
            else:
                back += sum(self.write(register, at) for register in step.writes)
        return Counts(reads, writes, missed, back + returned, returned)

    def write(self, register: int, at: int) -> int:
        """Give a result an entry; return how many writes of the register file that takes."""
        if self.size == 0:
            return 1
        mask = self.steps[at].mask
        if register in self.entries:
            self.entries[register] |= mask
            return 0
        self.entries[register] = mask
        if len(self.entries) <= self.size:
            return 0
        return int(self.is_needed(*self.entries.popitem(last=False), at))

    def is_needed(self, register: int, lanes: int, at: int) -> bool:
        """Return whether a later step than `at` reads a value before all its lanes are overwritten."""
        places, what = self.touched[register]
        for kind, mask in what[bisect_right(places, at) :]:
            if kind == READ:
                return True
            if not lanes & ~mask:
                return False
            lanes |= mask
        return False
