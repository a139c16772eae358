"""Which instructions depend on stall counts, and how far apart they must issue: `sim/gpus/families/latencies.toml`, read and asked."""

import functools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

from isa.architecture import NAME, number
from isa.errors import UserError
from isa.opcodes import lookup
from isa.program import Program
from isa.vocabulary import (
    BARRIER_BASE,
    CARRY,
    PREDICATE_BASE,
    PT,
    UNIFORM_BASE,
    UNIFORM_PREDICATE_BASE,
    UP0,
    Kind,
    Unit,
)

FILES = ("register", "predicate", "carry", "uniform", "uniform_predicate", "overwrite")
QUEUES = {
    Unit.MUFU: "mufu",
    Unit.CONVERT: "mufu",
    Unit.FP64: "double",
    Unit.SHARED: "shared",
    Unit.GLOBAL: "global",
    Unit.LOCAL: "local",
    Unit.CONSTANT: "constant",
    Unit.SPECIAL: "special",
}


MOST_STALL = 15  # cycles that a stall count can say


@dataclass(frozen=True)
class Latencies:
    """What is known of one family of architectures."""

    family: str
    source: str
    tables: dict[str, dict[str, dict[str, int]]]  # file -> producer -> consumer -> cycles between their issues
    variable: frozenset[str]  # classes whose results a dependence counter announces
    in_order: frozenset[str]  # pipes whose results come in order
    least: dict[str, int]  # the least stall count of some opcodes
    pace: dict[str, int]  # class or queue -> cycles for which an instruction holds its pipe

    @functools.cached_property
    def longest(self) -> int:
        """The largest distance that anything needs, cycles."""
        return max(self._distances())

    @functools.cached_property
    def careful(self) -> int:
        """The largest distance that one stall count can say, cycles: what needs more is known by name."""
        return max(cycles for cycles in self._distances() if cycles <= MOST_STALL)

    def _distances(self) -> Iterator[int]:
        return (cycles for file in self.tables.values() for row in file.values() for cycles in row.values())


def of(architecture: str) -> Latencies:
    """Return the latencies of an architecture such as "sm_90". Raises UserError for one that has none."""
    numbers = _families()
    found = number(architecture) if NAME.fullmatch(architecture) else 0
    if found not in numbers:
        known = f"latencies are known for {', '.join(f'sm_{each}' for each in sorted(numbers))}"
        if not architecture:
            raise UserError("the listing names no architecture", hint=f"write .target sm_90 in it; {known}")
        raise UserError(f"no latencies are known for architecture {architecture}", hint=known)
    return numbers[found]


class Classes:
    """The classes of a program's instructions, as producers and consumers."""

    def __init__(self, program: Program) -> None:
        self.encoded = program.encoded
        era = "volta" if number(program.architecture) >= 70 else "before_volta"
        self.names = [class_of(each.opcode, era, int(unit)) for each, unit in zip(program.instructions, program.encoded.unit, strict=True)]
        self.wide = [name == "wide" for name in self.names]

    def produced(self, i: int, dependence: int) -> str:
        """Return what instruction i is as the producer of a dependence: the words of IMAD.WIDE come one after the other."""
        if not self.wide[i] or dependence >= PREDICATE_BASE:
            return "fma" if self.wide[i] else self.names[i]
        is_pair = self.encoded.destination_count[i] == 2
        return "wide_low" if is_pair and dependence == self.encoded.destination[i] else "wide_high"

    def consumed(self, i: int, dependence: int) -> str:
        """Return what instruction i is as the consumer of a dependence: its guard, or its unit, or a word of the addend of IMAD.WIDE."""
        if dependence == guard(self.encoded.guard[i]):
            return "branch" if self.names[i] == "branch" and dependence >= UNIFORM_PREDICATE_BASE else "guard"
        if not self.wide[i] or dependence >= PREDICATE_BASE:
            return self.names[i]
        kind, value = self.encoded.source_kind[i], self.encoded.source_value[i]
        if dependence in [value[slot] for slot in (0, 1) if kind[slot] == Kind.REGISTER]:
            return "wide"
        return "addend_low" if dependence == value[2] else "addend_high"

    def queue(self, i: int) -> str:
        """Return through which pipe a result of variable latency comes back; SHFL's is shared memory's, conversions' that of MUFU."""
        return QUEUES.get(Unit(int(self.encoded.unit[i])), "other")

    def pipe(self, i: int) -> str:
        """Return which pipe takes instruction i: its class, or the queue of an access."""
        return self.queue(i) if self.names[i] in ("memory", "decoupled") else self.names[i]

    def port(self, i: int) -> str:
        """Return where the sources of an access of variable latency are taken: all of memory has one port, the other units have theirs."""
        return "memory" if self.names[i] == "memory" else self.queue(i)


@functools.cache
def class_of(opcode: str, era: str, unit: int) -> str:
    """Return the class of a spelling: by its name with one modifier, by its name, or by its unit; what differs in its era counts first.

    unit: of the instruction; that of a product of matrices goes by shape and types.
    """
    table = _table()["classes"]
    opcodes = table["opcodes"] | table.get(era, {})
    name, *modifiers = opcode.split(".")
    for spelling in (*(f"{name}.{modifier}" for modifier in modifiers), name):
        if spelling in opcodes:
            return str(opcodes[spelling])
    if name.startswith("U"):
        return "uniform"
    return str(table["units"][Unit(unit).name]) if lookup(name, era) else "none"


def file_of(dependence: int) -> str:
    """Return the register file of a dependence; "" for convergence barriers."""
    if dependence >= UNIFORM_PREDICATE_BASE:
        return "uniform_predicate"
    if dependence >= UNIFORM_BASE:
        return "uniform"
    if dependence >= BARRIER_BASE:
        return ""
    return "carry" if dependence == CARRY else "predicate" if dependence >= PREDICATE_BASE else "register"


def guard(predicate: int) -> int:
    """Return the dependence that a guard is, -1 for none."""
    if predicate == PT:
        return -1
    return int(predicate) + (PREDICATE_BASE if predicate < PT else UNIFORM_PREDICATE_BASE - UP0)


@functools.cache
def _table() -> dict[str, Any]:
    return tomllib.loads(resources.files("sim.gpus").joinpath("families/latencies.toml").read_text("utf-8"))


@functools.cache
def _families() -> dict[int, Latencies]:
    table = _table()
    return {each: _family(name) for name, rows in table.items() if name != "classes" for each in rows["architectures"]}


@functools.cache
def _family(name: str) -> Latencies:
    rows = _table()[name]
    base = _family(rows["like"]) if "like" in rows else None
    tables = {file: (base.tables[file] if base else {}) | rows.get(file, {}) for file in FILES}
    return Latencies(
        family=name,
        source=rows["source"],
        tables=tables,
        variable=frozenset(rows["variable"]) if "variable" in rows else base.variable if base else frozenset(),
        in_order=frozenset(rows["in_order"]) if "in_order" in rows else base.in_order if base else frozenset(),
        least=rows.get("least", base.least if base else {}),
        pace=rows.get("pace", base.pace if base else {}),
    )
