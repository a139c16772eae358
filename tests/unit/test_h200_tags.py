"""Which lines of L1 an H200 looks up in one cycle: one in each of four banks of tags, which the set of a line says; what it reads then."""

from collections import Counter

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows
from sim.functional import execute
from sim.lowering.slices import bank_of_tags, set_of

ROWS = list(rows(H100.parent / "h200" / "tags.csv"))
SETS, BANKS, CHAIN = 512, 4, 41  # cycles of a hit of one line, one pass
H200 = sim.gpu("h200")
BEGIN = """
.kernel loads
.param ptr a
.param ptr words
.param u32 loops
S2R R0, SR_TID.X
LOP3.LUT R0, R0, 0x1f, RZ, 0xc0, !PT
SHL R0, R0, 2
IADD R0, R0, c[0x0][words]
LDG R1, [R0]
SHL R1, R1, 2
IADD R1, R1, c[0x0][a]
MOV R2, c[0x0][loops]
BAR.SYNC 0
"""
ONCE = f"{BEGIN}LDG R4, [R1]\nEXIT\n"
AGAIN = f"{BEGIN}again:\n" + "".join(f"LDG R{register}, [R1]\n" for register in (4, 5, 6, 7))
AGAIN += "IADD R2, R2, -1\nISETP.NE.AND P0, PT, R2, RZ, PT\n@P0 BRA again\nEXIT\n"


def launch(text: str, row: dict[str, str], loops: int, warps: int) -> sim.Launch:
    words = words_of(row)
    args = (np.zeros(max(words) + 1, np.uint32), np.array(words, np.uint32), np.uint32(loops))  # the first lies at 2**28
    return sim.Launch(isa.parse(text), (1,), (32 * warps,), args)


def words_of(row: dict[str, str]) -> list[int]:
    return [int(word) for word in row["words"].split()]


def lookups(words: list[int]) -> int:
    """Return the lines of the busiest bank of tags."""
    return max(Counter(bank_of_tags(set_of(line, SETS), BANKS) for line in {word // 32 for word in words}).values())


def passes(words: list[int]) -> int:
    """Return the words of the busiest bank of data."""
    return max(Counter(word % 32 for word in set(words)).values())


def test_each_bit_of_an_address_changes_the_bank_as_measured() -> None:
    """Two lines take two cycles when they are of one bank: of the four lines from each power of two on one is, with line 0."""
    pairs = {int(row["number"]): float(row["rate"]) > 1.5 for row in ROWS if row["what"] == "pair"}
    assert sum(pairs.values()) == len(pairs) // 4 == 13
    assert {number for number, is_slow in pairs.items() if is_slow} == {
        number for number in pairs if bank_of_tags(set_of(number, SETS), BANKS) == bank_of_tags(set_of(0, SETS), BANKS)
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['what']}-{row['number']}")
def test_lookups_and_passes_overlap_in_rate_and_add_up_in_latency(row: dict[str, str]) -> None:
    words = words_of(row)
    assert float(row["rate"]) == pytest.approx(max(lookups(words), passes(words)), abs=0.1)
    latency = CHAIN - 1 + lookups(words) + 2 * (passes(words) - 1)
    assert float(row["chain"]) == pytest.approx(latency, abs=0.07 * (latency - CHAIN + 1))


def read_in_turn(words: list[int]) -> int:
    """Return the passes when the lines of one look-up are read before those of the next; lines are in the order of the lanes."""
    before: Counter[int] = Counter()
    turn: dict[int, int] = {}
    for line in dict.fromkeys(word // 32 for word in words):
        bank = bank_of_tags(set_of(line, SETS), BANKS)
        turn[line] = before[bank]
        before[bank] += 1
    return sum(passes([word for word in words if turn[word // 32] == now]) for now in range(max(turn.values()) + 1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['what']}-{row['number']}")
def test_loads_that_waited_read_look_up_after_look_up(row: dict[str, str]) -> None:
    """Two cycles at least where all begin at once; the model has one, as launches of many loads do (D41)."""
    assert float(row["wait_8"]) == pytest.approx(max(read_in_turn(words_of(row)), 2), rel=0.1, abs=0.3)


SOME = [row for row in ROWS if row["what"] != "pair"][::5]


@pytest.mark.slow
@pytest.mark.parametrize("row", SOME, ids=lambda row: f"{row['what']}-{row['number']}")
def test_hits_go_as_fast(row: dict[str, str]) -> None:
    cycles = [sim.simulate(execute(launch(AGAIN, row, loops, 32)), H200).cycles for loops in (8, 24)]
    assert (cycles[1] - cycles[0]) / (16 * 4 * 32) == pytest.approx(float(row["rate"]), rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in SOME if float(row["wait_8"]) > 2.5], ids=lambda row: f"{row['what']}-{row['number']}")
def test_loads_that_wait_go_as_fast(row: dict[str, str]) -> None:
    gpu = H200.replace({"l2.start": "warm"})
    found = sim.simulate(execute(launch(ONCE, row, 1, 8)), gpu, timeline=(0, 100_000)).timeline
    assert found is not None
    ready = found.ready[found.instruction == 9]  # of the last load
    assert len(ready) == 8
    assert (ready.max() - ready.min()) / 7 == pytest.approx(float(row["wait_8"]), rel=0.1)
