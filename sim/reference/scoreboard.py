"""Scoreboard of one warp: which registers and predicates await a result, and how many results are on their way.

A dependence is busy from the issue of the instruction that writes it until its result is back. An instruction waits while one
that it reads (RAW) or writes (WAW) is busy. Operands are read at issue, so a later write cannot overtake a read (no WAR).
"""

from typing import NamedTuple

import simpy

from sim.gpus.model import Core
from sim.reference.clock import Process
from sim.reference.decode import Instruction
from sim.vocabulary import StallCause


class Pending(NamedTuple):
    """A result on its way. The machine waits for its event; `due` is the cycle in which it will be back."""

    cause: StallCause
    due: int


class Scoreboard:
    """What one warp still waits for."""

    def __init__(self, env: simpy.Environment, core: Core) -> None:
        self.env = env
        self.cap = core.in_flight_cap  # instructions with results on their way, at most; 0 = any number
        self.wake_all = core.wake_rule == "all_outstanding"
        self.busy: dict[int, Pending] = {}  # by dependence
        self.results: list[Pending] = []  # one per instruction with results on their way
        self.outstanding: list[simpy.Event] = []  # these results and the stores: the warp ends after them
        self.all_back = 0  # first cycle in which none of them is outstanding

    def missing(self, instruction: Instruction) -> StallCause | None:
        """Return the cause of waiting for the first dependence that is busy, None when all are ready."""
        return next((self.busy[name].cause for name in instruction.needs if name in self.busy), None)

    def full(self, instruction: Instruction) -> bool:
        """Return whether the instruction has a result and there is no place for one more on its way."""
        return bool(self.cap and instruction.writes and len(self.results) >= self.cap)

    def last_missing(self, instruction: Instruction) -> Pending | None:
        """Return the result that the instruction will wait for longest, None when it need not wait."""
        waits = [self.busy[name] for name in instruction.needs if name in self.busy]
        if waits and self.wake_all:
            waits.append(self.last_back())
        if self.full(instruction):
            waits.append(Pending(StallCause.DISPATCH_STALL, min(result.due for result in self.results)))
        return max(waits, key=lambda pending: pending.due, default=None)  # max: the first of those due together

    def last_back(self) -> Pending:
        """Return the result that will be back last; the first issued of several."""
        return max(self.results, key=lambda result: result.due)

    def record(self, instruction: Instruction, store_latency: int) -> None:
        """Note the results of an instruction that issues now."""
        self.outstanding = [event for event in self.outstanding if not event.processed]
        now = int(self.env.now)
        if instruction.is_store:
            self.all_back = max(self.all_back, now + store_latency)
            self.outstanding.append(self.env.timeout(store_latency))
        if instruction.writes:
            pending = Pending(instruction.result_cause, now + instruction.latency)
            self.all_back = max(self.all_back, pending.due)
            self.busy |= dict.fromkeys(instruction.writes, pending)
            self.results.append(pending)
            self.outstanding.append(self.env.process(self._return(instruction, pending)))

    def _return(self, instruction: Instruction, pending: Pending) -> Process:
        """Bring a result back after its latency (a SimPy process)."""
        yield self.env.timeout(instruction.latency)
        for name in instruction.writes:
            del self.busy[name]
        self.results.remove(pending)
