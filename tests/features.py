"""One feature of CUDA C++ per kernel: `tests/data/features/*.toml`, compiled, executed, and compared with NumPy.

`python -m tests.features sm_90 [NAME ...]` tells which are right, which are refused and by what words, which are wrong.
"""

import math
import re
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import isa
import sim
from isa import compiler
from isa.errors import UserError

FOLDER = Path(__file__).with_name("data") / "features"
TYPES = {
    "f4": "float",
    "f8": "double",
    "i4": "int",
    "u1": "unsigned char",
    "u2": "unsigned short",
    "u4": "unsigned",
    "u8": "unsigned long long",
}
KEYS = {
    "types",
    "body",
    "expect",
    "before",
    "helper",
    "tolerance",
    "since",
    "refused",
    "prints",
    "size",
    "shared",
    "block",
    "grid",
    "options",
}
HEADER = re.compile(r"^#include .*$", re.MULTILINE)
RIGHT, REFUSED, WRONG = "right", "refused", "wrong"


class Found(NamedTuple):
    """How a feature came out, and in which words."""

    how: str
    words: str


def features(architecture: str) -> dict[str, dict[str, Any]]:
    """Return the rows of the table that an architecture has, by name.

    types: of `out` and of `x`, 64 random elements; body, before: CUDA C++ in and before the kernel, t being the thread of the grid;
    expect: `out` as an expression of x, t, out and helper's functions; refused: a pattern of the words instead; prints: what printf()
    wrote, as an expression; size: of out.
    """
    rows = {name: row for path in sorted(FOLDER.glob("*.toml")) for name, row in tomllib.loads(path.read_text("utf-8")).items()}
    if wrong := [name for name, row in rows.items() if set(row) - KEYS or ("expect" in row) == ("refused" in row)]:
        raise ValueError(f"features {wrong}: {sorted(KEYS)}, and either expect or refused")
    return {name: row for name, row in rows.items() if row.get("since", 0) <= int(architecture.removeprefix("sm_"))}


def source(row: dict[str, Any], kernel: str = "feature") -> str:
    """Return the CUDA C++ of a row."""
    out, given = (TYPES[kind] for kind in row["types"].split())
    body = f"const int t = threadIdx.x + blockDim.x * blockIdx.x;\n{row['body']}"
    return f'{row.get("before", "")}\nextern "C" __global__ void {kernel}({out}* out, const {given}* x) {{\n{body}\n}}\n'


def together(rows: dict[str, dict[str, Any]], architecture: str) -> dict[str, isa.Program]:
    """Compile the rows that need no option and of the preprocessor only headers, each in a namespace of its own: those without headers as
    one source, those with some as another. So the compiler reads a header once, and the disassembler starts twice."""
    alone = ("operator new",)  # what no namespace may declare
    fit = {name: source(row) for name, row in rows.items() if "expect" in row and not row.get("options")}
    fit = {name: text for name, text in fit.items() if not any(word in text for word in alone)}
    with_headers = [name for name, text in fit.items() if 0 < text.count("#") == len(HEADER.findall(text))]
    found = {}
    for names in ([name for name, text in fit.items() if "#" not in text], with_headers):
        found |= as_one({name: rows[name] for name in names}, architecture)
    return found


def as_one(rows: dict[str, dict[str, Any]], architecture: str) -> dict[str, isa.Program]:
    """Compile rows as one source."""
    kernels = {name: f"feature_{number}" for number, name in enumerate(rows)}
    texts = {kernel: source(rows[name], kernel) for name, kernel in kernels.items()}
    headers = dict.fromkeys(header for text in texts.values() for header in HEADER.findall(text))
    spaces = [f"namespace space_{kernel} {{\n{HEADER.sub('', text)}}}\n" for kernel, text in texts.items()]
    cubin = compiler.compiled("\n".join([*headers, *spaces]), architecture).cubin
    found = {}
    for name, kernel in kernels.items():
        with suppress(UserError):  # compiled alone it says why
            found[name] = isa.load_cubin(cubin, kernel)
    return found


def all_tried(rows: dict[str, dict[str, Any]], architecture: str) -> dict[str, Found]:
    """Compile, execute and compare the features; alone what does not come out right together with the others."""
    found = {name: tried(name, rows[name], architecture, program) for name, program in together(rows, architecture).items()}
    right = {name: one for name, one in found.items() if one.how == RIGHT}
    return {name: right.get(name) or tried(name, row, architecture) for name, row in rows.items()}


def numbers(kind: str) -> np.ndarray:
    """Return 64 random numbers of a type: floats near 0, integers of all sizes."""
    random = np.random.default_rng(64)
    if kind[0] == "f":
        return random.standard_normal(64).astype(kind)
    information = np.iinfo(kind)
    return random.integers(information.min, information.max, 64, dtype=kind, endpoint=True)


def tried(name: str, row: dict[str, Any], architecture: str, program: isa.Program | None = None) -> Found:
    """Compile, execute and compare one feature. program: what it was compiled to."""
    out, x = np.zeros(row.get("size", 64), row["types"].split()[0]), numbers(row["types"].split()[1])
    block, grid = tuple(row.get("block", [64])), tuple(row.get("grid", [1]))
    try:
        program = program or isa.compile(source(row), architecture, "feature", options=row.get("options", []))
        trace = sim.execute(sim.Launch(program, grid, block, (out, x.copy()), shared_dynamic=row.get("shared", 0)))
    except UserError as error:
        return Found(REFUSED, str(error))
    if "refused" in row:
        return Found(WRONG, f"{name} runs: its row says that it is refused")
    known = {"np": np, "math": math, "x": x, "t": np.arange(64), "out": out}
    exec(row.get("helper", ""), known)  # our own table
    with np.errstate(all="ignore"):
        expected = np.asarray(eval(row["expect"], known))
        printed = eval(row.get("prints", "''"), known)
    if trace.printed != printed:
        return Found(WRONG, f"printed {trace.printed[:100]!r} instead of {printed[:100]!r}")
    if "tolerance" in row:
        good = np.allclose(out, expected, rtol=row["tolerance"], atol=row["tolerance"])
    else:
        good = out.tobytes() == np.broadcast_to(expected.astype(out.dtype), out.shape).tobytes()
    return Found(RIGHT, "") if good else Found(WRONG, f"{out[:6]} instead of {expected.reshape(-1)[:6]}")


def is_named(row: dict[str, Any], found: Found) -> bool:
    """Return whether a refusal has the words that its row wants."""
    return found.how == REFUSED and re.search(row.get("refused", "$."), found.words) is not None


def main() -> None:
    """Print what does not come out right."""
    architecture, *names = sys.argv[1:]
    count = {RIGHT: 0, REFUSED: 0, WRONG: 0}
    for name, row in features(architecture).items():
        if not names or name in names:
            found = tried(name, row, architecture)
            count[found.how] += 1
            if found.how != RIGHT:
                sys.stdout.write(f"{name} {found.how}: {found.words}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{architecture}: {', '.join(f'{number} {how}' for how, number in count.items())}\n")


if __name__ == "__main__":
    main()
