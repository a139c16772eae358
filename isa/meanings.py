"""What each opcode does, in a sentence for people: `meanings.toml`. Nothing is computed from it."""

import functools
import tomllib
from importlib import resources

from isa.opcodes import BY_ERA, Opcode

UNIFORM = "U"  # how an opcode of the uniform registers begins, which does what the one without it does


@functools.cache
def table() -> dict[str, str]:
    """Return the sentences by opcode, as written."""
    return tomllib.loads(resources.files("isa").joinpath("meanings.toml").read_text("utf-8"))


def every_opcode() -> dict[str, Opcode]:
    """Return all opcodes by name: of all architectures, then those that only some have."""
    return {name: row for era in BY_ERA.values() for name, row in era.items()} | BY_ERA[""]


def meaning(name: str) -> str:
    """Return what an opcode does: its own sentence, that of the one without U before it, or of the same operation; "" without any."""
    found = table()
    if name in found:
        return found[name]
    if name.startswith(UNIFORM) and name.removeprefix(UNIFORM) in found:
        return found[name.removeprefix(UNIFORM)]
    opcodes = every_opcode()
    like = (other for other, row in opcodes.items() if other in found and name in opcodes and row.operation == opcodes[name].operation)
    return found.get(next(like, ""), "")
