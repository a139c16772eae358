"""`fetch-groups`: how many warps a fetch group of two-level scheduling should have, or an active set, from one to all of a scheduler's.

The kernels are those of `warp-scheduling` that never use a line again: each warp loads, then computes. Every time is the median of an
ensemble (`sim.traces.ensemble`): sizes are to be told apart, not accidents of order. What is stated of the size is in `published.toml`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.scheduling.policies import CHAINED, PLAIN, launches
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.report.curves import Curve
from sim.timing import simulate
from sim.traces.ensemble import members

POLICIES = ("two_level", "two_level_active")
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
MEMBERS = 5


class Times(NamedTuple):
    """Median cycles of an ensemble, how far its slowest member is from its fastest, and the mean share of a full SM that was resident."""

    cycles: int
    spread: float  # of the median
    resident: float


def timed(launch: Launch, gpu: Gpu) -> tuple[Times, dict[str, dict[int, Times]]]:
    """Time one kernel by round robin, and by policy with every size up to all warps of a scheduler."""
    traces = members(execute(launch), MEMBERS)

    def times(**core: str | int) -> Times:
        runs = [simulate(trace, gpu.replace({f"core.{name}": value for name, value in core.items()})) for trace in traces]
        cycles = sorted(run.cycles for run in runs)
        median = cycles[len(cycles) // 2]
        return Times(median, (cycles[-1] - cycles[0]) / median, runs[0].counters["achieved_occupancy"])

    warps = -(-simulate(traces[0], gpu).occupancy.warps // gpu.core.schedulers)
    sizes = sorted({size for size in SIZES if size < warps} | {warps})
    return times(policy="lrr"), {policy: {size: times(policy=policy, group_size=size) for size in sizes} for policy in POLICIES}


def reproduce(gpu: str | None = None) -> Reproduction:
    """Time the kernels on `gpu`, or on a GTX 480."""
    machine = load(gpu or "gtx480")
    made = launches(machine)
    found = {name: timed(made[name], machine) for name in (PLAIN, CHAINED)}
    curves = []
    for name, (robin, policies) in found.items():
        best = min([robin.cycles, *(one.cycles for sizes in policies.values() for one in sizes.values())])
        for policy, sizes in policies.items():
            curves.append(Curve(policy, tuple(map(float, sizes)), tuple(100 * best / one.cycles for one in sizes.values()), name))
        curves.append(Curve("lrr", (1.0, float(max(sizes))), (100 * best / robin.cycles,) * 2, name))
    checks = tuple(judged(found, published(Path(__file__).parent)["group"]))
    title = f"Size of a fetch group, {machine.name}"
    return Reproduction(title, checks, (NOTE,), tuple(curves), "warps of a scheduler in a group", "percent of the highest speed")


def judged(found: Mapping[str, tuple[Times, Mapping[str, Mapping[int, Times]]]], said: Mapping[str, str]) -> Iterator[Check]:
    """Judge that a size in between is the fastest, by more than the ensemble differs; show both ends and the slowest in between."""
    for name, (robin, policies) in found.items():
        for policy, sizes in policies.items():
            best, first, last = min(sizes, key=lambda size: sizes[size].cycles), min(sizes), max(sizes)
            gain = _gain(robin, sizes[best])
            noise = max(robin.spread, sizes[best].spread)
            shown = f"{best} of {last}: {100 * gain:+.1f} % against lrr (members differ by {100 * noise:.1f} %)"
            passed = first < best < last and gain > noise
            yield Check(f"{name}, {policy}: best size", said["text"], shown, passed, said["source"])
            for size in (first, last):
                yield Check(f"{name}, {policy}: {size}", "-", f"{100 * _gain(robin, sizes[size]):+.1f} % against lrr", None)
            worst = max(sizes, key=lambda size: sizes[size].cycles if first < size < last else 0)
            if (lost := _gain(robin, sizes[worst])) < -noise and worst > best:
                note = (
                    f"{100 * sizes[worst].resident:.0f} % of the warps' places are full on average, with lrr {100 * robin.resident:.0f} %"
                )
                yield Check(f"{name}, {policy}: {worst}", "-", f"{100 * lost:+.1f} % against lrr", None, note)


def _gain(robin: Times, other: Times) -> float:
    return robin.cycles / other.cycles - 1


NOTE = (
    "A group of all warps is round robin. two_level goes on to the next group in any cycle in which its own has no warp ready, so that "
    "small groups lose little; two_level_active takes a warp into the set only when another waits for memory, so that too small a set "
    "leaves the pipes idle. Groups of many warps can end together long before the rest, which then runs alone and cannot fill the pipes: "
    "fewer places are full on average. The papers' programs and machines are not these: the direction is judged. Nothing is fitted."
)
