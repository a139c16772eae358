"""What loads without a cache operator ask of the caches, as the compiler's -dlcm decides: `isa.with_load_cache(program, "cg")`."""

import re
from dataclasses import replace

import numpy as np

from isa.architecture import era, number
from isa.errors import UserError
from isa.opcodes import decode
from isa.program import Program
from isa.vocabulary import Cache, Flag, Operation, Space

LOAD_CACHES = ("ca", "cg", "cs", "cv")  # ptxas's: through every level; past L1; used once; never from L1
SINCE_VOLTA = {"cg": "STRONG.GPU", "cs": "EF", "cv": "STRONG.SYS"}  # as ptxas of CUDA 13.5 writes them; .ca goes by architecture
HINTS = ("EF",)  # which stand before the width; STRONG stands behind it
SCOPE = ".SYS"  # which sm_70 to sm_75 write on a plain load; STRONG brings its own
ASIDE = (Space.GLOBAL, Space.GENERIC)


def with_load_cache(program: Program, operator: str) -> Program:
    """Return the program with a cache operator on each global or generic load that names none, as -dlcm does.

    operator: "ca", "cg", "cs" or "cv". Loads that name one keep it, as with ptxas: .CONSTANT (`__ldg`, `const __restrict__`) goes through
    L1 with -dlcm=cg, too. Stores, atomics and asynchronous copies to shared memory are no such loads. All else stays; the compiler
    itself (`isa.compile(..., options=["-Xptxas", "-dlcm=cg"])`) may also order what it moves otherwise. Raises UserError.
    """
    if operator not in LOAD_CACHES:
        raise UserError(f"no cache operator of loads is called '{operator}'", hint=f"there are: {', '.join(LOAD_CACHES)}")
    encoded, cache, instructions = program.encoded, program.encoded.cache.copy(), list(program.instructions)
    plain = (encoded.operation == Operation.LOAD) & np.isin(encoded.space, ASIDE) & (encoded.cache == Cache.DEFAULT)
    for i in np.flatnonzero(plain & (encoded.flags & int(Flag.ASYNC) == 0)).tolist():
        one = instructions[i]
        opcode = _spelled(one.opcode, operator, program.architecture)
        cache[i] = decode(opcode, era(program.architecture) if program.architecture else "").modifiers.cache
        text = re.sub(rf"(^|\s){re.escape(one.opcode)}(?=\s)", rf"\g<1>{opcode}", one.text, count=1)
        instructions[i] = replace(one, opcode=opcode, text=text)
    return replace(program, encoded=encoded._replace(cache=cache), instructions=tuple(instructions))


def _spelled(opcode: str, operator: str, architecture: str) -> str:
    """Return a load's opcode with a cache operator as its architecture writes it; mini-SASS: as before Volta."""
    if not architecture or era(architecture) != "volta":
        return f"{opcode}.{operator.upper()}"
    word = SINCE_VOLTA.get(operator) or ("STRONG.CTA" if number(architecture) < 80 else "STRONG.SM")
    if word in HINTS:  # LDG.E.EF.128
        name, *modifiers = opcode.split(".")
        at = 1 if modifiers[:1] == ["E"] else 0
        return ".".join([name, *modifiers[:at], word, *modifiers[at:]])
    return f"{opcode.removesuffix(SCOPE)}.{word}"
