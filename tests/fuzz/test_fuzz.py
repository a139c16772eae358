"""Mutated listings and launch files never crash, hang, or give a number silently.

Each mutated input either runs, with a closed account, or is refused by a UserError that has a message. CI runs a seeded corpus;
`pytest tests/fuzz --fuzz 20000` runs more on demand.
"""

import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import isa
from isa.errors import UserError
from sim.functional import execute
from sim.gpus.loader import load
from sim.launch.file import load_launch
from sim.timing import simulate
from tests.fuzz.mutate import mutate

PROGRAMS = Path(__file__).resolve().parents[2] / "programs"
CORPUS = ("saxpy", "reduce_shared", "collatz", "intervals/simple_loop", "intervals/actual_loop")
SMALL = {"value = 1048576": "value = 512", "shape = 1048576": "shape = 512", "grid = 4096": "grid = 2", "arange(1048576)": "arange(512)"}
LIMIT = 4000  # instructions per warp
SECONDS = 120  # far above what any of these inputs needs, on a busy machine, too


@contextmanager
def deadline() -> Iterator[None]:
    """Fail instead of hanging."""

    def expire(*_: object) -> None:
        raise TimeoutError(f"no answer within {SECONDS} s")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def outcome(listing: str, launch: str, folder: Path) -> str:
    """Run one input as `simtlab run` would; return "ran" or "refused". Anything else is a failure."""
    (folder / "case.sass").write_text(listing, encoding="utf-8")
    (folder / "case.toml").write_text(launch, encoding="utf-8")
    try:
        program = isa.load(folder / "case.sass")
        trace = execute(load_launch(folder / "case.toml", program).launch, limit=LIMIT)
        result = simulate(trace, load("gtx480"))
    except UserError as error:
        return "refused" if error.message.strip() else "refused without a word"
    assert sum(result.stalls.values()) == result.counters["warp_cycles"]
    assert result.counters["warp_instructions"] == trace.warp_instructions
    return "ran"


def corpus() -> list[tuple[str, str]]:
    """Return the inputs to mutate: (listing, launch file) at a small size."""
    pairs = []
    for name in CORPUS:
        launch = (PROGRAMS / f"{name}.toml").read_text()
        for large, small in SMALL.items():
            launch = launch.replace(large, small)
        pairs.append(((PROGRAMS / f"{name}.sass").read_text(), launch))
    return pairs


def test_mutated_inputs_run_or_are_refused(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    pairs, seen = corpus(), Counter()
    assert all(outcome(listing, launch, tmp_path) == "ran" for listing, launch in pairs)  # compiles the kernels, once
    for seed in range(pytestconfig.getoption("--fuzz")):
        rng = random.Random(seed)
        listing, launch = rng.choice(pairs)
        if rng.random() < 0.65:
            listing = mutate(listing, rng)
        else:
            launch = mutate(launch, rng)
        try:
            with deadline():
                seen[outcome(listing, launch, tmp_path)] += 1
        except Exception as error:
            pytest.fail(f"seed {seed}: {type(error).__name__}: {error}\n--- listing\n{listing}\n--- launch file\n{launch}")
    assert seen["ran"], "the corpus no longer reaches the engines"
    assert seen["refused"], "no input was refused"
    assert set(seen) == {"ran", "refused"}
