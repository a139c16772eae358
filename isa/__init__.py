"""The instruction set: reads mini-SASS listings into `Program`s. Knows nothing of machines or cycles."""

from isa.compiler import compile
from isa.errors import UserError
from isa.opcodes import OPCODES
from isa.program import Program
from isa.reader import load, load_all, parse
from isa.scheduling import Finding, lint, schedule

__all__ = ["OPCODES", "Finding", "Program", "UserError", "compile", "lint", "load", "load_all", "parse", "schedule"]
