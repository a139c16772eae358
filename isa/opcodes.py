"""The opcode table: loads `opcodes.toml`, checks every name in it, and decodes spellings such as `ISETP.GE.U32.AND`."""

import functools
import itertools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple

from isa.opcode_fields import FIELDS
from isa.refused import refusal
from isa.vocabulary import Flag, Operation, Part, Space, Unit

WORDS = {*"abcr0HhADiKnmoxSLBGg", "Rd", "Pd", "Pq", "Pa", "Pb", "Pc", "PT", "PR"}
KEYS = {
    "operation",
    "unit",
    "operands",
    "modifiers",
    "required",
    "flags",
    "space",
    "width",
    "numbers",
    "signs",
    "absent",
    "parts",
    "defaults",
    "subtracts",
    "like",
}
NUMBER_FORMS = ("integer", "float", "bits", "double", "half")
PARTS = {part.name: part for part in Part if part} | {"H0_H0": Part.H0, "H1_H1": Part.H1}
PARTS |= dict.fromkeys(("F32x2", "SIGN", "ROW", "COL"), Part.NONE)
LAYOUTS = {"ROW": 0, "COL": 1}  # of a factor of IMMA -> the source that alone has it


ERAS = ("before_volta", "volta")


class Effect(NamedTuple):
    """What one modifier changes: flags set, flags cleared, and fields given a value."""

    set: Flag
    clear: Flag
    fields: tuple[tuple[str, int, int], ...]  # field, its bits that change, their value


@dataclass(frozen=True)
class Opcode:
    """One row of the table."""

    name: str
    operation: Operation
    unit: Unit
    patterns: tuple[tuple[str, ...], ...]  # operand words, optional ones expanded, in order of preference
    usage: str  # the operands as a person reads them
    modifiers: dict[str, dict[str, Effect]]  # group -> spelling -> effect
    required: tuple[str, ...]  # groups that must be written
    flags: Flag
    space: Space
    width: int  # bytes per lane moved; 0 = no memory access
    numbers: str  # one of NUMBER_FORMS
    signs: frozenset[str]  # of "-", "|", "~"
    absent_not: int  # 1 = predicate source 0 reads as !PT when left out
    parts: frozenset[str]  # of "H0", "H1_H1", "B2", ...: what a source may take of its register
    defaults: Effect  # what holds when no modifier changes it
    subtracts: bool  # source 1 is negated
    era: str  # "" = of every architecture, else the table's section


class Modifiers(NamedTuple):
    """What the modifiers of one spelling say, each as in `Encoded`."""

    operation: int
    flags: int
    compare: int
    combine: int
    rounding: int
    function: int
    width: int
    cache: int


class Decoded(NamedTuple):
    """One spelling of an opcode."""

    opcode: Opcode
    modifiers: Modifiers


class SpellingError(ValueError):
    """An opcode that is not in the table, or a modifier that it does not take. `near` lists the allowed names."""

    def __init__(self, message: str, word: str, near: tuple[str, ...]) -> None:
        super().__init__(message)
        self.word, self.near = word, near


def _effect(text: str) -> Effect:
    """Read the table's form of an effect: "+FLAG -FLAG field=VALUE"."""
    set_, clear, fields = Flag.NONE, Flag.NONE, []
    for word in text.split():
        if word[0] == "+":
            set_ |= Flag[word[1:]]
        elif word[0] == "-":
            clear |= Flag[word[1:]]
        else:
            name, value = word.split("=")
            field, kind, mask, shift = FIELDS[name]
            number = int(value) if kind is int else int(kind[value])  # type: ignore[index]
            fields.append((field, mask << shift, number << shift))
    return Effect(set_, clear, tuple(fields))


