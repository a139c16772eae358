"""What binds a run, measured: the same trace on machines without one limit each, and on machines with one parameter a step off."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from typing import NamedTuple

from isa.errors import UserError
from sim.analysis.bounds import Bound, bounds
from sim.cores import cores
from sim.gpus.model import Gpu
from sim.result import Result
from sim.sensitivity.limits import LIMITS, Limit
from sim.sensitivity.steps import Step, steps, variant
from sim.timing import simulate
from sim.trace import Trace

LEAST = 1.05  # speed-up from which a limit is said to bind
ALIKE = 0.98  # of the best speed-up: limits that gain as much; of these the one with the most precise name is named


class Removed(NamedTuple):
    """The run on a machine without one limit. speed_up: how many times faster, above 1; below 1 it is slower."""

    limit: Limit
    cycles: int
    speed_up: float


class Bar(NamedTuple):
    """One parameter a step down and up; speed-ups are of the whole run, None where there is no such machine."""

    step: Step
    lower: float | None
    higher: float | None

    @property
    def swing(self) -> float:
        """How much the run's time moves, as the logarithm of a ratio."""
        return max(abs(math.log(speed)) for speed in (self.lower or 1.0, self.higher or 1.0))


class Sensitivity(NamedTuple):
    """All of it, the largest first. binding: what binds, None when no limit alone does; then pair: the two that together gain most."""

    result: Result
    removed: list[Removed]
    bars: list[Bar]
    bounds: list[Bound]
    binding: Removed | None
    pair: tuple[Removed, Removed, float] | None  # and their speed-up together


def sensitivity(trace: Trace, gpu: Gpu, *, parameters: bool = True, progress: Callable[[int, int], None] | None = None) -> Sensitivity:
    """Time `trace` on `gpu` and on its variants. parameters: also a step up and down of each. Raises UserError as `simulate` does."""
    result = simulate(trace, gpu)
    machines = [(limit, machine) for limit in LIMITS if (machine := limit.remove(trace, gpu, result)) is not None]
    found = list(steps(trace, gpu)) if parameters else []
    sides = [(step, value) for step in found for value in (step.lower, step.higher) if value is not None]
    work: list[Callable[[], Result]] = [partial(simulate, *machine, threads=1) for _, machine in machines]
    work += [partial(_step, trace, gpu, step.field, value) for step, value in sides]
    cycles = _cycles(work, progress)
    removed = [Removed(limit, n, result.cycles / n) for (limit, _), n in zip(machines, cycles, strict=False) if n]
    speeds = {side: result.cycles / n for side, n in zip(sides, cycles[len(machines) :], strict=True) if n}
    bars = [Bar(step, _speed(speeds, step, step.lower), _speed(speeds, step, step.higher)) for step in found]
    binds = binding(removed)
    return Sensitivity(
        result,
        sorted(removed, key=lambda one: -one.speed_up),
        sorted(bars, key=lambda bar: -bar.swing),
        bounds(trace, result),
        binds,
        None if binds else _pair(trace, gpu, result, removed, progress),
    )


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


def _step(trace: Trace, gpu: Gpu, field: str, value: float) -> Result:
    return simulate(trace, variant(gpu, field, value), threads=1)


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


def _speed(speeds: dict[tuple[Step, float], float], step: Step, value: float | None) -> float | None:
    return None if value is None else speeds.get((step, value))
