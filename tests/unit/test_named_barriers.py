"""BAR with a number of threads, BAR.ARV: what the executor makes of them, and that both engines time them alike."""

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError

PRODUCE = """
.kernel produce
.shared 256
.param ptr out
    S2R R0, SR_TID.X
    SHL R1, R0, 2
    ISETP.GE.AND P0, PT, R0, 64, PT
    @P0 BRA consumer
    IMAD R2, R0, R0, RZ
    STS [R1], R2
    BAR.ARV 3, 128
    EXIT
consumer: BAR.SYNC 3, 128
    LDS R3, [R1+-0x100]
    IADD R1, R1, c[0x0][out]
    STG [R1], R3
    EXIT
"""
PAIRS = """
.kernel pairs
.shared 512
.param ptr out
    S2R R0, SR_TID.X
    SHL R1, R0, 2
    STS [R1], R0
    ISETP.GE.AND P0, PT, R0, 64, PT
    @P0 BRA upper
    BAR.RED.POPC 1, 64, !P0
    B2R.RESULT R5
    BRA both
upper: ISETP.GE.AND P1, PT, R0, 100, PT
    BAR.RED.POPC 2, 64, P1
    B2R.RESULT R5
both: LOP.XOR R2, R1, 0x80
    LDS R3, [R2]
    IMAD R3, R5, 1000, R3
    IADD R1, R1, c[0x0][out]
    STG [R1], R3
    EXIT
"""


TWO_PHASES = """
.kernel phases
.param ptr out
    S2R R0, SR_TID.X
    SHL R1, R0, 2
    IADD R1, R1, c[0x0][out]
    ISETP.GE.AND P0, PT, R0, 64, PT
    BAR.RED.POPC 1, 64, P0
    B2R.RESULT R5
    STG [R1], R5
    EXIT
"""
TWO_NUMBERS = """
.kernel numbers
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, 64, PT
    @P0 BRA all
    BAR.SYNC 1, 64
all: BAR.SYNC 0
    BAR.SYNC 1, 96
    EXIT
"""
MIXED = """
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, 64, PT
    @P0 BAR.SYNC 1, 96
    @!P0 BAR.SYNC 1{others}
    EXIT
"""


def ran(text: str, block: int) -> tuple[np.ndarray, sim.Launch]:
    out = np.zeros(128, np.uint32)
    launch = sim.Launch(isa.parse(text), (1,), (block,), (out,))
    sim.execute(launch)
    return out, launch


def test_producers_only_arrive() -> None:
    out, _ = ran(PRODUCE, 128)
    assert out[64:].tolist() == [k * k for k in range(64)]


def test_halves_of_a_block_meet_by_themselves_and_count_by_themselves() -> None:
    out, _ = ran(PAIRS, 128)
    t = np.arange(128)
    assert out.tolist() == ((t ^ 32) + 1000 * np.where(t < 64, 64, 28)).tolist()


def test_who_comes_after_a_barrier_has_opened_is_of_its_next_phase() -> None:
    out, _ = ran(TWO_PHASES, 128)
    assert out.tolist() == [0] * 64 + [64] * 64  # as warps 0 and 1 come first here; never all four of them together
    with pytest.raises(UserError, match="this barrier is for 64 threads, and no more come"):
        ran(TWO_PHASES, 96)


@pytest.mark.parametrize(("others", "said"), [("", "all of the block"), (", 128", "128 threads")])
def test_warps_that_meet_for_different_numbers_of_threads_are_refused(others: str, said: str) -> None:
    with pytest.raises(UserError, match=f"this barrier is for 96 threads, the warps before it came for {said}"):
        sim.execute(sim.Launch(isa.parse(MIXED.format(others=others)), (1,), (96,), ()))


@pytest.mark.parametrize(("text", "block"), [(PRODUCE, 128), (PAIRS, 128), (TWO_PHASES, 128), (TWO_NUMBERS, 96)])
def test_both_engines_take_the_same_time(text: str, block: int) -> None:
    program = isa.parse(text)
    trace = sim.execute(sim.Launch(program, (1,), (block,), (np.zeros(128, np.uint32),) * len(program.parameters)))
    for gpu in (sim.gpu("h100"), sim.gpu("gtx480")):
        assert sim.simulate(trace, gpu).cycles == sim.simulate(trace, gpu, engine="simpy").cycles


def test_a_barrier_for_more_threads_than_come_is_named() -> None:
    with pytest.raises(UserError, match="this barrier is for 128 threads, and no more come"):
        ran(PRODUCE.replace("BAR.ARV 3, 128", "NOP"), 128)


@pytest.mark.parametrize(("line", "message"), [("BAR.SYNC 1, 40", "a multiple of 32 up to 1024"), ("BAR.ARV 1", "how many threads")])
def test_numbers_of_threads_that_cannot_be(line: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        isa.parse(f"{line}\nEXIT\n")
