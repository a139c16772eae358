"""The validated GPU: what a preset TOML may say, with units, ranges and meanings. Immutable; `replace` gives a variant.

Cycles are cycles of `clock.core_mhz`: of the hot (shader) clock where a GPU has one, else the SM's. What belongs to another clock is
rescaled when one of them changes (`clocks.py`).
"""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from isa.errors import UserError
from isa.vocabulary import Unit
from sim.gpus.checks import LATENCY_ELSEWHERE, problems
from sim.gpus.clocks import SET_BY_USER, renamed, rescaled, unknown_clock
from sim.gpus.fields import meaning, names, nearest, user_error
from sim.gpus.front_sections import Blocks, Clusters, Constants, Fetch, Limits, WarpGroup
from sim.gpus.memory_sections import L1, L2, Dram, Interconnect, LoadStore, Memory, SharedMemory
from sim.gpus.section import Count, Section, Table, needs
from sim.policies.user import AnyPolicy

SAME = f"{SET_BY_USER} to what it was"
OPTIONAL, ABSENT = ("l1", "l2"), (None, False, "none")  # sections that a GPU may lack, and what takes one away


class Clock(Section):
    model_config = needs(slices="l2_mhz", refreshed="dram_mhz", tensor="tensor_mhz")

    core_mhz: Annotated[float, Field(gt=0)] = Field(
        description="clock of the SM, MHz, its hot (ALU) clock where it has one; every cycle of a result is one of these"
    )
    tensor_mhz: Annotated[float, Field(gt=0)] | None = Field(
        None, description="clock of the SM at most while tensor cores work, MHz: of launches that execute products of matrices"
    )
    scheduler_mhz: Annotated[float, Field(gt=0)] | None = Field(None, description="scheduler clock where it differs (G80 to Fermi), MHz")
    l2_mhz: Annotated[float, Field(gt=0)] | None = Field(
        None, description="clock of L2 and the network, MHz; without it they go with the core"
    )
    dram_mhz: Annotated[float, Field(gt=0)] | None = Field(
        None, description="clock of DRAM, MHz; without it its latency goes with the core"
    )


class Core(Section):
    model_config = needs(
        branches="branch_latency", brx="indirect_latency", convergence="sync_latency", barriers="barrier_latency", others_read="source_read"
    )

    kind: Literal["scoreboard", "control"] = Field(
        "scoreboard",
        description="who tracks dependences; listings without control words, or with another GPU's, always run on 'scoreboard'",
    )
    schedulers: Annotated[int, Field(ge=1, le=32)] = Field(
        description="warp schedulers per SM; warp slot w belongs to scheduler w mod this"
    )
    issue_width: Annotated[int, Field(ge=1, le=4)] = Field(1, description="instructions of one warp that a scheduler may issue together")
    issue_interval: Annotated[int, Field(ge=1, le=32)] = Field(
        1, description="cycles between two issues of one scheduler, which has one turn in a cycle: issue_width says how many go together"
    )
    dispatch: Literal["pipe", "scheduler"] = Field(
        "pipe", description="what an instruction on a narrow pipe holds while its lanes go in: the pipe's port, or the whole scheduler"
    )
    warp_size: Literal[16, 32] = Field(
        32, description="threads of a warp; not 64: masks of lanes have 32 bits, in what is executed, in traces and in both engines"
    )
    policy: AnyPolicy = Field("gto", description="how a scheduler chooses among ready warps; in Python also a function or class of yours")
    group_size: Annotated[int, Field(ge=1, le=64)] = Field(8, description="warps in a group of two_level, in the set of two_level_active")
    policy_seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = Field(0, description="of the numbers that the random policy draws")
    wake_rule: Literal["per_register", "all_outstanding"] = Field(
        "per_register", description="when a warp that waits for a result goes on; loads are not among the outstanding"
    )
    in_flight_cap: Annotated[int, Field(ge=0, le=64)] = Field(
        0, description="instructions of arithmetic with results outstanding per warp; 0 = no cap"
    )
    reissue_distance: Annotated[int, Field(ge=1, le=64)] = Field(
        1, description="smallest distance between two issues of one warp, cycles; a scheduler has one turn in a cycle"
    )
    exit_latency: Count = Field(default=0, description="cycles that a warp needs to end after its last issue, if nothing else keeps it")
    branch_latency: Annotated[int, Field(ge=0, le=1000)] = Field(
        1,
        description="cycles from a branch to the warp's next issue; where control words are obeyed, from a branch that is taken; "
        "0 = issue width allowing, in the same cycle",
    )
    indirect_latency: Annotated[int, Field(ge=0, le=1000)] = Field(0, description="cycles more of a branch taken to where a register says")
    sync_latency: Annotated[int, Field(ge=0, le=1000)] = Field(
        0, description="cycles more from a BSYNC to the warp's next issue: whether its lanes are all there is found out"
    )
    register_banks: Annotated[int, Field(ge=0, le=4)] = Field(
        0, description="register banks per scheduler, one read port each, where control words are obeyed; 0 = reads never conflict"
    )
    read_window: Annotated[int, Field(ge=1, le=16)] = Field(
        3, description="cycles in which an instruction must read all its registers; until it can, it waits and holds the scheduler"
    )
    source_read: Annotated[int, Field(ge=0, le=1000)] = Field(
        3, description="cycles until an instruction that needs a read barrier, and is neither memory access nor LDC, has read its sources"
    )
    barrier_latency: Annotated[int, Field(ge=1, le=1000)] = Field(
        1, description="cycles from the last arrival at a barrier to a warp's next issue; other schedulers have had this cycle's turn"
    )


