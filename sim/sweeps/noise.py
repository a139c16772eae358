"""How far a point of a sweep moves by what no user controls: one point's ensemble beside a sweep of single runs."""

from collections.abc import Mapping
from typing import Any

from sim.gpus.model import Gpu
from sim.sweeps import sweep
from sim.sweeps.axes import Family
from sim.traces.ensemble import MEMBERS

LITTLE = 20_000_000  # warp instructions that the ensemble may have, some seconds; or SHARE of those of the whole sweep
SHARE = 0.1


def costs_little(instructions: float, all_instructions: float) -> bool:
    """Return whether an ensemble of a point of so many warp instructions takes little time, or little of that of all points."""
    return MEMBERS * instructions <= max(LITTLE, SHARE * all_instructions)


def noise(launches: Family, gpu: Gpu, point: Mapping[str, Any]) -> float:
    """Return how many times the slowest of MEMBERS runs of a point takes as long as the fastest. Raises UserError as `sweep` does."""
    row = sweep(launches, gpu, [dict(point)], workers=1, repeat=MEMBERS).iloc[0]
    return float(row["cycles_high"] / row["cycles_low"])
