"""Measures the multi-function unit and FCHK on a GPU: `python -m programs.measurements.conformance.mufu FOLDER`.

Needs nvcc, CuPy and NumPy. Writes `mufu_N.tar`: for each sweep of bit patterns `FUNCTION_FIRST_STEP_COUNT.xz`, the first result and the
differences from one to the next as int8 (int32 where one is larger: `.wide.xz`); and `divisions_A_B.xz`, cycles as uint16.
"""

import lzma
import multiprocessing
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from programs.measurements.conformance.archive import Archives

OCTAVE = 1 << 23
TURNS, ONE = (0x3E22F983).to_bytes(4, "little"), (0x3F800000).to_bytes(4, "little")
OCTAVES = {  # first exponents, of which all mantissas are gone through
    "rcp": (127,),
    "rsq": (127, 128),
    "sqrt": (127, 128),
    "ex2": (127, 126),
    "lg2": (127, 126),
    "sin": (124, 125),
    "cos": (124, 125),
    "tanh": (126, 127, 125),
}
EIGHTH = {  # first bits, of which every eighth mantissa of an octave is
    "ex2": (0xBF800000, 0x3E000000, 0x3C000000, 0x41200000),
    "sin": (0x3F800000, 0x3F000000, 0x3D800000, 0x3D000000, 0x3A000000),
    "cos": (0x3F800000, 0x3F000000, 0x3D800000, 0x3D000000, 0x3A000000),
    "lg2": (0x40000000, 0x41000000, 0x3E800000),
    "tanh": (0x40000000, 0x40800000, 0x3E000000, 0x3D800000, 0x3D000000, 0x3C000000, 0x39800000),
}
MANTISSAS = ((0, 0), (0, 0x7FFFFF), (0x7FFFFF, 0), (0x7FFFFF, 0x7FFFFF), (0x2AAAAA, 0x555555), (0x80654321, 0x123456))


def sweeps() -> list[tuple[str, int, int, int]]:
    """Return function, first bits, step, and how many."""
    found = [(name, exponent << 23, 1, OCTAVE) for name, exponents in OCTAVES.items() for exponent in exponents]
    found += [(name, first, 8, OCTAVE // 8) for name, firsts in EIGHTH.items() for first in firsts]
    found += [(name, first, (1 << 15) + 1, 65534) for name in OCTAVES for first in (0, 0x80000000)]
    for name in ("rcp64h", "rsq64h"):
        found += [(name, first, 1, 1 << 21) for first in (0x3FF00000,)]
        found += [(name, first, (1 << 14) + 1, 131070) for first in (0, 0x80000000)]
    return found + [(name, 0, 0x10001, 65536) for name in ("ex2_f16", "tanh_f16", "ex2_bf16", "tanh_bf16")]


def patched(cubin: bytes) -> bytes:
    """Return the code with SIN and COS taking turns as they are given."""
    return cubin.replace(TURNS, ONE)


def compressed(task: tuple[str, np.ndarray]) -> tuple[str, bytes]:
    name, values = task
    steps = np.diff(values.astype(np.int64), prepend=0)
    steps[0] = 0  # the first value stands before
    narrow = np.abs(steps).max() < 128
    data = values[:1].astype("<u4").tobytes() + (steps.astype(np.int8) if narrow else steps.astype("<i4")).tobytes()
    return name + ("" if narrow else ".wide") + ".xz", lzma.compress(data, preset=4)


def decoded(name: str, data: bytes) -> np.ndarray:
    """Return the results of a sweep from its member of the archive: uint32."""
    plain = lzma.decompress(data)
    steps = np.frombuffer(plain[4:], "<i4" if ".wide" in name else np.int8).astype(np.int64)
    return (int.from_bytes(plain[:4], "little") + np.cumsum(steps)).astype(np.uint32)


def measure(folder: Path) -> None:
    import cupy  # type: ignore[import-not-found]

    source = Path(__file__).with_suffix(".cu")
    made = folder / "mufu.cubin"
    subprocess.run(["nvcc", "-w", "-arch=sm_90", "-cubin", "-o", str(made), str(source)], check=True)
    made.write_bytes(patched(made.read_bytes()))
    module = cupy.RawModule(path=str(made))
    results: list[tuple[str, np.ndarray]] = []
    for name, first, step, count in sweeps():
        out = cupy.empty(count, np.uint32)
        arguments: tuple[Any, ...] = (out, np.uint32(first), np.uint32(step), np.uint32(count))
        module.get_function(f"mufu_{name}")((-(-count // 256),), (256,), arguments)
        results.append((f"{name}_{first:08x}_{step}_{count}", out.get()))
    archives = Archives(folder, "mufu", 2)
    for a, b in MANTISSAS:
        cycles = cupy.empty(65536, np.uint16)
        module.get_function("divisions")((65536 // 4,), (128,), (cycles, np.uint32(a), np.uint32(b)))
        archives.add(f"divisions_{a:08x}_{b:08x}.xz", lzma.compress(cycles.get().tobytes()))
    results.sort(key=lambda result: result[1].size)
    with multiprocessing.get_context("spawn").Pool(12) as pool:
        for name, data in pool.imap(compressed, results):
            archives.add(name, data)
    archives.close()
    made.unlink()


if __name__ == "__main__":
    measure(Path(sys.argv[1]))
