"""`register-cache`: what a register file cache of 1 to 16 entries per warp saves the register file, on every kernel of `programs/cuda`.

A count over what the kernels execute (`sim.analysis.register_cache`), no timing: a machine here has no such cache. What the papers that
propose it state is in `published.toml`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isa.errors import UserError
from programs.cuda.references import FOLDER as KERNELS
from programs.published import published
from programs.reproduction import Check, Reproduction
from sim.analysis.register_cache import Counts, Uses, register_cache, uses
from sim.functional import execute
from sim.gpus.loader import load
from sim.launch.file import load_launch
from sim.report.curves import Curve
from sim.traces.trace import Trace

FOLDER = Path(__file__).parent
ARCHITECTURE = "sm_90"
SIZES = (1, 2, 3, 4, 6, 8, 10, 12, 16)
DRAWN = ("scan", "mandelbrot", "softmax", "n_body", "sgemm")  # a line each, from one that needs few entries to one that needs many


class Kernel(NamedTuple):
    """The counts of one kernel: by entries with a cache that long waits empty, and with one that keeps its entries."""

    emptied: Mapping[int, Counts]
    kept: Mapping[int, Counts]
    uses: Uses


def counted(trace: Trace) -> Kernel:
    """Count one kernel with every size."""
    emptied, kept = ({size: register_cache(trace, size, leaves) for size in SIZES} for leaves in (True, False))
    return Kernel(emptied, kept, uses(trace))


def reproduce(gpu: str | None = None) -> Reproduction:
    """Count the kernels as compiled for an H100, or for the architecture of `gpu`."""
    architecture = load(gpu).architecture if gpu else ARCHITECTURE
    listings = sorted(KERNELS.glob(f"*.{architecture}.sass"))
    if not listings:
        there = sorted({path.suffixes[0][1:] for path in KERNELS.glob("*.*.sass")})
        raise UserError(
            f"no kernel here is compiled for {architecture}", hint=f"there are listings for {', '.join(there)}: name a GPU of these"
        )
    found = {path.name.split(".")[0]: counted(execute(load_launch(path).launch)) for path in listings}
    title = f"Register file cache: a count over {len(found)} kernels of {architecture}"
    said = published(FOLDER)
    checks = [*judged(found, said), *_sizes(found)]
    curves = tuple(_curves(found, said["saved"]))
    return Reproduction(title, tuple(checks), (NOTE,), curves, "entries per warp", "percent of the accesses saved")


def mean(found: Mapping[str, Kernel], size: int, what: str, cache: str = "emptied") -> float:
    """Return the mean over the kernels of what a cache saves, percent. what: reads_saved or writes_saved; cache: a field of `Kernel`."""
    return 100 * float(np.mean([getattr(getattr(kernel, cache)[size], what) for kernel in found.values()]))


def judged(found: Mapping[str, Kernel], said: Mapping[str, Any]) -> Iterator[Check]:
    """Judge the papers' means; show the kernels that lie farthest from them."""
    saved = said["saved"]
    size = saved["entries"]
    for what in ("reads", "writes"):
        value = mean(found, size, f"{what}_saved")
        passed = abs(value - saved[what]) <= saved["within"]
        yield Check(f"{what} saved by {size} entries, mean", f"{saved[what]} %", f"{value:.0f} %", passed, saved["source"])
    order = sorted(found, key=lambda name: found[name].emptied[size].reads_saved)
    for what, name in (("least", order[0]), ("most", order[-1])):
        counts = found[name].emptied[size]
        yield Check(
            f"the {what} of all: {name}",
            "-",
            f"{100 * counts.reads_saved:.0f} % of reads, {100 * counts.writes_saved:.0f} % of writes",
            None,
        )
    once, soon = (
        100 * float(np.mean([getattr(kernel.uses, what) / kernel.uses.values for kernel in found.values()])) for what in ("once", "soon")
    )
    shown = f"{once:.0f} % of the values; {soon:.0f} % by one of the three next instructions"
    yield Check("values read once, mean", said["once"]["text"], shown, once > 50, said["once"]["source"])


def _sizes(found: Mapping[str, Kernel]) -> Iterator[Check]:
    """Show the means of every size."""
    for size in SIZES:
        values = [mean(found, size, what, cache) for cache in Kernel._fields[:2] for what in ("reads_saved", "writes_saved")]
        shown = f"{values[0]:.0f} % of reads, {values[1]:.0f} % of writes"
        note = f"if long waits did not empty it: {values[2]:.0f} % and {values[3]:.0f} %"
        yield Check(f"{size} entr{'y' if size == 1 else 'ies'}", "-", shown, None, note)


def _curves(found: Mapping[str, Kernel], said: Mapping[str, Any]) -> Iterator[Curve]:
    """Yield the means, with the published points, and the reads of some kernels."""
    x = (0.0, *map(float, SIZES))
    for cache, panel in (("emptied", f"mean of {len(found)} kernels"), ("kept", "the same, if long waits did not empty it")):
        for what in ("reads", "writes"):
            yield Curve(what, x, (0.0, *(mean(found, size, f"{what}_saved", cache) for size in SIZES)), panel)
        if cache == "emptied":
            for what in ("reads", "writes"):
                yield Curve(f"{what}, published", (float(said["entries"]),), (float(said[what]),), panel)
    for name in DRAWN:
        if name in found:
            y = tuple(100 * found[name].emptied[size].reads_saved for size in SIZES)
            yield Curve(name, x, (0.0, *y), "reads, by kernel")


NOTE = (
    "Nothing here is timed: registers that warps read and write are counted along what they executed. Results are written into the cache, "
    "the oldest entry goes back, reads take nothing in, values that nobody reads are not written back; a result of a load from beyond "
    "shared memory passes the cache by, and the instruction that first needs one empties it, as its warp then leaves the active set. Each "
    "kernel counts the same in a mean. Nothing is fitted. Products that keep dozens of sums per thread (sgemm_8x8, tensor cores) come back "
    "to a register long after a small cache has let it go."
)
