"""The products of matrices of which an H100's results are kept: run here, compared by the checksums of their sums.

`h100/matrices.sm_90.sass.xz` and `warpgroups.sm_90.sass.xz` are the code that ran (nvcc 13.0), `h100/matrices.npz` what it gave: the CRC-32
of each product's sums; what they were made of, `families.py` makes again.
`python -m programs.measurements.conformance.matrices_kept FOLDER` takes over what a GPU left there.
"""

import lzma
import subprocess
import sys
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import isa
from isa import cubin
from programs.measurements.conformance.families import CHUNK, Kind, families
from programs.measurements.conformance.fragments import every, fragments
from programs.measurements.conformance.matrices import ARCHITECTURES, KINDS, MOVED, crcs, moved_words, source_of, threads
from sim.functional import execute
from sim.launch.launch import Launch

FOLDER = Path(__file__).with_name("h100")
TOGETHER = 50  # chunks of one launch


@cache
def listing(name: str) -> str:
    """Return the code that ran."""
    return lzma.decompress((FOLDER / f"{name}.sm_90.sass.xz").read_bytes()).decode()


@cache
def program(name: str, kernel: str) -> isa.Program:
    """Return a kernel of the code that ran."""
    return isa.parse(listing(name), name, kernel)


@cache
def expected() -> dict[str, np.ndarray]:
    """Return what the H100 gave: of each kind uint32 [products]."""
    with np.load(FOLDER / "matrices.npz") as found:
        return dict(found)


def few(kind: Kind) -> list[int]:
    """Return some chunks of a kind: two random ones and one of each adversarial family."""
    first = kind.products // CHUNK
    return [0, 1, *range(first, first + len(families(kind)[1]))]


def sums(kind: Kind, chunks: Iterable[int]) -> np.ndarray:
    """Return the sums of some chunks of a kind as executed here: words [products, lanes, registers]."""
    left, right, addends = fragments(kind, chunks)
    out = np.zeros_like(addends)
    code = program(source_of(kind), kind.name)
    execute(Launch(code, grid=(len(out),), block=(threads(kind),), args=(out, left, right, addends)))
    return out


def run(kind: Kind, chunks: Iterable[int]) -> list[int]:
    """Return the numbers of the products of some chunks that differ from the H100's."""
    given = list(chunks)
    numbers = [CHUNK * chunk + place for chunk in given for place in range(CHUNK)]
    found = [crcs(sums(kind, given[at : at + TOGETHER])) for at in range(0, len(given), TOGETHER)]
    differing = np.concatenate(found) != expected()[kind.name][numbers]
    return [number for number, differs in zip(numbers, differing, strict=True) if differs]


def run_moves() -> tuple[np.ndarray, np.ndarray]:
    """Return the words that `moves` wrote, here and there."""
    out = np.zeros(MOVED * 32, np.uint32)
    execute(Launch(program("matrices", "moves"), grid=(1,), block=(32,), args=(out, moved_words())))
    return out, expected()["moves"]


def keep(results: Path) -> None:
    """Take over what `matrices.py` left in a folder, which must have been made of the same matrices."""
    with np.load(results / "matrices.npz") as found:
        given: dict[str, Any] = dict(found)
    for kind in KINDS:
        made = [zlib.crc32(part.tobytes()) for part in fragments(kind, every(kind))]
        if given.pop(f"{kind.name}.inputs").tolist() != made:
            raise SystemExit(f"{kind.name} was made of other matrices")
    np.savez_compressed(FOLDER / "matrices.npz", **given)
    for name in ARCHITECTURES:
        (FOLDER / f"{name}.sm_90.sass.xz").write_bytes(lzma.compress(text_of(results / f"{name}.cubin"), preset=9))


def text_of(code: Path) -> bytes:
    """Return a cubin's listing and what its kernels use, by the cuobjdump beside the disassembler."""
    tool = Path(cubin.disassembler() or "").with_name("cuobjdump")
    parts = [subprocess.run([tool, option, code], capture_output=True, check=True).stdout for option in ("-sass", "-res-usage")]
    return b"".join(parts)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
