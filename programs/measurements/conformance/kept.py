"""The compact set: random kernels whose code and results on a GPU are kept, run here and compared bit for bit.

Of each source I of a hundred kernels `h200/` holds `I.cubin.xz`, the code that ran; `I.json.xz`, for each kernel its name, its number
(which with the seed makes its inputs), the types and texts of its results; and `I.checks.npy`, the checksums of all in that order.
`python -m programs.measurements.conformance.kept` tells what differs.
"""

import argparse
import json
import lzma
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from isa.errors import UserError
from programs.measurements.conformance.checks import checks
from programs.measurements.conformance.compare import MEMORY, REFUSED, Difference, executed, programs
from programs.measurements.conformance.kernels import Kernel

FOLDER = Path(__file__).with_name("h200")
SEED = 1


def parts() -> list[int]:
    """Return the sources whose kernels are kept."""
    return sorted(int(path.name.split(".")[0]) for path in FOLDER.glob("*.cubin.xz"))


def described(kernels: list[tuple[int, Kernel]]) -> bytes:
    """Return what `I.json.xz` holds of some kernels and their numbers."""
    rows = [[made.name, number, made.results, sorted(made.approximate)] for number, made in kernels]
    return lzma.compress(json.dumps(rows, separators=(",", ":")).encode())


def kernels(part: int) -> dict[str, tuple[int, Kernel]]:
    """Return the kept kernels of a source by name, with their numbers; without their text."""
    rows = json.loads(lzma.decompress((FOLDER / f"{part}.json.xz").read_bytes()))
    return {
        name: (number, Kernel(name, "", tuple((kind, text) for kind, text in results), 90, frozenset(inexact)))
        for name, number, results, inexact in rows
    }


def run(part: int) -> Iterator[Difference]:
    """Execute the kernels of one source; yield each result whose checksum is not the GPU's, and each kernel that is refused."""
    known = kernels(part)
    expected, start = np.load(FOLDER / f"{part}.checks.npy"), 0
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / f"{part}.cubin"
        cubin.write_bytes(lzma.decompress((FOLDER / f"{part}.cubin.xz").read_bytes()))
        for name, program in programs(cubin, known):
            number, made = known[name]
            wanted = expected[start : start + len(made.results) + 1]
            start += len(wanted)
            if isinstance(program, UserError):
                yield Difference(name, REFUSED, str(program), approximate=False)
            else:
                yield from _differences(made, executed(program, made, SEED, number), wanted)


def _differences(made: Kernel, left: np.ndarray, wanted: np.ndarray) -> Iterator[Difference]:
    for place in np.flatnonzero(checks([made], left) != wanted).tolist():
        if place == len(made.results):
            yield Difference(made.name, MEMORY, "memory", bool(made.approximate))
        else:
            yield Difference(made.name, place, made.results[place][1], place in made.approximate)


def main() -> None:
    """Print what differs in some sources of the kept set, or in all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", type=int, nargs="*")
    for part in parser.parse_args().parts or parts():
        for difference in run(part):
            sys.stdout.write(f"{part} {difference.kernel} {difference.place} {difference.text.splitlines()[-1]}\n")


if __name__ == "__main__":
    main()
