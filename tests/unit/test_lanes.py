"""SIMT efficiency: lanes that are active and lanes that execute, counted by hand."""

import re

import pytest

import isa
import sim
from sim.analysis.lanes import branches, idle_lanes, lanes
from sim.causes.advice import diagnose
from sim.launch.file import load_launch
from sim.report.text import report
from tests.unit.test_cli import PROGRAMS

# 8 of 32 lanes take the loop, 40 rounds of 3 instructions; a guard then leaves 2 of them.
LISTING = """.kernel parted
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, 0x8, PT
    ISETP.LT.AND P1, PT, R0, 0x2, PT
@P0 BRA end
    MOV32I R1, 40
loop:
    IADD R1, R1, -1
    ISETP.NE.AND P2, PT, R1, RZ, PT
@P1 FADD R2, R2, 1.0
@P2 BRA loop
end:
    EXIT
"""


def test_lanes_by_hand() -> None:
    result = sim.run(sim.Launch(isa.parse(LISTING), (1,), (32,)), sim.gpu("gtx480"))
    parted = 1 + 40 * 4  # MOV32I and the rounds
    issues = 4 + parted + 1
    assert result.counters["warp_instructions"] == issues
    found = lanes(result)
    assert found.active == pytest.approx((4 * 32 + parted * 8 + 32) / issues)
    assert found.executing == pytest.approx((3 * 32 + 24 + 8 + 40 * (8 + 8 + 2) + 39 * 8 + 32) / issues)
    assert result.trace is not None
    worst = idle_lanes(result.trace)[0]
    assert worst.text == "@P1 FADD R2, R2, 1.0;"
    assert worst.lanes == (8.0, 2.0)
    assert worst.share == pytest.approx(40 * 30 / (issues * 32 - found.executing * issues))


def test_the_report_names_divergence() -> None:
    program = isa.parse(LISTING.replace("40", "2000"))
    text = report(sim.run(sim.Launch(program, (15 * 6,), (256,)), sim.gpu("gtx480")))
    assert "not predicated off" in text
    assert "@P1 FADD R2, R2, 1.0;" in text.partition("Idle lanes")[2].splitlines()[1]


def test_full_slots_of_parted_warps_are_no_dead_end() -> None:
    work = "".join(f" IADD R{k}, R{k}, 1\n" for k in range(2, 12))
    start = ".kernel f\n S2R R0, SR_TID.X\n LOP.AND R0, R0, 0x1f\n ISETP.GE.AND P0, PT, R0, 0x8, PT\n@P0 BRA end\n MOV32I R1, 500\n"
    text = f"{start}loop:\n{work} IADD R1, R1, -1\n ISETP.NE.AND P2, PT, R1, RZ, PT\n@P2 BRA loop\nend:\n EXIT"
    said = report(sim.run(sim.Launch(isa.parse(text), (15,), (1024,)), sim.gpu("gtx480"))).replace("\n", " ")
    assert "of 32 lanes 8.0 are active per instruction, so sorting the work" in said


def test_full_warps_have_a_line_and_no_idle_lanes() -> None:
    text = report(sim.run(sim.Launch(isa.parse(".kernel f\nFADD R0, R0, 1;\nEXIT;"), (1,), (32,)), sim.gpu("gtx480")))
    assert "lanes        32.0 of 32 active per instruction, 32.0 not predicated off" in text
    assert "Idle lanes" not in text


def test_branches_that_part_lanes_are_counted_and_named() -> None:
    listing = """S2R R0, SR_TID.X
ISETP.LT P0, R0, 40
@P0 BRA low
MOV R1, 1
low:
ISETP.LT P1, R0, 64
@P1 BRA end
MOV R2, 1
end:
EXIT
"""
    trace = sim.execute(sim.Launch(isa.parse(listing), (1,), (96,)))
    found = branches(trace)
    assert found is not None
    assert found.parted == 1  # of three warps one has threads below and above 40; none has both below and above 64
    assert [(line, executed, parted) for line, _, executed, parted in found.lines] == [(3, 3, 1)]
    shown = report(sim.simulate(trace, sim.gpu("gtx480")))
    assert f"Divergent branches: 1 of {found.executed} executed" in shown
    assert re.search(r"line    3  @P0 BRA .* 33\.3%", shown)


def test_a_latency_that_divergence_makes_is_said_so() -> None:
    launch = load_launch(PROGRAMS / "collatz.sass").launch
    assert "lanes that branch apart take turns" in diagnose(sim.run(launch, sim.gpu("h100"))).sentence
    assert "apart" not in diagnose(sim.run(load_launch(PROGRAMS / "volkov" / "ffma_ilp1.sass").launch, sim.gpu("h100"))).sentence
