"""Real disassembly as text and binary: functions, words, control fields, resources. Knows nothing of what opcodes mean."""

from isa.sass.choose import choose
from isa.sass.control import decode
from isa.sass.function import RawFunction, RawInstruction
from isa.sass.link import linked
from isa.sass.printer import listing
from isa.sass.resources import registers_used
from isa.sass.text import is_disassembly, parse, read

__all__ = ["RawFunction", "RawInstruction", "choose", "decode", "is_disassembly", "linked", "listing", "parse", "read", "registers_used"]
