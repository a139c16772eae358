"""Bulk reductions (UBLKRED, UTMAREDG) from a cubin of nvcc: each operation and type against NumPy, in time, and what cannot be."""

from itertools import pairwise

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.measurements.reductions import CODE, OF_MAPS, OPERATIONS, SIZES, launch_of
from programs.measurements.tiles import TYPES
from sim.analysis.bounds import bounds
from sim.causes.memory_advice import waiting
from sim.launch.launch import Launch
from sim.launch.tensor_maps import MAP
from sim.reference import simulate as simulate_simpy
from sim.report.memory import chart
from tests.unit.tile_programs import reduced_tile

INTEGERS = {"u32": "u4", "s32": "i4", "b32": "u4", "u64": "u8", "s64": "i8", "b64": "u8"}
NAN, NAN_HALF = 0x7FFFFFFF, np.uint16(0x7FFF)
OF_BYTES = {
    "add": "u32 s32 u64 f16 bf16 f32 f64",
    **dict.fromkeys(("min", "max"), "u32 s32 u64 s64 f16 bf16"),
    **dict.fromkeys(("inc", "dec"), "u32"),
    **dict.fromkeys(("and", "or", "xor"), "b32 b64"),
}
BETWEEN_BLOCKS = {
    "add": "u32 s32 u64",
    **dict.fromkeys(("min", "max"), "u32 s32"),
    **dict.fromkeys(("inc", "dec"), "u32"),
    **dict.fromkeys(("and", "or", "xor"), "b32"),
}
OF_TILES = {
    "add": "u32 s32 u64 f16 f32 f64 bf16 f32_ftz tf32 tf32_ftz",
    **dict.fromkeys(("min", "max"), "u32 s32 u64 s64 f16 bf16"),
    **dict.fromkeys(("inc", "dec"), "u32"),
    **dict.fromkeys(("and", "or", "xor"), "u32 s32 u64"),
}
CASES = [
    (what, operation, name)
    for what, forms in (("bulk", OF_BYTES), ("near", BETWEEN_BLOCKS), ("tile", OF_TILES))
    for operation, names in forms.items()
    for name in names.split()
]


def expected(operation: str, name: str, there: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return the bits of what is left, elementwise."""
    if name in ("f16", "bf16"):
        return _halves(operation, name, there, given)
    if name in INTEGERS:
        a, b = there.view(INTEGERS[name]), given.view(INTEGERS[name])
        wrapped = {"inc": np.where(a >= b, 0, a + 1), "dec": np.where((a == 0) | (a > b), b, a - 1)}
        functions = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
        left = wrapped[operation] if operation in wrapped else functions[operation](a, b)
        return left.view(there.dtype)
    kind = "f8" if name == "f64" else "f4"
    a, b = there.view(kind), given.view(kind)
    if name.endswith("_ftz"):
        a, b = _flushed(a), _flushed(b)
    with np.errstate(all="ignore"):
        total = a + b
    total = _flushed(total) if name.endswith("_ftz") else total
    left = total.view(there.dtype).copy()
    if name == "f64":  # as atomics: a NaN as it is, of two that which comes
        left[np.isnan(a)], left[np.isnan(b)] = there[np.isnan(a)], given[np.isnan(b)]
        made = np.isnan(total) & ~np.isnan(a) & ~np.isnan(b)
        assert made.any()
        left[made] = 0xFFF8 << 48
    else:
        left[np.isnan(total)] = NAN
    return left


def _flushed(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < np.finfo("f4").tiny, np.copysign(np.float32(0), x), x)


def _halves(operation: str, name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return uint16 [n]. A sum is rounded from float32, which gives what rounding once gives; -0 is below 0, a number beats a NaN."""
    x, y = (one.view("f2").astype("f4") if name == "f16" else (one.astype("u4") << 16).view("f4") for one in (a, b))
    if operation == "add":
        with np.errstate(all="ignore"):
            total = x + y
            bits = total.view("u4")
            left = total.astype("f2").view("u2") if name == "f16" else ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")
        return np.where(np.isnan(total), NAN_HALF, left)
    low, high = (np.where(one >> 15, -1 - (one & 0x7FFF).astype("i4"), one) for one in (a, b))
    left = np.where((low < high) == (operation == "min"), a, b)
    left = np.where(np.isnan(x), b, np.where(np.isnan(y), a, left))
    return np.where(np.isnan(x) & np.isnan(y), NAN_HALF, left)


@pytest.mark.parametrize(("what", "operation", "name"), CASES)
def test_each_operation_leaves_what_numpy_says(what: str, operation: str, name: str) -> None:
    given, left, came = launch_of({"what": what, "operation": operation, "type": name, "number": "7"})
    bits = f"u{SIZES[name]}"
    right = expected(operation, name, left.view(bits).copy(), came.view(bits))
    sim.execute(given)
    wrong = np.flatnonzero(left.view(bits) != right)
    assert not len(wrong), [(hex(came.view(bits)[k]), hex(left.view(bits)[k]), hex(right[k])) for k in wrong[:3]]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_tiles_of_other_types_are_refused_by_name(operation: str) -> None:
    names = dict(zip(OF_MAPS, TYPES, strict=True))
    taken = {names[name] for name in OF_TILES[operation].split()}
    for name, kind in names.items():
        if name not in OF_TILES[operation].split():
            given, _, _ = launch_of({"what": "tile", "operation": operation, "type": name, "number": "1"})
            with pytest.raises(UserError, match=rf"a tile of {kind} has no \.{operation.upper()}\n") as raised:
                sim.execute(given)
            assert set(raised.value.hint.removeprefix(f".{operation.upper()} takes tiles of ").split(", ")) == taken


def timed(name: str, *sizes: int, blocks: int = 1, dtype: str = "u4") -> Launch:
    """Return a launch of a loop over pieces. sizes: bytes, count, step and apart."""
    arguments = (np.zeros(1 << 18, dtype), np.zeros(1024, np.int32), *(np.int32(size) for size in sizes))
    return Launch(isa.load(CODE, name), (blocks,), (32,), arguments, shared_dynamic=65536)


@pytest.mark.parametrize("name", ["time_add_f32", "flood_add_f16", "time_store"])
def test_the_engines_agree_on_reductions(name: str) -> None:
    trace = sim.execute(timed(name, 1040, 5, 1040, 0, blocks=3))
    gpu = sim.gpu("h100").replace({"sms": 2, "interconnect.depth": 8})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)


