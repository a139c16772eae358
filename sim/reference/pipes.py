"""Pipes: issue ports with lanes behind them. A warp instruction holds a port ceil(32 / lanes) cycles.

Its 32 threads go in `lanes` at a time (GTX 480: 16 lanes, 2 cycles). What happens behind the port is fully pipelined: a latency
and nothing else.
"""

import simpy

from sim.gpus.model import Gpu
from sim.reference.clock import after
from sim.reference.decode import Instruction


class Ports:
    """Identical ports: how many are free is their whole state."""

    def __init__(self, env: simpy.Environment, count: int = 1) -> None:
        self.env, self.free = env, count

    def hold(self, cycles: int) -> None:
        """Take a free port now and give it back after so many cycles."""
        self.free -= 1
        after(self.env, cycles, self._give_back)

    def _give_back(self) -> None:
        self.free += 1


class Pipes:
    """The pipes of one SM as its schedulers reach them: each has its own ports, or all share the SM's."""

    def __init__(self, env: simpy.Environment, gpu: Gpu) -> None:
        self.gpu = gpu
        self.ports: dict[tuple[str, int], Ports] = {}
        for name, pipe in gpu.pipes.items():
            shared = Ports(env, pipe.count)
            for q in range(gpu.core.schedulers):
                self.ports[name, q] = shared if pipe.owner == "sm" else Ports(env, pipe.count)

    def accept(self, instruction: Instruction, q: int) -> bool:
        """Return whether a port that scheduler q reaches is free for the instruction."""
        return instruction.pipe is None or self.ports[instruction.pipe, q].free > 0

    def hold(self, instruction: Instruction, q: int) -> None:
        """Send the instruction of scheduler q through a free port."""
        if instruction.pipe is not None:
            self.ports[instruction.pipe, q].hold(self.cycles(instruction))

    def cycles(self, instruction: Instruction) -> int:
        """Return how long the instruction holds its port."""
        return 0 if instruction.pipe is None else self.gpu.pipes[instruction.pipe].hold
