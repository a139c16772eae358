"""Lint: no hazard in what compilers leave, every hazard that is seeded, and paths that meet."""

import dataclasses
import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isa
import sim
from isa.errors import UserError
from isa.program import Program
from sim.control_words import latency
from sim.control_words.finding import HAZARD, INFORMATION, Finding
from sim.control_words.hazards import Analysis
from tests.unit import sass_data
from tests.unit.control_words import CUDA, HELD_OUT, ROOT, changed, compiled, index_of, written

WITH_WORDS = [name for name in sass_data.LISTINGS if name.endswith((".sass", ".hex.dis")) and "sm_35" not in name]

# listing, where, control field, value, kind of hazard that follows, where it is found, what it is about
SEEDS = [
    ("histogram.sm_80.sass", "IMAD.SHL.U32 R4", "stall", 4, "stall", "LOP3.LUT R4", "R4"),  # 5 between the two integer pipes
    ("histogram.sm_80.sass", "ISETP.GE.AND P1", "stall", 1, "stall", "@P1 BRA", "P1"),  # 13 before a guard
    ("histogram.sm_80.sass", "LOP3.LUT R4", "stall", 4, "stall", "ATOMS.ADD", "R4"),  # 5 before an address
    ("histogram.sm_80.sass", "IMAD.WIDE R2", "stall", 4, "stall", "LDG.E R2", "R2, R3"),  # a pair
    ("histogram.sm_80.sass", "HFMA2.MMA R3", "stall", 9, "stall", "IMAD.WIDE R2", "R3"),  # 10 from the matrix unit
    ("histogram.sm_80.sass", "IMAD.SHL.U32 R4", "wait_mask", 0, "RAW", "IMAD.SHL.U32 R4", "R2"),
    ("histogram.sm_80.sass", "LDG.E R2", "write_barrier", -1, "RAW", "IMAD.SHL.U32 R4", "R2"),
    ("histogram.sm_80.sass", "LOP3.LUT R5", "wait_mask", 0, "WAR", "LOP3.LUT R5", "R5"),  # around the loop
    ("histogram.sm_80.sass", "ATOMS.ADD", "read_barrier", -1, "WAR", "LOP3.LUT R5", "R5"),
    ("saxpy.sm_90.sass", "IMAD R7", "wait_mask", 0, "WAW", "ULDC UR4", "UR4"),
    ("reduce.sm_90.sass", "ULEA UR4", "stall", 5, "stall", "LEA R7, R3", "UR4"),  # 6 from the uniform datapath
    ("reduce.sm_90.sass", "@!P0 LDS R9", "stall", 1, "early", "@!P0 FADD R2", ""),  # the counter does not count yet
    ("saxpy.sm_52.sass", "IADD R4.CC", "stall", 5, "stall", "IADD.X R5", "CC"),
    ("saxpy.sm_52.sass", "ISETP.GE.AND P0", "stall", 1, "stall", "@P0 EXIT", "P0"),
    ("saxpy.sm_52.sass", "LDG.E R6", "write_barrier", -1, "RAW", "FFMA R0", "R4"),  # of both loads: they return in order
    ("scan.sm_90.sass", "ENDCOLLECTIVE", "wait_mask", 0, "RAW", "IMAD.MOV.U32 R9, RZ, RZ, R14", "R14"),  # where only BRA.DIV leads
]


def hazards(program: Program) -> list[Finding]:
    return [finding for finding in sim.lint(program) if finding.level == HAZARD]


@functools.cache
def lintable() -> tuple[Program, ...]:
    return tuple(compiled(name) for name in (*CUDA, *HELD_OUT))


@pytest.mark.parametrize("name", [*CUDA, *HELD_OUT])
def test_no_hazard_in_what_compilers_leave(name: str) -> None:
    assert hazards(compiled(name)) == []


@pytest.mark.parametrize("name", WITH_WORDS)
def test_no_hazard_in_listings_of_other_architectures(name: str) -> None:
    for function in sass_data.functions(name):
        assert hazards(isa.parse(sass_data.text(name), name, function.name)) == []


