"""Small runs that the tests of reports and advice share."""

import functools

import numpy as np

import isa
import sim
from sim.gpus.model import Gpu
from sim.result.result import Result
from sim.traces.trace import Trace

CHAIN = """
.kernel chain
        MOV R0, 20
.Loop:  IADD32I R0, R0, -1
        ISETP.NE.AND P0, PT, R0, RZ, PT
.rept 60
        FFMA R1, R1, R2, R3
.endr
   @P0  BRA .Loop
        EXIT
"""
ADD_ONE = """
.kernel add_one
.param ptr x
.param ptr y
        S2R R0, SR_TID.X
        SHL R0, R0, 2
        IADD R2.CC, R0, c[0x0][x]
        IADD.X R3, RZ, c[0x0][x+4]
        IADD R4.CC, R0, c[0x0][y]
        IADD.X R5, RZ, c[0x0][y+4]
        LD.E R6, [R2]
        FADD R7, R6, 1
        ST.E [R4], R7
        BAR.SYNC 0
        EXIT
"""


@functools.cache
def chain(blocks: int, warps: int) -> Trace:
    """Return dependent FFMA (ILP 1)."""
    return sim.execute(sim.Launch(isa.parse(CHAIN), grid=(blocks,), block=(32 * warps,)))


def chain_on(gpu: Gpu, blocks: int, warps: int, timeline: tuple[int, int] | None = None) -> Result:
    return sim.simulate(chain(blocks, warps), gpu, timeline)


def add_one(gpu: Gpu, warps: int) -> Result:
    """Return one block of y = x + 1 with a barrier, timeline of the whole run."""
    arrays = (np.zeros(32 * warps, np.float32), np.zeros(32 * warps, np.float32))
    return sim.run(sim.Launch(isa.parse(ADD_ONE), (1,), (32 * warps,), arrays), gpu, timeline=(0, 10_000))


def text_program(listing: str, gpu: Gpu, blocks: int, warps: int) -> Result:
    """Run a listing without arguments."""
    return sim.run(sim.Launch(isa.parse(listing), grid=(blocks,), block=(32 * warps,)), gpu)
