"""One warp alone, in order: when each instruction of a path issues and when its result is ready (t_is, t_re of interval analysis).

The rules are those of the notes (GPU Microarchitecture Note Set 5) with the numbers that the engines use: an instruction waits for its
operands, for the distance to the one before it, and for its port. Nothing else: no other warp, no queue, no cache. So no machine with
these latencies issues earlier.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from isa.program import Program
from isa.vocabulary import COUNTERS, Operation, Unit
from sim.gpus.model import Gpu
from sim.lowering.accesses import NOWHERE
from sim.lowering.core import BARRIER, BRANCH, code
from sim.lowering.ops import Op

LoadLatency = Callable[[int], int]  # static instruction -> cycles from its issue to its dependent's


class Step(NamedTuple):
    """One issue. Times are cycles of the core clock from the first issue."""

    instruction: int  # static
    issue: int  # t_is
    end: int  # first cycle after its lanes have gone into their port
    ready: int  # t_re: first cycle in which a dependent may issue
    since: int  # first cycle in which only a dependence or a port was missing
    operands: int  # first cycle in which its operands were there


class _Instruction(NamedTuple):
    """What the tables of `sim.lowering.core` say of one static instruction."""

    latency: int
    distance: int  # to the warp's next issue, at least
    sync: int  # cycles more to it, after distance or branch
    indirect: int  # the same of a branch that is taken to where a register says
    hold: int  # cycles it holds its port
    address: int  # cycles of its port's address unit; 0 = it accesses no memory that is modelled
    pipe: int
    needs: tuple[int, ...]  # dependences
    writes: tuple[int, ...]  # dependences that are ready with its result
    reads: tuple[int, ...]  # dependence counters that are released when its sources have been read
    source_read: int
    flow: int
    pairs: bool  # the next instruction may issue together with it


class _Warp:
    """What one warp alone waits for."""

    def __init__(self, gpu: Gpu, program: Program, load_latency: LoadLatency | None) -> None:
        self.gpu, self.program, self.load_latency = gpu, program, load_latency
        self.tables, columns = code(gpu, program)
        self.known: dict[int, _Instruction] = {}
        self.back = [0] * columns  # by dependence: cycle in which it is ready
        self.ports: list[list[int]] = [[0] * pipe.count for pipe in gpu.pipes.values()] + [[0]]  # cycle in which each is free
        self.address = [0] * len(self.ports)  # cycle in which the pipe's address unit is free
        self.last, self.slots = 0, 0  # cycle of the last issue; issues still possible together with it
        self.following, self.free = 0, 0  # cycle in which the warp may issue again; in which the scheduler may

    def instruction(self, i: int) -> _Instruction:
        """Return static instruction i, decoded once."""
        if i not in self.known:
            self.known[i] = self._decode(i)
        return self.known[i]

    def _decode(self, i: int) -> _Instruction:
        op = dict(zip(Op.names or (), self.tables.ops[i].tolist(), strict=True))  # Python's numbers: read four times faster than NumPy's
        obeyed = bool(self.tables.control)
        latency = self.gpu.memory.global_store if op["store"] else op["latency"]
        if self.load_latency and is_memory_load(self.program, i):
            latency = self.load_latency(i)
        written = (op["write_counter"] if op["write_counter"] < COUNTERS else -1,) if obeyed else self.tables.writes[i].tolist()
        return _Instruction(
            latency=latency,
            distance=op["distance"],
            sync=op["sync"],
            indirect=op["indirect"],
            hold=op["hold"],
            address=op["address"] if op["memory"] != NOWHERE else 0,
            pipe=op["pipe"],
            needs=tuple(name for name in self.tables.needs[i].tolist() if name >= 0),
            writes=tuple(name for name in written if name >= 0),
            reads=(op["read_counter"],) if obeyed and op["read_counter"] >= 0 else (),
            source_read=op["source_read"],
            flow=op["flow"],
            pairs=bool(op["pairs"]),
        )

    def step(self, i: int, after: int | None) -> Step:
        """Issue instruction i, together with the one before it where the machine pairs them; after: the instruction that follows."""
        it, ports = self.instruction(i), self.ports[self.instruction(i).pipe]
        operands, port = max((self.back[name] for name in it.needs), default=0), min(ports)
        paired = self.slots > 0 and max(operands, port) <= self.last
        issue = self.last if paired else max(self.following, self.free, operands, port)
        since = min(self.following, issue)
        self.slots = (self.slots if paired else self.gpu.core.issue_width) - 1
        ports[ports.index(port)] = end = issue + it.hold
        self._hold_scheduler(it, issue, paired)
        start = issue
        if it.address:  # it has left the scheduler after one cycle; its addresses follow in their turn
            start = max(issue, self.address[it.pipe])
            end = self.address[it.pipe] = start + it.address
        ready = start + it.latency
        self._release(it, issue, ready)
        self.last, self.following = issue, self._next(i, it, after, issue)
        resolves = it.flow == BRANCH and (self.gpu.core.branch_latency > 0 or it.sync > 0 or it.indirect > 0)
        if not it.pairs or it.flow == BARRIER or resolves:
            self.slots = 0
        return Step(i, issue, max(end, issue + 1), ready, since, operands)

    def _hold_scheduler(self, it: _Instruction, issue: int, paired: bool) -> None:
        """Keep the scheduler for its issue interval, and where narrow pipes hold it until the lanes are in."""
        core = self.gpu.core
        if not paired:
            self.free = issue + core.issue_interval
        if core.dispatch == "scheduler":
            self.free = max(self.free, issue + it.hold)

    def _release(self, it: _Instruction, issue: int, ready: int) -> None:
        for name in it.writes:  # a dependence counter waits for everything that counts on it, a register for its last writer
            self.back[name] = max(self.back[name], ready) if self.tables.control else ready
        for name in it.reads:
            self.back[name] = max(self.back[name], issue + it.source_read)

    def _next(self, i: int, it: _Instruction, after: int | None, issue: int) -> int:
        """Return the first cycle in which the warp may issue again, as far as it depends on this instruction alone."""
        core = self.gpu.core
        if it.flow == BARRIER:
            return issue + max(it.distance, core.barrier_latency)
        taken = it.flow == BRANCH and (not self.tables.control or after != i + 1)
        return issue + max(it.distance, core.branch_latency if taken else 1) + it.sync + it.indirect * taken


def schedule(gpu: Gpu, program: Program, path: Sequence[int], load_latency: LoadLatency | None = None) -> list[Step]:
    """Return the steps of one warp that executes the instructions of `path` in order, everything before them done.

    load_latency: cycles of each load of global or local memory; None = the latency of the GPU's DRAM, or its fixed one.
    """
    warp = _Warp(gpu, program, load_latency)
    return [warp.step(i, after) for i, after in zip(path, (*path[1:], None), strict=True)]


def is_memory_load(program: Program, i: int) -> bool:
    """Return whether instruction i loads from global or local memory."""
    encoded = program.encoded
    return Operation(encoded.operation[i]) == Operation.LOAD and Unit(encoded.unit[i]) in (Unit.GLOBAL, Unit.LOCAL)
