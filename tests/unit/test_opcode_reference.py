"""The opcode reference: every opcode has a sentence, cycles are those that the engines use, units that a GPU lacks are not timed."""

import json
from pathlib import Path

import pytest

import isa
import sim
from isa.meanings import every_opcode, meaning, table
from isa.vocabulary import Unit
from sim.lab import work
from sim.report import opcodes
from tests.unit.test_cli import refused, simtlab


def test_every_opcode_has_a_sentence_and_no_sentence_is_of_another() -> None:
    assert [name for name in every_opcode() if not meaning(name)] == []
    assert set(table()) <= set(every_opcode())
    assert meaning("UMOV") == meaning("MOV")
    assert meaning("NONSENSE") == ""


@pytest.mark.parametrize("gpu", ["gtx480", "h100"])
def test_the_cycles_are_those_that_a_dependent_waits(gpu: str) -> None:
    one = sim.gpu(gpu)
    chain = isa.parse("FFMA R1, R1, R1, R1\n" * 9 + "EXIT")
    short = isa.parse("FFMA R1, R1, R1, R1\n" * 8 + "EXIT")
    cycles = [sim.run(sim.Launch(program, (1,), (32,), ()), one).cycles for program in (short, chain)]
    assert cycles[1] - cycles[0] == opcodes.facts("FFMA", one)["latency"]


def test_what_a_gpu_lacks_has_no_cycles() -> None:
    old, new = opcodes.facts("HMMA", sim.gpu("gtx480")), opcodes.facts("HMMA", sim.gpu("h100"))
    assert (old["latency"], opcodes.cycles(old)) == (None, "-")
    assert new["latencies"]["hmma_16816_f32"] == sim.gpu("h100").latency(Unit.HMMA_16816_F32)
    assert opcodes.cycles(new) == "17 to 24"
    assert work.opcodes(sim.gpu("gtx480"))["HMMA"]["latency"] is None


def test_the_command_prints_one_all_and_the_page(tmp_path: Path) -> None:
    said = simtlab("opcodes", "ffma.ftz", "--gpu", "h100", "--gpu", "gtx480").stdout
    assert said.startswith("FFMA Rd, a, b, c\n  Rd = a * b + c, in float32, rounded once.\n")
    assert "         18  gtx480" in said
    everything = simtlab("opcodes").stdout
    assert all(f" {name} " in everything for name in ("FFMA", "LDG", "CALL", "LDSLK"))
    data, page = tmp_path / "all.json", tmp_path / "opcodes.md"
    simtlab("opcodes", "LDS", "--json", data)
    assert json.loads(data.read_text())["LDS"]["h100"]["latency"] == sim.gpu("h100").latency(Unit.SHARED)
    simtlab("opcodes", "--output", page)
    rows = page.read_text().splitlines()
    assert sum(row.startswith("| `") for row in rows) == len(every_opcode()) + len([unit for unit in Unit if unit])
    assert {row.count(" | ") for row in rows if row.startswith("| `F")} >= {4}


def test_a_slip_is_told_with_what_was_meant() -> None:
    assert "unknown opcode FFMX" in (message := refused("opcodes", "FFMX"))
    assert "did you mean FFMA" in message
