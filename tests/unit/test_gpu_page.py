"""The page of all fields: nothing is left out, and what is said to be required is."""

import re
from pathlib import Path

import pytest

import sim
from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.report.gpus import page
from tests.unit.test_cli import simtlab

ROWS = dict(re.findall(r"^\| `([\w.]+)` \| (\S.*?) \| .+ \| .+ \|$", page(), re.MULTILINE))


@pytest.mark.parametrize("name", ["textbook", "gtx480", "h100"])
def test_every_field_of_a_preset_stands_on_the_page(name: str) -> None:
    fields = {re.sub(r"^(pipes|units)\.\w+", r"\1.NAME", field) for field in sim.gpu(name).names()}
    assert fields <= ROWS.keys()


def test_each_field_has_legal_values_and_a_meaning() -> None:
    assert all(
        re.fullmatch(r"\| `[\w.]+` \| \S[^|]* \| \S[^|]* \| \S[^|]* \|", line) for line in page().splitlines() if line.startswith("| `")
    )


def test_all_that_is_required_is_named_at_once() -> None:
    with pytest.raises(UserError) as error:
        Gpu.from_table({})
    missing = set(re.findall(r"([\w.]+) is missing", str(error.value)))
    required = {name for name, default in ROWS.items() if default == "*required*"}
    of_what_may_be_absent = ("pipes.", "units.", "l1.", "l2.", "warpgroup.", "clusters.")
    assert missing - {"pipes", "units", "source"} == {name for name in required if not name.startswith(of_what_may_be_absent)}


def test_defaults_are_those_of_the_model() -> None:
    assert (ROWS["l1.global_loads"], ROWS["core.policy"], ROWS["blocks.group_size"]) == ("`true`", '`"gto"`', "`2`")
    assert "| 128, nothing else | bytes per tag |" in page()


def test_the_command_writes_it(tmp_path: Path) -> None:
    assert simtlab("gpus", "fields").stdout == page()
    assert simtlab("gpus", "fields", "-o", tmp_path / "fields.md").exit_code == 0
    assert (tmp_path / "fields.md").read_text() == page()
