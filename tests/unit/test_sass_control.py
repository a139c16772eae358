"""Control fields, against an independent decoder's and against what NVIDIA's disassembler prints itself."""

import json
import re

import numpy as np
import pytest

from isa import sass
from tests.unit.sass_data import LISTINGS, binary, functions, text

EXPECTED = json.loads(binary("control.json"))  # listing -> function -> [stall, yield, write, read, wait, reuse], 7 = no barrier
ANNOTATED = re.compile(r"/\*([0-9a-f]{4})\*/.*?((?: +&\w+=\S+)*) +\?(trans|WAIT)(\d+)(_END_GROUP)?;")


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_fields_equal_those_of_an_independent_decoder(name: str) -> None:
    for function in functions(name):
        control = sass.decode(function)
        assert control is not None
        expected = np.array(EXPECTED[name][function.name])
        expected[:, 2:4][expected[:, 2:4] == 7] = -1
        found = np.column_stack(
            [control.stall, control.yield_, control.write_barrier, control.read_barrier, control.wait_mask, control.reuse]
        )
        np.testing.assert_array_equal(found, expected)


def test_fields_equal_what_the_disassembler_prints_for_sm_120() -> None:
    """nvdisasm 12.8 annotates sm_120: &req={barriers}, &rd=, &wr=, ?transN or ?WAITN_END_GROUP."""
    (function,) = functions("histogram.sm_120.sass")
    control = sass.decode(function)
    assert control is not None
    annotated = ANNOTATED.findall(text("histogram.sm_120.sass"))
    assert len(annotated) > 100
    for address, notes, _, stall, ends in annotated:
        index = function.index_at(int(address, 16))
        values = dict(re.findall(r"&(\w+)=(\S+)", notes))
        waits = sum(1 << int(barrier) for barrier in re.findall(r"\d", values.get("req", "")))
        assert control.wait_mask[index] == waits
        assert control.read_barrier[index] == int(values.get("rd", "-1"), 0)
        assert control.write_barrier[index] == int(values.get("wr", "-1"), 0)
        assert (control.stall[index], control.yield_[index]) == (int(stall), ends != "")


def test_stall_and_yield_bits_of_a_word() -> None:
    """0x000fca00...: stall 5, yield, no barriers; 0x002f2200...: waits for 1, releases 4, stall 1, stays."""
    words = ((0x0000000204097221, 0x000FCA0000000000), (0x0000000402027981, 0x002F22000C1E1900))
    lines = [f"/*{16 * i:04x}*/ FADD R9, R4.reuse, R2 ; /* {low:#018x} */\n/* {high:#018x} */" for i, (low, high) in enumerate(words)]
    (function,) = sass.parse("\n".join(lines), architecture="sm_90")
    control = sass.decode(function)
    assert control is not None
    assert [list(field) for field in control] == [[5, 1], [1, 0], [-1, 4], [-1, -1], [0, 2], [0, 0], [0, 0]]


@pytest.mark.parametrize("name", [name for name in LISTINGS if name.endswith((".sass", ".hex.dis"))])
def test_each_printed_reuse_is_a_bit(name: str) -> None:
    for function in functions(name):
        control = sass.decode(function)
        assert control is not None
        printed = [sum(".reuse" in operand for operand in instruction.operands) for instruction in function.instructions]
        assert [int(mask).bit_count() for mask in control.reuse] == printed


def test_braces_are_the_pairs_that_the_control_words_name() -> None:
    (with_braces,) = functions("histogram.sm_52.hex.dis")
    control = sass.decode(with_braces)
    assert control is not None
    assert with_braces.braces
    assert tuple(np.flatnonzero(control.dual)) == with_braces.braces


def test_a_listing_without_words_has_no_control_fields() -> None:
    (function,) = functions("histogram.sm_75.c.dis")
    assert not function.has_words
    assert sass.decode(function) is None
