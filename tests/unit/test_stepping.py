"""Registers, predicates and shared memory after each instruction: what the program must compute, and what the executor has in memory."""

from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim.functional.stepping import steps
from sim.launch.file import load_launch
from sim.launch.launch import Launch

PROGRAMS = Path(__file__).parents[2] / "programs"
LISTING = """
.kernel f
.param ptr out
.shared 256
    S2R R0, SR_TID.X
    SHL R1, R0, 2
    STS [R1], R0
    BAR.SYNC 0x0
    ISETP.GE.U32.AND P0, PT, R0, 8, PT
@P0 IADD R2, R0, 100
    LDS R3, [R1^0x0]
    EXIT
""".replace("^0x0", "")


def test_each_step_is_what_the_instruction_does() -> None:
    found = steps(Launch(isa.parse(LISTING), grid=(2,), block=(64,), args=(np.zeros(4, np.float32),)))
    assert sorted(found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for (_, warp), mine in found.items():
        lanes = np.arange(32) + 32 * warp
        assert [step.issued for step in mine] == list(range(8))  # the EXIT changes nothing
        assert np.array_equal(mine[1].registers.get("R0", np.zeros(32)), lanes)
        assert np.array_equal(mine[2].registers["R1"], 4 * lanes)
        assert mine[3].registers == mine[4].registers == {}
        assert mine[5].predicates == {"P0": sum(1 << k for k in range(32) if lanes[k] >= 8)}
        assert np.array_equal(mine[6].registers["R2"], np.where(lanes >= 8, lanes + 100, 0))
        assert np.array_equal(mine[7].registers["R3"], lanes)
        stored = {int(lane): int(lane) for lane in lanes if lane}  # word k of shared memory is k; the zero was there before
        assert [step.shared for step in mine] == [{}, {}, {}, stored, {}, {}, {}, {}]


def test_steps_of_shared_memory_give_what_a_block_reads_whatever_warp_wrote_it() -> None:
    """Words change hands between two warps, twice, in two blocks; each block begins with zeros."""
    text = """
    .kernel f
    .shared 256
        S2R R0, SR_TID.X
        S2R R6, SR_CTAID.X
        IADD R1, R0, R6
        IADD R1, R1, 5
        SHL R2, R0, 2
        STS [R2], R1
        BAR.SYNC 0x0
        LOP.XOR R3, R2, 128
        LDS R4, [R3]
        BAR.SYNC 0x0
        STS [R3], R0
        EXIT
    """
    found = steps(Launch(isa.parse(text), grid=(2,), block=(64,), args=()))
    for block in range(2):
        words: dict[int, int] = {}
        order = sorted((step.order, step.shared) for (one, _), mine in found.items() if one == block for step in mine if step.shared)
        assert len(order) == 4
        for number, (_, stored) in enumerate(order):
            words |= stored
            if number == 1:
                assert words == {k: k + block + 5 for k in range(64)}
        assert [words[k] for k in range(64)] == [k ^ 32 for k in range(64)]
        loaded = next(step.registers["R4"] for step in found[block, 0] if "R4" in step.registers and step.issued)
        assert np.array_equal(loaded, np.arange(32) + 32 + block + 5)


@pytest.mark.parametrize("name", ["collatz", "intervals/add_one"])
def test_as_many_steps_as_the_trace_has_instructions(name: str) -> None:
    """Divergent loops included: the steps are those of the ordinary execution, and the caller's arrays are left alone."""
    launch = load_launch(PROGRAMS / f"{name}.toml", grid=[1]).launch
    before = [np.copy(one) for one in launch.args if isinstance(one, np.ndarray)]
    found = steps(launch)
    after = [one for one in launch.args if isinstance(one, np.ndarray)]
    assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))
    trace = sim.execute(launch)
    lengths = np.diff(trace.arrays.path_start)[trace.arrays.warp_path]
    assert [mine[-1].issued + 1 for _, mine in sorted(found.items())] == lengths.tolist()


def test_a_clock_reads_what_it_reads_otherwise() -> None:
    text = ".kernel c\n.param ptr out\nNOP;\nCS2R R2, SR_CLOCKLO;\nMOV R0, c[0x0][out];\nMOV R1, c[0x0][out+4];\nST.E [R0], R2;\nEXIT;"
    out = np.zeros(1, np.uint32)
    launch = Launch(isa.parse(text), grid=(1,), block=(1,), args=(out,))
    seen = steps(launch)[0, 0][2].registers["R2"][0]
    sim.execute(launch)
    assert seen == out[0]


def test_a_long_program_is_refused_in_a_word() -> None:
    launch = Launch(isa.parse(".kernel f\n.rept 200\nFADD R0, R0, 1;\n.endr\nEXIT;"), grid=(4,), block=(32,))
    with pytest.raises(UserError, match="too long to be followed register by register"):
        steps(launch, most=500)
