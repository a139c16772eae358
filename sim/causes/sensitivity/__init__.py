"""What binds a run, measured: the same trace on machines without one limit each, and on machines with one parameter a step off."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from isa.errors import UserError
from sim.analysis.bounds import Bound, bounds
from sim.causes.sensitivity.limits import LIMITS, Limit
from sim.causes.sensitivity.steps import Step, steps, variant
from sim.compiled.cores import cores
from sim.gpus.model import Gpu
from sim.lowering.rescheduling import is_known, rescheduled, worded
from sim.result.result import Result
from sim.timing import simulate
from sim.traces.ensemble import members
from sim.traces.trace import Trace

LEAST = 1.05  # speed-up from which a limit is said to bind
ALIKE = 0.98  # of the best speed-up: limits that gain as much; of these the one with the most precise name is named


class Removed(NamedTuple):
    """The run on a machine without one limit. speed_up: how many times faster, above 1; below 1 it is slower."""

    limit: Limit
    cycles: int
    speed_up: float


Range = tuple[float, float]


class Bar(NamedTuple):
    """One parameter a step down and up; speed-ups are of the whole run, None where there is no such machine.

    scheduled: control words hold the parameter, so they were laid down again for the machines with it and for the one without.
    lower_range, higher_range: least and most speed-up of an ensemble, of which lower and higher are then the medians.
    """

    step: Step
    lower: float | None
    higher: float | None
    scheduled: bool = False
    lower_range: Range | None = None
    higher_range: Range | None = None

    @property
    def is_noise(self) -> bool:
        """Whether members of an ensemble do not agree, of either step, that it is faster or that it is slower."""
        ranges = [one for one in (self.lower_range, self.higher_range) if one]
        return bool(ranges) and all(low <= 1 <= high for low, high in ranges)

    @property
    def swing(self) -> float:
        """How much the run's time moves, as the logarithm of a ratio."""
        return max(abs(math.log(speed)) for speed in (self.lower or 1.0, self.higher or 1.0))


class Side(NamedTuple):
    """One step of one parameter, and the machine that it makes."""

    step: Step
    value: float
    gpu: Gpu


class Sensitivity(NamedTuple):
    """All of it, the largest first. binding: what binds, None when no limit alone does; then pair: the two that together gain most."""

    result: Result
    removed: list[Removed]
    bars: list[Bar]
    bounds: list[Bound]
    binding: Removed | None
    pair: tuple[Removed, Removed, float] | None  # and their speed-up together
    scheduled: int | None = None  # cycles of the run with control words laid down here, None where no bar needed them


def sensitivity(
    trace: Trace, gpu: Gpu, *, parameters: bool = True, repeat: int = 1, progress: Callable[[int, int], None] | None = None
) -> Sensitivity:
    """Time `trace` on `gpu` and on its variants. parameters: also a step up and down of each. repeat: members of an ensemble that each step
    is timed with. Raises UserError as `simulate` does."""
    result, still = simulate(trace, gpu), _kept(trace, gpu)
    machines = [(limit, machine) for limit in LIMITS if (machine := limit.remove(still, gpu, result)) is not None]
    found = list(steps(trace, gpu)) if parameters else []
    ends = [(step, value) for step in found for value in (step.lower, step.higher) if value is not None]
    sides = [Side(step, value, variant(gpu, step.field, value)) for step, value in ends]
    known = {side.step for side in sides if is_known(trace, gpu, side.gpu)}  # by compilers
    work: list[Callable[[], Result]] = [partial(simulate, *machine, threads=1) for _, machine in machines]
    for one in members(trace, repeat) if sides else ():
        kept, again = _kept(one, gpu), worded(one, "schedule")
        work += [partial(simulate, kept, gpu, threads=1), partial(simulate, again if known else kept, gpu, threads=1)]
        work += [partial(simulate, again if side.step in known else kept, side.gpu, threads=1) for side in sides]
    cycles = _cycles(work, progress)
    removed = [Removed(limit, n, result.cycles / n) for (limit, _), n in zip(machines, cycles, strict=False) if n]
    timed = np.array(cycles[len(machines) :], np.float64).reshape(-1, 2 + len(sides))  # a row per member: by kept words, by ours, each side
    binds = binding(removed)
    return Sensitivity(
        result,
        sorted(removed, key=lambda one: -one.speed_up),
        sorted(_bars(found, sides, known, timed), key=lambda bar: -bar.swing),
        bounds(trace, result),
        binds,
        None if binds else _pair(still, gpu, result, removed, progress),
        int(timed[0, 1]) if known else None,
    )


def _kept(trace: Trace, gpu: Gpu) -> Trace:
    """Return the trace with the control words that it has on `gpu`, for all of its variants."""
    return worded(rescheduled(trace, gpu)[0], "keep")


def _bars(found: Sequence[Step], sides: Sequence[Side], known: set[Step], timed: np.ndarray) -> list[Bar]:
    """Return a bar per parameter: each side over the unchanged machine by words of the same kind, member by member."""
    speeds: dict[tuple[Step, float | None], np.ndarray] = {}
    for side, cycles in zip(sides, timed[:, 2:].T, strict=True):
        if cycles.all():
            speeds[side.step, side.value] = timed[:, int(side.step in known)] / cycles
    bars = []
    for step in found:
        both = [speeds.get((step, value)) for value in (step.lower, step.higher)]
        medians = [None if one is None else float(np.median(one)) for one in both]
        ranges = [None if one is None or len(one) < 2 else (float(one.min()), float(one.max())) for one in both]
        bars.append(Bar(step, medians[0], medians[1], step in known, ranges[0], ranges[1]))
    return bars


def binding(removed: Sequence[Removed]) -> Removed | None:
    """Return the limit whose removal gains most. removed: in the order of LIMITS."""
    candidates = [one for one in removed if one.limit.binds]
    best = max((one.speed_up for one in candidates), default=0.0)
    return next(one for one in candidates if one.speed_up >= ALIKE * best) if best >= LEAST else None


def _pair(
    trace: Trace, gpu: Gpu, result: Result, removed: Sequence[Removed], progress: Callable[[int, int], None] | None
) -> tuple[Removed, Removed, float] | None:
    """Return the two limits whose removal together gains most, None when no two gain LEAST."""
    pairs = list(combinations([one for one in removed if one.limit.binds], 2))
    machines = []
    for first, second in pairs:
        once = first.limit.remove(trace, gpu, result) or (trace, gpu)
        machines.append(second.limit.remove(*once, result) or once)
    cycles = _cycles([partial(simulate, *machine, threads=1) for machine in machines], progress)
    best = min(range(len(pairs)), key=lambda k: cycles[k] or result.cycles, default=None)
    if best is None or not cycles[best] or result.cycles < LEAST * cycles[best]:
        return None
    return *pairs[best], result.cycles / cycles[best]


def _cycles(work: Sequence[Callable[[], Result]], progress: Callable[[int, int], None] | None) -> list[int]:
    """Return the cycles of each run, 0 where it cannot be (a block does not fit), on all cores: kernels leave Python's lock alone."""
    found = []
    with ThreadPoolExecutor(cores()) as pool:
        for n in pool.map(_run, work):
            found.append(n)
            if progress:
                progress(len(found), len(work))
    return found


def _run(work: Callable[[], Result]) -> int:
    try:
        return work().cycles
    except UserError:
        return 0