def test_reductions_take_the_rate_of_l2s_atomic_units_and_stores_do_not() -> None:
    gpu = sim.gpu("h100")
    slow = gpu.replace({"l2.atomic_cycles": 40})
    cycles = [[sim.run(timed(name, 128, 200, 0, 0), one).cycles for one in (gpu, slow)] for name in ("time_add_u32", "time_store")]
    assert cycles[0][1] > cycles[0][0] + 2000
    assert cycles[1][1] == cycles[1][0]


def test_more_blocks_that_reduce_into_one_line_wait_for_each_other() -> None:
    gpu = sim.gpu("h100").replace({"sms": 8, "l2.atomic_cycles": 8})
    cycles = [sim.run(timed("flood_add_u32", 128, 32, 0, 0, blocks=blocks), gpu).elapsed_cycles for blocks in (1, 4, 8)]
    assert all(few < many for few, many in pairwise(cycles))


def test_what_is_reduced_is_counted_and_bounds_and_advice_know_it() -> None:
    given = timed("time_add_u32", 128, 200, 0, 0)
    result = sim.run(given, sim.gpu("h100").replace({"l2.atomic_cycles": 400}))
    assert (result.counters["bulk_reduction_requests"], result.counters["bulk_reduction_sectors"]) == (400, 1600)
    assert "bulk reductions         400                1,600         4.00   50.0 KiB" in chart(result)
    assert "lines that are reduced (4 sectors each) take their turns there" in waiting(result).sentence
    stored = sim.run(timed("time_store", 96, 3, 96, 0), sim.gpu("h100")).counters
    assert (stored["bulk_store_requests"], stored["bulk_store_sectors"]) == (10, 18)
    assert stored["bulk_load_requests"] == 0


@pytest.mark.parametrize("changes", [{}, {"l2.write_port": False}, {"l2.start": "dirty"}])
def test_no_bound_is_above_a_flood_of_reductions(changes: dict[str, object]) -> None:
    trace = sim.execute(timed("flood_add_f32", 8192, 40, 8192, 1024, blocks=132))
    result = sim.simulate(trace, sim.gpu("h100").replace(changes))
    assert max(bound.cycles for bound in bounds(trace, result)) <= result.cycles