@pytest.mark.parametrize(("name", "where", "field", "value", "kind", "consumer", "what"), SEEDS)
def test_a_seeded_hazard_is_found(name: str, where: str, field: str, value: int, kind: str, consumer: str, what: str) -> None:
    program = compiled(name)
    found = hazards(changed(program, **{field: (index_of(program, where), value)}))
    at = [finding for finding in found if finding.index == index_of(program, consumer) and finding.kind == kind]
    assert any(f"{what} " in finding.message for finding in at), found
    assert at[0].line == program.instructions[at[0].index].line
    assert at[0].remedy


def test_a_finding_names_place_cause_and_remedy() -> None:
    program = compiled("histogram.sm_80.sass")
    seeded = changed(program, stall=(index_of(program, "IMAD.SHL.U32 R4"), 1))
    finding, guard = hazards(seeded)
    assert guard.instruction.startswith("@!P1 BRA")  # its predicate now comes too late as well
    assert finding.text("k.sass") == (
        "k.sass:47: hazard: LOP3.LUT R4, R4, 0xfc, RZ, 0xc0, !PT;\n"
        "    reads R4 1 cycle after line 45 (IMAD.SHL.U32 R4, R2, 0x4, RZ) issues; its result takes 5: a wrong answer\n"
        "    raise the stall of line 45 to 5, or let 4 cycles more pass between them"
    )


def test_a_wait_on_a_counter_that_nothing_sets_is_information() -> None:
    program = compiled("histogram.sm_80.sass")
    found = sim.lint(changed(program, wait_mask=(index_of(program, "IADD3 R5"), 1 << 5)))
    assert [(f.level, f.kind, f.message) for f in found if f.kind == "unset"] == [
        (INFORMATION, "unset", "waits on SB5, which no instruction of histogram sets")
    ]


def test_a_stall_count_larger_than_needed_is_information() -> None:
    text = "FADD R0, R1, R2\nFADD R3, R0, R0\nFADD R4, R1, R1\nEXIT"
    finding = sim.lint(written(text, [9, 1, 13, 5]))[0]
    assert (finding.level, finding.kind, finding.index, finding.cycles) == (INFORMATION, "slack", 0, 5)
    assert finding.remedy == "a stall of 4 would do"


@pytest.mark.parametrize(("before", "found"), [(3, True), (4, False)])
def test_the_shorter_of_two_paths_counts(before: int, found: bool) -> None:
    """P0 skips the long way round; on the branch `before` cycles pass between the two FADDs."""
    text = "FADD R0, R1, R2\n@P0 BRA join\nFADD R3, R1, R2\nFADD R4, R1, R2\njoin:\nFADD R5, R0, R0\nEXIT"
    assert bool(hazards(written(text, [1, before - 1, 2, 2, 5, 5]))) is found


def test_guards_that_exclude_each_other_do_not_depend() -> None:
    assert not hazards(written("@P0 FADD R0, R1, R2\n@!P0 FADD R3, R0, R0\nEXIT", [1, 5, 5]))
    assert hazards(written("@P0 FADD R0, R1, R2\n@P0 FADD R3, R0, R0\nEXIT", [1, 5, 5]))


def test_a_guarded_write_leaves_the_one_before_it() -> None:
    """Lanes without P0 read what the load wrote, so the wait is still needed."""
    text = "LDG.E R0, [R2.64]\n@P0 FADD R0, R4, R5\nFADD R6, R0, R0\nEXIT"
    found = hazards(changed(written(text, [2, 4, 5, 5]), write_barrier=(0, 0)))
    assert [(f.kind, f.index) for f in found] == [("WAW", 1), ("RAW", 2)]


@pytest.mark.parametrize(("stall", "kinds"), [(6, ["order"]), (7, [])])
def test_the_later_of_two_writes_must_come_last(stall: int, kinds: list[str]) -> None:
    """The uniform datapath takes longer than a load of a constant into the same register."""
    program = written("UIADD3 UR4, UR5, 0x1, URZ\nULDC UR4, c[0x0][0x160]\nEXIT", [stall, 5, 5])
    assert [finding.kind for finding in hazards(program)] == kinds


