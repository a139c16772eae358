"""The listings and cubins of tests/data/sass."""

import functools
import gzip
from pathlib import Path

from isa import sass
from isa.sass import RawFunction

FOLDER = Path(__file__).resolve().parents[1] / "data" / "sass"
LISTINGS = sorted(path.name.removesuffix(".gz") for path in FOLDER.glob("*.gz") if path.name.endswith((".sass.gz", ".dis.gz")))
CUBINS = sorted(path.name.removesuffix(".gz") for path in FOLDER.glob("*.cubin.gz"))


@functools.cache
def binary(name: str) -> bytes:
    """Return a file, unpacked."""
    return gzip.decompress((FOLDER / f"{name}.gz").read_bytes())


def text(name: str) -> str:
    return binary(name).decode()


@functools.cache
def functions(name: str) -> tuple[RawFunction, ...]:
    """Return the functions of a listing."""
    return tuple(sass.parse(text(name), name))


def without_lines(found: tuple[RawFunction, ...] | list[RawFunction]) -> list[tuple]:
    """Return all that functions hold but the lines where they stand."""
    return [(f.name, f.architecture, [i._replace(line=0) for i in f.instructions], f.labels, f.braces, f.control_words) for f in found]
