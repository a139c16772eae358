"""Resources agree between cubin, full text, -res-usage and the rule for listings."""

import contextlib
import dataclasses

import pytest

from isa import UserError
from isa.sass import elf, resources, sections
from isa.sass.resources import ParameterSlot, Resources
from tests.unit.sass_data import CUBINS, LISTINGS, binary, functions, text


def of_cubin(name: str) -> dict[str, Resources]:
    return {found.name: found for found in resources.of_image(elf.parse(binary(name), name))}


@pytest.mark.parametrize("name", CUBINS)
def test_a_cubin_says_what_the_resource_report_says(name: str) -> None:
    reported = resources.of_usage(text(name.replace(".cubin", ".res-usage.txt")))
    found = of_cubin(name)
    assert set(found) == set(reported)
    for kernel, report in reported.items():
        mine = found[kernel]
        assert (mine.registers, mine.shared_bytes, mine.stack_bytes) == (report.registers, report.shared_bytes, report.stack_bytes)


@pytest.mark.parametrize("name", [name for name in LISTINGS if name.endswith(".full.dis")])
def test_full_text_says_what_the_cubin_says(name: str) -> None:
    image = sections.parse(text(name), functions(name), name)
    for found in resources.of_image(image):
        expected = of_cubin(name.replace(".full.dis", ".cubin"))[found.name]
        assert sorted(found.symbols) == sorted(expected.symbols)
        assert dataclasses.replace(found, symbols=(), path="") == dataclasses.replace(expected, symbols=(), path="")


@pytest.mark.parametrize("name", [name for name in CUBINS if name.replace(".cubin", ".sass") in LISTINGS])
def test_the_register_rule_gives_the_count_of_the_cubin(name: str) -> None:
    found = of_cubin(name)
    for function in functions(name.replace(".cubin", ".sass")):
        assert resources.of_function(function).registers == found[function.name].registers


def test_parameters_shared_memory_and_barriers_of_a_kernel() -> None:
    """histogram(unsigned *hist, const unsigned char *data, int n) with __shared__ unsigned h[256]."""
    kepler, hopper = of_cubin("histogram.sm_35.cubin")["histogram"], of_cubin("histogram.sm_90.cubin")["histogram"]
    assert kepler.parameters == (ParameterSlot(0x140, 8), ParameterSlot(0x148, 8), ParameterSlot(0x150, 4))
    assert hopper.parameters == (ParameterSlot(0x210, 8), ParameterSlot(0x218, 8), ParameterSlot(0x220, 4))
    assert (kepler.shared_bytes, hopper.shared_bytes) == (1024, 2048)  # sm_90: 1024 reserved
    assert kepler.barriers == hopper.barriers == 1
    assert len(hopper.constants[0]) == 0x224


def test_constant_memory_and_jump_tables() -> None:
    matvec = next(iter(of_cubin("matvec.sm_90.cubin").values()))
    assert [(symbol.name, symbol.size) for symbol in matvec.symbols] == [("A", 256)]
    assert len(matvec.constants[3]) == 256
    switch, function = of_cubin("ext.sm_61.cubin")["x_switch"], next(f for f in functions("ext.sm_61.full.dis") if f.name == "x_switch")
    table = switch.constants[2]
    targets = [int.from_bytes(table[i : i + 4], "little") for i in range(0, len(table), 4)]
    assert targets
    assert all(function.index_at(target) is not None for target in targets)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a cubin"),
        (b"\x7fELF\x01\x01" + bytes(60), "not a cubin"),
        (b"\x7fELF\x02\x01" + bytes(10), "cut or damaged"),
        (b"\x7fELF\x02\x01" + bytes(60), "machine 0"),
    ],
)
def test_what_is_no_cubin_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        elf.parse(data, "k.cubin")


def test_a_damaged_cubin_is_refused_or_read_but_never_a_traceback() -> None:
    data = binary("histogram.sm_75.cubin")
    for size in range(0, len(data), 97):
        with pytest.raises(UserError):
            resources.of_image(elf.parse(data[:size]))
    for place in range(0, len(data), 13):
        mutated = data[:place] + b"\xff" + data[place + 1 :]
        with contextlib.suppress(UserError):
            resources.of_image(elf.parse(mutated))
