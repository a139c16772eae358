"""Mutated disassembly: read, or refused with a message; never another exception, never a function with a hole."""

import contextlib
import random

import pytest

from isa import UserError, sass
from isa.sass import RawFunction, resources, sections
from tests.fuzz.mutate import mutate
from tests.unit.sass_data import functions, text

NAMES = ("saxpy.sm_35.sass", "histogram.sm_52.hex.dis", "histogram.sm_61.sass", "histogram.sm_75.full.dis", "histogram.sm_90.sass")
CASES = 60  # for each listing


@pytest.mark.parametrize("name", NAMES)
def test_mutated_listings_are_read_or_refused(name: str) -> None:
    rng = random.Random(name)
    refused = []
    for _ in range(CASES):
        try:
            check(sass.parse(mutate(text(name), rng), name))
        except UserError as error:
            refused.append(error)
    assert 0 < len(refused) < CASES
    assert all(error.hint for error in refused)


def check(found: list[RawFunction]) -> None:
    """What was read is whole: contiguous, with all words, and reads back to itself."""
    for function in found:
        control = sass.decode(function)
        assert control is None or len(control.stall) == len(function)
        assert all((instruction.word is not None) == function.has_words for instruction in function.instructions)
    again = sass.parse(sass.listing(found))
    assert [function.instructions[0].text for function in again] == [function.instructions[0].text for function in found]
    assert [function.control_words for function in again] == [function.control_words for function in found]


def test_mutated_data_sections_are_read_or_refused() -> None:
    rng = random.Random(1)
    name = "histogram.sm_75.full.dis"
    refused = []
    for _ in range(CASES):
        try:
            resources.of_image(sections.parse(mutate(text(name), rng), functions(name), name))
        except UserError as error:
            refused.append(error)
    assert 0 < len(refused) < CASES
    assert all(error.hint for error in refused)


@pytest.mark.parametrize("character", [" ", "\t", ",", "[", "{", "(", ".", "/*", "&a=", "R1 "])
def test_a_long_line_takes_no_longer_than_its_length(character: str) -> None:
    """A pattern that backtracks would not come back from this."""
    for line in (f"/*0000*/ MOV {character * 100_000} R0 ;", f"x{character * 100_000}x", f"Function : {character * 100_000} k"):
        with contextlib.suppress(UserError):
            sass.parse(f"\tcode for sm_75\n{line}\n")
