"""`notes-loops`: the two loops of the lecture notes on interval analysis, one warp, every issue and ready time of the first iteration.

GPU Microarchitecture Note Set 5 (Interval Analysis); its list is in published.toml.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from isa.errors import UserError
from programs.published import published
from programs.reproduction import Check, Reproduction
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.file import load_launch
from sim.timing import simulate

FOLDER = Path(__file__).parent
NOTES = {"memory.global_load": 400, "pipes.ldst.lanes": 8}  # L_M and the load/store lanes per scheduler of the example
FLOAT_LATENCY = 6  # L_F of the example; the notes' general table has 4


class Iteration(NamedTuple):
    """First iteration of a loop: issue and ready cycle of each instruction, and the issue of the next iteration's first one."""

    issue: tuple[int, ...]
    ready: tuple[int, ...]
    next_start: int


def reproduce(gpu: str | None = None) -> Reproduction:
    """Compare every time of the notes' lists with the textbook GPU's; print both ways of counting an iteration for both loops."""
    if gpu not in (None, "textbook"):
        raise UserError(f"the notes' times hold for their own device, not for {gpu}", hint="leave --gpu out, or use simtlab timeline")
    checks: list[Check] = []
    for name, loop in published(FOLDER).items():
        iteration = first_iteration(name)
        times = list(_times(loop, iteration))
        equal = sum(check.passed is True for check in times)
        checks += [*times, Check(f"{loop['title']}: issue and ready times", f"all {len(times)}", f"{equal} equal", equal == len(times))]
        checks += _latency(loop, iteration)
    return Reproduction(title="Two loops of the interval-analysis notes, one warp, first iteration", checks=tuple(checks), notes=NOTE)


def device() -> Gpu:
    """Return the notes' device: L_F 6, L_M 400, 8 load/store lanes per scheduler, one SM."""
    textbook = load("textbook")
    arithmetic = [f"units.{unit}.latency" for unit, timing in textbook.units.items() if timing.pipe == "fp32"]
    return textbook.replace({"sms": 1, **NOTES, **dict.fromkeys(arithmetic, FLOAT_LATENCY)})


def first_iteration(name: str) -> Iteration:
    """Run the loop `name` on one warp of the notes' device."""
    trace = execute(load_launch(FOLDER / f"{name}.toml").launch)
    timeline = simulate(trace, device(), timeline=(0, 1000)).timeline
    assert timeline is not None
    n = len(trace.program)
    return Iteration(
        tuple(timeline.cycle[:n].tolist()),
        tuple(timeline.ready[:n].tolist()),
        int(timeline.cycle[n]),
    )


def _times(loop: Mapping[str, Any], iteration: Iteration) -> Iterator[Check]:
    rows = zip(loop["instructions"], iteration.issue, iteration.ready, strict=True)
    for number, (row, issue, ready) in enumerate(rows):
        what = f"{loop['title']}: I{number} {row['text']}"
        yield Check(f"{what}, issue", str(row["issue"]), str(issue), row["issue"] == issue)
        if "ready" in row:
            yield Check(f"{what}, ready", str(row["ready"]), str(ready), row["ready"] == ready)


def _latency(loop: Mapping[str, Any], iteration: Iteration) -> Iterator[Check]:
    """Yield both readings of an iteration's latency; the one that the notes take for this loop is judged."""
    readings = {
        "branch": ("up to the issue of the branch", iteration.issue[-1]),
        "next": ("up to the next iteration", iteration.next_start),
    }
    for key, (words, cycles) in readings.items():
        judged = key == loop["counted_to"]
        passed = cycles == loop["latency"] if judged else None
        yield Check(f"{loop['title']}: latency {words}", str(loop["latency"]) if judged else "-", str(cycles), passed)


NOTE = (
    "The notes count the first loop up to the issue of its branch (410) and the second up to the next iteration's start (417). One reading "
    "for both: 410 and 416 to the branch, or 411 and 417 to the next iteration, which is what a loop costs per iteration.",
    "Load and store keep the scheduler 32 / 8 = 4 cycles: that, and no dependence, is why I3 of the second loop issues at 10, where the "
    "notes write (R8).",
)
