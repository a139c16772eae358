"""Forms that compilers leave in ordinary kernels now and then: conditions of CC, signs of immediates, three-way minima, BRA.DIV."""

import numpy as np
import pytest

import isa
from isa.vocabulary import CARRY
from sim.functional import execute
from sim.launch.launch import Launch
from tests.unit.one_instruction import THREADS, compute, floats, words

KERNEL = """.target {target}
.parameter_base {base}
.param ptr out
    S2R R0, SR_TID.X
    SHL R1, R0, 2
    IADD R1, R1, c[0x0][out]
    {body}
    STG [R1], R2
    EXIT
"""


def run(body: str, threads: int = 32, target: str = "sm_75") -> np.ndarray:
    """Return R2 of each thread after `body`; R0 is its number."""
    out = np.zeros(threads, np.uint32)
    text = KERNEL.format(body=body, target=target, base="0x160" if target == "sm_75" else "0x140")
    execute(Launch(isa.parse(text), grid=(1,), block=(threads,), args=(out,)))
    return out


def test_sums_of_two_halves() -> None:
    a, b = words(5), words(6)
    found, _ = compute("VIADD.16x2 {d}, {a}, {b}", a, b)
    assert np.array_equal(found.view(np.uint16), a.view(np.uint16) + b.view(np.uint16))
    found, _ = compute("VIADD.16x2 {d}, {a}, -{b}", a, b)
    assert np.array_equal(found.view(np.uint16), a.view(np.uint16) - b.view(np.uint16))
    found, _ = compute("VIADDMNMX.U16x2 {d}, -{a}, {b}, RZ, !PT", a, b)
    assert np.array_equal(found.view(np.uint16), b.view(np.uint16) - a.view(np.uint16))


@pytest.mark.parametrize(("which", "function"), [("PT", np.minimum), ("!PT", np.maximum)])
def test_a_nan_stays_with_nan(which: str, function: np.ufunc) -> None:
    a, b = floats(7), floats(8)
    found = compute(f"FMNMX.NAN {{d}}, {{a}}, {{b}}, {which}", a, b)[0].view(np.float32)
    assert np.isnan(a).any()
    assert np.array_equal(found, function(a, b), equal_nan=True)


@pytest.mark.parametrize("condition", ["EQ", "NE"])
def test_a_branch_on_the_zero_flag(condition: str) -> None:
    """The slow path of float32 division before Volta: is the divisor's magnitude infinite?"""
    x = floats(1)
    code = f"FSET.NEU.FTZ.AND RZ.CC, |{{a}}|, +INF, PT\nBRA CC.{condition}, taken\nMOV {{d}}, 1\ntaken: NOP"
    stayed, _ = compute(code, x, base=0x140)
    assert 0 < np.isinf(x).sum() < THREADS
    assert np.array_equal(stayed, np.isinf(x) ^ (condition == "EQ"))


def test_guard_and_condition_must_both_hold() -> None:
    a, b = words(1) & 1, words(2) & 1
    code = "ISET.NE.AND RZ.CC, {a}, RZ, PT\nISETP.NE P3, {b}, RZ\n@!P3 BRA CC.EQ, taken\nMOV {d}, 1\ntaken: NOP"
    stayed, _ = compute(code, a, b, base=0x140)
    assert np.array_equal(stayed, (a != 0) | (b != 0))


def test_the_zero_flag_is_the_register_cc_to_a_scoreboard() -> None:
    program = isa.parse("FSET.EQ.AND RZ.CC, R0, R1, PT\nBRA CC.NE, end\nend: EXIT")
    assert CARRY in program.encoded.writes[0]
    assert CARRY in program.encoded.reads[1]
    assert [instruction.text for instruction in program.instructions][:2] == ["FSET.EQ.AND RZ.CC, R0, R1, PT;", "BRA CC.NE, `(end);"]


