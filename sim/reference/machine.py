"""The machine: a GPU put together from its units, with one launch to run."""

from collections import Counter
from itertools import pairwise

from sim.gpus.model import Gpu
from sim.gpus.occupancy import residency
from sim.lowering.control_words import obeys_control_words
from sim.lowering.listing import listing
from sim.lowering.phases import counts_of_phases
from sim.reference.account import Account
from sim.reference.clock import Environment, clock
from sim.reference.decode import decode
from sim.reference.dispatcher import BlockScheduler
from sim.reference.fetch import SharedCache
from sim.reference.memory.system import MemorySystem
from sim.reference.moments import Record
from sim.reference.sm import SM
from sim.traces.trace import NoProgressError, Trace

INFINITY = float("inf")  # cycle of the next event when there is none


class Machine:
    """Everything there is, at rest before cycle 0. Raises UserError when a block does not fit the GPU."""

    def __init__(self, trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None = None, record: bool = False) -> None:
        launch = trace.launch
        self.trace, self.gpu = trace, gpu
        self.occupancy = residency(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block, launch.program.architecture)
        self.program = decode(trace.program, gpu)
        self.constant_lines = listing(trace.program).constants
        self.control = obeys_control_words(gpu, trace.program)
        self.paths = paths(trace)
        self.record = Record(record)
        self.account = Account(len(self.program), timeline)
        self.events: Counter[str] = Counter()  # issues, barriers opened, blocks started and ended
        self.phases = counts_of_phases(trace, gpu)
        self.env = Environment()
        self.memory = MemorySystem(self) if gpu.memory.kind == "hierarchy" else None
        self.shared_code: dict[int, SharedCache] = {}  # by the first SM of each GPC
        self.sms = [SM(self, number) for number in range(gpu.sms)]
        self.blocks = BlockScheduler(self)
        self.drained = 0  # cycle in which all stores so far are answered
        self.length: int | None = None  # cycles to the end of the last block, once it is known
        self.clock = self.env.process(clock(self))

    @property
    def running(self) -> bool:
        """Whether a block is resident or still to start."""
        return self.blocks.ended < self.blocks.total

    @property
    def cycle(self) -> int:
        """The present cycle; of a finished run its length."""
        return int(self.env.now) if self.length is None else self.length

    def check_progress(self) -> None:
        """Raise NoProgressError when nothing is due and nothing was issued: then nothing can ever happen again."""
        if self.env.peek() != INFINITY:
            return
        held = any(scheduler.held for sm in self.sms for scheduler in sm.schedulers)  # by the policy: not for ever
        if not held and not any(sm.lsu and sm.lsu.responses.arrived for sm in self.sms):
            raise NoProgressError(min(block.number for sm in self.sms for block in sm.blocks))

    def seen(self, event: str) -> None:
        """Count an event that people may want to stop at: "issue", "barrier" or "block"."""
        self.events[event] += 1


def paths(trace: Trace) -> list[list[tuple[int, int]]]:
    """Return each path of the trace: (static instruction, mask of the lanes that execute it) of every step."""
    arrays = trace.arrays
    steps = list(zip(arrays.instruction.tolist(), arrays.mask.tolist(), strict=True))
    starts = arrays.path_start.tolist()
    return [steps[start:end] for start, end in pairwise(starts)]
