"""The clock: ONE process steps the units of the machine in a written order, so that no tie is left to the event queue.

A cycle:
  1. what is due happens (SimPy events): results return, requests and answers arrive, ports are free again, barriers open, blocks end,
     places empty
  2. the block scheduler starts blocks; with a start latency of 0 their warps may issue in this very cycle
  3. requests that have reached L2 enter its queues, SM by SM, beginning with SM (cycle modulo SMs)
  4. for each SM in order: answers start their transfer, the load/store unit takes an instruction, each scheduler in order has one turn
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
        super().__init__(env)
        self._ok, self._value = True, None
        env.schedule(self, LAST, delay)


def clock(machine: Machine) -> Process:
    """Step the machine until its last block has ended (a SimPy process)."""
    while machine.running:
        machine.blocks.step()
        if machine.env.peek() == machine.env.now:  # a block that starts may have made something due in this cycle
            yield Tick(machine.env, 0)
        if machine.memory:
            machine.memory.step()
        for sm in machine.sms:
            if sm.blocks or sm.active_cycles:  # before its first block it has nothing to do
                sm.step()
        machine.check_progress()
        yield Tick(machine.env, 1)
    machine.length = int(machine.env.now)
    while machine.memory and machine.memory.busy:  # stores on their way to L2 when the last block has ended are counted, not waited for
        yield Tick(machine.env, 0)
        machine.memory.step()
        yield Tick(machine.env, 1)


def after(env: simpy.Environment, cycles: int, action: Callable[[], None]) -> simpy.Event:
    """Call `action` that many cycles from now, before the tick of that cycle; return the event."""
    timeout = env.timeout(cycles)
    assert timeout.callbacks is not None  # it has not happened yet
    timeout.callbacks.append(lambda _: action())
    return timeout