def _expand(pattern: str) -> list[tuple[str, ...]]:
    """Return the forms of a pattern with `x?` words, the ones with most operands first."""
    words = [(word.rstrip("?"), word.endswith("?")) for word in pattern.split()]
    if unknown := {word for word, _ in words} - WORDS:
        raise ValueError(f"operand words {sorted(unknown)} are not known")
    choices = [((word,), ()) if optional else ((word,),) for word, optional in words]
    forms = (tuple(itertools.chain.from_iterable(form)) for form in itertools.product(*choices))
    return sorted(forms, key=len, reverse=True)


def _row(name: str, row: dict[str, Any], groups: dict[str, dict[str, Effect]], era: str = "") -> Opcode:
    if unknown := set(row) - KEYS:
        raise ValueError(f"opcode {name}: unknown keys {sorted(unknown)}")
    operands = [row["operands"]] if isinstance(row["operands"], str) else row["operands"]
    modifiers = {group: groups[group] for group in row.get("modifiers", [])}
    if not set(row.get("required", [])) <= set(modifiers):
        raise ValueError(f"opcode {name}: a required group is not among its modifiers")
    numbers = row.get("numbers", "integer")
    if numbers not in NUMBER_FORMS:
        raise ValueError(f"opcode {name}: numbers = {numbers!r}")
    return Opcode(
        name=name,
        operation=Operation[row["operation"]],
        unit=Unit[row["unit"]],
        patterns=tuple(form for pattern in operands for form in _expand(pattern)),
        usage=" or ".join(_usage(pattern) for pattern in operands),
        modifiers=modifiers,
        required=tuple(row.get("required", [])),
        flags=functools.reduce(Flag.__or__, (Flag[flag] for flag in row.get("flags", [])), Flag.NONE),
        space=Space[row.get("space", "NONE")],
        width=row.get("width", 0),
        numbers=numbers,
        signs=frozenset(row.get("signs", "")),
        absent_not={"PT": 0, "!PT": 1}[row.get("absent", "PT")],
        parts=_parts(name, row.get("parts", [])),
        defaults=_effect(row.get("defaults", "")),
        subtracts=row.get("subtracts", False),
        era=era,
    )


def _parts(name: str, parts: list[str]) -> frozenset[str]:
    if unknown := set(parts) - set(PARTS):
        raise ValueError(f"opcode {name}: parts {sorted(unknown)} are not known")
    return frozenset(parts)


def _usage(pattern: str) -> str:
    """Return a pattern in a reader's notation: `Pd, [Pq,] a, b [, Pa]`."""
    names = {
        "A": "[address]",
        "D": "[address in shared memory]",
        "i": "[register]",
        "K": "c[bank][offset]",
        "n": "number",
        "S": "SR_name",
        "L": "label",
        "B": "B0..B15",
        "r": "Rs",
        "m": "number",
        "o": "number",
        "x": "...",
        "G": "gdesc[URn]",
        "g": "gsb0",
    }
    names |= {"H": "high half", "h": "low half"}
    text = ""
    for word in pattern.replace(" 0", "").split():
        name = names.get(word.rstrip("?"), word.rstrip("?"))
        if not word.endswith("?"):
            text += f", {name}" if text and not text.endswith("] ") else name
        elif not text:
            text = f"[{name},] "
        else:
            text += f" [, {name}]"
    return text.replace(",] ", "]") if text.endswith(",] ") else text or "without operands"


def _spelled(names: dict[str, str]) -> dict[str, Effect]:
    """Return the effect of each spelling of a group; a `*` stands for the columns of a product of a warpgroup, 8 to 256."""
    spelled = {}
    for name, effect in names.items():
        if "*" not in name:
            spelled[name] = _effect(effect)
        else:
            spelled |= {name.replace("*", str(8 * eighth)): _effect(f"{effect} columns={eighth}") for eighth in range(1, 33)}
    return spelled


def load_table(text: str) -> dict[str, Opcode]:
    """Return the opcodes of a table. Raises ValueError or KeyError for a name that the vocabulary lacks."""
    return load_eras(text)[""]


