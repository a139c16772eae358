"""Products of matrices: as an H100 made them, bit for bit; as NumPy does where nothing is rounded; what other architectures round."""

from collections.abc import Iterable

import numpy as np
import pytest

import isa
import sim
from isa.matrices import ADDERS, SHAPES, Adder, registers_of, unit_of
from isa.refused import REFUSED
from isa.vocabulary import MATRIX_UNITS, MatrixShape, MatrixType, Operation, Unit
from programs.measurements.conformance import matrices, matrices_kept
from programs.measurements.conformance.families import CHUNK, family
from programs.measurements.conformance.fragments import every
from tests.unit.one_instruction import THREADS

KINDS = {kind.name: kind for kind in matrices.KINDS}
ONE = 0x3C00


def differing(name: str, chunks: Iterable[int]) -> list[str]:
    """Return the families of the products of some chunks that are not an H100's."""
    return [family(KINDS[name], number // CHUNK).__name__ for number in matrices_kept.run(KINDS[name], chunks)]


@pytest.mark.parametrize("name", KINDS)
def test_products_are_those_of_an_h100(name: str) -> None:
    assert differing(name, matrices_kept.few(KINDS[name])) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_all_products_are_those_of_an_h100(name: str) -> None:
    assert differing(name, every(KINDS[name])) == []


@pytest.mark.parametrize("name", ["f16_16816_f16", "wgmma_tf32_tf32_f32_n8", "wgmma_e4m3_e4m3_f32_n8", "wgmma_e5m2_e5m2_f16_n8"])
def test_a_bit_that_is_cut_too_early_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADDERS, 90, Adder(24, 64, 12))
    assert {"cancelling", "at_the_cut"} <= set(differing(name, matrices_kept.few(KINDS[name])))


def test_matrices_move_as_on_an_h100() -> None:
    found, expected = matrices_kept.run_moves()
    assert found.tolist() == expected.tolist()


def sass(*lines: str, target: str = "sm_80") -> isa.Program:
    head = [f".target {target}", ".parameter_base 0x160", ".param ptr out", ".param ptr a", "S2R R0, SR_TID.X", "SHL R1, R0, 2"]
    return isa.parse("\n".join([*head, "IADD R2, R1, c[0x0][a]", "IADD R3, R1, c[0x0][out]", *lines, "STG [R3], R8", "EXIT"]))


def sum_of(products: list[tuple[float, float]], target: str) -> float:
    """Return row 0, column 0 of a product of 16 terms whose factors are given, the others zero."""
    a, b = np.zeros((32, 4, 2), np.float16), np.zeros((32, 2, 2), np.float16)
    for term, (x, y) in enumerate(products):  # lane t of a group holds terms 2 t and 2 t + 1, and those 8 further on
        lane, part, block = term % 8 // 2, term % 2, term // 8
        a[lane, 2 * block, part], b[lane, block, part] = x, y
    given = np.concatenate([a.reshape(32, 8), b.reshape(32, 4)], 1).view(np.uint32).T.copy()
    loads = [f"LDG {register}, [R2+{128 * row}]" for row, register in enumerate(("R4", "R5", "R6", "R7", "R12", "R13"))]
    out = np.zeros(32, np.float32)
    program = sass(*loads, "HMMA.16816.F32 R8, R4, R12, RZ", target=target)
    sim.execute(sim.Launch(program, grid=(1,), block=(32,), args=(out, given)))
    return float(out[0])


@pytest.mark.parametrize(("target", "expected"), [("sm_75", 0.0), ("sm_80", 2.0**-23), ("sm_86", 2.0**-23), ("sm_90", 2.0**-23)])
def test_terms_are_added_eight_at_a_time_before_hopper(target: str, expected: float) -> None:
    """1 in the first half, -1 and a small term in the second: Ampere has lost nothing, as 1 + 2**-23 is a float32."""
    if target == "sm_75":
        pytest.skip("sm_75 has no products of 16 terms")
    products = [(1.0, 1.0)] + [(0.0, 0.0)] * 7 + [(-1.0, 1.0), (2.0**-11, 2.0**-12)]
    assert sum_of(products, target) == expected


@pytest.mark.parametrize(("target", "expected"), [("sm_80", 1.0), ("sm_90", 1.0 + 2.0**-23)])
def test_bits_below_the_largest_term_are_cut(target: str, expected: float) -> None:
    """Four terms of 2**-25 beside 1: Hopper keeps 25 bits behind the point, Ampere 24."""
    assert sum_of([(1.0, 1.0)] + [(2.0**-12, 2.0**-13)] * 4, target) == expected


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120"])
def test_what_is_not_cut_is_what_numpy_gives(target: str) -> None:
    rng = np.random.default_rng(3)
    products = [(float(x), float(y)) for x, y in rng.integers(-9, 10, (16, 2))]
    assert sum_of(products, target) == sum(x * y for x, y in products)


def test_each_unit_is_of_one_product() -> None:
    found = set()
    for operation, left, sums in ((Operation.IMMA, MatrixType.S8, MatrixType.S32), (Operation.DMMA, MatrixType.F64, MatrixType.F64)):
        found |= {unit_of(operation, shape | left << 4 | left << 8 | sums << 12) for shape in MatrixShape}
    for left in (MatrixType.F16, MatrixType.BF16, MatrixType.TF32):
        for sums in (MatrixType.F16, MatrixType.F32):
            found |= {unit_of(Operation.HMMA, shape | left << 4 | left << 8 | sums << 12) for shape in MatrixShape}
    assert found - {None} == set(MATRIX_UNITS) - {Unit.WGMMA}


def test_registers_hold_the_matrices() -> None:
    function = MatrixShape.S16816 | MatrixType.F16 << 4 | MatrixType.F16 << 8 | MatrixType.F32 << 12
    assert [registers_of(function, slot) for slot in range(3)] == [4, 2, 4]
    function = MatrixShape.S16816 | MatrixType.F64 << 4 | MatrixType.F64 << 8 | MatrixType.F64 << 12
    assert [registers_of(function, slot) for slot in range(3)] == [16, 8, 8]
    assert set(SHAPES) == set(MatrixShape)


def test_all_lanes_take_part() -> None:
    program = sass("ISETP.LT P0, R0, 31", "@P0 HMMA.16816.F32 R8, R4, R12, RZ")
    with pytest.raises(sim.UserError, match=r"lanes of the warp are missing: a matrix needs all 32"):
        sim.execute(sim.Launch(program, grid=(1,), block=(32,), args=(np.zeros(32, np.float32), np.zeros(THREADS, np.uint32))))


def test_a_listing_says_whose_sums_they_are() -> None:
    text = ".param ptr out\n.param ptr a\nHMMA.16816.F32 R8, R4, R12, RZ\nEXIT"
    launch = sim.Launch(isa.parse(text), grid=(1,), block=(32,), args=(np.zeros(32, np.float32), np.zeros(32, np.uint32)))
    with pytest.raises(
        sim.UserError, match=r"an unknown architecture's sums of products are not known\n  a listing says its own: .target sm_80"
    ):
        sim.execute(launch)


@pytest.mark.parametrize("spelling", REFUSED)
def test_what_is_not_modelled_is_refused_by_name(spelling: str) -> None:
    with pytest.raises(sim.UserError) as caught:
        isa.parse(f"{spelling} R4, R8, R12, R4\nEXIT")
    assert f"{spelling}: {REFUSED[spelling]}" in str(caught.value)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("sources", ["R8.COL, R12.COL, R4", "R8.ROW, R12.ROW, R4", "R8.ROW, R12.COL, R4.ROW"])
def test_factors_of_another_layout_are_refused(sources: str) -> None:
    with pytest.raises(sim.UserError, match=r"\.(ROW|COL) does not belong to a source of IMMA"):
        isa.parse(f"IMMA.16832.S8.S8 R4, {sources}\nEXIT")


def test_a_gpu_without_numbers_for_a_product_says_so() -> None:
    launch = sim.Launch(
        sass("HMMA.16816.F32 R8, R4, R12, RZ"), grid=(1,), block=(32,), args=(np.zeros(32, np.float32), np.zeros(32, np.uint32))
    )
    for engine in ("numba", "simpy"):
        with pytest.raises(
            sim.UserError,
            match=r"HMMA.16816.F32: GeForce GTX 480.* has no numbers for products of matrices of this kind: .* units.hmma_16816_f32",
        ):
            sim.run(launch, sim.gpu("gtx480"), engine=engine)
    assert {unit.name.lower() for unit in MATRIX_UNITS} <= set(sim.gpu("h200").units)
