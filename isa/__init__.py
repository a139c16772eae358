"""The instruction set: reads mini-SASS listings into `Program`s. Knows nothing of machines or cycles."""

from isa.compiler import compile
from isa.errors import UserError
from isa.load_cache import with_load_cache
from isa.opcodes import OPCODES
from isa.program import Program
from isa.reader import load, load_all, load_cubin, parse

__all__ = ["OPCODES", "Program", "UserError", "compile", "load", "load_all", "load_cubin", "parse", "with_load_cache"]
