"""The instructions of a trace -> `Program`, as far as a trace knows them; or the listing's, whose instructions the trace names.

A trace has opcodes and general registers. Predicates, uniform registers, constants and labels it lacks, so without the listing nothing
waits for them, and there are no control words. A register pair is named by its first: opcodes say where one stands.
"""

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import isa
from isa import dependences
from isa.architecture import era, family
from isa.errors import UserError
from isa.opcodes import SpellingError, decode
from isa.program import Instruction, Program
from isa.rows import Row, pack
from isa.vocabulary import BARRIERS, RZ, Flag, Kind, Operation, Space, Unit
from sim.traces.text import Head, Static

MOST_LINES = 6  # of one mistake that are named
STEP = 16  # bytes from one instruction to the next where a listing has no addresses


def of_listing(
    head: Head, statics: Iterable[Static], lines: dict[Static, int], listing: Path, path: Path
) -> tuple[Program, dict[Static, int]]:
    """Return the kernel of a listing, and which of its instructions each one of the trace is. Raises UserError."""
    program = isa.load(listing, head.name)
    program = dataclasses.replace(program, is_open=False, parameters=())
    places = {address: i for i, address in enumerate(program.addresses or range(0, STEP * len(program), STEP))}
    number = {}
    for static in statics:
        there = program.instructions[places[static.pc]] if static.pc in places else None
        if there is None or there.opcode.split(".")[0] != static.opcode.split(".")[0]:
            found = f"has {there.opcode}" if there else "has no instruction"
            message = f"the trace executes {static.opcode} at {static.pc:#x}, where {listing.name} {found}"
            raise UserError(message, path=str(path), line=lines[static], hint="give the listing of the very program that was traced")
        number[static] = places[static.pc]
    return program, number


def of_trace(head: Head, statics: Iterable[Static], lines: dict[Static, int], shared: set[Static], path: Path) -> Program:
    """Return the program that a trace shows: its instructions by address. shared: those that reach shared memory by generic addresses.

    Raises UserError that names all opcodes which are not covered.
    """
    if family(head.architecture) is None:
        raise UserError(f"-binary version = {head.architecture[3:]} is not known", path=str(path), hint="70, 75, 80, 86, 89 or 90")
    rows, instructions = [], []
    wrong: dict[str, list[int]] = {}
    for index, static in enumerate(statics):
        try:
            rows.append(_row(static, head, static in shared))
        except SpellingError as error:
            wrong.setdefault(str(error), []).append(lines[static])
            continue
        text = f"{static.opcode} {', '.join(static.destinations + static.sources)}".rstrip() + ";"
        instructions.append(Instruction(index, lines[static], static.opcode, text))
    if wrong:
        _refuse(wrong, path)
    return Program(
        name=head.name,
        encoded=pack(rows),
        instructions=tuple(instructions),
        labels={},
        registers=max(head.registers, 1),
        shared_bytes=head.shared_bytes,
        path=str(path),
        markers=True,  # the trace is executed already: nothing reconverges
        architecture=head.architecture,
        addresses=tuple(static.pc for static in statics),
    )


def _row(static: Static, head: Head, is_shared: bool) -> Row:
    """Return an instruction as the timing engines need it. Raises SpellingError."""
    decoded = decode(static.opcode, era(head.architecture))
    row = Row(decoded.modifiers.operation, decoded.opcode.unit, decoded.opcode.space, *decoded.modifiers[1:])
    if is_shared:
        row.space, row.unit = Space.SHARED, Unit.SHARED
    destinations, sources = _numbers(static.destinations), _numbers(static.sources)
    if row.operation == Operation.BAR:
        if row.flags & Flag.ASYNC or not 0 <= static.immediate < BARRIERS:
            message = f"{static.opcode} {static.immediate}: how many threads a barrier is for is not in a trace; read it with its listing"
            raise SpellingError(message, static.opcode, ())
        row.function = static.immediate
    if destinations:
        row.destination = destinations[0]
        row.destination_count = dependences.destination_registers(row.operation, row.flags, row.width)
    if row.operation in (Operation.LOAD, Operation.STORE, Operation.ATOM) and sources:  # the address stands first
        row.address_register, sources = sources[0], sources[1:]
    for slot, register in enumerate(sources[: len(row.source_kind)]):
        row.source_kind[slot], row.source_value[slot] = Kind.REGISTER, register
    row.reads, row.writes = dependences.reads_of(row), dependences.writes_of(row)
    for register in destinations[1:]:
        row.writes += dependences.registers(register, 1)
    return row


def _numbers(names: tuple[str, ...]) -> list[int]:
    """Return register numbers; those that are no general register count as RZ."""
    return [int(name[1:]) if name[:1] == "R" and name[1:].isdecimal() and int(name[1:]) <= RZ else RZ for name in names]


def _refuse(wrong: dict[str, list[int]], path: Path) -> None:
    parts = ["the trace holds what is not covered"]
    for message, found in wrong.items():
        more = f" and {len(found) - MOST_LINES} more" if len(found) > MOST_LINES else ""
        parts.append(f"  {'line' if len(found) == 1 else 'lines'} {', '.join(map(str, found[:MOST_LINES]))}{more}: {message}")
    raise UserError("\n".join(parts), path=str(path), line=min(min(found) for found in wrong.values()))