@pytest.mark.parametrize(
    ("operation", "name", "message"),
    [
        ("add", np.float32, ""),
        ("max", np.float16, ""),
        ("xor", np.uint64, ""),
        ("min", np.float32, r"float32 has no \.MIN"),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_tiles_of_all_dimensions_reduce_what_lies_inside(operation: str, name: type, message: str, count: int) -> None:
    rng = np.random.default_rng(count)
    array = rng.integers(1, 100, (3,) * (count - 1) + (24,)).astype(name)
    tile = rng.integers(1, 100, (4,) * (count - 1) + (16,)).astype(name)
    before, at = array.copy(), (8, *[1] * (count - 1))
    given = reduced_tile(operation.upper(), sim.tensor_map(array, tile.shape), tile, at)
    if message:
        with pytest.raises(UserError, match=message):
            sim.execute(given)
        return
    trace = sim.execute(given)
    function = {"add": np.add, "max": np.maximum, "xor": np.bitwise_xor}[operation]
    inside = (slice(1, None),) * (count - 1) + (slice(8, None),)
    before[inside] = function(before[inside], tile[(slice(2),) * (count - 1)])
    assert np.array_equal(array, before)
    gpu = sim.gpu("h100").replace({"sms": 1})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("UBLKRED.G.S [UR6], [UR4], UR5", "UBLKRED needs one of .ADD .MIN"),
        ("UBLKRED.G.S.INC.U64 [UR6], [UR4], UR5", ".INC and .DEC are of .U32 only"),
        ("UBLKRED.G.S.DEC.S32 [UR6], [UR4], UR5", ".INC and .DEC are of .U32 only"),
        ("UBLKRED.G.S.OR.F16 [UR6], [UR4], UR5", "floats have .ADD, of .F16 and .BF16 also .MIN and .MAX"),
        ("UBLKRED.G.S.MAX.F32.RN [UR6], [UR4], UR5", "floats have .ADD, of .F16 and .BF16 also .MIN and .MAX"),
        ("UBLKRED.S.S.ADD.F32.RN [UR6], [UR5], UR4", "to shared memory of the cluster go words of 32 bits, and sums of .U64"),
        ("UBLKRED.S.S.MIN.U64 [UR6], [UR5], UR4", "to shared memory of the cluster go words of 32 bits, and sums of .U64"),
        ("UBLKRED.G.S.ADD.S64 [UR6], [UR4], UR5", "signed integers have .MIN and .MAX, of .S32 also .ADD"),
        ("UBLKRED.G.S.AND.S32 [UR6], [UR4], UR5", "signed integers have .MIN and .MAX, of .S32 also .ADD"),
        ("UBLKRED.G.S.XOR.S64 [UR6], [UR4], UR5", "signed integers have .MIN and .MAX, of .S32 also .ADD"),
        ("UBLKRED.G.S.ADD.U32.RN [UR6], [UR4], UR5", ".RN of UBLKRED is of floats only"),
        ("UBLKRED.S.S.MIN.RN [UR6], [UR4], UR5", ".RN of UBLKRED is of floats only"),
        ("UBLKRED.G.S.ADD [UR7], [UR4], UR5", "UR7 cannot start a group of 2 registers"),
        ("UTMAREDG.2D [UR8], [UR6]", "UTMAREDG needs one of .ADD .MIN"),
        ("UTMAREDG.3D.IM2COL.ADD [UR8], [UR6]", "im2col"),
    ],
)
def test_forms_that_there_are_not_are_named(text: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        isa.parse(f"{text}\nEXIT")
    assert message in str(raised.value)


def test_places_that_cannot_be_reduced_into_are_named() -> None:
    array, tile = np.zeros((8, 32), np.float32), np.ones((8, 32), np.float32)
    array.flags.writeable = False
    with pytest.raises(UserError, match=r"bulk reduction at 0x[0-9a-f]+: the array .* is read-only"):
        sim.execute(reduced_tile("ADD", sim.tensor_map(array, (8, 32)), tile, (0, 0)))
    with pytest.raises(UserError, match="misaligned bulk reduction at 0x10000004"):
        sim.execute(reduced_bytes(4))
    with pytest.raises(UserError, match="bulk reduction at 0x10000200 is outside every array"):
        sim.execute(reduced_bytes(512))
    image = np.array([sim.tensor_map(np.zeros((8, 32), np.uint32), (8, 32))], MAP)
    image["words"][0, 0] |= 1 << 11
    with pytest.raises(UserError, match="interleaves channels, which is not modelled"):
        sim.execute(reduced_tile("ADD", image[0], tile.view(np.uint32), (0, 0)))


def reduced_bytes(at: int) -> Launch:
    """Return a launch that adds 64 bytes of shared memory to an array of 512, from byte `at` on."""
    text = f".kernel sums\n.param ptr out\n.shared 64\nMOV R6, c[0x0][out]\nIADD R6, R6, {at}\nR2UR UR6, R6\nR2UR UR7, RZ\n"
    text += "MOV R9, 4\nR2UR UR10, R9\nR2UR UR8, RZ\nUBLKRED.G.S.ADD [UR6], [UR8], UR10\nEXIT\n"
    return Launch(isa.parse(text), (1,), (32,), (np.zeros(128, np.uint32),))
