"""Loads and stores of one line that meet each other, on an H100 and on the simulated one: when L1 gives the line up."""

from functools import cache

import numpy as np

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows

SECTORS, REGION, BATCH = 48, 2048, 128  # as in races.cu
HIT = 150  # cycles that a load takes at most which finds its data in L1
PATTERNS = {"one lane": (1, 0, 1), "rows of 112 bytes": (13, 112, 2)}  # lanes, stride, columns of 8 bytes that are there at first
KINDS = {"load": 1, "store": 2}
WARM = sim.gpu("h100").replace({"l2.start": "warm"})
TABLE = list(rows(H100 / "races.csv"))


def race(row: dict[str, str]) -> list[int]:
    """Return the words of the Race of races.cu."""
    lanes, stride, columns = PATTERNS[row["pattern"]]
    there = sum(1 << k for k in {(lane * stride + 8 * column) // 32 for lane in range(lanes) for column in range(columns)})
    steps = [(row["first"], 1), (row["second"], int(row["wait_1"])), (row["third"], int(row["wait_2"]))]
    operations = [(KINDS[what.split()[0]], int(what.split()[1]), wait) for what, wait in steps]
    return [word for operation in operations for word in operation] + [lanes, stride, there & 0xFFFFFFFF, there >> 32]


@cache
def simulated() -> list[int]:
    """Return the mask of lost sectors of each row."""
    program, found = isa.load(H100 / "races.sm_90.cubin", "race"), []
    for start in range(0, len(TABLE), BATCH):
        batch = TABLE[start : start + BATCH]
        races = np.array([race(row) for row in batch], np.uint32)
        memory = (np.zeros(BATCH * 2 * REGION, np.uint8), races, np.zeros(BATCH * SECTORS, np.int32))
        clocks = sim.run(sim.Launch(program, (len(batch),), (32,), memory), WARM).clock_reads
        for block, row in enumerate(batch):
            reads = clocks[clocks[:, 1] == block, 0][-2 * SECTORS :]
            missed = np.flatnonzero(reads[1::2] - reads[::2] > HIT)
            found.append(sum(1 << int(k) for k in missed if k < 4 or row["pattern"] != "one lane"))
    return found


def test_l1_keeps_and_invalidates_what_an_h100_does() -> None:
    others = [row for row, found in zip(TABLE, simulated(), strict=True) if int(row["lost"], 16) != found]
    # A store two steps after a load: on the H100 what was loaded has just come, here it has not.
    assert all(row["wait_1"] == row["wait_2"] == "1" for row in others)
    assert {what.split()[0] for row in others for what in (row["first"], row["second"])} == {"load"}
    assert len(others) <= 10
