"""Words that all SMs of an H100 want at once, warm: how many requests L2's slices serve in a cycle (h100/hot.csv)."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows

EACH, SMS, THREADS = 8, 132, 512
WARM = {
    int(row["lines"]): row
    for row in rows(H100 / "hot.csv")
    if (row["each"], row["blocks"], row["threads"], row["skew"], row["cold"]) == ("8", "132", "512", "0", "0")
}


@pytest.mark.parametrize(("lines", "off"), [(1, 0.12), (8, 0.1), (64, 0.1), (512, 0.1), (8192, 0.1), (65536, 0.1)])
def test_words_of_few_lines_that_all_sms_want(lines: int, off: float) -> None:
    kernel = isa.load(H100 / "hot.sm_90.cubin", f"_Z3hotILi{EACH}EEvPKfjiPfPy")
    args = np.zeros(lines * 32, np.float32), np.uint32(lines), np.int32(0), np.zeros(1, np.float32), np.zeros(SMS, np.uint64)
    result = sim.run(sim.Launch(kernel, (SMS,), (THREADS,), args), sim.gpu("h100").replace({"l2.start": "warm"}))
    blocks: dict[int, list[int]] = {}
    for cycle, block, *_ in result.clock_reads.tolist():
        blocks.setdefault(block, []).append(cycle)
    assert max(max(read) - min(read) for read in blocks.values()) == pytest.approx(int(WARM[lines]["cycles"]), rel=off)