class Pipe(Section):
    """An issue port with lanes behind it. A warp instruction holds it ceil(threads of a warp / lanes) cycles (`Gpu.hold`)."""

    lanes: Annotated[int, Field(ge=1, le=32)] = Field(description="lanes that take one warp instruction's threads per cycle")
    count: Annotated[int, Field(ge=1, le=8)] = Field(1, description="identical ports, each `lanes` wide; the first that is free is taken")
    within: str | None = Field(None, description="the pipe whose last port this one is: then both have the same lanes and owner")
    owner: Literal["scheduler", "sm"] = Field("scheduler", description="one set per scheduler, or one shared by the SM")


class UnitTiming(Section):
    model_config = needs(wide_products="wide_passes")

    pipe: str = Field(description="name of the pipe that serves the unit")
    latency: Annotated[int, Field(ge=0, le=100000)] | None = Field(
        None,
        description="cycles from issue to the issue of a dependent instruction; of memory, branches and barriers other sections tell; "
        "0 = issue width allowing, in the same cycle",
    )
    passes: Annotated[int, Field(ge=1, le=1024)] = Field(1, description="times that an instruction goes through the pipe")
    wide_passes: Annotated[int, Field(ge=1, le=8)] = Field(
        1,
        description="times that IMAD.WIDE and IMAD.HI go through the pipe while the scheduler stands still; stall counts begin at the last",
    )
    reads: Annotated[int, Field(ge=1, le=64)] = Field(1, description="cycles for which it takes all read ports of its register banks")


