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
from sim.traces.ensemble import MEMBERS, member, members
from sim.traces.trace import Trace

LEAST = 1.05  # speed-up from which a limit is said to bind
ALIKE = 0.98  # of the best speed-up: limits that gain as much; of these the one with the most precise name is named


class Removed(NamedTuple):
    """The run on a machine without one limit. speed_up: how many times faster, above 1; below 1 it is slower.

    noise: how many times the slowest member of an ensemble of the unchanged machine takes as long as the fastest.
    """

    limit: Limit
    cycles: int
    speed_up: float
    noise: float = 1.0

    @property
    def is_noise(self) -> bool:
        """Whether the unchanged machine moves as far by itself."""
        return 1 / self.noise <= self.speed_up <= self.noise and self.noise > 1


Range = tuple[float, float]


class Bar(NamedTuple):
    """One parameter a step down and up; speed-ups are of the whole run, None where there is no such machine.

    scheduled: control words hold the parameter, so they were rescheduled for the machines with it and for the one without.
    lower_range, higher_range: least and most speed-up of an ensemble, of which lower and higher are then the medians. noise: as of
    `Removed`, where there are no ranges.
    """

    step: Step
    lower: float | None
    higher: float | None
    scheduled: bool = False
    lower_range: Range | None = None
    higher_range: Range | None = None
    noise: float = 1.0

    @property
    def is_noise(self) -> bool:
        """Whether of neither step it is certain that it is faster, or slower."""
        sides = [(speed, reach) for speed, reach in ((self.lower, self.lower_range), (self.higher, self.higher_range)) if speed is not None]
        return bool(sides) and all(self.hides(speed, reach) for speed, reach in sides)

    def hides(self, speed: float, reach: Range | None) -> bool:
        """Return whether members of an ensemble do not agree on a speed-up, or the unchanged machine moves as far by itself."""
        low, high = reach or (speed / self.noise, speed * self.noise)
        return low <= 1 <= high and low < high

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
    scheduled: int | None = None  # cycles of the run with control words scheduled here, None where no bar needed them
    noise: float = 1.0  # how many times the slowest member of an ensemble of the unchanged machine takes as long as the fastest
    members: int = 1  # of that ensemble

    @property
    def least(self) -> float:
        """The speed-up from which a limit is said to bind."""
        return max(LEAST, self.noise)


def sensitivity(
    trace: Trace, gpu: Gpu, *, parameters: bool = True, repeat: int = 1, progress: Callable[[int, int], None] | None = None
) -> Sensitivity:
    """Time `trace` on `gpu` and on its variants. parameters: also a step up and down of each. repeat: members of an ensemble that each step
    is timed with; the unchanged machine is with MEMBERS at least. Raises UserError as `simulate` does."""
    result, still = simulate(trace, gpu), _kept(trace, gpu)
    machines = [(limit, machine) for limit in LIMITS if (machine := limit.remove(still, gpu, result)) is not None]
    found = list(steps(trace, gpu, result)) if parameters else []
    ends = [(step, value) for step in found for value in (step.lower, step.higher) if value is not None]
    sides = [Side(step, value, variant(gpu, step.field, value)) for step, value in ends]
    known = {side.step for side in sides if is_known(trace, gpu, side.gpu)}  # by compilers
    work: list[Callable[[], Result]] = [partial(simulate, *machine, threads=1) for _, machine in machines]
    for one in members(trace, repeat) if sides else ():
        kept, again = _kept(one, gpu), worded(one, "schedule")
        work += [partial(simulate, kept, gpu, threads=1), partial(simulate, again if known else kept, gpu, threads=1)]
        work += [partial(simulate, again if side.step in known else kept, side.gpu, threads=1) for side in sides]
    count = max(repeat, MEMBERS)
    work += [partial(_moved, trace, gpu, number) for number in range(1, count)]
    cycles = _cycles(work, progress)
    still_moves = [result.cycles, *cycles[1 - count :]]
    noise = max(still_moves) / min(still_moves)
    removed = [Removed(limit, n, result.cycles / n, noise) for (limit, _), n in zip(machines, cycles, strict=False) if n]
    timed = np.array(cycles[len(machines) : 1 - count], np.float64)
    timed = timed.reshape(-1, 2 + len(sides))  # a row per member: by kept words, by ours, each side
    binds = binding(removed)
    return Sensitivity(
        result,
        sorted(removed, key=lambda one: -one.speed_up),
        sorted((bar._replace(noise=noise) for bar in _bars(found, sides, known, timed)), key=lambda bar: -bar.swing),
        bounds(trace, result),
        binds,
        None if binds else _pair(still, gpu, result, removed, progress),
        int(timed[0, 1]) if known else None,
        noise,
        count,
    )


def _kept(trace: Trace, gpu: Gpu) -> Trace:
    """Return the trace with the control words that it has on `gpu`, for all of its variants."""
    return worded(rescheduled(trace, gpu)[0], "keep")


def _moved(trace: Trace, gpu: Gpu, number: int) -> Result:
    """Time a member of the ensemble on the unchanged machine."""
    return simulate(_kept(member(trace, number), gpu), gpu, threads=1)


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
    candidates = [one for one in removed if one.limit.binds and not one.is_noise]
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
    least = max([LEAST, *(one.noise for one in removed)])
    if best is None or not cycles[best] or result.cycles < least * cycles[best]:
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
