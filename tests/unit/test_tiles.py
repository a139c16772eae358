"""Tensor maps and tiles (UTMALDG, UTMASTG) as the driver and an H100 have them; registers that warps pass on; a product of both."""

import zlib
from functools import cache
from typing import Any

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.cuda.references import FOLDER
from programs.measurements.copies import H100
from programs.measurements.tiles import TYPES, launch_of, words
from programs.published import rows
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.launch.tensor_maps import FILLS, MAP, PROMOTIONS, SWIZZLES, encoded
from sim.lowering.phases import lines_of_row, lines_of_rows
from sim.reference import simulate as simulate_simpy
from sim.traces import ensemble
from tests.unit.tile_programs import passing, there_and_back, two_rows_of_blocks


def test_maps_are_the_drivers_to_the_bit() -> None:
    count = 0
    for row in rows(H100 / "tensor_maps.csv"):
        if not row["words"]:
            continue
        sizes, strides, box, steps = ([int(x) for x in row[name].split()] for name in ("dims", "strides", "box", "steps"))
        names = TYPES[int(row["dtype"])], list(SWIZZLES)[int(row["swizzle"])], FILLS[int(row["fill"])], PROMOTIONS[int(row["promotion"])]
        mine = encoded(sizes, strides, box, steps, *names)
        mine[:2] = int(row["address"]) & 0xFFFFFFFF, int(row["address"]) >> 32
        assert " ".join(f"{word:x}" for word in mine[:19]) == row["words"], row
        count += 1
    assert count == 703


@pytest.mark.parametrize("number", range(0, 260, 13))
def test_loads_fill_shared_memory_as_an_h100_does(number: int) -> None:
    _compare(number)


@pytest.mark.parametrize("number", [260, 263, 266, 278, 282, 289, 305, 310, 339, 354, 388, 393])
def test_stores_write_what_an_h100_does(number: int) -> None:
    _compare(number)


@pytest.mark.slow
def test_all_tiles_are_an_h100s() -> None:
    for number in sorted(measured()):
        _compare(number)


@cache
def measured() -> dict[int, dict[str, str]]:
    return {int(row["number"]): row for row in rows(H100 / "tiles.csv")}


def _compare(number: int) -> None:
    """Compare shared memory after a load, or the array after a store; or let the simulator refuse what the chip does."""
    row = measured()[number]
    if number == 215:  # of 260 loads the one that the chip ends with an illegal address: all of it lies outside
        return
    given, result = launch_of(row)
    if row["result"] == "refused":
        with pytest.raises(UserError, match="no multiple of 16" if row["kind"] == "load" else "stored at coordinate -"):
            sim.execute(given)
    else:
        sim.execute(given)
        assert f"{zlib.crc32(result[: 4096 if row['kind'] == 'load' else None].tobytes()):08x}" == row["result"], row


@pytest.mark.parametrize("steps", [(1, 1), (3, 1)])
def test_a_tile_goes_there_and_back_in_both_engines(steps: tuple[int, int]) -> None:
    given, data, out = two_rows_of_blocks(steps)
    trace = sim.execute(given)
    count = -(-24 // steps[0])
    assert np.array_equal(out[:count], data[3 : 27 : steps[0], 8:24])
    assert (out[count:] == -1).all()
    gpu = sim.gpu("h100").replace({"sms": 1})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)
    quiet = gpu.replace({"dram.refresh": 0})
    later = sim.simulate(trace, quiet.replace({"shared.tile_latency": gpu.shared.tile_latency + 1000}))
    assert later.cycles - sim.simulate(trace, quiet).cycles == 2000  # both ways
    moved = ensemble.moved(trace, 1)
    assert moved.arrays.scattered.shape == trace.arrays.scattered.shape
    assert sim.simulate(moved, gpu).cycles > 0


