"""Bugs seeded in the Numba engine.

TABLES: name -> what is changed in the tables that `sim.lowering.core` makes. CODE: name -> (module, function, wrong version);
compiled kernels cannot be patched, so these run uncompiled, in a process of their own:

    NUMBA_DISABLE_JIT=1 python -m tests.differential.numba_mutants 80
"""

import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from isa.errors import UserError
from sim import reference, timing
from sim.lowering.core import Code, Hardware
from sim.result.result import Result
from sim.timing import blocks
from sim.timing.dispatcher import emptiest
from tests.differential import memory_mutants, policy_mutants
from tests.differential.aimed import aimed
from tests.differential.cases import EVERYTHING
from tests.differential.pool import Job, caught_by, jobs

Change = Callable[[Hardware], dict[str, Any]]
TABLES: dict[str, Change] = {
    "branch latency one cycle shorter": lambda hw: {"branch_latency": hw.branch_latency - 1},
    "a warp is gone one cycle later": lambda hw: {"exit_latency": hw.exit_latency + 1},
    "the code lies in one part of L2": lambda hw: {"first_fetch": np.full_like(hw.first_fetch, hw.first_fetch.min())},
    "code is equally far from all SMs": lambda hw: {"chip_sides": np.zeros_like(hw.chip_sides)},
    "barrier latency one cycle longer": lambda hw: {"barrier_latency": hw.barrier_latency + 1},
    "cap on results in flight one higher": lambda hw: {"in_flight_cap": hw.in_flight_cap + (hw.in_flight_cap > 0)},
    "wake rule always per_register": lambda hw: {"wake_all": np.int64(0)},
    "start interval ignored": lambda hw: {"start_ticks": np.int64(0)},
    "retire latency ignored": lambda hw: {"retire_latency": np.int64(0)},
    "retire interval ignored": lambda hw: {"retire_ticks": np.int64(0)},
    "an SM's start interval ignored": lambda hw: {"sm_interval": np.int64(0)},
    "no code is asked for ahead": lambda hw: {"code_ahead": np.int64(0), "code_far_ahead": np.int64(0)},
    "code comes at once as a kernel starts": lambda hw: {"prefetch_ticks": np.int64(0)},
    "each SM has a cache of code of its own": lambda hw: {"code_sharing": hw.code_sharing._replace(tpc=np.arange(hw.sms))},
    "each SM has its GPC's cache to itself": lambda hw: {"code_sharing": hw.code_sharing._replace(home=np.arange(hw.sms))},
    "caches of code of one line": lambda hw: {"code_sets": np.int64(1), "code_ways": np.int64(1)},
    "LDC asks L2 without an entry": lambda hw: {"constant_entries": np.int64(0)},
    "one port per pipe": lambda hw: {"row_ports": np.ones_like(hw.row_ports)},
    "registers read in one cycle more": lambda hw: {"read_window": hw.read_window + 1},
    "ports of register banks ignored": lambda hw: {"banks": np.int64(0)},
}


def sharers_unaccounted(*arguments: Any) -> None:
    """Let a port be taken without closing the accounts of the other schedulers."""


def last_of_the_emptiest(first: int, end: int, now: int, hw: Hardware, sm: Any) -> int:
    """Break ties for the highest SM."""
    best = emptiest(first, end, now, hw, sm)
    places = {m: sum(int(place.free) <= now for place in sm.places[m]) for m in range(first, end)}
    return best if best < 0 else max(m for m in places if places[m] == places[best])


def newest_in_flight_counts(warp: Any, back: int, hw: Hardware, sm: Any) -> None:
    """Forget all instructions in flight but the last."""
    warp.flight_free = back


def release_at_arrival(m: int, place: int, number: int, now: int, hw: Hardware, code: Code, sm: Any) -> None:
    """Forget the barrier latency."""
    RELEASE(m, place, number, now, hw._replace(barrier_latency=1), code, sm)


RELEASE = blocks.release
CODE: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "other schedulers' accounts not closed when a shared port is taken": ("sim.timing.issue", "account_sharers", sharers_unaccounted),
    "blocks go to the last of the emptiest SMs": ("sim.timing.dispatcher", "emptiest", last_of_the_emptiest),
    "only the last instruction in flight counts": ("sim.timing.scoreboard", "fly", newest_in_flight_counts),
    "barrier latency dropped": ("sim.timing.blocks", "release", release_at_arrival),
    "warps are never served in turn": ("sim.timing.issue", "takes_turns", lambda scheduler, now, hw, sm: False),
    "each line that LDC lacks comes alone": ("sim.timing.constants", "comes_with_another", lambda op, access, lane, mask, trace: False),
}


def numba_result(job: Job, _: Result | None = None) -> Result | None:
    """Return what the Numba engine says; None when it ends with an error, its own checks among them."""
    try:
        return timing.simulate(job.trace, job.gpu, EVERYTHING)
    except (RuntimeError, AssertionError, UserError):
        return None


def main(count: int) -> None:
    """Write a JSON object to standard output: for each bug, the number of the case that caught it; "none": for the right engine."""

    def judged(found: list[Job]) -> tuple[list[Job], list[Result]]:
        return found, [reference.simulate(job.trace, job.gpu, EVERYTHING) for job in found]

    pool, alone = judged(jobs(count)), {bug: judged([job]) for bug, job in aimed().items()}
    caught: dict[str, int | None] = {"none": caught_by(*pool, numba_result)}
    for name, (module, attribute, wrong) in (CODE | memory_mutants.CODE | policy_mutants.CODE).items():
        place = importlib.import_module(module)
        right = getattr(place, attribute)
        setattr(place, attribute, wrong)
        caught[name] = caught_by(*alone.get(name, pool), numba_result)
        setattr(place, attribute, right)
    json.dump(caught, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]))
