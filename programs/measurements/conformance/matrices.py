"""Products of matrices as a GPU makes them: `python -m programs.measurements.conformance.matrices FOLDER` on a machine that has one.

Needs nvcc, CuPy and NumPy there, of this repository only this folder and `gpu/warpgroups.py`. Each kind gets random products and as many
that are meant to show how sums are made (`families.py`). FOLDER/matrices.npz has the CRC-32 of each product's sums and of what each kind
was made of; sums_0.npz (of 8 columns) and sums_1.npz (of more) all sums of some; NAME.cubin the code, compiled where it is missing.
"""

import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from programs.measurements.conformance import warpgroups
from programs.measurements.conformance.families import SEED, Kind
from programs.measurements.conformance.fragments import ROWS, every, fragments

HERE = Path(__file__).parent
MOVED = 28 + 6 * 32  # words of each lane that `moves` writes
SHOWN = 100, 200  # random and adversarial products of 8 columns whose sums are written; of more columns as many sums
ARCHITECTURES = {"matrices": "sm_90", "warpgroups": "sm_90a"}
OF_WARPS = (
    Kind("f16_1688_f32", 16, 8, "F16", "F16", "F32"),
    Kind("f16_16816_f32", 16, 16, "F16", "F16", "F32"),
    Kind("f16_1688_f16", 16, 8, "F16", "F16", "F16"),
    Kind("f16_16816_f16", 16, 16, "F16", "F16", "F16"),
    Kind("bf16_1688_f32", 16, 8, "BF16", "BF16", "F32"),
    Kind("bf16_16816_f32", 16, 16, "BF16", "BF16", "F32"),
    Kind("tf32_1684_f32", 16, 4, "TF32", "TF32", "F32"),
    Kind("tf32_1688_f32", 16, 8, "TF32", "TF32", "F32"),
    Kind("s8_s8_8816", 8, 16, "S8", "S8", "S32"),
    Kind("s8_s8_16816", 16, 16, "S8", "S8", "S32"),
    Kind("s8_s8_16832", 16, 32, "S8", "S8", "S32"),
    Kind("u8_s8_16832", 16, 32, "U8", "S8", "S32"),
    Kind("s8_u8_16832", 16, 32, "S8", "U8", "S32"),
    Kind("u8_u8_16832", 16, 32, "U8", "U8", "S32"),
    Kind("s8_s8_16816_sat", 16, 16, "S8", "S8", "S32"),
    Kind("f64_884", 8, 4, "F64", "F64", "F64"),
    Kind("f64_1684", 16, 4, "F64", "F64", "F64"),
    Kind("f64_1688", 16, 8, "F64", "F64", "F64"),
    Kind("f64_16816", 16, 16, "F64", "F64", "F64"),
)
KINDS = (*OF_WARPS, *warpgroups.KINDS)


def source_of(kind: Kind) -> str:
    """Return which of the two sources has a kind's kernel."""
    return "warpgroups" if kind.m > ROWS else "matrices"


def threads(kind: Kind) -> int:
    """Return the threads that make a product."""
    return 2 * kind.m if kind.m > ROWS else 32


def crcs(words: np.ndarray) -> np.ndarray:
    """Return the CRC-32 of each product's sums. words: [products, ...]; NaNs count with all their bits."""
    return np.array([zlib.crc32(each.tobytes()) for each in words], np.uint32)


def moved_words() -> np.ndarray:
    """Return what `moves` moves: uint32 [1024]."""
    return np.random.default_rng(SEED).integers(0, 1 << 32, 1024, np.uint32)


def build(folder: Path, name: str) -> Path:
    """Return the cubin of one of the two sources."""
    cubin, code = folder / f"{name}.cubin", HERE / "matrices.cu"
    if not cubin.exists():
        if name == "warpgroups":
            code = folder / "warpgroups.cu"
            code.write_text(warpgroups.source(), encoding="utf-8")
        subprocess.run(["nvcc", "-w", "-O3", f"-arch={ARCHITECTURES[name]}", "-cubin", "-o", str(cubin), str(code)], check=True)
    return cubin


def main(folder: Path) -> None:
    """Run all kinds on this machine's GPU."""
    import cupy  # type: ignore[import-not-found]

    modules = {name: cupy.RawModule(path=str(build(folder, name))) for name in ARCHITECTURES}
    found: dict[str, Any] = {}
    shown: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for kind in KINDS:
        given = fragments(kind, every(kind))
        device = [cupy.asarray(part) for part in given]
        out = cupy.zeros_like(device[2])
        modules[source_of(kind)].get_function(kind.name)((len(out),), (threads(kind),), (out, *device))
        sums = out.get()
        found[kind.name], found[f"{kind.name}.inputs"] = crcs(sums), np.array([zlib.crc32(part.tobytes()) for part in given], np.uint32)
        random, adversarial = (count * 8 // kind.columns for count in SHOWN)
        shown[kind.columns > 8][kind.name] = np.concatenate([sums[:random], sums[kind.products :][:adversarial]])
    moved = cupy.zeros(MOVED * 32, np.uint32)
    modules["matrices"].get_function("moves")((1,), (32,), (moved, cupy.asarray(moved_words())))
    np.savez_compressed(folder / "matrices.npz", moves=moved.get(), **found)
    for number, part in enumerate(shown):
        np.savez_compressed(folder / f"sums_{number}.npz", **part)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
