"""Code that was compiled in pieces: a kernel calls functions by addresses that are filled in when it is loaded."""

import dataclasses
import gzip
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from isa import disassembly, sass
from isa.errors import UserError
from isa.program import Variable, Variables
from isa.sass.resources import Resources

FILE = Path(__file__).parents[1] / "data" / "linked" / "roots.sm_90.dis.gz"
SQRT, DIVIDE = "__cuda_sm20_sqrt_rn_f32_slowpath", "__cuda_sm3x_div_rn_noftz_f32_slowpath"


KERNEL = (
    "MOV R0, c[0x0][0x160]", "MOV R1, c[0x0][0x164]", "S2R R2, SR_TID.X", "IMAD.WIDE R0, R2, 0x4, R0",
    "MOV R20, 32@lo((k + .L_x_0@srel))", "MOV R21, 32@hi((k + .L_x_0@srel))", "CALL.ABS.NOINC `(add_seven)",
    ".L_x_0:", "STG.E [R0.64], R2", "EXIT",
)  # fmt: skip
ADD = (
    "MOV R6, R20",
    "MOV R20, 32@lo((add_seven + .L_x_1@srel))",
    "CALL.ABS.NOINC `(twice)",
    ".L_x_1:",
    "IADD3 R2, R2, 0x7, RZ",
    "RET.ABS.NODEC R6 0x0",
)
TWICE = (
    "IADD3 R2, R2, R2, RZ",
    "ISETP.LT.AND P0, PT, R2, 0x20, PT",
    "@P0 BRA `(.L_x_2)",
    "MOV R2, 0x3e8",
    ".L_x_2:",
    "RET.ABS.NODEC R20 0x0",
)


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


def section(name: str, lines: tuple[str, ...]) -> str:
    """Return a function as nvdisasm prints it."""
    text, address = f'\t.section\t.text.{name},"ax",@progbits\n.text.{name}:\n{name}:\n', 0
    for line in lines:
        text += f"{line}\n" if line.endswith(":") else f"        /*{address:04x}*/                   {line} ;\n"
        address += 0 if line.endswith(":") else 16
    return text


def nested() -> str:
    kernel = section("k", KERNEL)
    return f'\t.headerflags\t@"EF_CUDA_SM80"\n{section("twice", TWICE)}{kernel}{section("add_seven", ADD)}'


def test_a_kernel_calls_functions_of_other_sections_which_call_others() -> None:
    program, out = isa.parse(nested(), "k.sass", "k"), np.zeros(32, np.int32)
    sim.execute(sim.Launch(program, (1,), (32,), (out,)))
    doubled = 2 * np.arange(32)
    assert out.tolist() == (np.where(doubled < 32, doubled, 1000) + 7).tolist()


def test_the_address_of_a_variable_in_the_code_is_filled_in() -> None:
    lines = (
        *("MOV R0, c[0x0][0x160]", "MOV R1, c[0x0][0x164]", "S2R R2, SR_TID.X", "IMAD.WIDE R0, R2, 0x4, R0", "UMOV UR4, 32@lo(table)"),
        *("MOV R3, 32@hi(table)", "MOV R4, UR4", "IADD3 R4, P0, R4, 0x8, RZ", "IADD3.X R5, RZ, R3, RZ, P0, !PT", "LDG.E R6, [R4.64]"),
        *("STG.E [R0.64], R6", "EXIT"),
    )
    function = sass.parse(f'\t.headerflags\t@"EF_CUDA_SM80"\n{section("k", lines)}')[0]
    start = b"".join(word.to_bytes(4, "little") for word in (1, 2, 3, 4, 5, 6))
    known = Resources("k", "sm_80", variables=Variables(start, ((4, 8, 0),), ()), symbols=(Variable("table", None, 4, 20),))
    program, out = disassembly.program(function, known), np.zeros(4, np.int32)
    sim.execute(sim.Launch(program, (1,), (4,), (out,)))
    assert out.tolist() == [4] * 4
    with pytest.raises(UserError, match="an address that a linker fills in"):
        disassembly.program(function, dataclasses.replace(known, symbols=()))
