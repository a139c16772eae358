"""The best block against NVIDIA's own header, waves of blocks, and what the command says of a listing."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sim
from isa.errors import UserError
from sim.cli import app
from sim.gpus.best_block import best_block
from sim.gpus.waves import Waves
from tests.listings import FOLDER

PROPOSED = Path(__file__).parents[1] / "data" / "occupancy" / "best_block.csv"


def proposals() -> Iterator[dict[str, str]]:
    with PROPOSED.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def test_proposals_are_those_of_cudas_header() -> None:
    wrong, cases = [], Counter[str]()
    for row in proposals():
        gpu, static, per_thread = sim.gpu(row["preset"]), int(row["static"]), int(row["per_thread"])
        found = best_block(gpu, int(row["registers"]), lambda threads, a=static, b=per_thread: a + b * threads)
        cases[gpu.compute_capability] += 1
        if (found.block, found.grid) != (int(row["block"]), int(row["grid"])):
            wrong.append(row)
    assert wrong == []
    assert {sim.gpu(name).compute_capability for name in sim.gpus() if name != "textbook"} == set(cases)
    assert min(cases.values()) >= 30


def test_a_limit_on_the_block_is_kept_and_need_not_be_whole_warps() -> None:
    found = best_block(sim.gpu("gtx480"), 20, limit=100)
    assert (found.block, found.occupancy.blocks if found.occupancy else 0) == (100, 8)
    with pytest.raises(UserError, match="limit = 0"):
        best_block(sim.gpu("gtx480"), 20, limit=0)


def test_no_block_fits() -> None:
    assert best_block(sim.gpu("gtx480"), 64) == (0, 0, 0, None)


@pytest.mark.parametrize(
    ("blocks", "places", "number", "last", "efficiency"), [(60, 60, 1, 60, 1.0), (61, 60, 2, 1, 61 / 120), (1, 60, 1, 1, 1 / 60)]
)
def test_waves(blocks: int, places: int, number: int, last: int, efficiency: float) -> None:
    waves = Waves(blocks, places)
    assert (waves.number, waves.last) == (number, last)
    assert waves.efficiency == pytest.approx(efficiency)
    assert ("all full" in waves.sentence()) == (last == places)


def simtlab(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["occupancy", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_registers_shared_memory_and_block_are_read_from_a_listing_and_its_launch_file() -> None:
    said = simtlab(str(FOLDER / "sgemm" / "sgemm_4.sass"))
    assert "256 threads per block, 41 registers per thread, 8,192 bytes" in said
    assert "Occupancy 50.0% theoretical (3 blocks" in said


def test_an_option_wins_over_the_listing() -> None:
    assert "128 threads per block, 20 registers per thread" in simtlab(
        str(FOLDER / "sgemm" / "sgemm_4.sass"), "--block", "128", "--registers", "20"
    )


def test_the_best_block_with_shared_memory_per_thread(tmp_path: Path) -> None:
    said = simtlab("--best", "--registers", "20", "--shared-per-thread", "64", "--json", str(tmp_path / "best.json"))
    assert "Best block: 768 threads; occupancy 50.0%" in said
    assert '"block": 768' in (tmp_path / "best.json").read_text()
