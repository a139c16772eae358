"""Energy by published numbers: counts of the run times the table, a label on everything, refusals, words and command."""

import json
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim.analysis.energy import BITS, THREADS, energy, load, names
from sim.launch.file import load_launch
from sim.report.energy import text_of
from tests.unit.test_cli import PROGRAMS, refused, simtlab


def test_the_events_are_those_of_the_run() -> None:
    result = sim.run(load_launch(PROGRAMS / "saxpy.sass").launch, sim.gpu("gtx480"))
    found = energy(result, load("horowitz"))
    events = {event.name: event for event in found.events}
    threads = 256 * result.grid[0]
    assert (events["FFMA"].times, events["FFMA"].unit, events["FFMA"].picojoules) == (threads, THREADS, 4.6)
    assert (events["l2"].times, events["l2"].unit) == (8 * 12 * threads, BITS)  # two loads and a store of four bytes, none twice
    moved = result.counters["dram_bytes_read"] + result.counters["dram_bytes_written"]
    assert events["dram"].joules == pytest.approx(8 * moved * 30.47e-12)
    assert found.joules == pytest.approx(sum(event.times * event.picojoules for event in found.events) * 1e-12)
    assert {"EXIT", "S2R"} <= found.uncounted.keys()
    assert not {"LOAD", "STORE"} & found.uncounted.keys()


def test_lanes_that_do_not_execute_take_nothing() -> None:
    listing = "S2R R0, SR_TID.X\nISETP.LT P0, R0, 10\n@P0 FFMA R1, R1, R2, R3\nEXIT\n"
    result = sim.run(sim.Launch(isa.parse(listing), (1,), (32,)), sim.gpu("textbook"))
    assert [(event.name, event.times) for event in energy(result, load("horowitz")).events] == [("FFMA", 10)]


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "mine"\nnode = "1 nm"\nsource = "me"\n[instructions]\nFFMA = 2\n[moved]\ndram = 1\n')
    result = sim.run(load_launch(PROGRAMS / "saxpy.sass").launch, sim.gpu("gtx480"))
    found = energy(result, load(str(file)))
    assert [event.name for event in found.events] == ["FFMA", "dram"]
    assert "ESTIMATE with the numbers of: mine, 1 nm" in text_of(found)
    assert "Source: me." in text_of(found).replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[instructions]\nFFMA = -1", "FFMA = -1 is not legal"),
        ("[instructions]\nFFMB = 1", "no operation is called FFMB"),
        ('[instructions]\nFFMA = 1\n[alike]\nFADD = "FMUL"', "alike.FADD = 'FMUL' has no number"),
        ("[instructions]\n[moved]\nl3 = 1", "unknown field moved.l3"),
        ("[instructions", "not a TOML file"),
    ],
)
def test_what_a_table_cannot_say_is_named(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'title = "mine"\nnode = "1 nm"\nsource = "me"\n{text}\n')
    with pytest.raises(UserError, match=says):
        load(str(file))


def test_every_supplied_table_is_labelled() -> None:
    assert names() == ("horowitz", "k40")
    for name in names():
        table = load(name)
        assert table.node
        assert table.source
        assert all(value > 0 for value in table.instructions.values())


def test_a_result_without_its_trace_is_refused() -> None:
    result = sim.run(sim.Launch(isa.parse(".param ptr x\nEXIT\n"), (1,), (32,), (np.zeros(1),)), sim.gpu("textbook"))
    vars(result)["trace"] = None
    with pytest.raises(UserError, match="without its trace"):
        energy(result, load("k40"))


def test_the_command_prints_the_table_and_writes_it(tmp_path: Path) -> None:
    listing, file = PROGRAMS / "saxpy.sass", tmp_path / "run.json"
    shown = simtlab("run", listing, "--energy", "k40", "--json", file).stdout
    assert "ESTIMATE with the numbers of: Tesla K40, data movement alone, 28 nm" in shown
    found = json.loads(file.read_text())["energy"]
    assert found["estimate_of"]["node"] == "28 nm"
    assert found["joules"] == pytest.approx(sum(event["joules"] for event in found["events"]))
    assert "no table of energies is called 'k80'" in refused("run", listing, "--energy", "k80")
