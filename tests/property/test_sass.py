"""Any function prints to a listing that reads back to it, with its control fields."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isa import sass
from isa.architecture import FAMILIES, KEPLER, VOLTA
from isa.sass.function import RawFunction, RawInstruction

OPERANDS = st.sampled_from(
    [
        "R0",
        "-R5.reuse",
        "|R7|",
        "c[0x0][0x160]",
        "c[0x3][R4+0x8]",
        "desc[UR4][R2.64+0x10]",
        "`(.L_x_1)",
        "0x1f",
        "-1.5",
        "{3,2}",
        "!PT",
        "R1.H1",
    ]
)


@st.composite
def raw_functions(draw: st.DrawFn) -> RawFunction:
    """Draw a function of any architecture, with or without words, with labels and, before Volta, pairs."""
    number = draw(st.sampled_from(sorted(FAMILIES)))
    family = FAMILIES[number]
    count, has_words = draw(st.integers(1, 20)), draw(st.booleans())
    addresses = [
        address for address in range(0, 32 * count, family.instruction_bytes) if not family.group_bytes or address % family.group_bytes
    ][:count]
    word = st.integers(0, (1 << 8 * family.instruction_bytes) - 1)
    instructions = tuple(
        RawInstruction(
            address=address,
            guard=draw(st.sampled_from(["", "@P0", "@!P6", "@UP1", "@!PT"])),
            opcode=draw(st.sampled_from(["FFMA", "LDG.E.128", "XMAD.PSL.CBCC", "UCGABAR_ARV", "HMMA.16816.F32"])),
            operands=tuple(draw(st.lists(OPERANDS, max_size=5))),
            targets=tuple(draw(st.lists(st.sampled_from([".L_x_1", "$f$g"]), max_size=2))),
            word=draw(word) if has_words else None,
            line=0,
        )
        for address in addresses
    )
    groups = sorted({address - address % family.group_bytes for address in addresses}) if family.group_bytes and has_words else []
    labels = {f".L_x_{i}": index for i, index in enumerate(sorted(draw(st.sets(st.integers(0, count), max_size=3))))}
    braces = tuple(range(0, count - 1, draw(st.integers(2, 5)))) if family is not VOLTA and draw(st.booleans()) else ()
    controls = {group: draw(st.integers(0, (1 << 64) - 1)) for group in groups}
    return RawFunction("f", f"sm_{number}", instructions, labels, braces, controls)


@given(st.lists(raw_functions(), min_size=1, max_size=3))
def test_a_listing_reads_back_to_its_functions(found: list[RawFunction]) -> None:
    again = sass.parse(sass.listing(found))
    assert len(again) == len(found)
    for mine, read in zip(found, again, strict=True):
        assert (mine.architecture, mine.labels, mine.braces, mine.control_words) == (
            read.architecture,
            read.labels,
            read.braces,
            read.control_words,
        )
        assert mine.instructions == tuple(instruction._replace(line=0) for instruction in read.instructions)


@given(raw_functions())
def test_control_fields_hold_every_bit_of_the_words(function: RawFunction) -> None:
    """The fields of each instruction put together give the bits of its record."""
    control = sass.decode(function)
    if control is None:
        assert not function.has_words
        return
    for i, instruction in enumerate(function.instructions):
        if function.family is KEPLER:
            place = instruction.address % 64 // 8 - 1
            record = function.control_words[instruction.address // 64 * 64] >> 2 + 8 * place & 0xFF
            assert control.stall[i] == (record & 31 if record & 32 else 0)
            continue
        if function.family is VOLTA:
            assert instruction.word is not None
            record = instruction.word >> 105 & 0x1FFFFF
        else:
            record = function.control_words[instruction.address // 32 * 32] >> 21 * (instruction.address % 32 // 8 - 1) & 0x1FFFFF
        fields = [control.stall[i], 1 - control.yield_[i], control.write_barrier[i] & 7, control.read_barrier[i] & 7]
        fields += [control.wait_mask[i], control.reuse[i]]
        widths = np.array([4, 1, 3, 3, 6, 4])
        assert sum(int(value) << int(shift) for value, shift in zip(fields, np.cumsum(widths) - widths, strict=True)) == record
