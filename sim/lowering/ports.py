"""Issue ports of an SM: the rows in which its schedulers see the pipes; which pipe serves an instruction."""

from typing import NamedTuple

from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import Unit
from sim.gpus.model import Gpu, UnitTiming


class Ports(NamedTuple):
    """Ports of the pipes' rows: how many in all; of each row the first, how many, and the row that shares the last."""

    all: int
    first: list[int]
    width: list[int]
    twin: list[int]


def ports_of(gpu: Gpu) -> tuple[Ports, list[list[int]]]:
    """Return the ports, and the row of each pipe and scheduler; behind the pipes comes one without limit."""
    schedulers, number = gpu.core.schedulers, 0
    first: list[int] = []
    width: list[int] = []
    twin: list[int] = []
    rows: dict[str, list[int]] = {}
    named = [(name, pipe.owner == "sm", pipe.count, pipe.within) for name, pipe in gpu.pipes.items()] + [("", False, 1, None)]
    for name, shared, count, within in sorted(named, key=lambda pipe: pipe[-1] is not None):  # those within others come behind them
        rows[name] = [len(first) + (0 if shared else q) for q in range(schedulers)]
        for owner in range(1 if shared else schedulers):
            outer = rows[within][owner] if within else -1
            if outer >= 0:
                twin[outer] = len(first)
            first.append(first[outer] + width[outer] - 1 if outer >= 0 else number)
            width.append(1 if outer >= 0 else count)
            twin.append(outer)
            number += 0 if outer >= 0 else count
    return Ports(number, first, width, twin), [rows[name] for name, *_ in named]


def is_uniform(program: Program, i: int) -> bool:
    """Return whether instruction i is named for the uniform data path."""
    return program.instructions[i].opcode.startswith("U")


def is_own_of_uniform(program: Program, i: int) -> bool:
    """Return whether instruction i needs the unit of uniform registers where a GPU has one."""
    return Unit(program.encoded.unit[i]) in (Unit.INT32, Unit.SHIFT) and is_uniform(program, i)


def needs_no_pipe(program: Program, i: int) -> bool:
    """Return whether instruction i takes an issue slot and no more: ULDC (h100/queues.csv); UMOV, which no pipe's counter counts.

    Seen on an H100. Blackwell's LDCU keeps its pipe.
    """
    return program.instructions[i].opcode.startswith(("ULDC", "UMOV"))


def unit_of(gpu: Gpu, program: Program, i: int) -> Unit:
    """Return the unit that instruction i needs: of uniform registers that of its own, if the GPU has one (h100/uniform.csv)."""
    return Unit.UNIFORM if "uniform" in gpu.units and is_own_of_uniform(program, i) else Unit(program.encoded.unit[i])


def unit_timing(gpu: Gpu, program: Program, i: int) -> UnitTiming | None:
    """Return the pipe and the latency of instruction i, None of one that needs no pipe. Raises UserError where the GPU has none for it."""
    unit = unit_of(gpu, program, i)
    try:
        return None if unit == Unit.NONE or needs_no_pipe(program, i) else gpu.serving(unit)
    except UserError as error:
        instruction = program.instructions[i]
        message = f"{instruction.opcode}: {error.message}"
        raise UserError(message, path=program.path, line=instruction.line, hint=error.hint) from None
