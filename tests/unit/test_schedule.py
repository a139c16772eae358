"""Scheduled listings: clean by lint, the same program, as long as a compiler's, readable as text."""

import dataclasses
import functools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isa
import sim
from isa.errors import UserError
from isa.program import Program
from sim.control_words import Finding
from sim.launch.file import load_launch
from tests.unit.control_words import CUDA, ROOT, changed, compiled
from tests.unit.test_cli import refused, simtlab

SHORT = 2000  # bytes; and Volkov's chains are long for their .rept
WRITTEN = [
    path
    for path in sorted((ROOT / "programs").rglob("*.sass"))
    if ".sm_" not in path.name and path.stat().st_size < SHORT and path.parent.name != "volkov"
]
# Stall cycles that `schedule` lays down over those of the compiler, the kernels of programs/cuda together; the least and the most of one
RATIOS = {"sm_52": (0.75, 0.31, 0.90), "sm_75": (0.97, 0.81, 1.00), "sm_80": (0.98, 0.87, 1.01), "sm_90": (0.98, 0.89, 1.10)}


def bare(program: Program) -> Program:
    return dataclasses.replace(program, control=None)


@functools.cache
def rescheduled(name: str) -> Program:
    """Return a listing of programs/cuda with our control words in place of the compiler's."""
    return sim.schedule(bare(compiled(name)))


def hazards(program: Program) -> list[Finding]:
    return [finding for finding in sim.lint(program) if finding.level == "hazard"]


def stall_cycles(program: Program) -> int:
    """Return the cycles of all stall counts but those of the padding behind the last EXIT."""
    assert program.control is not None
    last = max(i.index for i in program.instructions if i.opcode == "EXIT")
    return int(program.control.stall[:last].sum())


