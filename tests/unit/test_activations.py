"""256 bytes take a channel of DRAM at least an activation, however few of them are wanted; others that follow at once share it."""

import numpy as np
import pytest

import isa
import sim
from programs.measurements.copies import H100
from programs.published import rows

CUBIN = H100 / "halves.sm_90.cubin"
WAYS = ("first", "one after another", "two warps", "later", "whole")
LINES, THREADS, EACH = 1 << 20, 1024, 8  # of an array a quarter of the measured one, and of L2
LOADS = """
.kernel loads
.param ptr x
        S2R R6, SR_CTAID.X
        MOV R7, {apart}
        IMAD R2, R6, R7, c[0x0][x]
        MOV R3, c[0x0][x+4]
        LD.E.CG R4, [R2]
        {second}
        EXIT
"""


def cycles(engine: str, blocks: int, second: str = "NOP", apart: int = 256, **changes: float) -> int:
    """Return the cycles in which blocks of one thread, an SM each, load a sector of a line of their own from one channel."""
    gpu = sim.gpu("h100").replace(
        {
            "sms": blocks,
            "dram.channels": 1,
            "dram.refresh": 0,
            "l2.far": 0,
            "fetch.far": 0,
            "constants.port_cycles": 0,
            **{f"dram.{k}": v for k, v in changes.items()},
        }
    )
    args = (np.zeros(64 * blocks, np.float32),)
    return int(sim.run(sim.Launch(isa.parse(LOADS.format(second=second, apart=apart)), (blocks,), (1,), args), gpu, engine=engine).cycles)


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_each_further_row_takes_an_activation(engine: str) -> None:
    few, many = (cycles(engine, blocks, activate_cycles=50) for blocks in (4, 12))
    assert many - few == 8 * 50


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_the_two_lines_of_256_bytes_share_one_activation(engine: str) -> None:
    apart, together = (cycles(engine, 8, activate_cycles=50, apart=apart) for apart in (256, 128))
    assert apart - together == 4 * 50


@pytest.mark.parametrize("engine", ["numba", "simpy"])
def test_the_other_half_of_a_line_on_its_way_takes_no_more(engine: str) -> None:
    one, both = (cycles(engine, 8, second, activate_cycles=50) for second in ("NOP", "LD.E.CG R5, [R2+64]"))
    assert both - one < 50


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_halves_of_lines_as_on_an_h100(way: str) -> None:
    rounds = 8
    kernel = isa.load(CUBIN, f"_Z6halvesILi{WAYS.index(way)}EEvPKfjiPfPy")
    args = np.zeros(LINES * 32, np.float32), np.uint32(LINES), np.int32(rounds), np.zeros(1, np.float32), np.zeros(132, np.uint64)
    result = sim.run(sim.Launch(kernel, (132,), (THREADS,), args), sim.gpu("h100").replace({"l2.bytes": 50 * 2**20 // 4}))
    halves = 132 * THREADS // 32 * EACH * rounds * 4
    measured = next(float(row["halves_per_cycle"]) for row in rows(H100 / "halves.csv") if (row["way"], row["threads"]) == (way, "1024"))
    assert halves / result.cycles == pytest.approx(measured, rel=0.12)  # of launches four times as long
