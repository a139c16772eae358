"""Functions as text that `isa.sass.parse` reads back to equal functions, in the layout of `nvdisasm -hex`."""

from collections.abc import Iterable

from isa.sass.function import RawFunction, RawInstruction


def listing(functions: Iterable[RawFunction]) -> str:
    """Return a listing of functions."""
    return "\n".join(line for function in functions for line in _function(function)) + "\n"


def _function(function: RawFunction) -> list[str]:
    lines = [f"\tcode for {function.architecture}", f"\t\tFunction : {function.name}"]
    labels: dict[int, list[str]] = {}
    for name, index in function.labels.items():
        labels.setdefault(index, []).append(f"{name}:")
    opening, closing = set(function.braces), {index + 1 for index in function.braces}
    printed = set()
    for index, instruction in enumerate(function.instructions):
        lines += labels.get(index, [])
        group = _group(function, instruction)
        if group in function.control_words and group not in printed:
            lines.append(_word(function.control_words[group]))
            printed.add(group)
        lines += _instruction(instruction, function.family.instruction_bytes, index in opening, index in closing)
    return [*lines, *labels.get(len(function), []), "\t\t..........", ""]


def _group(function: RawFunction, instruction: RawInstruction) -> int:
    size = function.family.group_bytes
    return instruction.address - instruction.address % size if size else -1


def _instruction(instruction: RawInstruction, size: int, opens: bool, closes: bool) -> list[str]:
    body = " ".join(part for part in (instruction.opcode, ", ".join(instruction.operands)) if part)
    if instruction.targets:
        body += f' (*"BRANCH_TARGETS {",".join(instruction.targets)}"*)'
    body += " }" if closes else " ;"
    start = f"        /*{instruction.address:04x}*/ {'{' if opens else '':>9} {instruction.guard:>8} {body:47s}"
    if instruction.word is None:
        return [start.rstrip()]
    halves = [instruction.word >> shift & (1 << 64) - 1 for shift in range(0, 8 * size, 64)]
    # The encoding of a closing line stands alone below it, as nvdisasm prints it.
    first = [start.rstrip(), _word(halves[0])] if closes else [f"{start} /* {halves[0]:#018x} */"]
    return first + [_word(half) for half in halves[1:]]


def _word(word: int) -> str:
    return f"{'':80s} /* {word:#018x} */"
