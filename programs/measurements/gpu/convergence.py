"""Record on a GPU which lanes of a warp run together (`convergence.cu`): with CuPy, as `python -m programs.measurements.gpu.convergence`.

    nvcc -O3 -arch=sm_90 -cubin -o convergence.cubin convergence.cu
    python -m programs.measurements.gpu.convergence convergence.cubin traces.csv

Every kernel runs as compiled, and with its YIELD instructions replaced by NOP: nvcc writes YIELD where a kernel reads clocks,
which is not where it recurses. Two more runs wrote ../h100/convergence/traces.csv byte for byte.
"""

import csv
import sys
from pathlib import Path

import numpy as np

LANES, ENTRIES = 32, 1000
RUNS = [("side", 7, 32), ("side", 8, 21)] + [
    (kernel, seed, threads) for kernel in ("one", "two", "quick") for seed, threads in ((7, 32), (8, 32), (9, 21))
]
YIELD, NOP, OPERANDS = 0x7946, 0x7918, 0x3800000  # low words of the instructions; the bits of YIELD's high word that NOP has not


def inputs(kernel: str, seed: int) -> np.ndarray:
    """Return what a kernel reads: `side` the lanes that take each branch, `one` how deep each lane calls, the others numbers."""
    random = np.random.default_rng(seed)
    if kernel == "one":
        return (np.arange(LANES) % 7 if seed == 7 else random.integers(0, 12, LANES)).astype(np.int32)
    high, count = {"two": (1 << 16, 32), "quick": (1 << 30, 512), "side": (1 << 32, 64)}[kernel]
    return random.integers(0, high, count).astype(np.uint32).view(np.int32)


def without_yield(cubin: bytes) -> bytes:
    """Return a cubin of 128-bit instructions with NOP in place of YIELD."""
    words = np.frombuffer(cubin, "<u8", len(cubin) // 8).copy()
    for i in np.flatnonzero(words[:-1] == YIELD):
        words[i], words[i + 1] = NOP, words[i + 1] & ~np.uint64(OPERANDS)
    return words.tobytes() + cubin[8 * words.size :]


def in_order(trace: np.ndarray) -> list[tuple[int, int]]:
    """Return site and active mask of what the lanes logged, in order of time: trace is uint32 [lanes, entries, 2]."""
    events = {(int(word & 0x3FFFFFF), int(word >> 26), int(mask)) for lane in trace for mask, word in lane if mask}
    return [(site, mask) for _, site, mask in sorted(events)]


def record(cubin: Path, out: Path) -> None:
    """Run every kernel and write a line for each: its events as site:mask, the mask in hexadecimal."""
    import cupy  # type: ignore[import-not-found]

    with out.open("w", newline="") as file:
        write = csv.writer(file, lineterminator="\n")
        write.writerow(("kernel", "yields", "seed", "threads", "events"))
        for yields, code in ((1, cubin.read_bytes()), (0, without_yield(cubin.read_bytes()))):
            module = cupy.cuda.function.Module()
            module.load(code)
            for kernel, seed, threads in RUNS:
                output, trace = cupy.zeros(544, np.uint32), cupy.zeros((LANES, ENTRIES, 2), np.uint32)
                arguments = (cupy.asarray(inputs(kernel, seed)), output, trace)
                module.get_function(kernel)((1,), (threads,), arguments, shared_mem=256)
                events = " ".join(f"{site}:{mask:x}" for site, mask in in_order(trace.get()))
                write.writerow((kernel, yields, seed, threads, events))


if __name__ == "__main__":
    record(Path(sys.argv[1]), Path(sys.argv[2]))
