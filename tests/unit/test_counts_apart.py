"""How often lanes that wait for others execute the instruction at which they wait, as counted on an H200 in two captured programs."""

import numpy as np

import isa
import sim

ENDING = """
.target sm_90
.param ptr out
    S2R R0, SR_TID.X
    ISETP.LT.AND P0, PT, R0, 6, PT
    BSSY B0, `(after)
    @P0 BRA `(meet)
    ISETP.GE.AND P1, PT, R0, LAST, PT
    @P1 EXIT
meet: BSYNC B0
after: SHL R0, R0, 2
    IADD R1, R0, c[0x0][out]
    STG [R1], R0
    EXIT
"""
WAITING = """
.target sm_90
.param ptr out
    BSSY B1, `(first)
    BSYNC B1
first: S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, 8, PT
    @P0 BRA `(meet)
    NOP
meet: WARPSYNC.ALL
    SHL R0, R0, 2
    IADD R1, R0, c[0x0][out]
    STG [R1], R0
    EXIT
"""


def counted(text: str, opcode: str) -> tuple[int, int]:
    """Return how many warps and lanes execute an opcode."""
    program = isa.parse(text)
    trace = sim.execute(sim.Launch(program, (1,), (32,), (np.zeros(32, np.uint32),)))
    at = next(i for i, instruction in enumerate(program.instructions) if instruction.opcode.startswith(opcode))
    return int(trace.executed[at]), int(trace.active_lanes[at])


def test_lanes_that_waited_for_lanes_that_end_execute_the_bsync_once_more() -> None:
    assert counted(ENDING.replace("LAST", "6"), "BSYNC") == (2, 12)


def test_lanes_that_come_together_do_not() -> None:
    assert counted(ENDING.replace("LAST", "40"), "BSYNC") == (2, 32)


def test_lanes_that_waited_at_a_warpsync_execute_it_once_more() -> None:
    assert counted(WAITING, "WARPSYNC") == (3, 64)
