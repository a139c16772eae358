"""The process that launches the population on a GPU.

    python -m programs.measurements.population.launcher FOLDER WHICH REPEAT WARM PLACE OUT

Needs NumPy and CuPy, and PyTorch to warm.
FOLDER: of the cubins, one per template. WHICH: "micro" or a sample. Each is launched REPEAT times in a row. WARM: milliseconds of matrix
products before each, after which the SM's clock is lower for a while, no setting touched. PLACE: a seed; launches go in another order, and
memory that nobody uses is taken before, so that code, which the driver loads when it is asked for, and arrays lie elsewhere.
OUT: the order, numbers of launches from 0 on, and what the micro-benchmarks wrote, .npz.
"""

import sys
import time
from collections.abc import Callable

import numpy as np

from programs.measurements.population.cases import SAMPLES, everything, kernels, micro, population, template

SIDE = 8192  # of the matrices multiplied
BLOCKS_UNUSED, MOST_UNUSED = 12, 64  # fewer blocks of memory that nobody uses, each of fewer times 64 KB


def main(folder: str, which: str, repeat: str, warm: str, place: str, out: str) -> None:
    """Launch."""
    import cupy  # type: ignore[import-not-found]

    names = kernels(everything(which if which in SAMPLES else "h200"))
    heat = _heater() if float(warm) else None
    if heat:
        heat(2.0)
    random, cases = np.random.default_rng(int(place)), micro() if which == "micro" else population(which)
    order, unused = random.permutation(len(cases)), []
    for size in random.integers(1, MOST_UNUSED, random.integers(0, BLOCKS_UNUSED)):
        unused.append(cupy.empty(int(size) << 16, np.uint8))
    found = {"order": order}
    for case in (cases[number] for number in order):
        kernel = cupy.RawModule(path=f"{folder}/{template(case.body)}.cubin").get_function(names[case.body])
        a, b, index = (cupy.asarray(array) for array in case.arrays())
        for k in range(int(repeat)):
            b.fill(0)
            cupy.cuda.runtime.deviceSynchronize()
            if heat:
                heat(float(warm) / 1000)
            kernel((case.grid,), (case.block,), (a, b, index, np.int32(case.n), np.int32(case.p)), shared_mem=case.shared)
            cupy.cuda.runtime.deviceSynchronize()
            if case.family.startswith("ring"):
                found[f"{case.family}_{k}"] = b.get()
    np.savez_compressed(out, **found)  # type: ignore[arg-type]


def _heater() -> Callable[[float], None]:
    import torch  # type: ignore[import-not-found]

    left, right = (torch.randn(SIDE, SIDE, device="cuda").to(torch.bfloat16) for _ in range(2))

    def heat(seconds: float) -> None:
        stop = time.perf_counter() + seconds
        while time.perf_counter() < stop:
            torch.mm(left, right)
            torch.cuda.synchronize()

    return heat


if __name__ == "__main__":
    main(*sys.argv[1:])
