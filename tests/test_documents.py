"""The documents' statements: the page is that of the table, its short experiments come out as it says, the new experiments hold."""

import dataclasses
import functools
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from isa.errors import UserError
from programs.coarsening import horner
from programs.documents import statements
from programs.l1 import on_off
from programs.lower_occupancy import talk
from programs.reproduction import Check, Reproduction
from programs.reproductions import ON_OTHERS, REPRODUCTIONS, reproduce
from sim.cli import app
from sim.functional import execute
from sim.gpus.loader import load

SHORT = ("coalescing", "document-numbers", "notes-loops", "occupancy-lecture")
SAID = statements.PAGE.read_text(encoding="utf-8").splitlines()


@functools.cache
def found(name: str) -> dict[str, Any]:
    return dataclasses.asdict(reproduce(name))


def test_every_statement_stands_on_the_page_and_nothing_else() -> None:
    rows = [line for line in SAID if line.startswith("| ") and not line.startswith("| where")]
    heads = [statements.line(row).removesuffix("- | - |") for row in statements.rows()]
    assert len(rows) == len(heads) > 150
    assert all(row.startswith(head) for row, head in zip(rows, heads, strict=True))


def test_every_command_names_an_experiment_that_all_runs() -> None:
    runs = set(REPRODUCTIONS) | {f"{name} --gpu {gpu}" for name, gpus in ON_OTHERS.items() for gpu in gpus}
    assert {row.run for row in statements.rows() if row.run} <= runs
    assert all(bool(row.none) != bool(row.run and row.check) for row in statements.rows())


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_short_experiments_come_out_as_the_page_says(name: str) -> None:
    runs = {name: found(name)}
    mine = [statements.line(row, *statements.values(row, runs)) for row in statements.rows() if row.run == name]
    assert mine
    assert set(mine) <= set(SAID)
    assert all(check["passed"] is not False for check in runs[name]["checks"])


@pytest.mark.parametrize("passed", [True, False])
def test_all_of_them_run_by_one_command(passed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def other(gpu: str | None) -> Reproduction:
        return Reproduction(gpu or "", (Check("one", "1", "2", passed), Check("two", "-", "3", None)))

    monkeypatch.setattr("programs.reproductions.REPRODUCTIONS", {"other": other})
    monkeypatch.setattr("programs.reproductions.ON_OTHERS", {"other": ("g80",)})
    monkeypatch.setattr("sim.cli.reproduce.working", lambda _: nullcontext())  # which would compile the kernels that these do not use
    done = CliRunner().invoke(app, ["reproduce", "--all", "--json", str(tmp_path / "all.json")])
    assert done.exit_code == (0 if passed else 1)
    assert [line.split()[:2] for line in done.stdout.splitlines() if "checks" in line] == [["pass" if passed else "FAIL", "other"]] * 2
    assert ("one: 1 published, 2" in done.stdout) is not passed
    written = json.loads((tmp_path / "all.json").read_text())
    assert [written[name]["title"] for name in ("other", "other --gpu g80")] == ["", "g80"]


def test_a_check_that_is_gone_is_told() -> None:
    with pytest.raises(UserError, match="has no check"):
        statements.page({})


@pytest.mark.parametrize("gpu", ["gt200", pytest.param("gtx480", marks=pytest.mark.slow)])
def test_the_statements_beside_the_talks_experiments_hold(gpu: str) -> None:
    checks = talk.reproduce(gpu).checks
    assert checks
    assert not [check for check in checks if check.passed is False]


@pytest.mark.slow
def test_an_l1_of_lines_fetches_more_than_asked_for_and_one_of_sectors_does_not() -> None:
    stride = {"stride 32": on_off.patterns()["stride 32"]}
    lines, sectors = ({name: runs["stride 32"] for name, runs in on_off.run(load(gpu), stride).items()} for gpu in ("gtx480", "gtx980"))
    assert lines["ca"].over_fetch > 2 * lines["cg"].over_fetch == 16
    assert lines["ca"].cycles > lines["cg"].cycles
    assert sectors["ca"].over_fetch == sectors["cg"].over_fetch == 8


@pytest.mark.parametrize("outputs", horner.OUTPUTS)
def test_the_polynomials_are_right(outputs: int) -> None:
    launch = horner.launch(outputs, 2)
    execute(launch)
    out, points, coefficients = launch.args
    wanted = np.polyval(coefficients.astype(np.float64), points.astype(np.float64))
    assert np.allclose(out, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_coarsening_pays_and_registers_end_it() -> None:
    gpu = load("g80")
    rungs = {outputs: horner.rung(gpu, outputs) for outputs in (1, 8, 16)}
    assert rungs[8].percent > 1.5 * rungs[1].percent
    assert (rungs[16].blocks, rungs[16].busy) == (0, None)
