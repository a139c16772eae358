"""What a field of a GPU needs in order to be read, as its description says (`needs` in its schema), and whether a run had it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isa import matrices
from isa.program import Program
from isa.vocabulary import Flag, Mbarrier, Operation, Space, Unit
from sim.gpus.model import Gpu
from sim.lowering.accesses import is_cached
from sim.lowering.constant_lines import LINE, constant_lines
from sim.lowering.fetch import LINE as CODE_LINE
from sim.lowering.fetch import LINE_INSTRUCTIONS
from sim.result.result import Result
from sim.result.words import Words

ACCESSES = (Operation.LOAD, Operation.STORE, Operation.ATOM, Operation.MBARRIER)
BEYOND = (Space.GLOBAL, Space.GENERIC, Space.LOCAL)
WORD = 4  # bytes


@dataclass(frozen=True)
class Used:
    """What one run executed and counted. executed: int64 [n instructions]; clusters: whether its blocks were in such, None = not known.

    Arrays are bool, one of each instruction that was executed.
    """

    program: Program
    executed: np.ndarray
    words: Words
    counters: Mapping[str, float] = field(default_factory=dict)  # of a Result
    clusters: bool | None = None
    blocks: int = 0  # 0 = not known
    shared: int = 1  # bytes of shared memory that a block takes

    @cached_property
    def units(self) -> frozenset[str]:
        """Units that it needed."""
        return _names(self.program.encoded.unit[self.rows])

    @cached_property
    def held_units(self) -> frozenset[str]:
        """Units that tell when it issues: where control words may be rescheduled, those of all instructions."""
        return _names(self.program.encoded.unit) if self.words.kind in ("compiler", "scheduled") else self.units

    @cached_property
    def rows(self) -> np.ndarray:
        """Instructions that were executed."""
        return np.flatnonzero(self.executed > 0)

    def of(self, *operations: Operation) -> np.ndarray:
        """Return which instructions are of these operations."""
        return np.isin(self.program.encoded.operation[self.rows], operations)

    def at(self, *spaces: Space) -> np.ndarray:
        """Return which instructions access these spaces."""
        return self.of(*ACCESSES) & np.isin(self.program.encoded.space[self.rows], spaces)

    def has(self, flag: int) -> np.ndarray:
        """Return which instructions have one of these flags."""
        found: np.ndarray = self.program.encoded.flags[self.rows] & flag != 0
        return found

    def says(self, bits: int) -> np.ndarray:
        """Return which instructions have one of these bits in what they do."""
        found: np.ndarray = self.program.encoded.function[self.rows] & bits != 0
        return found

    @cached_property
    def accesses(self) -> bool:
        """Whether the load/store unit has anything to do."""
        return bool(self.at(*BEYOND, Space.SHARED).any())

    def cached(self, gpu: Gpu, *operations: Operation) -> bool:
        """Return whether an instruction of these operations goes through L1, if it is global or local memory."""
        rows = self.rows[self.of(*operations) & self.at(*BEYOND)]
        return any(is_cached(gpu, self.program, int(i)) for i in rows)

    @cached_property
    def copies(self) -> np.ndarray:
        """Bulk copies of bytes and tiles between global and shared memory."""
        return self.of(Operation.BULK_COPY) & ~self.near

    @cached_property
    def near(self) -> np.ndarray:
        """Copies from shared memory of one block to that of another."""
        return self.of(Operation.BULK_COPY) & self.has(int(Flag.CLUSTER)) & ~self.says(-1)

    @cached_property
    def far(self) -> np.ndarray:
        """Accesses that may go to shared memory of another block."""
        return self.of(*ACCESSES) & self.has(int(Flag.CLUSTER))

    @property
    def counts(self) -> np.ndarray:
        """What arrives or looks at an mbarrier."""
        return self.of(Operation.MBARRIER) & (self.program.encoded.function[self.rows] != Mbarrier.SET)

    @cached_property
    def stores(self) -> np.ndarray:
        """Stores to global and local memory."""
        return self.of(Operation.STORE) & self.at(*BEYOND)

    @cached_property
    def answers(self) -> np.ndarray:
        """Accesses of global and local memory that wait for L1 or L2: not stores."""
        return self.of(Operation.LOAD, Operation.ATOM) & self.at(*BEYOND)

    @cached_property
    def read_barriers(self) -> np.ndarray:
        """Instructions with a counter that they hold until they have read their sources."""
        control = self.program.control
        return np.ones(len(self.rows), bool) if control is None else control.read_barrier[self.rows] >= 0

    @cached_property
    def operands(self) -> bool:
        """Whether an instruction waits for an operand from the constant caches."""
        lines = constant_lines(self.program)
        return bool(((lines.line >= 0) & ~lines.late)[self.rows].any())

    @cached_property
    def loads_constants(self) -> bool:
        """Whether an LDC was executed."""
        lines = constant_lines(self.program)
        return bool(((lines.line >= 0) & lines.late)[self.rows].any())

    @cached_property
    def lanes_of_constants(self) -> bool:
        """Whether an LDC was executed with an address from a register."""
        lines = constant_lines(self.program)
        return bool((lines.lanes & lines.late)[self.rows].any())

    @cached_property
    def beyond_present(self) -> bool:
        """Whether constants are named that do not come with the launch."""
        lines = constant_lines(self.program)
        return bool((lines.lanes | (lines.line >= lines.present))[self.rows].any())

    @property
    def code_bytes(self) -> int:
        """Bytes of the program's code, whole lines."""
        return -(-len(self.program) // LINE_INSTRUCTIONS) * CODE_LINE

    def moved(self, *counters: str) -> bool:
        """Return whether any of these counters is not 0, or not known."""
        return any(self.counters.get(name, 1) for name in counters)


def _names(units: np.ndarray) -> frozenset[str]:
    return frozenset(Unit(int(unit)).name.lower() for unit in np.unique(units))


def used_by(result: Result) -> Used:
    """Return what a run executed and counted."""
    clusters = result.trace.launch.cluster_shape is not None if result.trace is not None else None
    return Used(
        result.program,
        result.issues_by_instruction,
        result.words,
        result.counters,
        clusters,
        len(result.block_starts),
        result.occupancy.shared_per_block,
    )


class Need(NamedTuple):
    """lacks: why a field that needs it is not read, as a clause. met: whether a run on a GPU, its number changed, reads it."""

    lacks: str
    met: Callable[[Gpu, Used], object]


def _passes(gpu: Gpu, used: Used) -> bool:
    return bool(used.at(Space.SHARED).any() or (gpu.l1 and gpu.l1.tags_per_cycle and used.cached(gpu, Operation.LOAD)))


def _far_code(gpu: Gpu, used: Used) -> bool:
    """Return whether the SM's cache of code has to ask for some of it."""
    fetch, size = gpu.fetch, used.code_bytes
    return bool(fetch.jump) and (size > fetch.prefetched or 0 < fetch.bytes < size)


def _many_constants(gpu: Gpu, used: Used) -> bool:
    """Return whether the constant caches may lack room for some lines, by their number of ways: sets times ways is more than half."""
    lines = constant_lines(used.program)
    return (used.operands or used.loads_constants) and (used.lanes_of_constants or lines.all > gpu.constants.bytes // LINE // 2)


L2_TRAFFIC, WRITTEN = ("l2_sectors_read", "l2_sectors_written"), "dram_bytes_written"
NO_LOADS, NO_STORES = "no load of global or local memory is executed", "no store to global or local memory is executed"
NO_CLUSTERS, NO_CONSTANTS = "the launch has no clusters of blocks", "no instruction that is executed names a constant"
NEEDS = {
    "nothing": Need("", lambda gpu, used: True),
    "lsu": Need("no access to memory is executed", lambda gpu, used: used.accesses),
    "unit_shared": Need("neither an access to shared memory nor a SHFL is executed", lambda gpu, used: "shared" in used.units),
    "shared_writes": Need(
        "no store to shared memory that holds a read barrier is executed",
        lambda gpu, used: (used.at(Space.SHARED) & ~used.of(Operation.LOAD) & used.read_barriers).any(),
    ),
    "passes": Need("nothing that is executed passes over banks: no shared memory, no load by l1.tags_per_cycle", _passes),
    "pass_cycles": Need(
        "no access to shared memory is executed",
        lambda gpu, used: (
            used.at(Space.SHARED) | (used.of(Operation.LOAD) & used.has(int(Flag.ASYNC))) | used.of(*matrices.OF_WARPGROUP)
        ).any(),
    ),
    "global_memory": Need("no access to global memory is executed", lambda gpu, used: used.at(Space.GLOBAL, Space.GENERIC).any()),
    "beyond": Need("no access to global or local memory is executed", lambda gpu, used: used.at(*BEYOND).any()),
    "loads_read": Need(
        "no load that holds a read barrier is executed", lambda gpu, used: (used.of(Operation.LOAD) & used.read_barriers).any()
    ),
    "answers": Need(NO_LOADS, lambda gpu, used: used.answers.any()),
    "stores": Need(NO_STORES, lambda gpu, used: used.stores.any()),
    "ends": Need("nothing that is executed writes to memory", lambda gpu, used: used.of(*ACCESSES[1:]).any()),
    "writes_read": Need(
        "no store or atomic of global or local memory that holds a read barrier is executed",
        lambda gpu, used: (used.at(*BEYOND) & ~used.of(Operation.LOAD) & used.read_barriers).any(),
    ),
    "others_read": Need(
        "nothing but accesses to memory holds a read barrier",
        lambda gpu, used: (used.read_barriers & ~used.of(*ACCESSES if gpu.memory.kind == "hierarchy" else ())).any(),
    ),
    "sends": Need(
        "nothing that is executed writes to L2",
        lambda gpu, used: ((used.at(*BEYOND) & ~used.of(Operation.LOAD)) | (used.copies & used.says(1))).any(),
    ),
    "l2_stores": Need(NO_STORES, lambda gpu, used: (used.stores | (used.copies & used.says(1))).any()),
    "wide": Need(
        "no access of more than 32 bits per lane is executed",
        lambda gpu, used: (
            used.at(*BEYOND, Space.SHARED) & ((used.program.encoded.width[used.rows] > WORD) | used.has(int(Flag.ASYNC)))
        ).any(),
    ),
    "fences": Need("no fence of the whole GPU is executed", lambda gpu, used: used.has(int(Flag.DEVICE)).any()),
    "barriers": Need("no barrier of a block is executed", lambda gpu, used: "barrier" in used.units),
    "branches": Need(
        "no branch is executed", lambda gpu, used: ((used.program.encoded.unit[used.rows] == Unit.BRANCH) & ~used.of(Operation.EXIT)).any()
    ),
    "convergence": Need("no BSYNC is executed", lambda gpu, used: used.of(Operation.BSYNC).any()),
    "unit_constant": Need("no LDC is executed", lambda gpu, used: "constant" in used.units),
    "cached": Need("nothing that is executed goes through L1", lambda gpu, used: used.cached(gpu, Operation.LOAD, Operation.STORE)),
    "cached_loads": Need("no load that is executed goes through L1", lambda gpu, used: used.cached(gpu, Operation.LOAD)),
    "cached_stores": Need("no store that is executed goes through L1", lambda gpu, used: used.cached(gpu, Operation.STORE)),
    "l2": Need("nothing goes to L2", lambda gpu, used: used.moved(*L2_TRAFFIC)),
    "l2_reads": Need("nothing is read from L2", lambda gpu, used: (used.answers | (used.copies & ~used.says(1))).any()),
    "l2_start": Need("nothing goes to L2", lambda gpu, used: used.moved(*L2_TRAFFIC) or used.beyond_present or _far_code(gpu, used)),
    "atomics": Need("no atomic of global memory is executed", lambda gpu, used: (used.of(Operation.ATOM) & used.at(*BEYOND)).any()),
    "dram": Need("nothing goes to DRAM", lambda gpu, used: used.moved("dram_bytes_read", WRITTEN)),
    "dram_writes": Need("nothing is written to DRAM", lambda gpu, used: used.moved(WRITTEN)),
    "operands": Need(NO_CONSTANTS, lambda gpu, used: used.operands),
    "constants": Need(NO_CONSTANTS, lambda gpu, used: used.operands or used.loads_constants),
    "many_constants": Need("the constant caches have room for all that is named", _many_constants),
    "constant_loads": Need("no LDC is executed", lambda gpu, used: used.loads_constants),
    "lane_constants": Need("no LDC with an address from a register is executed", lambda gpu, used: used.lanes_of_constants),
    "far_constants": Need("neither code nor constants come from L2", lambda gpu, used: used.beyond_present or _far_code(gpu, used)),
    "far_code": Need("the SM's cache of code has it all", _far_code),
    "much_code": Need("the code fits in fetch.bytes", lambda gpu, used: used.code_bytes > gpu.fetch.bytes),
    "near_code": Need("the code fits in fetch.near_bytes", lambda gpu, used: used.code_bytes > gpu.fetch.near_bytes),
    "sms": Need("only one SM has a block", lambda gpu, used: used.blocks != 1 or gpu.blocks.policy != "emptiest"),
    "fits": Need("it says which launches are refused, and this one is not", lambda gpu, used: False),
    "shared_bytes": Need(
        "blocks take no shared memory", lambda gpu, used: used.shared or bool(gpu.l1 and gpu.l1.unified and used.cached(gpu, *ACCESSES[:2]))
    ),
    "wide_products": Need(
        "no IMAD.WIDE or IMAD.HI is executed",
        lambda gpu, used: (used.of(Operation.IMAD, Operation.IMAD_CARRY) & used.has(int(Flag.WIDE | Flag.HIGH))).any(),
    ),
    "blocks": Need("the launch has one block", lambda gpu, used: used.blocks != 1),
    "copies": Need("no bulk copy of bytes is executed", lambda gpu, used: (used.near | (used.copies & ~used.says(~1))).any()),
    "copied_in": Need("no bulk copy of bytes into shared memory is executed", lambda gpu, used: (used.copies & ~used.says(-1)).any()),
    "tiles": Need("no copy of a tile is executed", lambda gpu, used: (used.copies & used.says(~1)).any()),
    "mbarrier_looks": Need(
        "no look at an mbarrier is executed",
        lambda gpu, used: (used.of(Operation.MBARRIER) & (used.program.encoded.function[used.rows] == Mbarrier.CHECK)).any(),
    ),
    "clusters": Need(NO_CLUSTERS, lambda gpu, used: used.clusters is not False),
    "far": Need("nothing that is executed goes to shared memory of another block", lambda gpu, used: (used.far | used.near).any()),
    "far_waits": Need("no access to shared memory of another block is executed", lambda gpu, used: (used.far & ~used.counts).any()),
    "far_counts": Need(
        "nothing that counts at an mbarrier of another block is executed",
        lambda gpu, used: ((used.far & used.counts) | used.near).any(),
    ),
    "multicast": Need("no copy to several blocks is executed", lambda gpu, used: (used.copies & used.has(int(Flag.EVERY))).any()),
    "cluster_barriers": Need("no barrier of a cluster is executed", lambda gpu, used: used.of(Operation.CLUSTER_BARRIER).any()),
    "group_products": Need("no product of a warpgroup is executed", lambda gpu, used: used.of(*matrices.OF_WARPGROUP).any()),
    "shared_products": Need(
        "no product of a warpgroup with its left factor in shared memory is executed",
        lambda gpu, used: (used.of(*matrices.OF_WARPGROUP) & ~used.says(int(matrices.WarpgroupFlag.REGISTERS))).any(),
    ),
    "register_products": Need(
        "no product of a warpgroup with its left factor in registers is executed",
        lambda gpu, used: (used.of(*matrices.OF_WARPGROUP) & used.says(int(matrices.WarpgroupFlag.REGISTERS))).any(),
    ),
}