def test_depbar_waits_for_the_older_of_two_loads() -> None:
    text = "LDG.E R0, [R2]\nLDG.E R1, [R2+4]\nDEPBAR.LE SB0, 0x{}\nFADD R4, R0, R0\nEXIT"
    for most, kinds in ((1, []), (2, ["RAW"])):
        program = written(text.format(most), [2, 2, 4, 6, 15], "sm_52")
        program = changed(changed(program, write_barrier=(0, 0)), write_barrier=(1, 0))
        assert [finding.kind for finding in hazards(program)] == kinds


@pytest.mark.parametrize(
    ("architecture", "stall", "kinds"),
    [("sm_52", 12, ["stall"]), ("sm_52", 13, []), ("sm_61", 12, ["stall"]), ("sm_75", 13, ["RAW", "WAR"])],
)
def test_the_check_of_a_division_is_counted_from_volta_on(architecture: str, stall: int, kinds: list[str]) -> None:
    """Before, it takes 13 cycles, and its sources as it issues."""
    text = "FCHK.DIVIDE P0, R1, R2\n@!P0 BRA end\nMOV R2, R1\nend:\nEXIT"
    assert [finding.kind for finding in hazards(written(text, [stall, 13, 6, 15], architecture))] == kinds


@pytest.mark.parametrize(("architecture", "kinds"), [("sm_75", ["RAW"]), ("sm_80", [])])
def test_doubles_of_ampere_come_in_order(architecture: str, kinds: list[str]) -> None:
    """There the counter of the second tells of the first."""
    program = written("DFMA R2, R4, R6, R8\nDADD R10, R4, R6\nDADD R12, R2, R10\nEXIT", [4, 4, 4, 5], architecture)
    counted = changed(changed(program, write_barrier=(1, 0)), write_barrier=(2, 1))
    assert [finding.kind for finding in hazards(changed(counted, wait_mask=(2, 1)))] == kinds


@pytest.mark.parametrize(("architecture", "kinds"), [("sm_80", ["RAW"]), ("sm_90", [])])
def test_special_registers_of_hopper_come_in_order(architecture: str, kinds: list[str]) -> None:
    """There the counter of the second S2UR tells of the first."""
    program = written("S2UR UR4, SR_CTAID.Y\nS2UR UR6, SR_CTAID.X\nUIADD3 UR5, UR4, UR6, URZ\nEXIT", [8, 8, 5, 5], architecture)
    counted = changed(changed(program, write_barrier=(1, 0)), wait_mask=(2, 1))
    assert [finding.kind for finding in hazards(counted)] == kinds


@pytest.mark.parametrize(("mask", "kinds"), [("0x10", []), ("0x11", ["stall"]), ("R6", ["stall"])])
def test_predicates_that_a_mask_leaves_out_are_not_read(mask: str, kinds: list[str]) -> None:
    program = written(f"LEA R2, P0, R3, R4, 0x2\nP2R R5, PR, RZ, {mask}\nEXIT", [2, 5, 5])
    assert [finding.kind for finding in hazards(program)] == kinds


@pytest.mark.parametrize(("cycles", "kinds"), [(3, ["stall"]), (4, [])])
def test_halves_follow_each_other_after_four_cycles(cycles: int, kinds: list[str]) -> None:
    """As in cuSPARSE for sm_80: HFMA2.BF16_V2 after HFMA2.BF16_V2."""
    program = written("HFMA2.BF16_V2 R3, R6, 1, 1, R3\nHFMA2.BF16_V2 R0, R2, 1, 1, R3\nEXIT", [cycles, 5, 5])
    assert [finding.kind for finding in hazards(program)] == kinds


@pytest.mark.parametrize(("architecture", "kinds"), [("sm_80", ["order"]), ("sm_90", [])])
def test_a_product_may_overwrite_a_word_in_the_next_cycle_on_hopper(architecture: str, kinds: list[str]) -> None:
    program = written("P2R R10, PR, RZ, 0x40\n@!P6 IMAD.WIDE.U32 R10, R23, 0x4, R6\nEXIT", [1, 5, 5], architecture)
    assert [finding.kind for finding in hazards(program)] == kinds


