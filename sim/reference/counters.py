"""Dependence counters of one warp: the scoreboard's place is taken by what the compiler wrote into the control words.

An instruction raises its write counter until its result is back, and its read counter until its sources have been read. An
instruction waits until every counter that it names is zero. Nobody checks that the right counter is named, nor that a stall count
covers a fixed latency: `sim.lint` does.
"""

from operator import itemgetter

from sim.lowering.warpgroups import QUEUED
from sim.reference.clock import Environment
from sim.reference.decode import Instruction
from sim.reference.scoreboard import Outstanding, Pending
from sim.result.causes import StallCause


class DependenceCounters(Outstanding):
    """What one warp still waits for. Has the methods of `Scoreboard`."""

    def __init__(self, env: Environment) -> None:
        super().__init__(env)
        self.holders: dict[int, list[Pending]] = {}  # by counter

    @property
    def busy(self) -> dict[int, Pending]:
        """For each counter that is not zero its last holder."""
        return {number: max(holders, key=lambda holder: holder.due) for number, holders in self.holders.items() if holders}

    def missing(self, instruction: Instruction) -> Pending | None:
        """Return a holder of the first counter that is not zero, of several the one with the smallest cause; None when all are zero."""
        for number in instruction.needs:
            if self.holders.get(number):
                return min(self.holders[number], key=lambda holder: holder.cause)
        return self.groups.missing(instruction)

    def missing_loads(self, instruction: Instruction) -> bool:
        """Return whether something that it waits for comes from beyond shared memory."""
        holders = [holder for number in instruction.needs for holder in self.holders.get(number, [])]
        return any(holder.loads for holder in holders) or self.groups.misses_loads(instruction)

    def last_missing(self, instruction: Instruction) -> tuple[StallCause, int] | None:
        """Return (cause, cycle) of what the instruction will wait for longest, None when it need not wait; UNKNOWN counts as longest."""
        waits = []
        for number in instruction.needs:
            if last := self.groups.last_of(number, self.holders.get(number, [])):
                waits.append(last)
        if part := self.groups.last_missing(instruction):
            waits.append(part)
        return max(waits, key=itemgetter(1), default=None)  # max: the first of those due together

    def last_under_way(self) -> None:
        """No wake rule asks for more than the counters say."""

    def no_place(self, instruction: Instruction) -> None:
        """Any number of results may be on their way."""

    def record(self, instruction: Instruction) -> Pending | None:
        """Note what an instruction that issues now leaves behind; whoever knows when it is back calls `settle`."""
        counters = (instruction.write_counter, instruction.read_counter)
        leaves = bool(instruction.writes or instruction.is_store or instruction.access or instruction.stores_bulk or instruction.turn)
        if not leaves and counters == (None, None):
            return None
        reading = Pending(instruction.port_cause if instruction.turn else instruction.result_cause, ())
        if instruction.turn:
            self.groups.join(QUEUED, reading, closes=True, is_known=True)
        pending = Pending(instruction.result_cause, (), reading=reading, loads=instruction.loads)
        if leaves:
            self.outstanding.append(pending)
        for number, holder in zip(counters, (pending, pending.reading), strict=True):
            if number is not None and holder:
                closes = not instruction.joins or holder is not pending
                is_known = not instruction.access and not (instruction.stores_bulk and holder is pending)
                self.groups.join(number, holder, closes, is_known)
                self.holders.setdefault(number, []).append(holder)
        return pending

    def _release(self, pending: Pending) -> None:
        for holders in self.holders.values():
            if pending in holders:
                holders.remove(pending)
        super()._release(pending)
