"""How many warps and blocks were resident on an SM, and what keeps it from holding more, in words."""

import math

from sim.result.result import Result

LIMITERS = {
    "warps": "the SM's warp slots",
    "blocks": "the SM's block slots",
    "registers": "the kernel's registers",
    "shared": "the kernel's shared memory",
}


def resident_warps(result: Result) -> float:
    """Return the warps resident per SM, averaged over the time the SM had work."""
    active = result.counters["sm_active_cycles"]
    return result.counters["warp_cycles"] / active if active else 0.0


def resident_blocks(result: Result) -> float:
    """Return the blocks resident per SM, as `resident_warps`."""
    return resident_warps(result) / math.ceil(math.prod(result.block) / result.gpu.core.warp_size)


def room(result: Result, need: int = 0) -> str:
    """Return what keeps the SM from holding more warps, as a clause; need: warps per SM that would be enough, if known."""
    gpu, occupancy = result.gpu, result.occupancy
    if need > gpu.limits.warps:
        return f"this GPU holds {gpu.limits.warps} per SM, so warps alone are not enough"
    launched = math.prod(result.grid) / result.counters["sms_used"]
    if launched < occupancy.blocks:
        return f"the launch gives an SM {number(launched)} of the {occupancy.blocks} blocks it could hold, so launch more or larger blocks"
    if occupancy.warps == gpu.limits.warps:
        return f"the SM already holds all the {gpu.limits.warps} warps it can"
    limits = " and ".join(LIMITERS[name] for name in occupancy.limiters)
    return f"an SM holds only {occupancy.blocks} of its blocks, limited by {limits}"


def number(value: float) -> str:
    """Return one decimal where it says something."""
    return f"{value:,.0f}" if value >= 20 or abs(value - round(value)) < 0.05 else f"{value:.1f}"