def test_an_integer_is_narrowed_in_fixed_time_from_volta_on() -> None:
    text = "I2I.U8.S32.SAT R4, R4\nLOP3.LUT R4, R4, 0xff, RZ, 0xc0, !PT\nEXIT"
    assert hazards(written(text, [4, 5, 5], "sm_80")) == []
    assert [finding.kind for finding in hazards(written(text, [3, 5, 5], "sm_80"))] == ["stall"]


def test_a_depbar_sees_what_was_counted_in_the_cycle_before() -> None:
    for text, kinds in (("DEPBAR.LE SB1, 0x0, {3,2}", []), ("IADD3 R2, R3, R4, RZ", ["early"])):
        program = written(f"R2UR UR11, R167\n{text}\nIADD3 R5, R6, UR11, RZ\nEXIT", [1, 7, 5, 5])
        counted = changed(changed(program, write_barrier=(0, 3)), wait_mask=(2, 8))
        assert [finding.kind for finding in hazards(changed(counted, wait_mask=(1, 0 if "DEPBAR" in text else 8)))] == kinds


@pytest.mark.parametrize(("stall", "kinds"), [(0, []), (1, ["stall"])])
def test_an_errbar_without_a_stall_count_ends_late(stall: int, kinds: list[str]) -> None:
    program = written("MOV R5, 0x1\nERRBAR\nSTG.E.STRONG.GPU [R94], R5\nEXIT", [1, stall, 5, 5])
    assert [finding.kind for finding in hazards(program)] == kinds


def test_where_a_generic_atomic_goes_is_known_when_its_sources_are_taken() -> None:
    text = "ATOM.E.ADD.BF16x2.RN.STRONG.GPU P3, RZ, [R34.64], R40\nend:\n@P3 BRA end\nEXIT"
    program = changed(written(text, [2, 5, 5], "sm_90"), read_barrier=(0, 0))
    assert [finding.kind for finding in hazards(program)] == ["RAW"]
    assert hazards(changed(program, wait_mask=(1, 1))) == []


def test_measured_latencies_are_those_of_the_table() -> None:
    """Dependent-issue latencies measured on an H100: FFMA, FADD, IMAD 4, DFMA 8; the paper's FADD -> FFMA of Ampere: 4."""
    hopper, ampere = latency.of("sm_90").tables["register"], latency.of("sm_86").tables["register"]
    assert hopper["fma"]["fma"] == ampere["fma"]["fma"] == 4
    assert hopper["double"]["double"] == 8


