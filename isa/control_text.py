"""Control words in mini-SASS: fields before an instruction, as assemblers of the field write them.

    [B0-2---:R-:W1:Y:S04:U-B--]  LDG.E R4, [R2]

B: the counters waited on; R, W: the counters released when sources have been read, when the result is written; Y: another warp may have
the turn (D, on Kepler: issues together with the next one); S: the stall count; U: the source slots A, B, C, D that the operand cache
keeps (may be left out).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isa.architecture import KEPLER, VOLTA, family
from isa.errors import UserError
from isa.records import Control, Instruction
from isa.vocabulary import COUNTERS

FIELDS = re.compile(r"\s*\[B([0-5-]{6}):R([0-5-]):W([0-5-]):([YD-]):S(\d\d)(?::U([ABCD-]{4}))?\](?=\s)")
STARTS = re.compile(r"\s*\[B")
USAGE = "write [B0-2---:R-:W1:Y:S04] before the instruction: counters waited on, read and write counter, yield, stall count"
SLOTS = "ABCD"
MOST_STALL, MOST_KEPLER_STALL = 15, 31  # cycles
KEPLER_TARGET = re.compile(r"^\s*\.target\s+sm_3", re.MULTILINE)


class Words(NamedTuple):
    """The control fields of one line."""

    stall: int
    yield_: int
    write_barrier: int
    read_barrier: int
    wait_mask: int
    reuse: int
    dual: int  # of Kepler


def take(text: str, path: str = "") -> tuple[str, dict[int, Words]]:
    """Return a listing with blanks in place of its control fields, and these by line. Raises UserError for fields that are none."""
    if "[B" not in text:
        return text, {}
    lines, found = text.split("\n"), {}
    most = MOST_KEPLER_STALL if KEPLER_TARGET.search(text) else MOST_STALL
    for number, line in enumerate(lines, 1):
        if match := FIELDS.match(line):
            found[number] = _words(match)
            if found[number].stall > most:
                message = f"a stall count is at most {most}"
                raise UserError(message, path=path, line=number, column=line.index("[") + 1, hint="let other instructions pass the time")
            lines[number - 1] = " " * match.end() + line[match.end() :]
        elif STARTS.match(line):
            raise UserError("these are not control fields", path=path, line=number, column=line.index("[") + 1, hint=USAGE)
    return "\n".join(lines), found


def control(instructions: Sequence[Instruction], words: dict[int, Words], architecture: str, path: str = "") -> Control | None:
    """Return the control fields of a kernel, None when no line has any. Raises UserError for a line without, when others have them."""
    if not any(instruction.line in words for instruction in instructions):
        return None
    for instruction in instructions:
        if instruction.line not in words:
            message = f"{instruction.text} has no control fields, others have"
            raise UserError(message, path=path, line=instruction.line, hint=USAGE)
    columns = np.array([words[instruction.line] for instruction in instructions], np.int64).T
    stall, yield_, write, read, wait, reuse, paired = columns
    encoding = family(architecture) if architecture else VOLTA
    dual = paired if encoding is KEPLER else (stall == 0) & (yield_ == 0) & (encoding is not VOLTA)
    unsigned = [column.astype(np.uint8) for column in (yield_, wait, reuse, dual)]
    signed = [column.astype(np.int8) for column in (stall, write, read)]
    return Control(signed[0], unsigned[0], signed[1], signed[2], *unsigned[1:])


def fields(words: Control, i: int, architecture: str) -> str:
    """Return the control fields of instruction `i` as `take` reads them."""
    waits = "".join(str(counter) if words.wait_mask[i] >> counter & 1 else "-" for counter in range(COUNTERS))
    read, write = (str(int(column[i])) if column[i] >= 0 else "-" for column in (words.read_barrier, words.write_barrier))
    kept = "".join(name if words.reuse[i] >> slot & 1 else "-" for slot, name in enumerate(SLOTS))
    turn = "Y" if words.yield_[i] else "D" if words.dual[i] and family(architecture) is KEPLER else "-"
    return f"[B{waits}:R{read}:W{write}:{turn}:S{int(words.stall[i]):02d}:U{kept}]"


def _words(match: re.Match[str]) -> Words:
    waits, read, write, yields, stall, kept = match.groups()
    return Words(
        stall=int(stall),
        yield_=int(yields == "Y"),
        write_barrier=-1 if write == "-" else int(write),
        read_barrier=-1 if read == "-" else int(read),
        wait_mask=sum(1 << int(counter) for counter in waits if counter != "-"),
        reuse=sum(1 << SLOTS.index(name) for name in kept or "" if name != "-"),
        dual=int(yields == "D"),
    )