def same(one: Program, other: Program, field: str) -> None:
    for mine, theirs in zip(getattr(one, field), getattr(other, field), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", CUDA)
def test_a_compilers_listing_without_its_control_words_is_scheduled_without_hazards(name: str) -> None:
    assert not hazards(rescheduled(name))
    same(rescheduled(name), compiled(name), "encoded")


@pytest.mark.parametrize("architecture", RATIOS)
def test_stall_cycles_are_near_the_compilers(architecture: str) -> None:
    """On Maxwell the compiler stalls up to 15 cycles before an instruction that waits on a counter anyway; schedule does not."""
    found = [(stall_cycles(rescheduled(name)), stall_cycles(compiled(name))) for name in CUDA if architecture in name]
    each = [mine / theirs for mine, theirs in found]
    total = sum(mine for mine, _ in found) / sum(theirs for _, theirs in found)
    assert (round(total, 2), round(min(each), 2), round(max(each), 2)) == RATIOS[architecture]


@pytest.mark.parametrize("architecture", ["sm_61", "sm_75", "sm_90"])
def test_every_written_listing_is_scheduled_and_reads_back(architecture: str) -> None:
    for path in WRITTEN:
        scheduled = sim.schedule(isa.load(path), architecture)
        assert not hazards(scheduled), path
        again = isa.parse(scheduled.listing(with_control=True), str(path))
        assert again.control is not None
        same(again, scheduled, "control")
        same(again, scheduled, "encoded")


@pytest.mark.parametrize("name", ["saxpy", "reduce_shared", "collatz"])
def test_a_scheduled_listing_computes_the_same(name: str, tmp_path: Path) -> None:
    """Both in one test run: with and without control words, for a GPU that has them."""
    source = ROOT / "programs" / f"{name}.sass"
    file = tmp_path / f"{name}.sass"
    assert simtlab("schedule", source, "--arch", "sm_90", "--output", file).exit_code == 0
    launches = [load_launch(source.with_suffix(".toml"), isa.load(path)).launch for path in (source, file)]
    for launch in launches:
        sim.execute(launch)
    for plain, scheduled in zip(launches[0].args, launches[1].args, strict=True):
        np.testing.assert_array_equal(plain, scheduled)


def test_mandatory_yields_and_free_counters() -> None:
    for name in CUDA:
        control = rescheduled(name).control
        assert control is not None
        assert control.yield_[control.stall >= 12].all()
        assert control.stall.max() <= 15
        assert control.stall.min() >= 1
        assert set(control.write_barrier) | set(control.read_barrier) <= set(range(-1, 6))


def test_an_operand_that_is_read_again_in_its_place_is_kept() -> None:
    program = sim.schedule(isa.parse("FFMA R0, R4, R5, R0\nFFMA R1, R4, R6, R1\nFADD R2, R4, R6\nEXIT"), "sm_90")
    assert program.control is not None
    assert program.control.reuse.tolist() == [0b001, 0b001, 0, 0]  # R4; then R4 alone, for FADD takes R6 in its third place


def test_a_store_in_a_loop_gets_a_read_counter() -> None:
    text = "loop:\nSTG.E [R2], R4\nIADD3 R4, R4, 1, RZ\nISETP.LT.AND P0, PT, R4, R5, PT\n@P0 BRA loop\nEXIT"
    program = sim.schedule(isa.parse(text), "sm_80")
    assert program.control is not None
    assert program.control.read_barrier[0] >= 0
    assert program.control.wait_mask[1] == 1 << program.control.read_barrier[0]


def test_no_words_for_architectures_without() -> None:
    with pytest.raises(UserError, match="no latencies are known for architecture sm_35"):
        sim.schedule(isa.parse("EXIT"), "sm_35")
    message = "the listing names no architecture\n  write .target sm_90 in it, or give --arch sm_90"
    assert message in refused("schedule", ROOT / "programs" / "saxpy.sass")


def test_the_listing_is_printed_and_what_it_costs_beside_it() -> None:
    result = simtlab("schedule", ROOT / "programs" / "saxpy.sass", "--arch", "sm_90")
    assert "    [B0-----:R-:W-:Y:S05:U----] IMAD R0, R0, R1, R2;\n" in result.stdout
    assert "instructions for sm_90, stall counts of" in result.stderr
    assert isa.parse(result.stdout).control is not None


def test_mistakes_in_control_fields() -> None:
    with pytest.raises(UserError, match=r"k:2:1: these are not control fields"):
        isa.parse("NOP\n[B9-----:R-:W-:Y:S05] FADD R0, R1, R2\nEXIT", "k")
    with pytest.raises(UserError, match="k:1:1: a stall count is at most 15"):
        isa.parse("[B------:R-:W-:Y:S16] EXIT", "k")
    with pytest.raises(UserError, match="k:2: EXIT; has no control fields, others have"):
        isa.parse("[B------:R-:W-:Y:S05] FADD R0, R1, R2\nEXIT", "k")


PARTS = st.sampled_from(
    [
        "FADD R{0}, R{1}, R{2}",
        "IADD3 R{0}, R{1}, R{2}, R{0}",
        "IMAD.WIDE R4, R{0}, R{1}, R6",
        "@P0 MOV R{0}, R{1}",
        "ISETP.LT.AND P0, PT, R{0}, R{1}, PT",
        "LDG.E R{0}, [R4]",
        "LDS R{0}, [R{1}]",
        "STS [R{0}], R{1}",
        "@!P0 STG.E [R6], R{0}",
        "MUFU.RCP R{0}, R{1}",
        "S2R R{0}, SR_TID.X",
        "BAR.SYNC 0x0",
    ]
)
REGISTERS = st.tuples(*3 * [st.integers(0, 3)])


def test_a_loop_of_one_block_waits_once_for_what_comes_from_before_it() -> None:
    made = sim.schedule(isa.parse("ISETP.LT.AND P0, PT, R4, R5, PT\nloop:\n@P0 BRA loop\nEXIT"), "sm_90")
    assert made.control is not None
    assert made.control.stall.tolist() == [13, 5, 5]
    assert not hazards(made)


@given(
    st.lists(st.tuples(PARTS, REGISTERS), min_size=1, max_size=25),
    st.integers(0, 25),
    st.integers(0, 1),
    st.sampled_from(["sm_61", "sm_75", "sm_90"]),
)
def test_any_loop_is_scheduled_without_hazards(parts: list[tuple[str, tuple[int, ...]]], back: int, nops: int, architecture: str) -> None:
    lines = [part.format(*registers) for part, registers in parts]
    lines.insert(min(back, len(lines)), "loop:")
    program = isa.parse("\n".join([*lines, *["NOP"] * nops, "@P0 BRA loop", "EXIT"]))
    assert not hazards(sim.schedule(program, architecture))


def test_a_product_that_nothing_follows_in_time_is_refused() -> None:
    """An HMMA's sums come 24 cycles later, which no control word can say: compilers put other instructions between."""
    product = "HMMA.16816.F32 R0, R4, R8, R0\n"
    with pytest.raises(UserError, match=r"2: HMMA.16816.F32 must stall 24 cycles; a control word says 15"):
        sim.schedule(isa.parse(f".kernel f\n{product}{product}EXIT"), "sm_90")
    spread = sim.schedule(isa.parse(f".kernel f\n{product}NOP\n{product}NOP\nEXIT"), "sm_90").control
    assert spread is not None
    assert spread.stall[:2].sum() == 24


def test_products_of_turing_are_waited_for_by_cycles_as_by_counters() -> None:
    """nvcc leaves 14 cycles between dependent ones, with a counter or without."""
    program = sim.schedule(isa.parse("HMMA.1688.F32 R4, R2, R0, R4\nHMMA.1688.F32 R4, R2, R0, R4\nEXIT"), "sm_75")
    assert program.control is not None
    assert (program.control.stall[0], program.control.write_barrier[0]) == (14, -1)
    assert [finding.kind for finding in hazards(changed(program, stall=(0, 13), read_barrier=(0, 0)))] == ["stall"]
