"""What starves the tensor cores: why the warps that issue products of matrices spend their time on something else."""

import numpy as np

from sim.analysis.resources import resources
from sim.causes.memory_advice import Verdict
from sim.causes.places import MATRIX_PIPES, place, products
from sim.result.causes import CAUSE_NAMES, StallCause
from sim.result.result import Result

SHOWN = 3  # reasons
BUSY = 0.8  # share of the pipe from which nothing is said to starve it


def starved(result: Result) -> list[Verdict]:
    """Return how full the pipe of products is, and why their warps wait; nothing without products, or when it is busy."""
    use = {one.name: one.use(result) for one in resources(result) if one.name in MATRIX_PIPES}
    pipe = max(use, key=lambda name: use[name], default="")
    if not pipe or use[pipe] >= BUSY:
        return []
    spent = result.stalls_by_instruction * _share_of_multiplying(result)[:, None]
    waits = [cause for cause in np.argsort(-spent.sum(axis=0)).tolist() if cause not in (StallCause.SELECTED, StallCause.DRAIN)]
    reasons = [
        f"{spent[:, cause].sum() / spent.sum():.0%} {CAUSE_NAMES[cause]} ({place(result, spent[:, cause], CAUSE_NAMES[cause])})"
        for cause in waits[:SHOWN]
        if spent[:, cause].any()
    ]
    what = f"The {pipe} is {use[pipe]:.1%} used. Of the time of the warps that issue products, the largest waits are: {'; '.join(reasons)}."
    return [Verdict("products", what)]


def _share_of_multiplying(result: Result) -> np.ndarray:
    """Return the share of each instruction's issues that came from warps with a product; 1 where no trace says who issued what."""
    count = len(result.program)
    if result.trace is None:
        return np.ones(count)
    arrays, found = result.trace.arrays, products(result.gpu, result.program)
    warps = np.bincount(arrays.warp_path, minlength=len(arrays.path_start) - 1)
    every, multiplying = np.zeros(count), np.zeros(count)
    for path, number in enumerate(warps.tolist()):
        issued = arrays.instruction[arrays.path_start[path] : arrays.path_start[path + 1]]
        counts = number * np.bincount(issued, minlength=count)
        every += counts
        multiplying += counts * counts[found].any()
    return np.divide(multiplying, every, out=np.zeros(count), where=every > 0)
