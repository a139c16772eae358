"""What a GPU counted beside what was simulated of the same launch: one launch, and a table and a figure of many."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from sim.report.words import count
from sim.result.result import Result

STALL = "stall_"
COUNTED = (
    *("cycles", "elapsed_cycles", "warp_instructions", "thread_instructions", "global_load_requests", "global_load_sectors"),
    *("global_store_requests", "global_store_sectors", "shared_wavefronts", "shared_bank_conflicts", "l1_hit_rate", "l2_hit_rate"),
    *("l2_sectors_read", "l2_sectors_written", "dram_bytes_read", "dram_bytes_written", "achieved_occupancy"),
)
SHARES = ("l1_hit_rate", "l2_hit_rate", "achieved_occupancy")
EXACT = ("warp_instructions", "thread_instructions", "global_load_sectors", "global_store_sectors")
LEAST_STALL = 0.005  # warps per issue: less is not listed


class Beside(NamedTuple):
    """One quantity on both sides. error: relative, None where the GPU counted nothing."""

    name: str
    simulated: float
    measured: float

    @property
    def error(self) -> float | None:
        return self.simulated / self.measured - 1 if self.measured else None


class Replayed(NamedTuple):
    """One launch of many. memory: "equal", "differs", "unknown"; problem: why there is no result."""

    name: str
    kernel: str
    memory: str = "unknown"
    repeatable: bool | None = None
    relative: float = 0.0  # error of memory
    result: Result | None = None
    counters: dict[str, float] | None = None
    problem: str = ""

    @property
    def spins(self) -> bool:
        """Whether warps waited in loops for stores of others: cycles and counts then predict nothing."""
        return self.result is not None and self.result.trace is not None and self.result.trace.spun > 0


def beside(result: Result, counters: dict[str, float] | None) -> list[Beside]:
    """Return what both sides have, in the order of `COUNTED`, then the stalls in warps per issued instruction, the largest first."""
    counters = counters or {}
    ours: dict[str, Any] = result.counters | {"cycles": result.cycles, "elapsed_cycles": result.elapsed_cycles}
    found = [Beside(name, float(ours[name]), counters[name]) for name in COUNTED if name in counters and name in ours]
    issued = max(result.counters["warp_instructions"], 1)
    stalls = [
        Beside(STALL + name, result.stalls.get(name, 0) / issued, counters[STALL + name])
        for name in (one.removeprefix(STALL) for one in counters if one.startswith(STALL))
    ]
    stalls.sort(key=lambda one: -max(one.simulated, one.measured))
    return found + [one for one in stalls if max(one.simulated, one.measured) >= LEAST_STALL]


def text(result: Result, counters: dict[str, float], gpu: str) -> str:
    """Return the table of one launch."""
    rows = beside(result, counters)
    lines = [f"{'beside the hardware':28}{'simulated':>16}{'measured on ' + (gpu or 'the GPU'):>30}{'error':>10}"]
    for row in rows:
        error = "" if row.error is None else f"{row.error:+.1%}"
        if row.name in SHARES:
            error = f"{100 * (row.simulated - row.measured):+.1f} pp"
        lines.append(f"  {row.name:26}{_number(row.name, row.simulated):>16}{_number(row.name, row.measured):>30}{error:>10}")
    return "\n".join(lines)


def _number(name: str, value: float) -> str:
    return f"{value:.1%}" if name in SHARES else f"{value:.2f}" if name.startswith(STALL) else f"{value:,.0f}"


def longest_wait(stalls: dict[str, float]) -> str:
    """Return the cause that warps wait for most, by our names."""
    waits = {name.removeprefix(STALL): value for name, value in stalls.items() if name != "selected"}
    return max(waits, key=lambda name: waits[name], default="-")


def measured_stalls(counters: dict[str, float] | None) -> dict[str, float]:
    """Return the GPU's stalls."""
    return {name: value for name, value in (counters or {}).items() if name.startswith(STALL)}


def errors(rows: Sequence[Replayed], name: str) -> list[float]:
    """Return the relative errors of a quantity, of the launches that have both sides and do not spin."""
    pairs = [one for row in rows if row.result and not row.spins for one in beside(row.result, row.counters) if one.name == name]
    return [one.error for one in pairs if one.error is not None]


def summary(rows: Sequence[Replayed]) -> str:
    """Return the findings of many launches in a few lines."""
    ran = [row for row in rows if row.result]
    known = [row for row in ran if row.memory != "unknown"]
    same = [row for row in known if row.repeatable is not False]
    equal = sum(row.memory == "equal" for row in known)
    lines = [f"{count(len(rows), 'capture')}: {len(ran)} ran, {equal} of {len(known)} left the GPU's memory to the bit"]
    if len(same) < len(known):
        lines[0] += f" ({sum(row.memory == 'equal' for row in same)} of the {len(same)} whose result the GPU itself repeats)"
    if spinning := [row.name for row in ran if row.spins]:
        what = "waits in loops for stores of others: its" if len(spinning) == 1 else "wait in loops for stores of others: their"
        lines.append(f"{len(spinning)} {what} cycles and counts predict nothing and are left out below ({', '.join(spinning)})")
    for name in ("cycles", "elapsed_cycles"):
        if found := [abs(error) for error in errors(rows, name)]:
            words = f"{mean(found):.1%} mean error, {median(found):.1%} median, {max(found):.0%} worst"
            lines.append(f"{name}: {words}, of {count(len(found), 'capture')}")
    for name in EXACT:
        if found := errors(rows, name):
            lines.append(f"{name}: equal in {sum(error == 0 for error in found)} of {len(found)}")
    both = [row for row in ran if measured_stalls(row.counters)]
    if both:
        equal = sum(longest_wait(dict(row.result.stalls)) == longest_wait(measured_stalls(row.counters)) for row in both if row.result)
        lines.append(f"largest stall: equal in {equal} of {len(both)}")
    return "\n".join(lines)


def save_figure(rows: Sequence[Replayed], path: str | Path) -> None:
    """Draw simulated over measured cycles, one point per launch. Raises UserError without matplotlib."""
    from sim.report import figures

    figures.check_path(path)
    from matplotlib.figure import Figure

    points = [one for row in rows if row.result for one in beside(row.result, row.counters) if one.name == "cycles" and one.measured > 0]
    drawing = Figure(figsize=(6, 6), layout="constrained")
    axes = drawing.subplots()
    sizes = [size for point in points for size in (point.simulated, point.measured)] or [1.0]
    ends = [min(sizes) / 1.5, max(sizes) * 1.5]
    axes.plot(ends, ends, color="#000000", linewidth=0.8, label="equal")
    axes.fill_between(ends, [0.9 * end for end in ends], [1.1 * end for end in ends], color="#EFEFEF", label="within 10 %")
    axes.scatter(
        [p.measured for p in points],
        [p.simulated for p in points],
        s=14,
        color="#0072B2",
        label="1 launch" if len(points) == 1 else f"{len(points)} launches",
    )
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, xlabel="measured cycles", ylabel="simulated cycles", aspect="equal")
    axes.legend(frameon=False)
    figures.write(drawing, path)
