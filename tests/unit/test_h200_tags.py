"""Which lines of L1 an H200 looks up in one cycle: one in each of four banks of tags, which the set of a line says."""

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
HIT = """
.kernel hits
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
again:
LDG R4, [R1]
LDG R5, [R1]
LDG R6, [R1]
LDG R7, [R1]
IADD R2, R2, -1
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 BRA again
EXIT
"""


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


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if row["what"] != "pair"][::5], ids=lambda row: f"{row['what']}-{row['number']}")
def test_hits_go_as_fast(row: dict[str, str]) -> None:
    words, gpu = words_of(row), sim.gpu("h200")
    cycles = []
    for loops in (8, 24):
        args = (np.zeros(max(words) + 1, np.uint32), np.array(words, np.uint32), np.uint32(loops))  # the first lies at 2**28
        cycles.append(sim.simulate(execute(sim.Launch(isa.parse(HIT), (1,), (1024,), args)), gpu).cycles)
    assert (cycles[1] - cycles[0]) / (16 * 4 * 32) == pytest.approx(float(row["rate"]), rel=0.1)
