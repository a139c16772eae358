"""How lines lie on the slices of L2, which SMs share a GPC, and how many requests a slice serves."""

from collections import Counter
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.measurements.copies import H100
from programs.published import rows
from sim.lowering.slices import cycle_of, gpcs_of, lanes_of, number_of, opposite, place_of, sides_of

LOADS = """
.kernel loads
.param ptr x
        S2R R6, SR_TID.X
        MOV R7, 128
        IMAD R2, R6, R7, c[0x0][x]
        MOV R3, c[0x0][x+4]
        LD.E.CG R4, [R2]
        EXIT
"""


def numbers(lines: np.ndarray, channels: int) -> np.ndarray:
    """Return the numbers of lines among those of L2 by the hash."""
    return number_of(lines, place_of(lines, channels), channels, lanes_of(channels), cycle_of(channels))  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("channels", [80, 96, 20, 24, 2])
@pytest.mark.parametrize("first", [0, 1 << 30])
def test_each_cycle_of_the_hash_gives_each_slice_as_many_lines(channels: int, first: int) -> None:
    run = cycle_of(channels) * max(8 * lanes_of(channels), 64)  # 8 KB, which both parts keep alike, at least
    found = numbers(np.arange(7 * run) + first // run * run, channels)
    assert len(np.unique(found)) == len(found)
    counts = np.array([np.bincount(one % channels, minlength=channels) for one in np.split(found, 7)])
    assert (counts == run // channels).all()


@pytest.mark.parametrize("channels", [4, 6, 10, 12])
def test_the_hash_of_few_slices_is_even_over_many_lines(channels: int) -> None:
    found = numbers(np.arange(1 << 16), channels)  # a part keeps 4 KB, several of its groups or one and a half
    assert len(np.unique(found)) == len(found)
    assert np.bincount(found % channels) == pytest.approx(np.full(channels, (1 << 16) / channels), rel=0.03)


@pytest.mark.parametrize("slices", [6, 5])
def test_slices_that_take_turns_get_a_line_each(slices: int) -> None:
    lines = np.arange(7 * slices)
    found: np.ndarray = number_of(lines, place_of(lines, slices), slices, 0, 1)  # type: ignore[arg-type,assignment]
    assert sorted(found.tolist()) == lines.tolist()
    assert all(sorted(one % slices) == list(range(slices)) for one in np.split(found, 7))


@pytest.mark.parametrize(("channels", "is_legal"), [(1, True), (2, True), (5, False), (81, False)])
def test_the_hash_needs_as_many_slices_in_each_part(channels: int, is_legal: bool) -> None:
    with (
        nullcontext()
        if is_legal
        else pytest.raises(UserError, match=f"dram.channels = {channels} must be even, or 1, with l2.hash = 'hopper'")
    ):
        assert sim.gpu("h100").replace({"dram.channels": channels}).dram.channels == channels


def test_slices_of_the_two_parts_serve_each_other_s_lines() -> None:
    assert [opposite(number, 80) for number in (0, 39, 40, 79)] == [40, 79, 0, 39]


def shares() -> list[tuple[float, float]]:
    """Return of each walk of one SM, strides to 4 KB: the share of its sectors that one slice read on an H100, and here."""
    found = []
    for row in rows(H100 / "slices.csv"):
        if row["blocks"] == "1" and int(row["stride"]) <= 32:
            lines = int(row["offset"]) // 32 + np.arange(int(row["lines"])) * int(row["stride"])
            here = np.bincount(numbers(lines, 80) % 40).max() / len(lines)  # an SM asks its own part
            found.append((int(row["most"]) / int(row["sectors"]), float(here)))
    return found


def test_slices_have_as_many_lines_of_a_walk_as_on_an_h100() -> None:
    found = shares()
    assert len(found) == 94
    assert all(here == pytest.approx(there, rel=0.15) for there, here in found)
    assert sum(here == pytest.approx(there, rel=0.01) for there, here in found) == 84


GRIDS = ("4", "8", "16", "64", "132")
DISPATCHED = list(rows(H100.parent / "h200" / "dispatch_order.csv"))


def gpc_of(sm: int) -> int:
    """Return the GPC of an SM of the H100 and the H200 that were looked at, by its number."""
    if sm < 64:
        return sm // 2 % 8
    if sm < 120:
        return 1 + (sm - 64) // 2 % 7
    return 6 + (sm - 120) // 2 if sm < 124 else 0


@pytest.mark.parametrize("table", [H100.parent / "h200" / "dispatch_order.csv", H100 / "cluster_places.csv"])
def test_a_cluster_of_sixteen_lies_in_one_gpc(table: Path) -> None:
    for row in rows(table):
        if row["cluster"] == "16":
            sms = [int(sm) for sm in row["sms"].split()]
            assert all(len({gpc_of(sm) for sm in sms[first : first + 16]}) == 1 for first in range(0, 112, 16))


def order_of(gpcs: list[int]) -> tuple[int, Counter, Counter]:
    """Return of the GPCs of a launch's blocks: blocks in a row of the first; such rows of the others, and blocks of each, in no order."""
    first, *others = [len(list(run)) for _, run in groupby(gpcs)]
    return first, Counter(others), Counter(Counter(gpcs).values())


def launch_of(blocks: int, cluster: tuple[int, ...] = ()) -> sim.Launch:
    return sim.Launch(isa.parse(LOADS), (blocks,), (32,), (np.zeros(32, np.float32),), cluster=cluster)


@pytest.mark.parametrize("row", [row for row in DISPATCHED if row["cluster"] == "0" and row["grid"] in GRIDS])
def test_gpcs_get_blocks_in_the_order_of_an_h200(row: dict[str, str]) -> None:
    blocks = int(row["grid"])
    here = gpcs_of(sim.gpu("h200"), launch_of(blocks))[:blocks].tolist()
    assert order_of(here) == order_of([gpc_of(int(sm)) for sm in row["sms"].split()])


def test_blocks_of_clusters_fill_gpc_after_gpc_and_all_sms_are_one_where_none_is_named() -> None:
    gpu = sim.gpu("h100")
    assert np.bincount(gpcs_of(gpu, launch_of(128, (2, 1, 1)))).tolist() == list(gpu.l2.gpcs)  # type: ignore[union-attr]
    none = gpu.replace({"l2.gpcs": ()})
    assert set(gpcs_of(none, launch_of(132))) == {0}
    assert sides_of(none, launch_of(132))[:4].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_a_request_takes_a_slice_a_look_up_at_least(engine: str) -> None:
    cycles = []
    for threads in (8, 24):
        gpu = sim.gpu("h100").replace(
            {"sms": 1, "dram.channels": 1, "l2.far": 0, "l2.start": "warm", "l2.bytes_per_cycle": 400, "l2.lookup_cycles": 20}
        )
        launch = sim.Launch(isa.parse(LOADS), (1,), (threads,), (np.zeros(32 * 32, np.float32),))
        cycles.append(int(sim.run(launch, gpu, engine=engine).cycles))
    assert cycles[1] - cycles[0] == 16 * 20


STORES = """
.kernel stores
.param ptr x
.param ptr y
.param s32 first
        S2R R6, SR_TID.X
        IADD R7, R6, c[0x0][first]
        SHL R7, R7, 7
        IADD R2, R7, c[0x0][x]
        MOV R3, c[0x0][x+4]
        MOV R8, c[0x0][y]
        MOV R9, c[0x0][y+4]
        ISETP.EQ.AND P0, PT, R6, 0, PT
        ST.E [R2], R6
   @P0  LD.E.CG R4, [R8]
        EXIT
"""


@pytest.mark.parametrize("engine", ["numba", "simpy"])
@pytest.mark.parametrize(("far", "waits"), [(0, {False, True}), (1, {False})])
def test_a_store_to_the_other_part_of_l2_passes_through_a_slice_of_the_own(engine: str, far: int, waits: set[bool]) -> None:
    changes = {"sms": 1, "dram.channels": 2, "l2.far": far, "l2.start": "warm", "l2.write_port": False, "lsu.store_lines": 0}
    gpu = sim.gpu("h100").replace(changes | {"l2.bytes_per_cycle": 4000, "l2.lookup_cycles": 20, "l2.partial_cost": 1})
    cycles = []
    for block in range(8):  # of 4 KB, which one part keeps, here the load's or the other; with two parts the load's slice is held for both
        args = np.zeros(8 * 1024, np.float32), np.zeros(32, np.float32), np.int32(32 * block)
        cycles.append(int(sim.run(sim.Launch(isa.parse(STORES), (1,), (32,), args), gpu, engine=engine).cycles))
    assert {found - min(cycles) > 20 * 28 for found in cycles} == waits


def test_local_memory_of_a_full_chip_meets_all_sets_alike() -> None:
    slices, sets = 80, 320
    words = np.arange(200)
    lines = (np.arange(132)[:, None, None] * 65536 + np.arange(8)[None, :, None] * 1024 + words + (1 << 33)).ravel()
    found = numbers(lines, slices)
    held = np.bincount(found % slices * sets + place_of(found // slices, sets), minlength=slices * sets)
    assert np.maximum(held - 16, 0).sum() < 0.05 * len(lines)  # of 16 ways; more than half were the set the quotient modulo the sets
