"""A program as text that reads back to an equal program."""

from isa.program import Program
from isa.scheduling.text import fields


def listing(program: Program, with_control: bool = False) -> str:
    """Return the directives, labels and instructions of a program in canonical form, on demand with its control fields."""
    lines = [f".kernel {program.name}", f".registers {program.registers}"]
    if program.shared_bytes:
        lines.append(f".shared {program.shared_bytes}")
    if program.architecture:
        lines.append(f".target {program.architecture}")
    lines.append(f".parameter_base {program.parameter_base:#x}")
    lines += [f".param {parameter.type} {parameter.name}" for parameter in program.parameters if parameter.type]
    labels: dict[int, list[str]] = {}
    for label, index in program.labels.items():
        labels.setdefault(index, []).append(f"{label}:")
    for instruction in program.instructions:
        lines += labels.get(instruction.index, [])
        words = f"{fields(program, instruction.index)} " if with_control else ""
        lines.append(f"    {words}{instruction.text}")
    lines += labels.get(len(program), [])
    return "\n".join(lines) + "\n"