def test_what_lies_outside_is_neither_read_nor_asked_for() -> None:
    data, out = np.ones((16, 32), np.float16), np.zeros((16, 16), np.float16)
    source, target = sim.tensor_map(data, (16, 16), fill="nan"), sim.tensor_map(out, (16, 16))
    trace = sim.execute(there_and_back(source, target, (24, 12), 512))
    assert (out[:4, :8] == 1).all()
    assert (out[4:].view(np.uint16) == 0x7FF7).all()
    assert (out[:, 8:].view(np.uint16) == 0x7FF7).all()
    row = trace.arrays.scattered[0].astype(np.int64)
    assert [mask for _, mask in lines_of_row(row.tolist())] == [0b0010, 0b1000] * 2
    assert lines_of_rows(row[None]).tolist() == [4]
    outside = sim.execute(there_and_back(source, target, (-64, 0), 512))
    assert lines_of_row(outside.arrays.scattered[0].tolist()) == []
    assert (out.view(np.uint16) == 0x7FF7).all()


def test_a_map_by_value_is_aligned_and_read_through_the_parameters_address() -> None:
    given = load_launch(FOLDER / "hgemm_tma.sm_90.sass").launch
    assert [parameter.offset for parameter in given.program.parameters] == [0x240, 0x2C0, 0x340, 0x3C0, 0x3C4]


def test_memory_and_maps_of_a_driver_replay() -> None:
    """Parameters as bytes, memory at addresses of a real GPU: the map has them, too."""
    row = measured()[24]
    given, result = launch_of(row)
    source, address = words(16384, 24), 0x7F5BB1E00000
    out, place = np.zeros(4096 + 16, np.uint32), 0x7F5BC0000000
    image = np.zeros(32, np.uint32)
    image[2:] = given.args[0]["words"]
    image[:2] = (address + int(row["offset"])) & 0xFFFFFFFF, address >> 32
    values = np.array([place & 0xFFFFFFFF, place >> 32, 4096, 0xDEADBEEF, *(int(one) & 0xFFFFFFFF for one in given.args[4:])], np.uint32)
    parameters = bytes(0x240 - given.program.parameter_base) + image.tobytes() + values.tobytes()
    memory = {address: source, place: out}
    sim.execute(
        Launch(isa.load(H100 / "tiles.sm_90.cubin", "load2"), (1,), (32,), shared_dynamic=16384, parameters=parameters, memory=memory)
    )
    assert f"{zlib.crc32(out[:4096].tobytes()):08x}" == row["result"]
    assert result is not out


X = np.zeros((64, 64), np.float32)


