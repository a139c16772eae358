"""Which units of an SM the first instructions of a kernel keep busy, as read off an H200: the rule of DEVIATIONS.md, D46, in numbers."""

import pytest

from programs.measurements.copies import H100
from programs.published import rows

TABLE = list(rows(H100.parent / "h200" / "service.csv"))
ROUNDS, INSTRUCTIONS = 9 - 1, 16
LOAD_STORE = {"S2R TID": 2, "S2R LANEID": 2, "S2R VIRTID": 2, "LDS": 1, "SHFL": 1}  # cycles of each unit
ADDRESS_DIVERGENCE = {"LDC": 2, "S2UR CTAID": 2, "S2R CTAID": 2, "S2R SMID": 2}
SPECIAL = {"MUFU": 2, "POPC": 2}


@pytest.mark.parametrize("row", [row for row in TABLE if row["threads"] in ("512", "1024")], ids=lambda row: f"{row['operations']}")
def test_each_instruction_keeps_one_unit_of_the_sm(row: dict[str, str]) -> None:
    """A mix takes as long as its busiest unit, and a cycle for each instruction that is no MUFU or POPC."""
    mix, warps = row["operations"].split(" + "), int(row["threads"]) // 32
    measured = (int(row["cycles_9"]) - int(row["cycles_1"])) / (ROUNDS * INSTRUCTIONS * warps)
    busy = [sum(unit.get(one, 0) for one in mix) for unit in (LOAD_STORE, ADDRESS_DIVERGENCE, SPECIAL)]
    handed_on = sum(one not in SPECIAL for one in mix)
    assert measured == pytest.approx(max(*busy, handed_on) / len(mix), rel=0.03)
