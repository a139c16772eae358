"""A fixed set of random cases, to look for seeded bugs with."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.reference import Session
from sim.result.result import Result
from sim.traces.trace import Trace
from tests.compare import first_difference
from tests.differential.cases import EVERYTHING, Case, cases

PATIENCE = 1000  # cycles after the end of the right run


class EnoughError(Exception):
    """There are as many cases as are wanted."""


@dataclass(frozen=True)
class Job:
    """A case, executed."""

    trace: Trace
    gpu: Gpu


def jobs(count: int) -> list[Job]:
    """Return the first cases of a fixed seed whose programs differ: hypothesis repeats each about twice, little changed."""
    found: dict[str, Case] = {}

    @seed(4)
    @settings(
        max_examples=4 * count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,  # the end by an exception is no failure
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def collect(case: Case) -> None:
        found.setdefault(case.text, case)
        if len(found) >= count:
            raise EnoughError

    with pytest.raises(EnoughError):
        collect()
    return [Job(case.trace(), case.gpu()) for case in list(found.values())[:count]]


def reference_result(job: Job, right: Result) -> Result | None:
    """Return what the reference engine says, None when it breaks down or does not end."""
    try:
        session = Session(job.trace, job.gpu, EVERYTHING)
        session.run_until(right.cycles + PATIENCE)
        return session.result() if session.finished else None
    except (ValueError, KeyError, RuntimeError, UserError):  # SimPy's own, a unit in a state that cannot be, or a policy that fails
        return None


def caught_by(pool: list[Job], rights: list[Result], run: Callable[[Job, Result], Result | None]) -> int | None:
    """Return the number of a job whose result is not the right one, None when all are. The shortest come first: most bugs show there."""
    cost = [job.gpu.sms * right.cycles for job, right in zip(pool, rights, strict=True)]
    for number in sorted(range(len(pool)), key=cost.__getitem__):
        result = run(pool[number], rights[number])
        if result is None or first_difference(rights[number], result) is not None:
            return number
    return None
