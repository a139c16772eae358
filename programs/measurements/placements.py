"""A launch whose arrays and code lie in several places in turn: that decides when its loads meet a refresh, and how soon it begins.

What was measured is the median of launches that each met refreshes of their own; it is compared with that of an ensemble
(`sim.traces.ensemble`), of fewer members where a launch is long.
"""

from sim import simulate
from sim.gpus.model import Gpu
from sim.result.result import Result
from sim.traces.ensemble import members
from sim.traces.trace import Trace

# Warp instructions of an ensemble, if that are so many members: many of a short launch, which a refresh or the place of its code moves by
# a tenth, few of a long one, which are all alike
INSTRUCTIONS, LEAST, MOST = 4_000_000, 5, 100


def placed(trace: Trace, gpu: Gpu) -> list[Result]:
    """Return the results of an ensemble, that of the trace itself first."""
    first = simulate(trace, gpu)
    count = min(max(INSTRUCTIONS // int(first.counters["warp_instructions"]), LEAST), MOST)
    return [first, *(simulate(member, gpu) for member in members(trace, count)[1:])]


def median_placed(trace: Trace, gpu: Gpu) -> Result:
    """Return the member of an ensemble that takes the median of their active cycles."""
    results = sorted(placed(trace, gpu), key=lambda result: int(result.counters["sm_active_cycles_max"]))
    return results[len(results) // 2]
