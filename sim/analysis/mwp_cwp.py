"""A third opinion: warps that overlap in memory (MWP) and in computation (CWP).

S. Hong and H. Kim, "An analytical model for a GPU architecture with memory-level and thread-level parallelism awareness", ISCA 2009,
equations 1 to 24, which this file's names follow. Their SM has one scheduler: here each scheduler is one, with its share of ports and
bandwidth. Their warp waits for every memory instruction; here loads that issue before the first of them is back are one wait (as in J. Sim
et al., PPoPP 2012), and nobody waits for a store.
"""

import math
from typing import NamedTuple

from sim.analysis.interval import Analysis
from sim.analysis.schedule import Step, is_memory_load

DRAM = "data L2-DRAM"


class Opinion(NamedTuple):
    """What the model says of so many warps per scheduler. Cycles of the core clock."""

    warps: int  # N, per scheduler
    mwp_without_bandwidth: float  # Mem_L / departure delay; infinite without a load
    mwp_peak_bandwidth: float
    cwp_full: float
    mwp: float
    cwp: float
    cycles: float  # of one iteration of all N warps

    @property
    def binding(self) -> str:
        """Which of the paper's three cases it is."""
        if self.mwp == self.warps == self.cwp:
            return "too few warps"
        return "memory" if self.cwp >= self.mwp else "computation"


def waits(analysis: Analysis) -> list[list[Step]]:
    """Return the loads of one iteration in groups that one wait covers: those that issue before the first of the group is back."""
    groups: list[list[Step]] = []
    for step in analysis.steps:
        if not is_memory_load(analysis.program, step.instruction):
            continue
        if groups and step.issue < groups[-1][0].ready:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def opinion(analysis: Analysis, warps_per_sm: float) -> Opinion:
    """Return the model's time for one iteration when each SM holds so many warps."""
    gpu, groups = analysis.gpu, waits(analysis)
    n = max(1, math.ceil(warps_per_sm / gpu.core.schedulers))
    share = gpu.core.warp_size * gpu.sms * gpu.core.schedulers  # cycles of the chip per thread -> cycles of a scheduler's share per warp
    cycles_of = {resource.name: share * resource.cycles for resource in analysis.resources}
    data = {resource.name for resource in analysis.resources if resource.unit == "B"}
    comp = max(cycles for name, cycles in cycles_of.items() if name not in data)
    if not groups:
        return Opinion(n, math.inf, math.inf, 1.0, n, 1.0, max(comp * n, float(analysis.latency)))
    count = len(groups)
    departure = max((cycles_of[name] for name in data - {DRAM}), default=0.0) / count
    dram = cycles_of.get(DRAM, 0.0) / count
    latency = sum(group[0].ready - group[0].issue for group in groups) / count
    mem = max(latency, departure, dram)  # Mem_L: the last data of the group are back
    without, peak = (mem / cycles if cycles else math.inf for cycles in (departure, dram))
    mwp = max(1.0, min(without, peak, n))
    full = (count * mem + comp) / comp
    cwp = min(full, n)
    if mwp == n == cwp:
        cycles = count * mem + comp + comp / count * (mwp - 1)
    elif cwp >= mwp or comp > count * mem:
        cycles = count * mem * n / mwp + comp / count * (mwp - 1)
    else:
        cycles = mem + comp * n
    return Opinion(n, without, peak, full, mwp, cwp, cycles)
