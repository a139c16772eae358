"""Would the differential tests see a bug? Bugs seeded in either engine are each caught by one of a few hundred random cases.

The few that random cases meet less often (one in some hundreds) have a case of their own, in `aimed`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim import timing
from sim.lowering import core as lower
from sim.result.result import Result
from tests.differential import memory_mutants, numba_mutants, policy_mutants, reference_mutants
from tests.differential.aimed import AIMED, aimed
from tests.differential.cases import EVERYTHING
from tests.differential.pool import Job, caught_by, jobs, reference_result

CASES = 250
UNCOMPILED = 60  # cases of the uncompiled Numba engine
ROOT = Path(__file__).parents[2]


Pool = tuple[list[Job], list[Result]]


def judged(found: list[Job]) -> Pool:
    """Return cases and what the Numba engine says of them."""
    return found, [timing.simulate(job.trace, job.gpu, EVERYTHING) for job in found]


@pytest.fixture(scope="module")
def pool() -> Pool:
    """Return random cases."""
    return judged(jobs(CASES))


@pytest.fixture(scope="module")
def alone() -> dict[str, Pool]:
    """Return the cases aimed at one bug each."""
    return {bug: judged([job]) for bug, job in aimed().items()}


def test_the_engines_without_seeded_bugs_agree(pool: Pool, alone: dict[str, Pool]) -> None:
    assert caught_by(*pool, reference_result) is None
    assert not [bug for bug, one in alone.items() if caught_by(*one, reference_result) is not None]


REFERENCE = reference_mutants.MUTANTS | memory_mutants.REFERENCE | policy_mutants.REFERENCE


@pytest.mark.parametrize("bug", REFERENCE)
def test_a_bug_in_the_reference_engine_is_caught(bug: str, pool: Pool, alone: dict[str, Pool], monkeypatch: pytest.MonkeyPatch) -> None:
    place, attribute, mutate = REFERENCE[bug]
    monkeypatch.setattr(place, attribute, mutate(getattr(place, attribute)))
    assert caught_by(*alone.get(bug, pool), reference_result) is not None


TABLES = {("hardware", bug): change for bug, change in (numba_mutants.TABLES | policy_mutants.TABLES).items()} | {
    ("hierarchy", bug): change for bug, change in memory_mutants.TABLES.items()
}


@pytest.mark.parametrize(("tables", "bug"), TABLES)
def test_a_bug_in_the_tables_of_the_numba_engine_is_caught(
    tables: str, bug: str, pool: Pool, alone: dict[str, Pool], monkeypatch: pytest.MonkeyPatch
) -> None:
    right, change = getattr(lower, tables), TABLES[tables, bug]
    monkeypatch.setattr(lower, tables, lambda *arguments: (found := right(*arguments))._replace(**change(found)))
    assert caught_by(*alone.get(bug, pool), numba_mutants.numba_result) is not None


def test_every_aimed_case_is_aimed_at_a_bug() -> None:
    assert (
        not AIMED.keys()
        - REFERENCE.keys()
        - {bug for _, bug in TABLES}
        - (numba_mutants.CODE | memory_mutants.CODE | policy_mutants.CODE).keys()
    )


def test_bugs_in_the_code_of_the_numba_engine_are_caught() -> None:
    command = [sys.executable, "-m", "tests.differential.numba_mutants", str(UNCOMPILED)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    caught = json.loads(done.stdout)
    assert caught.pop("none") is None, "the uncompiled engine itself"
    assert caught.keys() == (numba_mutants.CODE | memory_mutants.CODE | policy_mutants.CODE).keys()
    assert None not in caught.values(), caught
