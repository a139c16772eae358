"""parse(print(p)) == p."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import isa
from isa.opcodes import OPCODES
from isa.operands import print_operand
from isa.parser import operand_of
from tests.unit.isa_examples import EXAMPLES
from tests.unit.isa_programs import listings, operand, same

WORDS = [(opcode, word) for opcode in OPCODES.values() for pattern in opcode.patterns for word in pattern if word != "0"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(listings())
def test_a_listing_reads_back_to_an_equal_program(text: str) -> None:
    program = isa.parse(text)
    again = isa.parse(program.listing())
    assert same(program, again)
    assert again.listing() == program.listing()


def test_all_examples_in_one_program() -> None:
    program = isa.parse("\n".join(["here:", *(text for texts in EXAMPLES.values() for text in texts), "EXIT"]))
    assert same(program, isa.parse(program.listing()))


@given(st.sampled_from(WORDS).flatmap(lambda row: operand(*row)))
def test_an_operand_reads_back(text: str) -> None:
    first = operand_of(text)
    assert operand_of(print_operand(first))._replace(column=0) == first._replace(column=0)
