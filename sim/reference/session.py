"""`Session`: a machine to step through and to look into."""

from dataclasses import replace

from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.lowering.clock import clocked
from sim.lowering.rescheduling import rescheduled
from sim.reference import collect
from sim.reference.machine import Machine
from sim.reference.moments import Record
from sim.reference.views import (
    MemoryView,
    PendingView,
    SchedulerView,
    WarpView,
    view_lsu,
    view_scheduler,
    view_scoreboard,
    view_slice,
    view_warp,
)
from sim.result.result import Result
from sim.traces.trace import Trace

EVENTS = ("issue", "barrier", "block")


class Session:
    """A launch on a GPU, stopped before cycle 0. `cycle` is always the next cycle to run.

    One warp, whose second instruction needs the result of its first:

    >>> import isa, sim
    >>> from sim.reference import Session
    >>> program = isa.parse(".kernel two_adds\\nFADD R1, R0, R0;\\nFADD R2, R1, R1;\\nEXIT;")
    >>> trace = sim.execute(sim.Launch(program, grid=(1,), block=(32,)))
    >>> session = Session(trace, sim.gpu("textbook"))
    >>> session.run_until_event("issue")
    0
    >>> session.step()
    2
    >>> warp = session.warps()[0]
    >>> warp.text, warp.state, warp.why, warp.until
    ('FADD R2, R1, R1;', 'waiting', 'wait', 4)
    >>> session.scoreboard(warp)
    [PendingView(name='R1', why='wait', until=4)]
    >>> session.run_until_event("issue")
    4
    >>> session.result().cycles
    8
    """

    def __init__(self, trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None = None, record: bool = False) -> None:
        scheduled, self._words = rescheduled(trace, gpu)
        self._machine = Machine(scheduled, clocked(gpu, scheduled), timeline, record)

    @property
    def cycle(self) -> int:
        """The next cycle to run; of a finished run, its length."""
        return self._machine.cycle

    @property
    def finished(self) -> bool:
        """Whether the last block has ended."""
        return self._machine.length is not None

    def step(self, cycles: int = 1) -> int:
        """Run so many cycles, or to the end if that comes first; return the next cycle."""
        return self.run_until(self.cycle + cycles)

    def run_until(self, cycle: int) -> int:
        """Run the cycles before `cycle`, or to the end if that comes first; return the next cycle."""
        while self.cycle < cycle and not self.finished:
            self._machine.env.run(until=self.cycle + 1)
        return self.cycle

    def run_until_event(self, event: str) -> int | None:
        """Run through the next cycle with an "issue", an opened "barrier", or a "block" that starts or ends.

        Return that cycle, None when the run ends without another. Raises UserError for another word.
        """
        if event not in EVENTS:
            raise UserError(f"no event is called '{event}'", hint=f"events: {', '.join(EVENTS)}")
        before = self._machine.events[event]
        while not self.finished:
            cycle = self.cycle
            self.step()
            if self._machine.events[event] > before:
                return cycle
        return None

    def warps(self) -> list[WarpView]:
        """Return the warps that have not ended, by SM, block and warp."""
        resident = (warp for sm in self._machine.sms for block in sm.blocks for warp in block.warps)
        return [view_warp(warp) for warp in resident if not warp.ended.triggered]

    def scoreboard(self, warp: WarpView) -> list[PendingView]:
        """Return what a resident warp awaits."""
        blocks = {block.number: block for sm in self._machine.sms for block in sm.blocks}
        if warp.block not in blocks:
            raise UserError(f"block {warp.block} is not resident in cycle {self.cycle}", hint="take a warp of warps()")
        return view_scoreboard(blocks[warp.block].warps[warp.warp])

    def schedulers(self) -> list[SchedulerView]:
        """Return the schedulers of all SMs."""
        return [view_scheduler(scheduler) for sm in self._machine.sms for scheduler in sm.schedulers]

    def memory(self) -> MemoryView:
        """Return the queues and tables of the memory hierarchy. Raises UserError when the GPU has fixed latencies instead."""
        memory = self._machine.memory
        if memory is None:
            raise UserError("memory.kind = 'fixed' has no queues to look at", hint="set memory.kind = 'hierarchy'")
        units = tuple(view_lsu(sm.lsu) for sm in self._machine.sms if sm.lsu)
        return MemoryView(units, tuple(view_slice(one, number, self.cycle) for number, one in enumerate(memory.slices)))

    @property
    def record(self) -> Record:
        """What happened when, and what it had to wait for last, if the session was asked to record it."""
        return self._machine.record

    def result(self) -> Result:
        """Run to the end; return the Result."""
        self._machine.env.run(until=self._machine.clock)
        return replace(collect.result(self._machine), words=self._words)
