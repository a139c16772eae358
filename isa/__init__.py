"""The instruction set: reads mini-SASS listings into `Program`s. Knows nothing of machines or cycles."""

from isa.errors import UserError
from isa.opcodes import OPCODES
from isa.program import Program
from isa.reader import load, parse

__all__ = ["OPCODES", "Program", "UserError", "load", "parse"]
