"""Pipes: issue ports with lanes behind them. A warp instruction holds a port ceil(32 / lanes) cycles.

Its 32 threads go in `lanes` at a time (GTX 480: 16 lanes, 2 cycles). What happens behind the port is fully pipelined: a latency
and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import simpy

from sim.gpus.model import Gpu
from sim.reference.clock import after
from sim.reference.decode import Instruction

if TYPE_CHECKING:
    from sim.reference.memory.lsu import Queue

MEMORY_UNITS = ("global", "local", "shared")


class Port:
    """One port: whether it is free is its whole state."""

    def __init__(self) -> None:
        self.free = True

    def give_back(self) -> None:
        """Be free again."""
        self.free = True


class Ports:
    """Identical ports, the first free one of which is taken; or the last of other ports."""

    def __init__(self, env: simpy.Environment, count: int = 1, within: Ports | None = None) -> None:
        self.env = env
        self.ports: list[Port] = within.ports[-1:] if within else [Port() for _ in range(count)]
        self.queue: Queue | None = None  # of memory instructions behind them; while it is full they take nothing

    @property
    def free(self) -> bool:
        """Whether one of them is free."""
        return any(port.free for port in self.ports)

    @property
    def accept(self) -> bool:
        """Whether one of them takes an instruction now."""
        return self.free and (self.queue is None or self.queue.open)

    def hold(self, cycles: int) -> None:
        """Take a free port now and give it back after so many cycles."""
        port = next(port for port in self.ports if port.free)
        port.free = False
        after(self.env, cycles, port.give_back)


class Pipes:
    """The pipes of one SM as its schedulers reach them: each has its own ports, or all share the SM's."""

    def __init__(self, env: simpy.Environment, gpu: Gpu) -> None:
        self.gpu = gpu
        self.ports: dict[tuple[str, int], Ports] = {}
        for name, pipe in sorted(gpu.pipes.items(), key=lambda item: item[1].within is not None):
            shared = Ports(env, pipe.count)
            for q in range(gpu.core.schedulers):
                outer = self.ports[pipe.within, q] if pipe.within else None
                self.ports[name, q] = shared if pipe.owner == "sm" else Ports(env, pipe.count, outer)

    def accept(self, instruction: Instruction, q: int) -> bool:
        """Return whether a port that scheduler q reaches is free for the instruction."""
        return instruction.pipe is None or self.ports[instruction.pipe, q].accept

    def hold(self, instruction: Instruction, q: int) -> None:
        """Send the instruction of scheduler q through a free port."""
        if instruction.pipe is not None:
            self.ports[instruction.pipe, q].hold(instruction.port_cycles)

    def queue(self, instruction: Instruction, q: int) -> Queue:
        """Return the queue behind the port by which scheduler q issues a memory instruction."""
        assert instruction.pipe is not None
        queue = self.ports[instruction.pipe, q].queue
        assert queue is not None
        return queue

    @property
    def memory_ports(self) -> list[Ports]:
        """The ports behind which memory instructions queue, pipe by pipe."""
        names = {self.gpu.units[unit].pipe for unit in MEMORY_UNITS}
        return list(dict.fromkeys(ports for (name, _), ports in self.ports.items() if name in names))
