"""A launch whose arrays and code lie in several places in turn: that decides when its loads meet a refresh, and how soon it begins.

What was measured is the median of launches that each met refreshes of their own; it is compared with that of an ensemble
(`sim.traces.ensemble`), of fewer members where a launch is long, and all of them are more alike.
"""

from sim import simulate
from sim.gpus.model import Gpu
from sim.result.result import Result
from sim.traces.ensemble import members
from sim.traces.trace import Trace

# Warp instructions of a launch that has so many members, half of them with their code in either part of L2, and members of a longer one
SHORT, MEMBERS, FEWER = 400_000, 20, 5


def placed(trace: Trace, gpu: Gpu) -> list[Result]:
    """Return the results of an ensemble, that of the trace itself first."""
    first = simulate(trace, gpu)
    count = MEMBERS if first.counters["warp_instructions"] <= SHORT else FEWER
    return [first, *(simulate(member, gpu) for member in members(trace, count)[1:])]


def median_placed(trace: Trace, gpu: Gpu) -> Result:
    """Return the member of an ensemble that takes the median of their active cycles."""
    results = sorted(placed(trace, gpu), key=lambda result: int(result.counters["sm_active_cycles_max"]))
    return results[len(results) // 2]
