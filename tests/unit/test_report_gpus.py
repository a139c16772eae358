"""Tables of GPUs."""

import io

import pytest
from rich.console import Console

import sim
from isa.errors import UserError
from sim.report import gpus as tables


def rendered(table: object) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(table)
    return console.export_text()


def test_overview_has_a_row_per_preset() -> None:
    text = rendered(tables.overview({name: sim.gpu(name) for name in sim.gpus()}))
    assert all(name in text for name in sim.gpus())


@pytest.mark.parametrize("name", sim.gpus())
def test_every_number_of_a_preset_is_shown_with_a_source(name: str) -> None:
    facts = tables.facts(sim.gpu(name))
    unsourced = [f["field"] for f in facts if isinstance(f["value"], int | float) and not f["source"]]
    assert unsourced == []
    assert all(f["meaning"] for f in facts if not f["field"].startswith("note"))


def test_differences_are_those_that_were_made() -> None:
    gpu = sim.gpu("gtx480")
    changed = gpu.replace({"core.schedulers": 4, "dram.latency": 700})
    assert tables.differences(gpu, gpu) == []
    assert tables.differences(gpu, changed) == [("core.schedulers", 2, 4), ("dram.latency", 600, 700)]


def test_a_pipe_that_only_one_gpu_has_is_a_difference() -> None:
    fields = {name: (a, b) for name, a, b in tables.differences(sim.gpu("textbook"), sim.gpu("h100"))}
    assert fields["pipes.int32.lanes"] == (None, sim.gpu("h100").pipes["int32"].lanes)


def test_brackets_in_a_value_are_not_taken_as_markup() -> None:
    assert "[memory]" in rendered(tables.fields(sim.gpu("gtx480"))).replace("\n", "")


def test_a_section_is_shown_alone_with_units_and_sources() -> None:
    gpu = sim.gpu("h100")
    facts = tables.facts(gpu, "l2")
    assert {fact["field"].split(".")[0] for fact in facts} == {"l2"}
    latency = next(fact for fact in facts if fact["field"] == "l2.latency")
    assert (latency["value"], latency["unit"]) == (gpu.l2.latency, "cycles")  # type: ignore[union-attr]
    text = rendered(tables.fields(gpu, "l2"))
    assert latency["kind"] in text
    assert "l1.latency" not in text
    assert "[dram]" not in text
    assert next(fact["field"] for fact in tables.facts(gpu, "pipes.tensor")) == "pipes.tensor.lanes"


@pytest.mark.parametrize(
    ("gpu", "section", "says"),
    [
        ("h100", "l22", r"no section or field 'l22'\n  did you mean l2\? sections"),
        ("h100", "latency", r"did you mean lsu\.latency or .*l2\.latency or"),
        ("h100", "pipes.tenser", r"did you mean pipes\.tensor\?"),
        ("h100", "fp64", r"did you mean pipes\.fp64 or units\.fp64\?"),
        ("h100", "zzz", "sections: clock, core, pipes"),
        ("textbook", "l2", "has no l2"),
    ],
)
def test_a_wrong_section_is_told_with_the_nearest_names(gpu: str, section: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        tables.facts(sim.gpu(gpu), section)


def test_a_field_whose_description_leaves_the_unit_out_has_that_of_its_name() -> None:
    units = {fact["field"]: fact["unit"] for fact in tables.facts(sim.gpu("h100"))}
    assert (units["l2.core_cycles"], units["constants.load_near"], units["fetch.bytes"]) == ("cycles", "cycles", "bytes")
    assert (units["dram.bandwidth"], units["l2.ways"], units["core.policy"]) == ("GB/s", "", "")
