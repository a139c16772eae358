"""What only registers say, timed as what it is: barriers of a number in a register, shared and local memory by generic addresses."""

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from isa.vocabulary import Space
from sim.traces.trace import Trace

HEADER = ".target sm_90\n.parameter_base 0x210\n.shared 2048\n.param ptr out\nS2R R0, SR_TID.X\n"
STORE = "LDC.64 R2, c[0x0][out]\nIMAD.WIDE R2, R0, 4, R2\nSTG.E [R2.64], R4\nEXIT"


LATER = "IADD R9, R9, 1\n" * 8  # so that a register's own latency is over


def traced(body: str, threads: int = 128, ending: str = STORE) -> tuple[Trace, np.ndarray]:
    out = np.zeros(threads, np.int32)
    program = isa.parse(HEADER + body + ending)
    return sim.execute(sim.Launch(program, (1,), (threads,), (out,))), out


def cycles(trace: Trace) -> int:
    gpu = sim.gpu("h100").replace({"sms": 1})  # as many as there are blocks: SimPy builds each
    found = {sim.simulate(trace, gpu, engine=engine).cycles for engine in ("numba", "simpy")}
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize(
    ("code", "same"),
    [
        ("MOV R5, 0x23\nBAR.SYNC R5\n", "MOV R5, 0x23\nBAR.SYNC 0x3\n"),
        ("MOV R5, 0x3\nBAR.SYNC R5, 0x80\n", "MOV R5, 0x3\nBAR.SYNC 0x3, 0x80\n"),
        ("MOV R5, 0x80\nBAR.SYNC 0x3, R5\n", "MOV R5, 0x80\nBAR.SYNC 0x3, 0x80\n"),
        ("MOV R5, 0x800003\nBAR.SYNC R5, R5\n", "MOV R5, 0x800003\nBAR.SYNC 0x3, 0x80\n"),
        (
            "ISETP.LT P0, R0, 0x28\nMOV R5, 0x3\nBAR.RED.POPC R5, P0\nB2R.RESULT R4\n",
            "ISETP.LT P0, R0, 0x28\nMOV R5, 0x3\nBAR.RED.POPC 0x3, P0\nB2R.RESULT R4\n",
        ),
    ],
)
def test_a_barrier_in_a_register_is_that_barrier(code: str, same: str) -> None:
    (a, out), (b, expected) = (traced(text.replace("BAR", f"{LATER}BAR")) for text in (code, same))
    assert out.tolist() == expected.tolist()
    assert cycles(a) == cycles(b)
    assert a.program.encoded.address_offset.tolist() == b.program.encoded.address_offset.tolist()


def test_a_barrier_that_is_another_one_for_each_half_computes_and_is_not_timed() -> None:
    number = "SHF.R.U32.HI R5, RZ, 0x6, R0\nIADD3 R5, R5, 0x1, RZ\nSHL R6, R0, 2\n"
    body = f"{number}STS [R6], R0\nBAR.SYNC R5, 0x40\nLOP3.LUT R7, R6, 0x80, RZ, 0x3c, !PT\nLDS R4, [R7]\n"
    trace, out = traced(body)
    assert out.tolist() == (np.arange(128) ^ 32).tolist()
    with pytest.raises(UserError, match="differ between warps: it computes, but is not timed"):
        sim.simulate(trace, sim.gpu("h100"))


def test_a_barrier_for_part_of_a_warp_is_named() -> None:
    with pytest.raises(UserError, match="barrier for 33 threads, no multiple of 32"):
        traced("MOV R5, 0x21\nBAR.SYNC 0x1, R5\n")


GENERIC = "SHL R6, R0, 2\nMOV R7, {window}\n{later}ST.E [R6.64], R0\nLD.E R4, [R6.64]\nLD.E R8, [R6.64+0x4]\nIADD R4, R4, R8\n"
PLAIN = "SHL R6, R0, 2\nMOV R7, {window}\n{later}{st} [R6], R0\n{ld} R4, [R6]\n{ld} R8, [R6+0x4]\nIADD R4, R4, R8\n"


@pytest.mark.parametrize(("window", "st", "ld"), [(1, "STS", "LDS"), (2, "STL", "LDL")])
def test_generic_addresses_of_one_memory_are_timed_as_that_memory(window: int, st: str, ld: str) -> None:
    names = {"window": window, "later": LATER, "st": st, "ld": ld}
    (a, out), (b, expected) = (traced(text.format(**names), 64) for text in (GENERIC, PLAIN))
    assert out.tolist() == expected.tolist()
    assert cycles(a) == cycles(b)
    again = sim.execute(a.launch)
    assert again.program.encoded.space.tolist() == a.program.encoded.space.tolist()


def test_generic_addresses_of_two_memories_stay_generic() -> None:
    body = "SHL R6, R0, 2\nISETP.LT P0, R0, 0x10\nMOV R7, 0x1\n@P0 MOV R7, 0x2\nST.E [R6.64], R0\nLD.E R4, [R6.64]\n"
    trace, out = traced(body, 32)
    assert out.tolist() == list(range(32))
    assert (trace.program.encoded.space == Space.GENERIC).sum() == 2