def load_eras(text: str) -> dict[str, dict[str, Opcode]]:
    """Return the opcodes of a table by the section they stand in: "" for all architectures, "before_volta", "volta"."""
    table = tomllib.loads(text)
    groups = {group: _spelled(names) for group, names in table["modifiers"].items()}
    common = table["opcodes"]
    sections = {"": common, **{era: table.get(era, {}) for era in ERAS}}
    rows = {
        era: {name: common[row["like"]] | row if "like" in row else row for name, row in section.items()}
        for era, section in sections.items()
    }
    if unused := set(groups) - {group for section in rows.values() for row in section.values() for group in row.get("modifiers", [])}:
        raise ValueError(f"modifier groups {sorted(unused)} are not used")
    return {era: {name: _row(name, row, groups, era) for name, row in section.items()} for era, section in rows.items()}


BY_ERA = load_eras(resources.files("isa").joinpath("opcodes.toml").read_text("utf-8"))
OPCODES = BY_ERA[""]


def lookup(name: str, era: str = "") -> Opcode | None:
    """Return an opcode as an architecture understands it, or None."""
    return BY_ERA[era].get(name) or OPCODES.get(name)


@functools.lru_cache(maxsize=4096)
def decode(spelling: str, era: str = "") -> Decoded:
    """Return the opcode and what its modifiers say, on architectures of an era. Raises SpellingError."""
    name, *modifiers = spelling.split(".")
    opcode = lookup(name, era)
    if message := refusal(name, modifiers):
        raise SpellingError(message, name, ())
    if opcode is None:
        raise SpellingError(f"unknown opcode {name}", name, tuple(OPCODES))
    flags = opcode.flags
    if era == "before_volta" and modifiers[-1:] == ["S"]:  # Kepler: any opcode may end what SSY began
        flags |= Flag.JOIN
        modifiers.pop()
    fields = {
        "operation": int(opcode.operation),
        "compare": 0,
        "combine": 0,
        "rounding": 0,
        "function": 0,
        "width": opcode.width,
        "cache": 0,
    }
    _assign(fields, opcode.defaults)
    used: dict[str, Effect] = {}
    for modifier in modifiers:
        group = next((group for group, names in opcode.modifiers.items() if modifier in names and group not in used), None)
        if group is None:
            raise _modifier_error(opcode, modifier)
        used[group] = opcode.modifiers[group][modifier]
    if "sign_of_b" in used and used["sign_of_b"] != used.get("sign", used["sign_of_b"]):
        raise SpellingError(f"{name} of a signed and an unsigned factor is not modelled", name, ())
    if "nearest" in used and not any(effect.set & Flag.FLOAT for effect in used.values()):
        raise SpellingError(f".RN of {name} is of floats only", "RN", ())
    for group in opcode.modifiers:  # in the table's order: `scope` narrows what `order` said
        if effect := used.get(group):
            flags = flags & ~effect.clear | effect.set
            _assign(fields, effect)
    for group in opcode.required:
        if group not in used:
            raise SpellingError(f"{name} needs one of {_spellings(opcode.modifiers[group])}", name, ())
    return Decoded(opcode, Modifiers(flags=int(flags), **fields))


def _assign(fields: dict[str, int], effect: Effect) -> None:
    for field, mask, value in effect.fields:
        fields[field] = fields[field] & ~mask | value


def _spellings(names: dict[str, Effect]) -> str:
    return " ".join(f".{name}" for name in names)


def _modifier_error(opcode: Opcode, modifier: str) -> SpellingError:
    names = tuple(dict.fromkeys(name for group in opcode.modifiers.values() for name in group))
    if modifier in names:
        return SpellingError(f".{modifier} of {opcode.name} repeats or contradicts another modifier", modifier, ())
    allowed = f"it takes {' '.join('.' + name for name in names)}" if names else "it takes none"
    return SpellingError(f"{opcode.name} has no modifier .{modifier}; {allowed}", modifier, names)
