"""A result of a sample's blocks as one of the whole launch: what counts is scaled, what is a share or a mean stays."""

from dataclasses import replace

import numpy as np

from sim.launch.launch import Launch
from sim.result.result import Result

# Shares, means and peaks: as in the sample.
KEPT = (
    "sms_used",
    "l1_hit_rate",
    "l1_load_hit_rate",
    "l2_hit_rate",
    "load_latency",
    "theoretical_occupancy",
    "pending_requests_peak",
    "sm_requests_peak",
)
OF_TIME = ("sm_active_cycles", "sm_active_cycles_max")  # grow as cycles do
RATES = ("ipc", "dram_throughput", "bytes_in_flight", "achieved_occupancy")  # what grows as work does, per time


def scaled(result: Result, cycles: int, work: float, launch: Launch) -> Result:
    """Return the result of the whole launch, estimated to take so many cycles. work: of the launch over that of the sample.

    Both accounts stay closed: their causes are rounded, and their sums are what the counters say.
    """
    time = cycles / result.cycles
    counters = {name: _scaled(name, value, work, time) for name, value in result.counters.items()}
    by_instruction = np.rint(result.stalls_by_instruction * work).astype(np.int64)
    stalls = dict(zip(result.stalls, _columns(result, by_instruction), strict=True))
    slots = _slots(result.issue_slots, work, time)
    counters |= {
        "cycles": cycles,
        "warps": launch.blocks * launch.warps_per_block,
        "warp_cycles": sum(stalls.values()),
        "issue_slots": sum(slots.values()),
    }
    return replace(
        result,
        grid=tuple(launch.grid),
        cycles=cycles,
        elapsed_cycles=result.elapsed_cycles - result.cycles + cycles,
        counters=counters,
        stalls=stalls,
        issue_slots=slots,
        stalls_by_instruction=by_instruction,
        issues_by_instruction=np.rint(result.issues_by_instruction * work).astype(np.int64),
        trace=None,
    )


def _scaled(name: str, value: float, work: float, time: float) -> float:
    """Return a counter of the whole launch."""
    if name in KEPT:
        return value
    if name in RATES:
        return value * work / time
    return round(value * (time if name in OF_TIME else work))


def _columns(result: Result, by_instruction: np.ndarray) -> list[int]:
    """Return the sums of the causes that the result names."""
    return [int(n) for n in by_instruction.sum(axis=0)[result.stalls_by_instruction.sum(axis=0) != 0]]


def _slots(slots: dict[str, int], work: float, time: float) -> dict[str, int]:
    """Return the account of issue slots: those that issued grow as work does, the others fill the time."""
    total, issued = sum(slots.values()), slots.get("selected", 0)
    others = (total * time - issued * work) / (total - issued) if total > issued else 0.0
    return {name: round(n * (work if name == "selected" else max(others, 0.0))) for name, n in slots.items()}
