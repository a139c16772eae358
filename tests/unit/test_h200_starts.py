"""What the start of a launch takes, beside an H200's: the first lines of code and of constants, by SMs and by warps."""

import statistics

import numpy as np
import pytest

import isa
import sim
from programs.measurements.placements import median_placed
from programs.measurements.population.score import H200
from programs.published import rows
from sim.gpus.model import Gpu
from sim.launch.launch import Launch

PARAMETERS = np.zeros((), [("f", "<f4", (256,))])
MANGLED = {"straight": "_Z8straightILi{}EEvPfi", "parameters": "_Z10parametersILi{}EEvPf1Qi"}
JUDGED = ("straight_8", "straight_64", "straight_256", "parameters_4", "parameters_16", "sums")
# Straight code of 16 KB is 6 % too fast: not understood.


def _error(row: dict[str, str]) -> float:
    """Return the percent that a launch is too slow."""
    out, name = np.zeros(1 << 20, np.float32), row["kernel"]
    kind, _, size = name.partition("_")
    arguments = {
        "straight": (out, np.int32(0)),
        "parameters": (out, PARAMETERS, np.int32(0)),
        "sums": (out, np.zeros(1 << 23, np.float32), np.int32(1 << 20), np.float32(0.5)),
    }[kind]
    program = isa.load(H200 / "starts.sm_90.cubin", MANGLED.get(kind, name).format(size))
    result = median_placed(sim.execute(Launch(program, (int(row["grid"]),), (int(row["threads"]),), arguments)), sim.gpu("h200"))
    measured = statistics.median(float(row[f"cycles_{number}"]) for number in range(1, 7))
    return 100 * (result.counters["sm_active_cycles_max"] / measured - 1)


def test_starts_as_measured() -> None:
    chosen = [row for row in rows(H200 / "starts.csv") if row["kernel"] in JUDGED and row["grid"] in ("1", "132")]
    errors = [_error(row) for row in chosen]
    assert len(errors) == 4 * len(JUDGED)
    assert statistics.mean(map(abs, errors)) < 7
    assert max(map(abs, errors)) < 20


@pytest.mark.parametrize("faster", ["straight_8", "parameters_16"])
def test_sms_of_a_gpc_wait_for_each_others_constants(faster: str) -> None:
    kind, _, size = faster.partition("_")
    out = np.zeros(1 << 20, np.float32)
    arguments = (out, np.int32(0)) if kind == "straight" else (out, PARAMETERS, np.int32(0))
    program = isa.load(H200 / "starts.sm_90.cubin", MANGLED[kind].format(size))

    def cycles(blocks: int, gpu: Gpu) -> int:
        return sim.run(Launch(program, (blocks,), (256,), arguments), gpu).counters["sm_active_cycles_max"]

    gpu = sim.gpu("h200")
    assert cycles(132, gpu) > cycles(8, gpu) > cycles(8, gpu.replace({"constants.port_cycles": 0}))
