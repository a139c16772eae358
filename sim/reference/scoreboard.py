"""Scoreboard of one warp: which registers and predicates await a result, and how many results are on their way.

A dependence is busy from the issue of the instruction that writes it until its result is back. An instruction waits while one
that it reads (RAW) or writes (WAW) is busy. Operands are read at issue, so a later write cannot overtake a read (no WAR).
The end of a fixed latency is known at issue, that of a load when the memory system knows it.
"""

from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import simpy

from sim.gpus.model import Core
from sim.lowering.warpgroups import QUEUED
from sim.reference.clock import Environment, after
from sim.reference.decode import Instruction
from sim.reference.groups import UNKNOWN, Groups
from sim.reference.moments import Moment
from sim.result.causes import StallCause


@dataclass(eq=False)
class Pending:
    """What an issued instruction leaves behind: results on their way, or a store."""

    cause: StallCause
    writes: tuple[int, ...]  # dependences
    at: Moment | None = None  # the moment in which it is back, once that is known
    reading: "Pending | None" = None  # under control words: the reading of its sources; of a product of a warpgroup its place in the queue
    loads: bool = False  # from beyond shared memory
    is_back: bool = False
    back: simpy.Event | None = None  # somebody waits until it is

    @property
    def due(self) -> int:
        """The cycle in which it is back."""
        return self.at.cycle if self.at else UNKNOWN


class Outstanding:
    """What one warp has on its way; how each thing comes back."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.groups = Groups()
        self.outstanding: list[Pending] = []  # results on their way, and stores: the warp ends after them
        self.all_back = 0  # first cycle in which none of them is outstanding, as far as it is known

    def settle(self, pending: Pending, at: Moment) -> None:
        """It is known now when something will be back, or its sources will have been read."""
        pending.at = at
        if pending in self.outstanding:
            self.all_back = max(self.all_back, at.cycle)
        if at.cycle <= self.env.now:  # a latency of 0: there for an instruction that issues together with this one
            self._release(pending)
        else:
            after(self.env, at.cycle - int(self.env.now), partial(self._release, pending))

    def _release(self, pending: Pending) -> None:
        self.groups.release(pending)
        if pending in self.outstanding:
            self.outstanding.remove(pending)
        pending.is_back = True
        if pending.back:
            pending.back.succeed()


class Scoreboard(Outstanding):
    """What one warp still waits for."""

    def __init__(self, env: Environment, core: Core) -> None:
        super().__init__(env)
        self.cap = core.in_flight_cap  # instructions of arithmetic with results on their way, at most; 0 = any number
        self.wake_all = core.wake_rule == "all_outstanding"
        self.busy: dict[int, Pending] = {}  # by dependence
        self.results: list[Pending] = []  # one per instruction of arithmetic whose results are on their way

    def missing(self, instruction: Instruction) -> Pending | None:
        """Return what brings the first dependence that is busy, None when all are ready."""
        for name in instruction.needs:
            if name in self.busy:
                return self.busy[name]
        return self.groups.missing(instruction)

    def missing_loads(self, instruction: Instruction) -> bool:
        """Return whether something that it waits for comes from beyond shared memory."""
        busy = any(self.busy[name].loads for name in instruction.needs if name in self.busy)
        return busy or self.groups.misses_loads(instruction)

    def full(self, instruction: Instruction) -> bool:
        """Return whether the instruction is arithmetic and there is no place for one more on its way."""
        return bool(self.cap and instruction.is_arithmetic and len(self.results) >= self.cap)

    def last_missing(self, instruction: Instruction) -> tuple[StallCause, int] | None:
        """Return (cause, cycle) of what the instruction will wait for longest, None when it need not wait; UNKNOWN counts as longest."""
        waits = [(self.busy[name].cause, self.busy[name].due) for name in instruction.needs if name in self.busy]
        if part := self.groups.last_missing(instruction):
            waits.append(part)
        if waits and (last := self.last_under_way()):
            waits.append((last.cause, last.due))
        if first := self.no_place(instruction):
            waits.append((StallCause.DISPATCH_STALL, first.due))
        return max(waits, key=itemgetter(1), default=None)  # max: the first of those due together

    def last_under_way(self) -> Pending | None:
        """Return the result that the wake rule makes a warp await once it waits: the last; of several that with the smallest cause."""
        return min(self.results, key=lambda result: (-result.due, result.cause), default=None) if self.wake_all else None

    def no_place(self, instruction: Instruction) -> Pending | None:
        """Return the result that will be back first if there is no place for one more on its way, else None."""
        return min(self.results, key=lambda result: result.due) if self.full(instruction) else None

    def record(self, instruction: Instruction) -> Pending | None:
        """Note what an instruction that issues now leaves behind; whoever knows when it is back calls `settle`."""
        leaves = bool(instruction.writes or instruction.is_store or instruction.access or instruction.stores_bulk or instruction.turn)
        if not leaves and instruction.write_counter is None:
            return None
        pending = Pending(instruction.result_cause, instruction.writes, loads=instruction.loads)
        if leaves:
            self.outstanding.append(pending)
        if instruction.write_counter is not None:  # LDGSTS, LDGDEPBAR, products of warpgroups
            is_known = not (instruction.access or instruction.stores_bulk)
            self.groups.join(instruction.write_counter, pending, not instruction.joins, is_known)
        if instruction.turn:
            pending.reading = Pending(instruction.port_cause, ())
            self.groups.join(QUEUED, pending.reading, closes=True, is_known=True)
        if instruction.writes:
            self.busy |= dict.fromkeys(instruction.writes, pending)
        if instruction.is_arithmetic:
            self.results.append(pending)
        return pending

    def _release(self, pending: Pending) -> None:
        for name in pending.writes:
            del self.busy[name]
        if pending in self.results:
            self.results.remove(pending)
        super()._release(pending)
