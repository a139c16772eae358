"""Code that was compiled in pieces: a kernel calls functions by addresses that are filled in when it is loaded."""

import gzip
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa import sass
from isa.errors import UserError

FILE = Path(__file__).parents[1] / "data" / "linked" / "roots.sm_90.dis.gz"
SQRT, DIVIDE = "__cuda_sm20_sqrt_rn_f32_slowpath", "__cuda_sm3x_div_rn_noftz_f32_slowpath"


def text() -> str:
    return gzip.decompress(FILE.read_bytes()).decode()


def half_of(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, np.float32(0.5) * x, x + np.float32(1))


@pytest.mark.parametrize("divisor", [3.0, 3e-39])
def test_functions_are_called_and_return(divisor: float) -> None:
    """Numbers of all sizes, by the fast and the slow paths of both; `half_of` is called twice, from two places."""
    x = np.array([-4, -1, 0, 3, 8, 1e-39, 2e38, np.inf] * 8, np.float32)
    y, d = np.linspace(-3, 3, 64).astype(np.float32), np.float32(divisor)
    with np.errstate(all="ignore"):
        expected = np.sqrt(half_of(x)) / d + half_of(y)
    trace, gpu = sim.execute(sim.Launch(isa.parse(text(), "roots", "roots"), 2, 32, (x, y, d))), sim.gpu("h100")
    assert np.array_equal(y, expected, equal_nan=True)
    assert sim.simulate(trace, gpu).cycles == sim.simulate(trace, gpu, engine="simpy").cycles


def test_the_kernel_comes_first_and_labels_stand_where_they_did() -> None:
    functions = sass.parse(text(), "roots")
    (kernel,) = (one for one in functions if one.name == "roots")
    linked = sass.linked(kernel, functions)
    assert linked.instructions[0] == kernel.instructions[0]
    assert len(linked) == sum(map(len, functions))
    assert linked.addresses == sorted(set(linked.addresses))
    for one in functions:
        start = linked.labels[one.name]
        assert linked.addresses[start] % 128 == 0
        assert [each.line for each in linked.instructions[start : start + len(one)]] == [each.line for each in one.instructions]
        assert all(linked.labels[name] == start + index for name, index in one.labels.items())
    backs = [int(one.operands[1], 16) for one in linked.instructions if one.opcode == "MOV" and one.operands[0] == "R20"]
    calls = [one.address for one in linked.instructions if one.opcode == "CALL.REL.NOINC"]
    assert backs == [address + 16 for address in calls]


def test_a_function_that_is_not_there_is_named() -> None:
    start = text().index("//--------------------- .text." + SQRT)
    end = text().index("//--------------------- .text.", start + 10)
    with pytest.raises(UserError, match=f"label {SQRT} is not defined"):
        isa.parse(text()[:start] + text()[end:], "roots", "roots")
    assert len(isa.parse(text(), "roots", DIVIDE)) == 112