@pytest.mark.parametrize("architecture", ["sm_52", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"])
def test_every_family_says_where_its_latencies_come_from(architecture: str) -> None:
    found = latency.of(architecture)
    assert found.source
    assert 4 <= found.careful <= 15
    assert found.longest == {80: 24, 86: 24, 90: 24, 100: 20, 120: 29}.get(int(architecture[3:]), found.careful)  # products of matrices


def test_what_is_not_known_is_not_asked_but_scheduled_with_care() -> None:
    """How long R2UR takes from Hopper on is not known: lint is silent, schedule leaves as many cycles as a stall count says."""
    text = "R2UR UR4, R1\nIADD3 R2, R3, UR4, RZ\nEXIT"
    assert not hazards(written(text, [1, 5, 5], "sm_90"))
    assert [finding.kind for finding in hazards(written(text, [1, 5, 5], "sm_80"))] == ["RAW"]
    control = sim.schedule(isa.parse(text), "sm_120").control
    assert control is not None
    assert control.stall[0] == latency.of("sm_120").careful


@pytest.mark.parametrize(
    ("architecture", "product", "consumer", "cycles"),
    [
        ("sm_80", "HMMA.1688.F32", "FADD R20, R7, R1", 16),
        ("sm_90", "HMMA.1684.F32.TF32", "FADD R20, R7, R1", 16),
        ("sm_90", "HMMA.1688.F32.TF32", "FADD R20, R7, R1", 24),
        ("sm_90", "HMMA.16816.F32", "STG [R2], R7", 23),
        ("sm_90", "IMMA.8816.S8.S8", "IADD3 R20, R5, R1, RZ", 13),
        ("sm_100", "HMMA.16816.F32", "FADD R20, R7, R1", 19),
    ],
)
def test_products_of_matrices_take_their_time(architecture: str, product: str, consumer: str, cycles: int) -> None:
    """As far apart as compilers leave them, by shape and type; and not a cycle less."""
    text = f"{product} R4, R8, R12, R16\n{consumer}\nEXIT"
    assert hazards(written(text, [cycles, 5, 5], architecture)) == []
    assert [finding.kind for finding in hazards(written(text, [cycles - 1, 5, 5], architecture))] == ["stall"]


def test_a_call_through_a_register_leads_wherever_nothing_else_does() -> None:
    """And what the function leaves is found behind the call, where it returns to."""
    text = "CALL.REL.NOINC R6, 0x0\nFADD R2, R1, R1\nEXIT\nfirst:\nFADD R1, R3, R3\nRET.REL.NODEC R20, 0x0\nEXIT"
    at = [(finding.kind, finding.index) for finding in hazards(written(text, [5, 5, 5, 1, 1, 5], "sm_90"))]
    assert at == [("stall", 1)]


def test_listings_that_cannot_be_checked() -> None:
    with pytest.raises(UserError, match="no control words"):
        sim.lint(isa.load(ROOT / "programs" / "saxpy.sass"))
    with pytest.raises(UserError, match="the listing names no architecture"):
        sim.lint(dataclasses.replace(compiled("saxpy.sm_90.sass"), architecture=""))
    assert sim.lint(isa.parse(sass_data.text("saxpy.sm_35.sass"), "k")) == []


@given(st.data())
def test_more_cycles_and_more_waits_never_make_a_hazard(data: st.DataObject) -> None:
    program = data.draw(st.sampled_from(lintable()))
    index = data.draw(st.integers(0, len(program) - 1))
    assert program.control is not None
    longer = changed(program, stall=(index, data.draw(st.integers(int(program.control.stall[index]), 15))))
    waiting = changed(longer, wait_mask=(index, int(program.control.wait_mask[index]) | data.draw(st.integers(0, 63))))
    assert {finding.kind for finding in hazards(waiting)} <= {"early"}


@given(
    st.lists(st.tuples(st.sampled_from(["FADD", "IADD3", "IMAD"]), st.integers(0, 3), st.integers(0, 3), st.integers(1, 6)), max_size=12)
)
def test_straight_code_agrees_with_counting_by_hand(parts: list[tuple[str, int, int, int]]) -> None:
    """FADD and IMAD wait 4 for each other, 5 for IADD3, and the other way round; the last writer of a register is the one read."""
    extra = {"FADD": "", "IADD3": ", RZ", "IMAD": ", RZ"}
    text = "".join(f"{name} R{to}, R{source}, R{source}{extra[name]}\n" for name, to, source, _ in parts) + "EXIT"
    program = written(text, [*(stall for *_, stall in parts), 5])
    expected, last, now = set(), {}, 0
    for index, (name, to, source, stall) in enumerate(parts):
        if source in last:
            before, then = last[source]
            if now - then < (4 if (before == "IADD3") == (name == "IADD3") else 5):
                expected.add(index)
        last[to] = name, now
        now += stall
    assert {finding.index for finding in hazards(program)} == expected


def test_every_instruction_of_compiled_code_is_reached() -> None:
    """Else lint would look at nothing and find nothing."""
    for program in lintable():
        analysis = Analysis(program)
        passed = np.zeros(len(program), bool)
        for block, state in zip(analysis.blocks, analysis.states, strict=True):
            passed[block.start : block.end] = state is not None
        assert {program.instructions[i].opcode for i in np.flatnonzero(~passed)} <= {"NOP", "BRA"}
