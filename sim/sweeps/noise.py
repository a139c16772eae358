"""How far the best point of a sweep moves by what no user controls: its ensemble beside a sweep of single runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sim.traces.ensemble import MEMBERS

if TYPE_CHECKING:
    from pandas import DataFrame

LITTLE = 20_000_000  # warp instructions that the ensemble may have, some seconds; or SHARE of those of the whole sweep
SHARE = 0.1


def costs_little(instructions: float, all_instructions: float) -> bool:
    """Return whether an ensemble of a point of so many warp instructions takes little time, or little of that of all points."""
    return MEMBERS * instructions <= max(LITTLE, SHARE * all_instructions)


def noise_of_best(frame: "DataFrame", ensemble: Callable[[int], "DataFrame"]) -> float | None:
    """Return how many times the slowest of MEMBERS runs of the fastest point takes as long as the fastest of them.

    ensemble: number of a point -> its table with a band. None where there is nothing to compare it with, or where it takes long.
    """
    good = frame[frame["error"].isna()]
    if len(good) < 2:
        return None
    best = int(good["seconds"].argmin())
    if not costs_little(good["warp_instructions"].iloc[best], good["warp_instructions"].sum()):
        return None
    row = ensemble(int(good.index[best])).iloc[0]
    return float(row["cycles_high"] / row["cycles_low"])


def marked(frame: "DataFrame", noise: float | None) -> "DataFrame":
    """Return the table with `attrs["noise"]`, and, where that is known, a column: which points are only so much slower than the fastest."""
    if noise is not None:
        frame["within_noise"] = (frame["seconds"] <= frame["seconds"].min() * noise) & (frame.index != frame["seconds"].idxmin())
    frame.attrs["noise"] = noise
    return frame
