"""What the shape of a launch costs is named where it matters, with a share of the time that a run of the other shape bears out."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import isa
import sim
from sim.causes.advice import advise, diagnose
from sim.causes.memory_advice import Verdict
from sim.causes.shape import LEAST
from sim.cli import app
from sim.gpus.model import Gpu
from sim.result.result import Result

GTX480 = sim.gpu("gtx480")
CHAIN = ".kernel chain\n.rept 200\nFFMA R1, R1, R2, R3\n.endr\nEXIT"
LONG = CHAIN.replace("200", "1000")
STREAM = """
.kernel stream
.param ptr x
        S2R R0, SR_TID.X
        S2R R1, SR_CTAID.X
        IMAD R0, R1, {block}, R0
        SHL R0, R0, 2
        IADD R2.CC, R0, c[0x0][x]
        IADD.X R3, RZ, c[0x0][x+4]
        LD.E R6, [R2]
        FADD R6, R6, 1
        ST.E [R2], R6
        EXIT
"""


def chain(grid: int, block: int, gpu: Gpu = GTX480, text: str = CHAIN) -> Result:
    return sim.run(sim.Launch(isa.parse(text), grid=(grid,), block=(block,)), gpu)


def found(result: Result) -> dict[str, Verdict]:
    """Return what is said of the shape, by kind; the first verdict is never about it."""
    first, *others = advise(result)
    assert first == diagnose(result)
    assert all(one.share is not None and LEAST <= one.share < 1 for one in others)
    return {one.kind: one for one in others}


def test_lanes_without_a_thread_are_named_and_whole_warps_save_no_more_than_is_said() -> None:
    """32,640 threads as 680 blocks of 48 or 340 of 96."""
    part, whole = chain(680, 48), chain(340, 96)
    said = found(part)["lanes"]
    assert said.share == pytest.approx(0.25)
    assert "A block of 48 threads has 16 lanes (25%) in which no thread ever works" in said.sentence
    assert "lanes" not in found(whole)
    assert whole.counters["warp_instructions"] == 0.75 * part.counters["warp_instructions"]


def test_few_idle_lanes_are_not_named_nor_those_of_one_block() -> None:
    assert "lanes" not in found(chain(60, 252))  # 4 of 256
    assert "lanes" not in found(chain(1, 48))


def test_lanes_cost_nothing_where_dram_binds() -> None:
    listing = isa.parse(STREAM.format(block=96 + 1))
    result = sim.run(sim.Launch(listing, (2000,), (97,), (np.zeros(97 * 2000, np.float32),)), GTX480.replace({"dram.bandwidth": 20}))
    assert diagnose(result).kind == "dram"
    assert "lanes" not in found(result)  # 31 of 128 lanes


def test_lanes_that_have_no_thread_are_not_called_divergent() -> None:
    """16 of 32 lanes are active because there are no more threads."""
    result = chain(720, 16)
    assert "branch" not in diagnose(result).sentence
    assert found(result)["lanes"].share == 0.5
    part = chain(
        720, 16, text=CHAIN.replace("FFMA", "@P0 FFMA", 1).replace(".rept", "S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 4, PT\n.rept")
    )
    assert "of 16 lanes 16.0 are active per instruction" in diagnose(part).sentence


def test_blocks_of_few_warps_run_out_of_places_and_larger_ones_are_as_fast_as_promised() -> None:
    """A GTX 480 has places for 8 blocks and 48 warps; 18 warps fill its issue slots."""
    small = chain(1440, 32)
    said = found(small)["block_slots"]
    assert "8 places that an SM has for blocks with 8 of the 48 warps" in said.sentence
    assert "blocks of 192 threads would make it 48" in said.sentence
    saved = 1 - chain(240, 192).cycles / small.cycles
    assert said.share is not None
    assert saved == pytest.approx(said.share, abs=0.1)


def test_places_for_blocks_are_not_named_where_they_cost_nothing() -> None:
    assert "block_slots" not in found(chain(120, 32))  # one wave: all are resident
    assert "block_slots" not in found(chain(480, 128, text=LONG))  # 32 warps on an SM fill its issue slots
    assert "block_slots" not in found(chain(480, 192))


def test_a_last_wave_that_leaves_places_empty_is_named_and_whole_waves_save_no_more_than_is_said() -> None:
    """16 blocks on 15 SMs with a place for one are two waves, the second of one block."""
    gpu = GTX480.replace({"limits.blocks": 1})
    part, whole = chain(16, 256, gpu, LONG), chain(15, 256, gpu, LONG)
    said = found(part)["last_wave"]
    assert "The last wave has 1 of the 15 blocks that run at once" in said.sentence
    assert "93% of the places stay empty" in said.sentence
    assert "a grid of 15 or 30 blocks" in said.sentence.lower()
    per_block = (part.cycles / 16, whole.cycles / 15)
    assert said.share is not None
    assert 1 - per_block[1] / per_block[0] == pytest.approx(said.share, abs=0.05)
    assert "last_wave" not in found(whole)


def test_a_block_size_that_fills_the_last_wave_is_proposed_and_does() -> None:
    """14,400 threads: 300 blocks of 48 are 2.5 waves of 8 on each of 15 SMs."""
    part = chain(300, 48)
    sentence = found(part)["last_wave"].sentence
    assert "Blocks of 960 threads (1.00 waves), or a grid of 240 or 360 blocks" in sentence
    better = chain(15, 960)
    assert better.occupancy.warps >= part.occupancy.warps
    assert better.cycles < part.cycles


def test_no_block_size_is_proposed_to_a_program_with_a_barrier() -> None:
    said = found(chain(300, 48, GTX480, CHAIN.replace("EXIT", "BAR.SYNC 0\nEXIT")))["last_wave"]
    assert "Blocks of" not in said.sentence
    assert "A grid of" in said.sentence


def test_run_says_it_in_its_report_and_in_json(tmp_path: Path) -> None:
    listing, file = tmp_path / "chain.sass", tmp_path / "found.json"
    listing.write_text(CHAIN)
    done = CliRunner().invoke(app, ["run", str(listing), "--gpu", "gtx480", "--grid", "680", "--block", "48", "--json", str(file)])
    assert done.exit_code == 0, done.output
    assert "16 lanes (25%) in which no thread" in " ".join(done.output.split())
    said = json.loads(file.read_text())["advice"]
    assert [one["kind"] for one in said][:2] == ["latency", "lanes"]
    assert said[1]["share"] == pytest.approx(0.25)
    assert said[0]["share"] is None
