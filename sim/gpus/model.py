"""The validated GPU: what a preset TOML may say, with units, ranges and meanings. Immutable; `replace` gives a variant.

Cycles are ALU-clock cycles: the hot (shader) clock where a GPU has one, else the SM clock.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainSerializer, ValidationError, WrapValidator, model_validator

from isa.errors import UserError
from isa.vocabulary import Unit
from sim.gpus.checks import LATENCY_ELSEWHERE, problems
from sim.gpus.fields import leaves, meaning, nearest, user_error
from sim.gpus.memory_sections import L1, L2, Dram, Interconnect, LoadStore, SharedMemory
from sim.gpus.section import Count, Positive, Section
from sim.scoring import own_policy

SET_BY_USER = "set by the user"  # how the source of a replaced number begins


class Clock(Section):
    alu_mhz: Annotated[float, Field(gt=0)] = Field(description="ALU clock, MHz; every cycle of a result is one of these")
    core_mhz: Annotated[float, Field(gt=0)] | None = Field(None, description="scheduler clock where it differs (G80 to Fermi), MHz")


class Core(Section):
    kind: Literal["scoreboard", "control"] = Field(
        "scoreboard",
        description="who tracks dependences; listings without control words, or with another GPU's, always run on 'scoreboard'",
    )
    schedulers: Annotated[int, Field(ge=1, le=8)] = Field(description="warp schedulers per SM; warp slot w belongs to scheduler w mod this")
    issue_width: Annotated[int, Field(ge=1, le=2)] = Field(1, description="instructions of one warp that a scheduler may issue together")
    issue_interval: Annotated[int, Field(ge=1, le=32)] = Field(1, description="cycles between two issues of one scheduler")
    dispatch: Literal["pipe", "scheduler"] = Field(
        "pipe", description="what an instruction on a narrow pipe holds while its lanes go in: the pipe's port, or the whole scheduler"
    )
    policy: Annotated[
        Literal["lrr", "gto", "gty", "gtr", "oldest", "two_level"], WrapValidator(own_policy), PlainSerializer(lambda policy: policy)
    ] = Field("gto", description="how a scheduler chooses among ready warps; in Python also a function of yours")
    group_size: Annotated[int, Field(ge=1, le=64)] = Field(8, description="warps per fetch group of the two_level policy")
    wake_rule: Literal["per_register", "all_outstanding"] = Field(
        "per_register", description="when a warp that waits for a result goes on; loads are not among the outstanding"
    )
    in_flight_cap: Annotated[int, Field(ge=0, le=64)] = Field(
        0, description="instructions of arithmetic with results outstanding per warp; 0 = no cap"
    )
    reissue_distance: Annotated[int, Field(ge=1, le=64)] = Field(1, description="smallest distance between two issues of one warp, cycles")
    branch_latency: Annotated[int, Field(ge=1, le=1000)] = Field(
        1, description="cycles from a branch to the warp's next issue; where control words are obeyed, from a branch that is taken"
    )
    sync_latency: Annotated[int, Field(ge=0, le=1000)] = Field(
        0, description="cycles more from a BSYNC to the warp's next issue: whether its lanes are all there is found out"
    )
    register_banks: Annotated[int, Field(ge=0, le=4)] = Field(
        0, description="register banks per scheduler, one read port each, where control words are obeyed; 0 = reads never conflict"
    )
    read_window: Annotated[int, Field(ge=1, le=16)] = Field(
        3, description="cycles in which an instruction must read all its registers; until it can, it waits and holds the scheduler"
    )
    source_read: Annotated[int, Field(ge=1, le=1000)] = Field(
        3, description="cycles until an instruction that needs a read barrier, and is neither memory access nor LDC, has read its sources"
    )
    barrier_latency: Annotated[int, Field(ge=1, le=1000)] = Field(
        1, description="cycles from the last arrival at a barrier to a warp's next issue"
    )


class Pipe(Section):
    """An issue port with lanes behind it. A warp instruction holds it ceil(32 / lanes) cycles."""

    lanes: Annotated[int, Field(ge=1, le=32)] = Field(description="lanes that take one warp instruction's threads per cycle")
    count: Annotated[int, Field(ge=1, le=8)] = Field(1, description="identical ports, each `lanes` wide; the first that is free is taken")
    within: str | None = Field(None, description="the pipe whose last port this one is: then both have the same lanes and owner")
    owner: Literal["scheduler", "sm"] = Field("scheduler", description="one set per scheduler, or one shared by the SM")

    @property
    def hold(self) -> int:
        """Cycles that one warp instruction holds a port."""
        return math.ceil(32 / self.lanes)


class UnitTiming(Section):
    pipe: str = Field(description="name of the pipe that serves the unit")
    latency: Annotated[int, Field(ge=1, le=100000)] | None = Field(
        None, description="cycles from issue to the issue of a dependent instruction; of memory, branches and barriers other sections tell"
    )


class Blocks(Section):
    start_interval: Annotated[float, Field(ge=0)] = Field(
        default=0, description="cycles between two block starts, whole chip; 0 = no limit"
    )
    start_latency: Count = Field(default=0, description="cycles from a block's start to its warps' first issue")
    retire_latency: Count = Field(default=0, description="cycles from a block's last warp's end to its place being free")
    awaits_stores: bool = Field(default=False, description="a block keeps its place until L2 has answered its stores")
    launch_overhead: Count = Field(default=0, description="cycles added to elapsed_cycles for the kernel launch")


class Fetch(Section):
    """Instruction caches of an SM, empty when a kernel starts; lines that follow are fetched ahead."""

    first: Count = Field(default=0, description="cycles that the first instruction of an SM takes to come, beside the start of its block")
    jump: Count = Field(default=0, description="cycles that a jump takes more to 128 bytes of code which the SM has not fetched yet")


class Constants(Section):
    """Constant caches of an SM, empty when a kernel starts (sim/constants.py)."""

    near: Count = Field(default=0, description="cycles until a line of 64 bytes comes from the level behind")
    far: Count = Field(default=0, description="cycles more where that level has to ask L2: once in 256 bytes")
    cold: Count = Field(default=0, description="cycles more where L2 starts cold and DRAM is asked, for each SM")


class Limits(Section):
    """Per-SM residency limits (the rules are in occupancy.py)."""

    warps: Annotated[int, Field(ge=1, le=64)] = Field(description="resident warps per SM")
    blocks: Positive = Field(description="resident blocks per SM")
    threads_per_block: Positive = Field(description="threads in one block")
    registers: Positive = Field(description="32-bit registers per SM")
    registers_per_block: Positive | None = Field(None, description="registers a block may use, when not the whole file")
    registers_per_thread: Positive = Field(description="registers an instruction can name")
    register_unit: Positive = Field(description="registers per allocation unit")
    register_unit_exceptions: dict[int, int] = Field(default_factory=dict, description="registers per thread -> unit (Fermi)")
    register_scope: Literal["block", "warp"] = Field(description="what is rounded up to a unit")
    warp_granularity: Positive = Field(1, description="warps per block are rounded up to this for registers and warps")
    sub_partitions: Positive = Field(description="parts of the register file; a warp's registers lie in one")
    launch_partitions: Positive | None = Field(None, description="a block must also fit a register file of this many parts (CC 6.0)")
    shared_bytes: Positive = Field(description="shared memory per SM, bytes, at the largest carve-out")
    shared_per_block: Positive = Field(description="bytes a block may use (opt-in maximum)")
    shared_unit: Positive = Field(description="bytes per allocation unit")
    shared_reserved: Count = Field(0, description="bytes the system takes per block")
    shared_carveouts: tuple[int, ...] = Field((), description="sizes the driver may choose, bytes")


class Memory(Section):
    """How long memory takes: a fixed time per space, or what the load/store unit, caches and DRAM make of each access."""

    kind: Literal["fixed", "hierarchy"] = Field(
        "hierarchy",
        description="the same latency for every access, or the machine of [lsu], [shared], [l1], [interconnect], [l2] and [dram]",
    )
    global_load: Positive | None = Field(None, description="fixed: cycles from a global load's issue to its dependent's")
    global_store: Positive = Field(1, description="fixed: cycles a store holds up the end of its warp")
    shared_load: Positive = Field(description="cycles from a shared load's issue to its dependent's, without conflicts")
    constant_load: Positive = Field(
        description="cycles from an LDC's issue to its dependent's, and until its address register may be overwritten (read barrier)"
    )


class Source(Section):
    kind: Literal["measured", "vendor", "paper", "definition", "derived", "inferred", "fitted", "assumed"]
    text: str = Field(description="where the number comes from; for fitted, to what")


class Gpu(Section):
    """One GPU. Every number's source is in `source`, keyed by its dotted name or a section's."""

    name: str = Field(description="the product")
    chip: str = Field(description="the vendor's name of the chip")
    compute_capability: Annotated[str, Field(pattern=r"^\d+\.\d+$")] = Field(description="major.minor")
    sms: Annotated[int, Field(ge=1, le=16384)] = Field(description="streaming multiprocessors")
    clock: Clock
    core: Core
    pipes: dict[str, Pipe]
    units: dict[str, UnitTiming] = Field(description="isa.vocabulary.Unit name in lower case -> pipe and latency")
    memory: Memory
    lsu: LoadStore = LoadStore()
    shared: SharedMemory = SharedMemory()
    blocks: Blocks = Blocks()
    fetch: Fetch = Fetch()
    constants: Constants = Constants()
    limits: Limits
    l1: L1 | None = None
    interconnect: Interconnect = Interconnect()
    l2: L2 | None = None
    dram: Dram
    source: dict[str, Source]
    note: str = Field("", description="what a reader must know before trusting a number")

    @property
    def architecture(self) -> str:
        """Return the architecture that listings for this GPU name, such as "sm_90"."""
        return f"sm_{self.compute_capability.replace('.', '')}"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if found := list(problems(self)):
            raise ValueError("; ".join(found))
        return self

    @classmethod
    def from_table(cls, table: Mapping[str, Any], path: str = "") -> Self:
        """Return the GPU that a TOML table describes. Raises UserError naming the field, its meaning and legal values."""
        try:
            return cls.model_validate(table)
        except ValidationError as error:
            raise user_error(error, cls, table, path) from None

    def replace(self, overrides: Mapping[str, Any]) -> Self:
        """Return a validated copy with fields changed by dotted name: `{"dram.latency": 300, "core.schedulers": 2}`.

        The copy's `source` says which numbers were changed. Raises UserError for an unknown name or an illegal value.
        """
        table, known = self.model_dump(), set(self.names())
        for name, value in overrides.items():
            if name not in known:
                raise self._unknown(name)
            *sections, leaf = name.split(".")
            place = table
            for section in sections:
                if place[section] is None:  # an absent optional section, such as l1
                    place[section] = {}
                place = place[section]
            before, place[leaf] = place.get(leaf), value
            table["source"][name] = {"kind": "definition", "text": f"{SET_BY_USER}; {self.name} has {before}"}
        return self.from_table(table)

    def names(self) -> Iterator[str]:
        """Yield the dotted name of every field that `replace` takes."""
        table = {"pipes": self.pipes, "units": self.units}
        return (name for name in leaves(type(self), table) if not name.startswith("source"))

    def source_of(self, name: str) -> Source | None:
        """Return where the field `name` comes from: its own entry, else its section's."""
        parts = name.split(".")
        found = (self.source.get(".".join(parts[:count])) for count in range(len(parts), 0, -1))
        return next((source for source in found if source), None)

    def latency(self, unit: Unit) -> int:
        """Return the cycles from issue to a dependent's issue, missing every cache, on average; to a warp's next for branches."""
        name = unit.name.lower()
        if name in ("global", "local") and self.memory.global_load is None:
            far = self.l2.far / 2 if self.l2 else 0  # half of what an SM loads is kept by the other part of L2
            return round(self.dram.latency + far + self.dram.late_share * self.dram.late / 2)
        if name not in self.units:
            return 1
        section, *_, field = self.latency_field(unit).split(".")
        return int(getattr(getattr(self, section), field)) if section != "units" else self.units[name].latency or 1

    def latency_field(self, unit: Unit) -> str:
        """Return the name of the field that tells `latency`."""
        name = unit.name.lower()
        if name in ("global", "local") and self.memory.global_load is None:
            return "dram.latency"
        return LATENCY_ELSEWHERE.get(name, f"units.{name}.latency")

    def lanes(self, unit: Unit) -> int:
        """Return the lanes per SM of the unit's pipe: threads it takes per cycle, if issue keeps up."""
        pipe = self.pipes[self.units[unit.name.lower()].pipe]
        return pipe.lanes * pipe.count * (self.core.schedulers if pipe.owner == "scheduler" else 1)

    @property
    def peak_fp32_flops(self) -> float:
        """Peak FP32 rate of the chip, flop/s; a fused multiply-add counts two."""
        return 2.0 * self.lanes(Unit.FP32) * self.sms * self.clock.alu_mhz * 1e6

    @property
    def dram_bytes_per_cycle(self) -> float:
        """Pin bandwidth, bytes per ALU cycle and SM."""
        return self.dram.bandwidth * 1e3 / self.clock.alu_mhz / self.sms

    def _unknown(self, name: str) -> UserError:
        inside = [known for known in self.names() if known.startswith(name + ".")]
        if inside:
            return UserError(f"'{name}' is a section of {self.name}, not a field; its fields: {', '.join(inside)}")
        near = nearest(name, self.names())
        sections = dict.fromkeys(known.split(".")[0] for known in self.names())
        hint = f"did you mean {near}? {meaning(type(self), near)}" if near else f"fields and sections: {', '.join(sections)}"
        return UserError(f"{self.name} has no field '{name}'; {hint}")
