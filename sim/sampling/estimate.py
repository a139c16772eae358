"""What the whole launch takes, from a run of its sample: its start, what lies between at the pace of the runs, and its end."""

import math
from typing import NamedTuple

import numpy as np

from sim.sampling.plan import Plan

UNSEEN = 0.01  # share of what is extrapolated that no scatter shows (runs behind a jump, caches); README.md beside this file
UNFILLED = 0.1  # the same where what is measured begins too early (`Plan.filled`): so much where that is 0
NORMAL = 1.959964  # 97.5 % of a normal distribution lie below


class Estimate(NamedTuple):
    """A value of the whole launch; the truth lies within `bar` of it in 95 of 100 cases."""

    value: float
    bar: float


def instructions(blocks: int, work: np.ndarray) -> Estimate:
    """Return the warp instructions of a launch. work: int64, those of blocks spread over it, in launch order."""
    missed = math.sqrt(1 - len(work) / blocks)
    return Estimate(blocks * float(work.mean()), blocks * student(len(work) - 1) * error_of_mean(work.astype(float)) * missed)


def cycles(plan: Plan, starts: np.ndarray, end: int, work: np.ndarray, issued: Estimate) -> Estimate:
    """Return the cycles of the launch.

    starts, work: int64 [blocks of the sample], the cycle in which each starts and its instructions; end: the last cycle of the sample's
    run; issued: instructions of the launch. Blocks follow each other in places: from the mean start of a wave's blocks to that of the next
    wave's is what the former take, and is compared with their work.
    """

    def begin(block: int) -> float:
        return float(starts[block : block + plan.places].mean())

    time, done = [], []
    for run in range(len(plan.runs)):
        first = plan.cold + run * (plan.warming + plan.measured) + plan.warming
        for block in range(first, first + plan.measured, plan.places):
            time.append(begin(block + plan.places) - begin(block))
            done.append(float(work[block : block + plan.places].sum()))
    known = float(work[: plan.cold].sum() + work[len(work) - plan.end :].sum())
    pace, missed = sum(time) / sum(done), math.sqrt(1 - len(time) * plan.places / plan.left)
    scatter = error_of_mean(np.array(time) - pace * np.array(done)) / float(np.mean(time)) * missed
    found = pace * max(issued.value - known, 0.0)
    bar = math.hypot(found * student(len(time) - 1) * scatter, pace * issued.bar)
    unseen = UNSEEN + UNFILLED * (1 - plan.filled)
    return Estimate(begin(plan.cold) + found + end - begin(len(starts) - plan.end), bar + unseen * found)


def error_of_mean(values: np.ndarray) -> float:
    """Return the standard error of the mean of values in launch order, from their neighbours' differences.

    A slow change along the grid, which is no error where values are spread evenly, enlarges it least (Wolter, Introduction to Variance
    Estimation, 2007, chapter 8).
    """
    return math.sqrt(float((np.diff(values) ** 2).mean()) / 2 / len(values))


def student(freedom: int) -> float:
    """Return below what 97.5 % of Student's distribution lie (Abramowitz and Stegun 26.7.5; 3 % too little for 2 degrees, less beyond)."""
    z = NORMAL
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))