@pytest.mark.parametrize(
    ("code", "words_of_message"),
    [
        ("BRA CC.EQ, end", "needs a comparison into RZ.CC"),
        ("IADD R0.CC, R1, R2\nBRA CC.EQ, end", "needs a comparison into RZ.CC"),
        ("FSET.EQ.AND RZ.CC, R0, R1, PT\nIADD R0.CC, R1, R2\nBRA CC.EQ, end", "needs a comparison into RZ.CC"),
        ("FSET.EQ.AND RZ.CC, R0, R1, PT\nhere: NOP\nBRA CC.EQ, here", "needs a comparison into RZ.CC"),
        ("@P0 FSET.EQ.AND RZ.CC, R0, R1, PT\nBRA CC.EQ, end", "needs a comparison into RZ.CC"),
        ("FSET.EQ.AND R4.CC, R0, R1, PT\nBRA CC.EQ, end", "no carry to write to CC"),
        ("FSET.EQ.OR RZ.CC, R0, R1, P2\nBRA CC.EQ, end", "takes .AND and PT"),
        ("SEL R0, R1, R2, CC.EQ", "conditions of a branch"),
        ("ISETP.EQ CC.EQ, PT, R0, R1, PT", "CC is written by .CC"),
    ],
)
def test_conditions_of_which_nothing_is_known_are_refused(code: str, words_of_message: str) -> None:
    with pytest.raises(isa.UserError, match=words_of_message):
        isa.parse(f"{code}\nend: EXIT")


def test_the_sign_of_an_immediate_may_stand_behind_it() -> None:
    x = np.float32(words(3) % 1000)
    found, _ = compute("FFMA {d}, {a}, 0.5.NEG, {b}", x, np.float32(words(4) % 77))
    assert np.array_equal(found.view(np.float32), np.float32(words(4) % 77) - x / 2)
    assert isa.parse("FADD R0, R1, 2.NEG\nEXIT").instructions[0].text == "FADD R0, R1, -2;"


@pytest.mark.parametrize(("first", "first_of"), [("", np.minimum), ("MX.", np.maximum)])
@pytest.mark.parametrize(("then", "then_of"), [("MIN", np.minimum), ("MAX", np.maximum)])
@pytest.mark.parametrize(("types", "dtype"), [("", np.int32), ("UD.U32.U32.", np.uint32)])
def test_extremes_of_three(first: str, first_of: np.ufunc, then: str, then_of: np.ufunc, types: str, dtype: type) -> None:
    a, b, c = (words(seed) for seed in (5, 6, 7))
    found, _ = compute(f"VMNMX.{types}{first}{then} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, base=0x140)
    assert np.array_equal(found.view(dtype), then_of(first_of(a.view(dtype), b.view(dtype)), c.view(dtype)))


@pytest.mark.parametrize("types", ["UD.", "U32.U32.", "UD.U32.", "UD.U32.S32."])
def test_extremes_of_mixed_signs_are_refused(types: str) -> None:
    with pytest.raises(isa.UserError, match=r"VMNMX"):
        isa.parse(f"VMNMX.{types}MX.MIN R0, R1, R2, R3\nEXIT")


SUM_OF_ALL = """
    {split}
    MOV R5, 0xffffffff
    BRA.DIV{mask} apart
    SHFL.IDX PT, R2, R0, 0x3, 0x1f
    BRA done
apart: WARPSYNC.COLLECTIVE R5, 0x100
    SHFL.IDX P6, R2, R0, 0x3, 0x1f
    ENDCOLLECTIVE
    IADD R2, R2, 100
done: NOP
"""


@pytest.mark.parametrize("mask", ["", " ~URZ,", " R5,"])
def test_a_whole_warp_does_not_take_the_way_for_a_split_one(mask: str) -> None:
    assert run(SUM_OF_ALL.format(mask=mask, split="")).tolist() == [3] * 32


def test_lanes_that_ended_are_not_awaited() -> None:
    found = run(SUM_OF_ALL.format(mask="", split="ISETP.GE P0, R0, 0x10\n@P0 EXIT"))
    assert found.tolist() == [3] * 16 + [0] * 16


def test_a_split_warp_comes_together_on_the_other_way() -> None:
    """Sixteen lanes wait at a convergence barrier that is not theirs: they come to BRA.DIV in two groups."""
    split = "ISETP.GE P0, R0, 0x10\n@P0 BRA later\nMOV R6, 1\nlater: NOP"
    apart = SUM_OF_ALL.format(mask=" ~URZ,", split=split).replace("@P0 BRA later", "BSSY B0, never\n@P0 BRA later")
    found = run(apart + "never: NOP")
    assert found.tolist() == [103] * 32


def test_a_mask_is_for_branches_on_divergence_only() -> None:
    with pytest.raises(isa.UserError, match=r"DIV takes a mask"):
        isa.parse(".target sm_80\nhere: BRA R0, here")
