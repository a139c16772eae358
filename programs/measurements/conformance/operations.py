"""What a step of a random kernel may be: the lines of `operations.toml`, and the CUDA C++ of each."""

import itertools
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

TABLE = Path(__file__).with_name("operations.toml")
ALTERNATIVES = re.compile(r"(?<!\{)\{([^{}]*)\}(?!\})")
C_TYPES = {
    **{"u": "unsigned", "l": "unsigned long long", "q": "unsigned __int128", "f": "float", "d": "double"},
    **dict.fromkeys("hbxp", "unsigned"),
}
CONSTRAINTS = {"l": "l", "f": "f", "d": "d"}  # of inline PTX; all others "r"
PLACES = re.compile(r"n\d+|[a-z]")


@dataclass(frozen=True)
class Operation:
    """One line with its alternatives chosen."""

    section: str
    form: str  # "ptx", "cuda", "atomic", "reduction"
    result: str  # a type's letter
    operands: tuple[str, ...]  # types' letters, or "n8"
    text: str
    since: int  # the least architecture
    together: bool
    approximate: bool
    rare: bool

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the types of the operands that are values."""
        return tuple(kind for kind in self.operands if kind[0] != "n")


@cache
def operations() -> dict[str, list[list[Operation]]]:
    """Return, for each section, each of its lines as the operations that its alternatives make."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {name: [_line(name, section, line) for line in section["lines"].strip().splitlines()] for name, section in table.items()}


def _line(name: str, section: dict[str, object], line: str) -> list[Operation]:
    first, rest = line.split(" ", 1)
    since, line = (int(first), rest) if first.isdigit() else (80, line)
    result, operands, text = line.split(" ", 2)
    places = tuple(PLACES.findall(operands))
    marks = tuple(bool(section.get(mark)) for mark in ("together", "approximate", "rare"))
    return [Operation(name, str(section["form"]), result, places, one, since, *marks) for one in _expanded(text)]


def _expanded(text: str) -> list[str]:
    """Return the text with one of each {a,b} chosen, in all ways; {{ and }} become braces."""
    parts = ALTERNATIVES.split(text)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    return ["".join(chosen).replace("{{", "{").replace("}}", "}") for chosen in itertools.product(*choices)]


def code(operation: Operation, target: str, sources: list[str], random: Random) -> str:
    """Return a statement that writes `target`, a variable, from values."""
    left = iter(sources)
    given = [str(random.randrange(int(kind[1:]))) if kind[0] == "n" else next(left) for kind in operation.operands]
    if operation.form == "cuda":
        text = re.sub(r"\$(\d)", lambda match: given[int(match[1])], operation.text)
        return f"{target} = ({C_TYPES[operation.result]})({text});"
    return ptx(operation, target, given)


def ptx(operation: Operation, target: str, given: list[str]) -> str:
    """Return the inline PTX of a statement: 16-bit registers and predicates are made of words and back."""
    before, names, inputs, after, result = [], [], [], "", "%0"
    for number, (kind, value) in enumerate(zip(operation.operands, given, strict=True)):
        if kind[0] == "n":
            names.append(value)
            continue
        inputs.append(f'"{CONSTRAINTS.get(kind, "r")}"({value})')
        word = f"%{len(inputs)}"
        if kind == "x":
            before.append(f".reg .b16 x{number}; cvt.u16.u32 x{number}, {word};")
        elif kind == "p":
            before.append(f".reg .pred p{number}; setp.ne.u32 p{number}, {word}, 0;")
        names.append(f"{kind}{number}" if kind in "xp" else word)
    if operation.result == "x":
        before.append(".reg .b16 xd;")
        result, after = "xd", "cvt.u32.u16 %0, xd;"
    elif operation.result == "p":
        before.append(".reg .pred pd;")
        result, after = "pd", "selp.u32 %0, 1, 0, pd;"
    body = operation.text
    whole = re.sub(r"#(\d)", lambda match: names[int(match[1])], body)
    body = whole if "%0" in body else f"{body} {', '.join([result, *names])};"
    body = re.sub(r"%(?=[a-z])", "%%", body)
    constraint = CONSTRAINTS.get(operation.result, "r")
    return f'asm volatile("{{{" ".join([*before, body, after])}}}" : "={constraint}"({target}) : {", ".join(inputs)});'
