"""Decode: what the timing of each static instruction needs to know, read from the program and the GPU."""

from typing import NamedTuple

from isa.program import Program
from isa.vocabulary import Operation, Space, Special, Unit
from sim.gpus.model import Gpu
from sim.vocabulary import PORT_CAUSE, RESULT_CAUSE, StallCause

BRANCHES = (Operation.BRA, Operation.SYNC, Operation.BSYNC)  # the warp's next instruction is known only when they are done
CLOCKS = (Special.CLOCKLO, Special.CLOCKHI)
GLOBAL_SPACES = (Space.GLOBAL, Space.GENERIC)


class Instruction(NamedTuple):
    """One static instruction on one GPU. Cycles are ALU-clock cycles."""

    number: int  # its place in the listing
    text: str
    pipe: str | None  # None: it needs no port (NOP)
    latency: int  # issue to the issue of a dependent instruction
    needs: tuple[int, ...]  # dependences that must be ready: those read (RAW), then those written (WAW)
    writes: tuple[int, ...]
    result_cause: StallCause  # of waiting for its result
    port_cause: StallCause  # of waiting for its port
    is_branch: bool
    is_clock: bool
    is_store: bool
    barrier: int | None  # number of a BAR
    request: str | None  # the counter that its memory access adds to


def decode(program: Program, gpu: Gpu) -> list[Instruction]:
    """Return the program as the schedulers see it."""
    return [_instruction(program, gpu, i) for i in range(len(program))]


def _instruction(program: Program, gpu: Gpu, i: int) -> Instruction:
    encoded = program.encoded
    unit, operation = Unit(encoded.unit[i]), Operation(encoded.operation[i])
    reads = [int(name) for name in encoded.reads[i] if name >= 0]
    writes = [int(name) for name in encoded.writes[i] if name >= 0]
    function = int(encoded.function[i])
    return Instruction(
        number=i,
        text=program.instructions[i].text,
        pipe=None if unit == Unit.NONE else gpu.units[unit.name.lower()].pipe,
        latency=gpu.latency(unit),
        needs=tuple(dict.fromkeys(reads + writes)),
        writes=tuple(writes),
        result_cause=RESULT_CAUSE[unit],
        port_cause=PORT_CAUSE[unit],
        is_branch=operation in BRANCHES,
        is_clock=operation == Operation.S2R and function in CLOCKS,
        is_store=operation == Operation.STORE or (operation == Operation.ATOM and not writes),
        barrier=function if operation == Operation.BAR else None,
        request=_request(operation, Space(encoded.space[i])),
    )


def _request(operation: Operation, space: Space) -> str | None:
    """Return the counter of a global load or store."""
    if space not in GLOBAL_SPACES:
        return None
    return {Operation.LOAD: "global_load_requests", Operation.STORE: "global_store_requests"}.get(operation)
