"""A function with those that it calls by their addresses, as one piece of code, where a loader would have put them behind each other.

Code that was compiled in pieces (`nvcc -rdc=true`, PTX linked by nvJitLink or the driver) calls by CALL.ABS and gives the callee the
address to return to, `32@lo((kernel + .L_x_0@srel))`; both are filled in when the code is loaded.
"""

import dataclasses
import re
from collections.abc import Sequence

from isa.sass.function import RawFunction, RawInstruction

BACK = re.compile(r"32@(lo|hi)\(+\w+\+([.\w]+)@srel\)+")
CALLED = re.compile(r"`\((.+)\)")
ALIGNMENT = 128  # bytes, of a function


def linked(function: RawFunction, functions: Sequence[RawFunction]) -> RawFunction:
    """Return a function and all that it calls by address, itself first; the function as it is where it calls none so."""
    known = {one.name: one for one in functions if one.architecture == function.architecture}
    parts = [function]
    for part in parts:  # grows
        called = {known[name].name: known[name] for one in part.instructions if (name := _called(one)) in known}
        parts += [one for one in called.values() if one not in parts]
    if len(parts) == 1:
        return function
    instructions: list[RawInstruction] = []
    labels: dict[str, int] = {}
    braces: list[int] = []
    control: dict[int, int] = {}
    base = 0
    for part in parts:
        first, size = len(instructions), part.family.instruction_bytes
        ends = [*part.addresses, part.addresses[-1] + size]
        places = {name: base + ends[index] for name, index in part.labels.items()}
        labels |= {part.name: first} | {name: first + index for name, index in part.labels.items()}
        braces += [first + index for index in part.braces]
        control |= {base + address: word for address, word in part.control_words.items()}
        instructions += [_moved(one, base, places) for one in part.instructions]
        base += -(-ends[-1] // ALIGNMENT) * ALIGNMENT
    return dataclasses.replace(function, instructions=tuple(instructions), labels=labels, braces=tuple(braces), control_words=control)


def _called(instruction: RawInstruction) -> str:
    """Return the name of what an instruction calls by its address, "" when it does not."""
    match = CALLED.fullmatch(instruction.operands[-1]) if instruction.opcode.startswith("CALL.ABS") and instruction.operands else None
    return match[1] if match else ""


def _moved(instruction: RawInstruction, base: int, places: dict[str, int]) -> RawInstruction:
    """Return an instruction of a function that begins at `base`. places: addresses of the function's labels."""
    opcode = instruction.opcode.replace(".ABS", ".REL") if instruction.opcode.startswith(("CALL.ABS", "RET.ABS")) else instruction.opcode
    operands = tuple(_filled(text, places) for text in instruction.operands)
    return instruction._replace(address=instruction.address + base, opcode=opcode, operands=operands)


def _filled(text: str, places: dict[str, int]) -> str:
    match = BACK.fullmatch(text)
    if match is None or match[2] not in places:
        return text
    return f"{places[match[2]]:#x}" if match[1] == "lo" else "0x0"
