"""What tensor cores do to the rest of an SM: its clock, the ports of registers; and the pipe of uniform instructions."""

from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from programs.published import rows
from tests.fields import PRODUCT, SHARED_PORTS, beside, launch, scheduled

MEASUREMENTS = Path(isa.__file__).parents[1] / "programs" / "measurements"
MULTIPLIES = f"WARPGROUP.ARRIVE\n.rept 80\n{PRODUCT}\n.endr\n{PRODUCT}, gsb0"
TIMED = ".rept 60\nNOP\n.endr\nCS2R.32 R4, SR_CLOCKLO\n{kinds}\nCS2R.32 R5, SR_CLOCKLO"


def cycles_each(kinds: list[str], warps: int = 1) -> float:
    """Return the cycles of each of 240 instructions of a warp while its scheduler's tensor core multiplies without a pause."""
    text = "\n".join(kinds[k % len(kinds)] for k in range(240))
    reads = sim.run(scheduled(beside(MULTIPLIES, TIMED.format(kinds=text)), 1, 128 + 128 * warps), sim.gpu("h100")).clock_reads
    last = reads[reads[:, 2] == 4 * warps][:, 0]
    return float(last[1] - last[0]) / 240


@pytest.mark.parametrize(
    ("kinds", "cycles"),
    [
        (["FADD R6, R6, R20"], 4.0),
        (["FADD R6, R6, R20", "FADD R7, R7, R20"], 3.5),  # one warp reads on: 2 in 1 + 1 + 5
        (["FADD R6, R6, R20", "FADD R7, R7, R20", "FADD R8, R8, R20"], 10 / 3),
        (["FMNMX R6, R6, R20, PT", "FMNMX R7, R7, R20, PT"], 4.0),
        (["MUFU.EX2 R6, R6"], 20.0),
    ],
)
def test_an_instruction_goes_when_the_product_leaves_the_ports(kinds: list[str], cycles: float) -> None:
    assert cycles_each(kinds) == pytest.approx(cycles, rel=0.05)


def test_engines_agree_beside_products() -> None:
    given, gpu = scheduled(SHARED_PORTS, 1, 384), sim.gpu("h100").replace({"sms": 1})
    trace = sim.execute(given)
    mine, theirs = (sim.simulate(trace, gpu, engine=engine, timeline=(0, 10000)) for engine in sim.ENGINES)
    assert (mine.cycles, mine.stalls, mine.counters) == (theirs.cycles, theirs.stalls, theirs.counters)
    assert all(np.array_equal(a, b) for a, b in zip(mine.timeline, theirs.timeline, strict=True))


def test_the_clock_falls_where_matrices_are_multiplied() -> None:
    products, gpu = sim.execute(scheduled(SHARED_PORTS, 1, 384)), sim.gpu("h100")
    assert sim.simulate(products, gpu).gpu.clock.core_mhz == gpu.clock.tensor_mhz == 1800
    assert sim.simulate(products, gpu.replace({"clock.tensor_mhz": 1980})).gpu.clock.core_mhz == 1980
    assert sim.simulate(products, gpu.replace({"clock.core_mhz": 1500})).gpu.clock.core_mhz == 1500
    faster = sim.simulate(products, gpu.replace({"clock.core_mhz": 2200, "l2.latency": 400})).gpu
    assert faster.clock.core_mhz == 1800
    assert [name for name in ("clock.core_mhz", "l2.latency") if "keep the clock at clock.tensor_mhz" not in faster.source[name].text] == []
    swept = sim.sweep(products.launch, gpu, [{"clock.core_mhz": 2200}, {"clock.core_mhz": 1500}])
    assert ["not reached" in str(why) for why in swept["not_read"]] == [True, False]
    others = sim.execute(launch(".kernel f\nFADD R0, R0, R1\nEXIT", 1, 32))
    assert sim.simulate(others, gpu).gpu.clock.core_mhz == 1980


@pytest.mark.parametrize("name", ["h100", "h200"])
def test_the_clock_is_the_measured_one(name: str) -> None:
    steady = [float(row["mhz"]) for row in rows(MEASUREMENTS / name / "clock.csv") if row["kind"] != "none" and int(row["period"]) <= 500]
    assert sim.gpu(name).clock.tensor_mhz == pytest.approx(np.median(steady), rel=0.01)


def test_uniform_instructions_have_a_pipe_of_their_own() -> None:
    def cycles(text: str) -> int:
        program = isa.parse(f".kernel f\n.target sm_90\n.rept 100\n{text}\n.endr\nEXIT")
        return int(sim.run(sim.Launch(program, (1,), (1024,)), sim.gpu("h100").replace({"fetch.first": 0})).cycles)

    alone, both = cycles("IADD3 R4, R5, R6, R7"), cycles("IADD3 R4, R5, R6, R7\nUIADD3 UR4, UR5, UR6, URZ")
    assert both < 1.15 * alone
    assert cycles("IADD3 R4, R5, R6, R7\nIADD3 R8, R5, R6, R7") > 1.8 * alone
