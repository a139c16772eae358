"""Which lines drive each other out of L1, on an H100: 512 sets of four tags, by a hash of the address; where local memory lies."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows
from sim.functional import execute
from sim.lowering.slices import set_of
from sim.result.result import Result

ROWS = list(rows(H100 / "l1_sets.csv"))
LOCAL = list(rows(H100 / "local_lines.csv"))
H100_GPU = sim.gpu("h100")
SETS, WAYS, PASSES, SEVERAL = 512, 4, 5, 8
ORDERS = {  # lines by their place among those that are of one set, line 0 first; which of them are stored, as bits
    "least recently used: one loaded again": ((0, 1, 2, 3, 0, 4, 0), 0),
    "least recently used: the one after it": ((0, 1, 2, 3, 0, 4, 1), 0),
    "least recently used: one stored again": ((0, 1, 2, 3, 0, 4, 0), 1 << 4),
    "all stored: the first": ((0, 1, 2, 3, 4, 0), 31),
    "all stored: the second": ((0, 1, 2, 3, 4, 1), 31),
    **{f"lines of the set between two loads of one {most}": ((*range(most + 1), 0), 0) for most in range(1, 7)},
}


def of(what: str) -> list[dict[str, str]]:
    """Return the measured rows of one kind."""
    return [row for row in ROWS if row["what"].startswith(what)]


def touched(count: int, stride: int) -> np.ndarray:
    """Return the lines that `touch` of gpu/l1_sets.cu touches."""
    k = np.arange(count, dtype=np.uint64)
    if stride:
        return (k * np.uint64(stride)).astype(np.int64)
    mask = np.uint64(0xFFFFFFFF)
    line = k * np.uint64(0x9E3779B1) & mask
    line = (line ^ line >> np.uint64(15)) * np.uint64(0x85EBCA6B) & mask
    return ((line ^ line >> np.uint64(13)) & np.uint64(0x7FFFF)).astype(np.int64)


def misses(result: Result) -> int:
    """Return how many sectors loads did not find in L1."""
    loads = result.counters["l1_load_sectors"]
    return round(loads * (1 - result.counters["l1_load_hit_rate"]))


def test_each_bit_of_an_address_changes_the_set_as_measured() -> None:
    assert [int(row["number"]) for row in of("set")] == list(range(16, 34))
    for row in of("set"):
        bit, low = int(row["number"]) - 7, int(row["result"])
        assert [x for x in range(SETS) if set_of(1 << bit | x, SETS) == 0] == [low]


@pytest.mark.parametrize("what", ["any of 2^19; carve-out asked for 0 KB", "at a stride"])
def test_lines_are_late_whose_set_has_more_than_four(what: str) -> None:
    chosen = [row for row in of(what) if int(row["number"]) <= 1600]  # whose data have room, too
    assert len(chosen) > 8
    for row in chosen:
        each = np.bincount(set_of(np.unique(touched(int(row["number"]), int(row["stride"]))), SETS))
        later = [int(word) for word in row["result"].split()]
        assert later == pytest.approx([each[each > WAYS].sum()] * (PASSES - 1), abs=WAYS + 1)  # a line of the kernel's own


@pytest.mark.parametrize("what", ORDERS)
def test_the_least_recently_used_of_a_set_goes(what: str) -> None:
    row = next(row for row in ROWS if f"{row['what']} {row['number']}".strip() == what)
    places, stored = ORDERS[what]
    set_of_0 = [0] + [1 << bit | low for bit, low in zip(range(9, 15), (113, 27, 374, 329, 57, 481), strict=True)]
    lines = np.zeros(1, [("line", np.uint32, SEVERAL), ("count", np.int32), ("stored", np.int32)])[0]
    lines["line"][: len(places)], lines["count"], lines["stored"] = [set_of_0[place] for place in places], len(places), stored
    program = isa.load(H100 / "l1_sets.sm_90.cubin", "several")
    result = sim.run(sim.Launch(program, (1,), (32,), (np.zeros(1 << 22, np.uint8), lines, np.zeros(1, np.uint32))), H100_GPU)
    first = sum(place not in places[:k] and not stored >> k & 1 for k, place in enumerate(places))
    assert misses(result) - first == int(row["result"])


@pytest.mark.parametrize(("count", "stride"), [(1024, 64), (1024, 125), (1536, 1), (1536, 33)])
def test_as_many_lines_are_lost(count: int, stride: int) -> None:
    program = isa.load(H100 / "l1_sets.sm_90.cubin", "touch")
    arguments = (np.zeros(128 * (1536 * 126 + 1), np.uint8), np.uint32(count), np.uint32(stride), np.zeros(PASSES, np.uint32))
    lost = misses(sim.run(sim.Launch(program, (1,), (32,), arguments), H100_GPU)) - count
    measured = [row for row in ROWS if (row["number"], row["stride"]) == (str(count), str(stride))]
    each = int(measured[0]["result"].split()[0]) if measured else 0  # one after another none of 1,500 and of 1,600
    assert lost / (PASSES - 1) == pytest.approx(each, rel=0.25, abs=WAYS + 1)  # the array lies elsewhere


def test_lines_are_lost_where_there_is_a_tag_but_no_data() -> None:
    program = isa.load(H100 / "l1_sets.sm_90.cubin", "touch")
    arguments = (np.zeros(128 * 2048, np.uint8), np.uint32(2048), np.uint32(1), np.zeros(PASSES, np.uint32))
    lost = misses(sim.run(sim.Launch(program, (1,), (32,), arguments), H100_GPU)) - 2048
    assert lost >= (2048 - 1984) * (PASSES - 1)


@pytest.mark.parametrize("row", [row for row in LOCAL if int(row["rows"]) <= 100], ids=lambda row: f"{row['rows']}_{row['warps']}")
def test_local_memory_loses_about_as_many_rows(row: dict[str, str]) -> None:
    count, warps, measured = int(row["rows"]), int(row["warps"]), float(row["lost"])
    program = isa.load(H100 / "local_lines.sm_90.cubin", f"_Z5localILi{count}EEvPj")
    trace = execute(sim.Launch(program, (6,), (32 * warps,), (np.zeros(132, np.uint32),)))
    lost = misses(sim.simulate(trace, H100_GPU)) / 6 / 4 / 2  # of a block; sectors of a row; both times
    assert lost == pytest.approx(measured, rel=0.2) if measured > 300 else lost <= 2 * measured + 90  # D34
    assert bool(lost) == bool(measured)
