"""Which registers an instruction reads through the ports of the banks."""

from isa.dependences import registers, source_registers, word_slots
from isa.program import Program
from isa.vocabulary import RZ, Kind, Unit
from sim.lowering.control_words import PORTED


def port_registers(program: Program, i: int) -> list[list[int]]:
    """Return for each field of instruction i's word the two registers, -1 = none, that go through the ports of the register banks."""
    encoded, found = program.encoded, []
    for slot in word_slots(int(encoded.operation[i]), encoded.source_kind[i]):
        value, count = int(encoded.source_value[i, slot]), 0
        if Unit(encoded.unit[i]) in PORTED and encoded.source_kind[i, slot] == Kind.REGISTER and value < RZ:
            count = source_registers(int(encoded.operation[i]), int(encoded.flags[i]), slot, int(encoded.width[i]))
        found.append([*registers(value, count), -1, -1][:2])
    return found
