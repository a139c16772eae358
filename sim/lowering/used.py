"""What one run executed and counted: which instructions, of which kinds, through which caches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from isa.program import Program
from isa.vocabulary import Flag, Mbarrier, Operation, Space, Unit
from sim.gpus.model import Gpu
from sim.lowering.accesses import ACCESS, is_cached
from sim.lowering.fetch import LINE as CODE_LINE
from sim.lowering.fetch import LINE_INSTRUCTIONS
from sim.lowering.listing import listing
from sim.lowering.ports import is_own_of_uniform
from sim.result.result import Result
from sim.result.words import Words

BEYOND = (Space.GLOBAL, Space.GENERIC, Space.LOCAL)
WORD = 4  # bytes


@dataclass(frozen=True)
class Used:
    """What one run executed and counted. executed: int64 [n instructions]; clusters: whether its blocks were in such, None = not known.

    Masks (`of`, `at`, `has`, ...) are bool [executed instructions], in the order of `rows`.
    """

    program: Program
    executed: np.ndarray
    words: Words
    counters: Mapping[str, float] = field(default_factory=dict)  # of a Result
    clusters: bool | None = None
    blocks: int = 0  # 0 = not known
    shared: int = 1  # bytes of shared memory that a block takes
    uniform: bool = False  # the GPU has a unit for uniform registers

    @cached_property
    def units(self) -> frozenset[str]:
        """Units that it needed."""
        return _names(self.unit[self.rows])

    @cached_property
    def held_units(self) -> frozenset[str]:
        """Units that tell when it issues: where control words may be rescheduled, those of all instructions."""
        every = _names(self.unit) | _names(self.program.encoded.unit)  # words are written by the unit of an opcode
        return every if self.words.kind in ("compiler", "scheduled") else self.units

    @cached_property
    def unit(self) -> np.ndarray:
        """Unit that each instruction of the program needs, int64 [n instructions]."""
        own = [self.uniform and is_own_of_uniform(self.program, i) for i in range(len(self.program))]
        return np.where(own, int(Unit.UNIFORM), self.program.encoded.unit)

    @cached_property
    def rows(self) -> np.ndarray:
        """Instructions that were executed."""
        return np.flatnonzero(self.executed > 0)

    def of(self, *operations: Operation) -> np.ndarray:
        """Return which instructions are of these operations."""
        return np.isin(self.program.encoded.operation[self.rows], operations)

    def at(self, *spaces: Space) -> np.ndarray:
        """Return which instructions access these spaces."""
        return self.of(*ACCESS) & np.isin(self.program.encoded.space[self.rows], spaces)

    def has(self, flag: int) -> np.ndarray:
        """Return which instructions have one of these flags."""
        found: np.ndarray = self.program.encoded.flags[self.rows] & flag != 0
        return found

    def function_has(self, bits: int) -> np.ndarray:
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
        return self.of(Operation.BULK_COPY) & ~self.between_blocks

    @cached_property
    def reductions(self) -> np.ndarray:
        """Bulk copies and tiles that the atomic units of L2 reduce."""
        return self.copies & (self.program.encoded.combine[self.rows] != 0)

    @cached_property
    def between_blocks(self) -> np.ndarray:
        """Copies from shared memory of one block to that of another."""
        return self.of(Operation.BULK_COPY) & self.has(int(Flag.CLUSTER)) & ~self.function_has(-1)

    @cached_property
    def far(self) -> np.ndarray:
        """Accesses that may go to shared memory of another block."""
        return self.of(*ACCESS) & self.has(int(Flag.CLUSTER))

    @property
    def is_wide(self) -> np.ndarray:
        """Instructions that access more than 32 bits per lane."""
        found: np.ndarray = self.program.encoded.width[self.rows] > WORD
        return found

    @property
    def mbarrier_uses(self) -> np.ndarray:
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
        """Instructions with a counter that they hold until they have read their sources; all, where there are no control words."""
        control = self.program.control
        return np.ones(len(self.rows), bool) if control is None else control.read_barrier[self.rows] >= 0

    @cached_property
    def operands(self) -> bool:
        """Whether an instruction waits for an operand from the constant caches."""
        lines = listing(self.program).constants
        return bool(((lines.line >= 0) & ~lines.late)[self.rows].any())

    @cached_property
    def loads_constants(self) -> bool:
        """Whether an LDC was executed."""
        lines = listing(self.program).constants
        return bool(((lines.line >= 0) & lines.late)[self.rows].any())

    @cached_property
    def lanes_of_constants(self) -> bool:
        """Whether an LDC was executed with an address from a register."""
        lines = listing(self.program).constants
        return bool((lines.lanes & lines.late)[self.rows].any())

    @cached_property
    def beyond_present(self) -> bool:
        """Whether constants are named that do not come with the launch."""
        lines = listing(self.program).constants
        return bool((lines.line >= lines.present)[self.rows].any())

    @cached_property
    def loads_far_constants(self) -> bool:
        """Whether an LDC was executed that names such constants."""
        lines = listing(self.program).constants
        return bool((lines.late & (lines.line >= lines.present))[self.rows].any())

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
        "uniform" in result.gpu.units,
    )
