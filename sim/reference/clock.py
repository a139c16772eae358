"""The clock: ONE process steps the units of the machine in a written order, so that no tie is left to the event queue.

A cycle:
  1. what is due happens (SimPy events): results return, requests and answers arrive, what DRAM sends takes ports of L2, ports are free
     again, barriers open, blocks end, places empty
  2. the block scheduler starts blocks; with a start latency of 0 their warps may issue in this very cycle
  3. requests that have reached L2 enter its queues, SM by SM, beginning with SM (cycle modulo SMs)
  4. for each SM in order: blocks that begin ask for code, answers start their transfer, the load/store unit takes an instruction, each
     scheduler in order has one turn
A tick is the last event of its cycle. The order in which SimPy processes the others, which only change readiness, cannot matter.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

import simpy
from simpy.core import EventPriority

if TYPE_CHECKING:
    from sim.reference.machine import Machine

Process = Generator[simpy.Event, None, None]  # what env.process() takes: waits for each event it yields
LAST = EventPriority(2)  # SimPy's own events have 0 (urgent) and 1 (normal); smaller comes first


class Tick(simpy.Event):
    """Happen `delay` cycles from now, after everything else that is due then."""

    def __init__(self, env: simpy.Environment, delay: int) -> None:
        self.env, self.callbacks, self._ok, self._value = env, [], True, None  # as SimPy's Timeout does, which is made as often
        env.schedule(self, LAST, delay)


class Cycle(simpy.Event):
    """Do what is due in one cycle, but for its tick: one event for all of it, as nothing depends on the order."""

    env: Environment

    def __init__(self, env: Environment, delay: int) -> None:
        self.env, self.callbacks, self._ok, self._value = env, [self._happen], True, None
        self.actions: list[Callable[[], None]] = []
        env.schedule(self, delay=delay)

    def _happen(self, event: simpy.Event) -> None:
        for action in self.actions:  # one of them may add another, which is due at once
            action()
        del self.env.due[self.env.now]


class Environment(simpy.Environment):
    """SimPy's, and what is due in each cycle to come."""

    def __init__(self) -> None:
        super().__init__()
        self.due: dict[float, Cycle] = {}


def clock(machine: Machine) -> Process:
    """Step the machine until its last block has ended (a SimPy process)."""
    env = machine.env
    while machine.running:
        machine.blocks.step()
        if env.peek() == env.now:  # a block that starts may have made something due in this cycle
            yield Tick(env, 0)
        if machine.memory:
            machine.memory.step()
        for sm in machine.sms:
            if sm.blocks or sm.active_cycles:  # before its first block it has nothing to do
                sm.step()
        machine.check_progress()
        yield Tick(env, 1)
    machine.length = int(env.now)
    while machine.memory and machine.memory.busy:  # stores on their way to L2 when the last block has ended are counted, not waited for
        yield Tick(env, 0)
        machine.memory.step()
        yield Tick(env, 1)


def after(env: Environment, cycles: int, action: Callable[[], None]) -> None:
    """Call `action` that many cycles from now, before the tick of that cycle."""
    if cycles < 0:
        raise ValueError(f"{cycles} cycles from now is past")
    cycle = env.now + cycles
    due = env.due.get(cycle)
    if due is None:
        due = env.due[cycle] = Cycle(env, cycles)
    due.actions.append(action)