@pytest.mark.parametrize(
    ("array", "arguments", "message"),
    [
        (X, {"box": (8,)}, "a map of 2 dimensions with a box of 1"),
        (X, {"box": (8, 300)}, "box .* from 1 to 256"),
        (X, {"box": (8, 3)}, "has 12 bytes: a multiple of 16"),
        (X, {"box": (8, 64), "swizzle": "128B"}, "has 256 bytes: a multiple of 16, at most 128"),
        (X, {"box": (8, 8), "swizzle": "256B"}, "swizzle = '256B'"),
        (X, {"box": (8, 8), "steps": (1, 2)}, "the last is 1"),
        (X[:, ::2], {"box": (8, 8)}, "rows without gaps"),
        (np.zeros((8, 5), np.float32), {"box": (8, 4)}, "rows without gaps, 16 bytes or a multiple apart"),
        (np.zeros((8, 8), np.int32), {"box": (8, 8), "fill": "nan"}, "not a float"),
        (np.zeros((8, 8), np.complex64), {"box": (8, 8)}, "there is no such type"),
        (sim.Pointer(X, 8), {"box": (8, 8)}, "8 bytes into its array"),
        (3, {"box": (8, 8)}, "int was given"),
    ],
)
def test_maps_that_cannot_be_are_named(array: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        sim.tensor_map(array, **arguments)


def test_tiles_that_cannot_be_copied_are_named() -> None:
    source, target = sim.tensor_map(X, (8, 8)), sim.tensor_map(X, (8, 8))
    for at, place, message in (
        ((2, 0), 1024, "begins 8 bytes into its rows"),
        ((0, 0), 1040, "no multiple of 128"),
        ((0, 0), 16384, "outside shared"),
    ):
        with pytest.raises(UserError, match=message):
            sim.execute(there_and_back(source, target, at, 256, place))
    three = sim.tensor_map(X.reshape(2, 32, 64), (1, 8, 8))
    with pytest.raises(UserError, match="the tensor map has 3 dimensions, the instruction names others"):
        sim.execute(there_and_back(three, target, (0, 0), 256))
    interleaved = np.array([sim.tensor_map(X, (8, 8))], MAP)
    interleaved["words"][0, 0] |= 1 << 11
    with pytest.raises(UserError, match="interleaves channels, which is not modelled"):
        sim.execute(there_and_back(interleaved[0], target, (0, 0), 256))
    frozen = X.copy()
    frozen.flags.writeable = False
    with pytest.raises(UserError, match="read-only"):
        sim.execute(there_and_back(source, sim.tensor_map(frozen, (8, 8)), (0, 0), 256))


def test_a_launch_file_that_maps_no_array_is_named(tmp_path: Any) -> None:
    file = tmp_path / "hgemm_tma.toml"
    text = (FOLDER / "hgemm_tma.toml").read_text("utf-8")
    for old, new, message in (
        ('of = "left"', 'of = "lift"', "a is a map of lift"),
        ("box = [128, 64]", "box = [128, 65]", "a: a box of 65"),
    ):
        file.write_text(text.replace(old, new), "utf-8")
        with pytest.raises(UserError, match=message) as raised:
            load_launch(file, isa.load(FOLDER / "hgemm_tma.sm_90.sass"))
        assert raised.value.line == 6


def test_the_product_fed_by_tiles_is_right_and_the_engines_agree() -> None:
    made = load_launch(FOLDER / "hgemm_tma.sm_90.sass")
    trace = sim.execute(made.launch)
    assert made.launch.program.registers == 168
    gpu = sim.gpu("h100").replace({"sms": 2})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)


def test_registers_go_from_warp_to_warp() -> None:
    given = passing()
    sim.execute(given)
    assert np.array_equal(given.args[0], np.arange(256))
    assert given.registers_per_thread == 64
    with pytest.raises(UserError, match="no progress") as raised:
        sim.execute(passing(left=40))
    assert "waits for registers" in str(raised.value)
    assert "64 registers per thread" in raised.value.hint
    with pytest.raises(UserError, match="R104 is named, but a warp has 104 registers since line"):
        sim.execute(passing(high=104))
    with pytest.raises(UserError, match="100 is not a multiple of 8 from 24 to 256"):
        passing(taken=100)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("UTMALDG.3D.IM2COL [UR8], [UR16], UR6", "UTMALDG.IM2COL: tiles of images .* use tiles"),
        ("UTMASTG.4D.IM2COL [UR8], [UR16]", "UTMASTG.IM2COL: tiles of images .* use tiles"),
        ("UTMAREDG.5D.IM2COL.ADD [UR8], [UR16]", "UTMAREDG.IM2COL: tiles of images .* use tiles"),
        ("UTMAPF.L2.3D.IM2COL [UR8], [UR16]", "UTMAPF.IM2COL: tiles of images .* use tiles"),
        ("UTMALDG [UR8], [UR6]", "UTMALDG"),
    ],
)
def test_what_is_left_out_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        isa.parse(f"{text}\nEXIT")


def test_maps_are_arguments_of_the_right_parameter_only() -> None:
    given = load_launch(FOLDER / "hgemm_tma.sm_90.sass").launch
    assert given.args[0].dtype == MAP
    assert given.args[0]["address"] is not None
