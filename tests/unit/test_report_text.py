"""The report: golden texts, and numbers that must agree with the result."""

import re
from collections.abc import Callable

import numpy as np
import pytest

import isa
import sim
from isa import dependences
from sim.report import text, words
from sim.result.causes import CAUSE_NAMES, SLOT_CAUSE_NAMES
from tests.unit.report_runs import add_one, chain_on, text_program

GTX480 = sim.gpu("gtx480")


def test_report_of_a_latency_bound_run(golden: Callable[[str, str], None]) -> None:
    golden("report_latency", text.report(chain_on(GTX480, 1, 6)))


def test_report_of_a_full_chip(golden: Callable[[str, str], None]) -> None:
    golden("report_full", text.report(chain_on(GTX480, 30, 24)))


def test_report_of_a_memory_bound_run(golden: Callable[[str, str], None]) -> None:
    golden("report_memory", text.report(add_one(sim.gpu("h100"), 4)))


def test_percent_of_peak_counts_a_fused_multiply_add_twice_and_lanes_not_warps() -> None:
    listing = ".kernel f\nFFMA R0, R0, R1, R2;\nFADD R3, R3, R1;\nEXIT"
    launch = sim.Launch(isa.parse(listing), grid=(1,), block=(20,))
    result = sim.run(launch, GTX480)
    assert result.counters["fp32_flops"] == 20 * 3
    assert text.peak(result, 1) == pytest.approx(60 / (2 * 32 * result.cycles))
    assert text.peak(result, 15) == pytest.approx(text.peak(result, 1) / 15)


def test_an_instruction_whose_guard_is_false_does_no_flops() -> None:
    launch = sim.Launch(isa.parse(".kernel f\nISETP.NE.AND P0, PT, RZ, RZ, PT\n@P0 FFMA R0, R0, R1, R2;\nEXIT"), (1,), (32,))
    assert sim.run(launch, GTX480).counters["fp32_flops"] == 0


def test_the_account_printed_sums_to_the_total() -> None:
    result = chain_on(GTX480, 1, 6)
    printed = text.account("t", "warp-cycles", result.stalls, words.CAUSE_MEANINGS)
    numbers = [int(n.replace(",", "")) for n in re.findall(r"  +([\d,]+)  [a-z]", printed)]
    assert sum(numbers) == result.counters["warp_cycles"]
    assert re.search(rf"\({int(result.counters['warp_cycles']):,} warp-cycles\)", printed)


def test_copies_of_one_line_count_as_one_instruction() -> None:
    rows = text.slowest(chain_on(GTX480, 1, 6)).splitlines()[1:]
    assert sum("FFMA" in row for row in rows) == 1


def test_no_memory_no_word_about_memory() -> None:
    assert text.memory(chain_on(GTX480, 1, 6)) == ""


def test_an_empty_kernel_has_a_report() -> None:
    assert "1 block of 32 threads: 1 warp on 1 of 15 SMs" in text.report(text_program(".kernel f\nEXIT", GTX480, 1, 1))


def test_every_cause_has_words() -> None:
    assert set(words.CAUSE_MEANINGS) == set(CAUSE_NAMES)
    assert all(words.slot_meaning(name) for name in SLOT_CAUSE_NAMES)


@pytest.mark.parametrize(
    ("value", "written"), [(1.5, "1.50 s"), (0.0123, "12.3 ms"), (2.61e-6, "2.61 us"), (999e-9, "999 ns"), (0.0, "0 ns")]
)
def test_durations_have_three_digits(value: float, written: str) -> None:
    assert words.seconds(value) == written


@pytest.mark.parametrize(("fraction", "halves"), [(0.0, 0), (0.024, 1), (0.5, 20), (1.0, 40), (1.7, 40)])
def test_bars_have_half_columns(fraction: float, halves: int) -> None:
    drawn = words.bar(fraction)
    assert len(drawn) == 20
    assert 2 * drawn.count("█") + drawn.count("▌") == halves


def test_sizes_drop_trailing_ones() -> None:
    assert [words.sizes(size) for size in [(1,), (16, 16), (4, 1, 1), (1, 1, 2)]] == ["1", "16 x 16", "4", "1 x 1 x 2"]


def test_dependences_are_named_as_listings_write_them() -> None:
    names = isa.parse(".kernel f\nIADD R1.CC, R2, R3;\nISETP.NE.AND P2, PT, R1, RZ, PT\nEXIT").encoded.writes
    assert [dependences.name(int(n)) for n in np.unique(names[names >= 0])] == ["R1", "P2", "CC"]


def test_code_that_the_gpu_is_too_old_for_is_flagged() -> None:
    program = isa.parse(".kernel f\n.target sm_90\nFADD R0, R0, 1;\nEXIT;")
    trace = sim.execute(sim.Launch(program, grid=(1,), block=(32,)))
    assert "note: this is sm_90 code, which no sm_70 GPU runs" in text.report(sim.simulate(trace, sim.gpu("v100")))
    assert "note:" not in text.report(sim.simulate(trace, sim.gpu("h100")))


def test_a_program_that_reads_a_clock_is_told_what_it_got() -> None:
    listing = ".kernel f\nS2R R0, SR_CLOCKLO;\nIADD R1, R0, 1;\nS2R R2, SR_CLOCKLO;\nEXIT"
    printed = " ".join(text.report(sim.run(sim.Launch(isa.parse(listing), (1,), (32,)), GTX480)).split())
    assert "note: the program reads a clock, and got the number of warp instructions executed before, not a measurement" in printed
    assert "the cycle of each of the 2 clock reads is in --json" in printed
    quiet = sim.run(sim.Launch(isa.parse(".kernel f\nS2R R0, SR_TID.X;\nEXIT"), (1,), (32,)), GTX480)
    assert "note:" not in text.report(quiet)


def test_accesses_of_several_memories_by_generic_addresses_are_said_to_be_timed_as_global() -> None:
    address = "MOV R2, c[0x0][x]\nMOV R3, 0\nS2R R5, SR_TID.X\nISETP.LT P1, R5, {lanes}\n@P1 MOV R2, 0x20\n@P1 MOV R3, 1\n"
    listing = f".param ptr x\n{address}LD.E R4, [R2]\nST.E [R2], R4\n@P0 ST.E [R2], R4\nATOM.E.ADD R4, [R2], R4\nEXIT"
    x = np.zeros(1, np.int32)

    def printed(lanes: int) -> str:
        program = isa.parse(listing.format(lanes=lanes))
        return " ".join(text.report(sim.run(sim.Launch(program, (1,), (32,), (x,), shared_dynamic=64), GTX480)).split())

    said = printed(16)
    assert "note: line 8 (LD.E R4, [R2]) and 2 other instructions found shared or local memory by generic addresses" in said
    assert "; timed as accesses of global memory" in said
    assert "note:" not in printed(0)
    assert "note:" not in printed(32)
