"""Runs random kernels on a GPU: `python -m programs.measurements.conformance.gpu FOLDER --seed 1 --count 20000`.

Needs nvcc, CuPy and NumPy, nothing else of this repository. Writes, into FOLDER, `part_N.tar` of at most 15 MiB: for each source of a
hundred kernels `I.cubin.xz`, `I.checks.npy` (checksums of every result, as `checks` makes them) and, for the first --raw kernels,
`I.results.xz`, all words. Sources that do not run are named in `failed.txt`.
"""

import argparse
import lzma
import multiprocessing
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from programs.measurements.conformance import memory
from programs.measurements.conformance.archive import Archives
from programs.measurements.conformance.checks import checks
from programs.measurements.conformance.inputs import inputs
from programs.measurements.conformance.kernels import THREADS, Kernel, kernel

TOGETHER = 100  # kernels of one source: compiling costs least so
PARTS = 3  # archives


def kernels_of(seed: int, part: int, architecture: int = 90) -> list[tuple[int, Kernel]]:
    """Return the kernels of one source with their numbers; without those that need a later architecture."""
    numbers = range(part * TOGETHER, (part + 1) * TOGETHER)
    return [(number, made) for number in numbers if (made := kernel(seed, number)).since <= architecture]


def source(kernels: list[tuple[int, Kernel]]) -> str:
    """Return the CUDA C++ of some kernels."""
    return memory.prelude() + "\n".join(made.source for _, made in kernels)


def build(seed: int, part: int, folder: Path, architecture: int = 90) -> Path:
    """Compile one source; return the cubin."""
    text = folder / f"{part}.cu"
    text.write_text(source(kernels_of(seed, part, architecture)), encoding="utf-8")
    made = text.with_suffix(".cubin")
    command = ["nvcc", "-w", f"-arch=sm_{architecture}", "-cubin", "-o", str(made), str(text)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        with (folder / "failed.txt").open("a", encoding="utf-8") as file:
            file.write(f"{part}: {done.stderr[:2000]}\n")
    return made


def prepare(task: tuple[int, int, str]) -> None:
    """Compile one source and write what its kernels find: `I.inputs.npy`."""
    seed, part, folder = task
    build(seed, part, Path(folder))
    given = [np.concatenate(inputs(seed, number)) for number, _ in kernels_of(seed, part)]
    np.save(Path(folder) / f"{part}.inputs.npy", np.stack(given))


def run(seed: int, part: int, folder: Path, raw: bool) -> None:
    """Launch the kernels of one source and write what they leave."""
    import cupy  # type: ignore[import-not-found]

    module = cupy.RawModule(path=str(folder / f"{part}.cubin"))
    given = cupy.asarray(np.load(folder / f"{part}.inputs.npy"))
    kernels = [made for _, made in kernels_of(seed, part)]
    block = memory.COMMON + memory.OWN * THREADS
    results = []
    for row, made in zip(given, kernels, strict=True):
        out, left = cupy.zeros(made.words * THREADS, np.uint32), row[-block:].copy()
        module.get_function(made.name)((1,), (THREADS,), (out, row, left))
        results += [out, left]
    done = cupy.concatenate(results).get()
    np.save(folder / f"{part}.checks.npy", checks(kernels, done))
    if raw:
        (folder / f"{part}.results").write_bytes(done.tobytes())


def run_many(seed: int, parts: list[int], folder: Path, raw: int) -> None:
    """Launch sources in this process; what fails is named, and ends the process if it broke the GPU's context."""
    for part in parts:
        try:
            run(seed, part, folder, part * TOGETHER < raw)
        except Exception:  # whatever it is, the others go on
            with (folder / "failed.txt").open("a", encoding="utf-8") as file:
                file.write(f"{part}: {traceback.format_exc(limit=1)}\n")


def packed(path: Path) -> bytes:
    return lzma.compress(path.read_bytes(), preset=6) if path.suffix != ".npy" else path.read_bytes()


def pack(folder: Path, target: Path, parts: int) -> None:
    """Put everything into archives, the most useful first, as far as there is room."""
    wanted = [folder / f"{part}.{kind}" for kind in ("checks.npy", "cubin", "results") for part in range(parts)]
    wanted = [path for path in wanted if path.exists()]
    archives = Archives(target, "part", PARTS)
    with multiprocessing.Pool() as pool:
        for path, data in zip(wanted, pool.imap(packed, wanted, chunksize=4), strict=True):
            if not archives.add(path.name if path.suffix == ".npy" else f"{path.name}.xz", data):
                break
    archives.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--raw", type=int, default=6000)
    parser.add_argument("--work", type=Path, default=Path("conformance-work"))
    parser.add_argument("--parts", default="")  # of one process: FIRST:LAST
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    parts = given.count // TOGETHER
    if given.parts:
        first, last = map(int, given.parts.split(":"))
        run_many(given.seed, list(range(first, last)), given.work, given.raw)
        return
    start = time.time()
    with multiprocessing.Pool() as pool:
        pool.map(prepare, [(given.seed, part, str(given.work)) for part in range(parts)], chunksize=1)
    sys.stderr.write(f"compiled: {time.time() - start:.0f} s\n")
    own = [sys.executable, "-m", __spec__.name, *sys.argv[1:]]
    for first in range(0, parts, 20):
        subprocess.run([*own, "--parts", f"{first}:{min(first + 20, parts)}"], check=False)
    sys.stderr.write(f"ran: {time.time() - start:.0f} s\n")
    pack(given.work, given.folder, parts)
    if (given.work / "failed.txt").exists():
        (given.folder / "failed.txt").write_bytes((given.work / "failed.txt").read_bytes()[:100000])
    sys.stderr.write(f"packed: {time.time() - start:.0f} s\n")


if __name__ == "__main__":
    main()