class Source(Table):
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
    warpgroup: WarpGroup | None = None
    clusters: Clusters | None = None
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
            clock = table.get("clock")
            return cls.model_validate({**table, "clock": renamed(clock)} if isinstance(clock, Mapping) else table)
        except ValidationError as error:
            raise user_error(error, cls, table, path) from None

    def replace(self, overrides: Mapping[str, Any]) -> Self:
        """Return a validated copy with fields changed by dotted name: `{"dram.latency": 300, "core.schedulers": 2}`.

        The copy's `source` says which numbers were changed. Another clock also changes what its latencies and rates are in core cycles
        (`sim.gpus.clocks`), before the other overrides. "none" unsets a number that may be absent; `{"l1": "none"}` takes a cache away.
        Raises UserError for an unknown name or an illegal value.
        """
        table, known = self.model_dump(), {*self.names(), *OPTIONAL}
        clocks = renamed({name.removeprefix("clock."): value for name, value in overrides.items() if name.startswith("clock.")})
        overrides = {f"clock.{name}": value for name, value in clocks.items()} | {
            name: value for name, value in overrides.items() if not name.startswith("clock.")
        }
        if wrong := unknown_clock(table["clock"], clocks):
            raise wrong
        for name, value in rescaled(type(self), table, clocks).items():
            section, leaf = name.split(".")
            table["source"][name] = {"kind": "derived", "text": f"{table[section][leaf]:g} in {self.name}, at the clocks set now"}
            table[section][leaf] = value
        for name, value in overrides.items():
            if name not in known:
                raise self._unknown(name)
            if name in OPTIONAL and value in ABSENT:
                table[name], table["source"] = None, {of: text for of, text in table["source"].items() if of.split(".")[0] != name}
                table["source"][name] = {"kind": "definition", "text": f"{SET_BY_USER}: none; {self.name} has one"}
                continue
            *sections, leaf = name.split(".")
            place = table
            for section in sections:
                if place[section] is None:  # an absent optional section, such as l1
                    place[section] = {}
                place = place[section]
            before, place[leaf] = place.get(leaf), None if value == "none" else value
            if not _is_same(place[leaf], before):
                text = f"{SET_BY_USER}; {self.name} has {'none' if before is None else before}"
                table["source"][name] = {"kind": "definition", "text": text}
            elif not ((source := self.source.get(name)) and source.text.startswith(SET_BY_USER)):
                table["source"][name] = {"kind": "definition", "text": SAME}
        return self.from_table(table)

    def names(self) -> Iterator[str]:
        """Yield the dotted name of every field that `replace` takes."""
        return iter(names(type(self), tuple(self.pipes), tuple(self.units)))

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
            return round(self.dram.latency + far + self.dram.refresh**2 / self.dram.refresh_interval / 2)
        if name not in self.units:
            return 1
        section, *_, field = self.latency_field(unit).split(".")
        own = self.units[name].latency
        return int(getattr(getattr(self, section), field)) if section != "units" else 1 if own is None else own

    def latency_field(self, unit: Unit) -> str:
        """Return the name of the field that tells `latency`."""
        name = unit.name.lower()
        if name in ("global", "local") and self.memory.global_load is None:
            return "dram.latency"
        return LATENCY_ELSEWHERE.get(name, f"units.{name}.latency")

    def serving(self, unit: Unit) -> UnitTiming:
        """Return the pipe and the latency of a unit. Raises UserError for a product of matrices for which the GPU has no numbers."""
        if unit.name.lower() not in self.units:
            message = f"{self.name} has no numbers for products of matrices of this kind: its description lacks units.{unit.name.lower()}"
            raise UserError(message, hint="h100 and h200 have measured ones; or add the unit to a file of your own")
        return self.units[unit.name.lower()]

    def hold(self, pipe: str) -> int:
        """Return the cycles that one warp instruction holds a port of the pipe."""
        return math.ceil(self.core.warp_size / self.pipes[pipe].lanes)

    def lanes(self, unit: Unit) -> int:
        """Return the lanes per SM of the unit's pipe: threads it takes per cycle, if issue keeps up."""
        pipe = self.pipes[self.serving(unit).pipe]
        return min(pipe.lanes, self.core.warp_size) * pipe.count * (self.core.schedulers if pipe.owner == "scheduler" else 1)

    @property
    def launch_cycles(self) -> int:
        """Core cycles that a kernel launch adds to elapsed_cycles."""
        return self.blocks.launch_overhead + round(self.blocks.launch_us * self.clock.core_mhz)

    @property
    def peak_fp32_flops(self) -> float:
        """Peak FP32 rate of the chip, flop/s; a fused multiply-add counts two."""
        return 2.0 * self.lanes(Unit.FP32) * self.sms * self.clock.core_mhz * 1e6

    @property
    def dram_bytes_per_cycle(self) -> float:
        """Pin bandwidth, bytes per ALU cycle and SM."""
        return self.dram.bandwidth * 1e3 / self.clock.core_mhz / self.sms

    def _unknown(self, name: str) -> UserError:
        inside = [known for known in self.names() if known.startswith(name + ".")]
        if inside:
            return UserError(f"'{name}' is a section of {self.name}, not a field; its fields: {', '.join(inside)}")
        section, _, last = name.rpartition(".")
        beside = [known for known in self.names() if section and known.startswith(f"{section}.")]
        near = nearest(name, [known for known in self.names() if not beside or known in beside or known.endswith(f".{last}")])
        if beside and not near:
            return UserError(f"{self.name} has no field '{name}'; its section has: {', '.join(beside)}")
        sections = dict.fromkeys(known.split(".")[0] for known in self.names())
        hint = (
            f"did you mean {near}? {meaning(type(self), near)}"
            if near
            else f"fields and sections: {', '.join(sections)}; all fields: `simtlab gpus show NAME`"
        )
        return UserError(f"{self.name} has no field '{name}'; {hint}")


def _is_same(value: Any, before: Any) -> bool:
    """Return whether a value is that of before; a list is the tuple that a preset holds."""
    return bool((tuple(value) if isinstance(value, list) else value) == (tuple(before) if isinstance(before, list) else before))
