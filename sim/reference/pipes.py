"""Pipes: issue ports with lanes behind them. A warp instruction holds a port ceil(32 / lanes) cycles.

Its 32 threads go in `lanes` at a time (GTX 480: 16 lanes, 2 cycles). What happens behind the port is fully pipelined: a latency
and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from sim.gpus.model import Gpu
from sim.reference.clock import Environment, after
from sim.reference.decode import Instruction
from sim.reference.moments import Moment, latest

if TYPE_CHECKING:
    from sim.reference.memory.issue_queue import Queue
    from sim.reference.wakeup import Warp

MEMORY_UNITS = ("global", "local", "shared")


class Port:
    """One port: whether it is free, and since which cycle if it is."""

    def __init__(self) -> None:
        self.free, self.since = True, 0


class Ports:
    """Identical ports, the first free one of which is taken; or the last of other ports."""

    def __init__(self, env: Environment, count: int = 1, within: Ports | None = None) -> None:
        self.env = env
        self.ports: list[Port] = within.ports[-1:] if within else [Port() for _ in range(count)]
        self.sharers = [within] if within else []
        if within:
            within.sharers.append(self)
        self.held: Moment | None = None  # when the one taken last will be given back
        self.freed: Moment | None = None  # when one of them was given back last
        self.queue: Queue | None = None  # of memory instructions behind them; while it is full they take nothing

    @property
    def free(self) -> bool:
        """Whether one of them is free."""
        for port in self.ports:  # noqa: SIM110  asked a million times a second: a third of what any() takes
            if port.free:
                return True
        return False

    @property
    def accept(self) -> bool:
        """Whether one of them takes an instruction now."""
        return (self.queue is None or self.queue.open) and self.free

    @property
    def since(self) -> int:
        """The cycle since which they take an instruction; only for ports that accept one now."""
        reopened = self.queue.reopened.cycle if self.queue and self.queue.reopened else 0
        return max(min(port.since for port in self.ports if port.free), reopened)

    @property
    def released(self) -> Moment:
        """The moment from which they take an instruction again."""
        moments = [moment for moment in (self.queue and self.queue.reopened, self.freed) if moment]
        return latest(*moments)

    def over(self, now: int) -> Moment:
        """Return the moment `now`, up to which they were taken, and may still be."""
        if self.held and self.held.before and self.held.cycle > now:
            return self.held.before.then(now, self.held.resource, self.held.work)
        return self.released

    def hold(self, until: Moment) -> None:
        """Take a free port now and give it back at that moment."""
        port = next(port for port in self.ports if port.free) if len(self.ports) > 1 else self.ports[0]
        port.free = False
        self.held = until
        for ports in self.sharers:
            if port in ports.ports:
                ports.held = until
        after(self.env, until.cycle - int(self.env.now), partial(self._give_back, port, until))

    def _give_back(self, port: Port, now: Moment) -> None:
        port.free, port.since = True, now.cycle
        self.freed = now
        for ports in self.sharers:
            if port in ports.ports:
                ports.freed = now


class Pipes:
    """The pipes of one SM as its schedulers reach them: each has its own ports, or all share the SM's."""

    def __init__(self, env: Environment, gpu: Gpu) -> None:
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

    def taken_until_now(self, warps: Iterable[Warp], q: int) -> bool:
        """Return whether the pipe of a ready warp of scheduler q takes an instruction again just now."""
        ports = {self.ports[warp.instruction.pipe, q] for warp in warps if warp.ready and warp.instruction.pipe}
        return any(one.accept and 0 < one.since == one.env.now for one in ports)

    def hold(self, instruction: Instruction, q: int, issued: Moment) -> None:
        """Send the instruction of scheduler q, issued now or held up until then, through a free port."""
        if instruction.pipe is not None:
            until = issued.then(issued.cycle + instruction.port_cycles, f"pipes.{instruction.pipe}.lanes")
            self.ports[instruction.pipe, q].hold(until)

    def of(self, instruction: Instruction, q: int) -> Ports:
        """Return the ports through which scheduler q sends an instruction that needs one."""
        assert instruction.pipe is not None
        return self.ports[instruction.pipe, q]

    def queue(self, instruction: Instruction, q: int) -> Queue:
        """Return the queue behind the port by which scheduler q issues a memory instruction."""
        queue = self.of(instruction, q).queue
        assert queue is not None
        return queue

    @property
    def memory_ports(self) -> list[Ports]:
        """The ports behind which memory instructions queue, pipe by pipe."""
        names = {self.gpu.units[unit].pipe for unit in MEMORY_UNITS}
        return list(dict.fromkeys(ports for (name, _), ports in self.ports.items() if name in names))
