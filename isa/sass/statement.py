"""One instruction's text -> guard, opcode, operands. Knows shapes, not opcodes."""

import functools
import re
from typing import NamedTuple

ANNOTATION = re.compile(r'\(\*\s*"([^"]*)"\s*\*\)')  # (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)
SCHEDULE = re.compile(r"\s[&?][A-Za-z]\w*.*$")  # nvdisasm 12.8 on sm_120: &req={0} &wr=0x1 ?trans1
STATEMENT = re.compile(r"(?:(@!?U?P[0-6T])\s+)?([A-Z][A-Z0-9_]*(?:\.\w+)*)(?:\s+(\S.*))?")
ONE = r"(?:[^\s,\[\](){}]|\[[^\s,\[\](){}]*\])++"  # an operand without blanks, or commas in brackets
PLAIN = re.compile(rf"{ONE}(?:,\s*{ONE})*")
OPENING, CLOSING = "[({", "])}"


class Statement(NamedTuple):
    """The parts of one instruction. opens, closes: a brace of a dual-issued pair stands there."""

    guard: str
    opcode: str
    operands: tuple[str, ...]
    targets: tuple[str, ...]
    opens: bool
    closes: bool


class StatementError(ValueError):
    """Text that is no instruction; the message says what was expected."""


@functools.lru_cache(maxsize=65536)
def statement(text: str) -> Statement:
    """Split what stands between the address and the encoding. Raises StatementError."""
    opens, closes = text.startswith("{"), text.endswith("}") and text.count("{") < text.count("}")  # DEPBAR {2} is a set
    body = text[1 if opens else 0 : -1 if closes else None].strip()
    if not body.endswith(";") and not closes:
        raise StatementError("the instruction does not end with a semicolon")
    body, targets = _annotations(body.rstrip("; "))
    body = SCHEDULE.sub("", body).rstrip("; ")
    match = STATEMENT.fullmatch(body)
    if match is None:
        raise StatementError(f"expected [@guard] OPCODE operands, found {body!r}")
    guard, opcode, rest = match.groups()
    return Statement(guard or "", opcode, operands(rest or ""), targets, opens, closes)


def operands(text: str) -> tuple[str, ...]:
    """Split operands at commas, and at blanks as in `BRX R4 -0x150`, outside brackets. Raises StatementError."""
    if not text:
        return ()
    if PLAIN.fullmatch(text):
        return tuple([operand.strip() for operand in text.split(",")])
    found, depth, current, blank = [], 0, "", False
    for character in text:
        if character.isspace():
            blank = True
            continue
        if depth == 0 and blank and current and character not in ",[":
            found.append(current)
            current = ""
        blank = False
        if character == "," and depth == 0:
            found.append(current)
            current = ""
            continue
        depth += (character in OPENING) - (character in CLOSING)
        if depth < 0:
            break
        current += character
    found.append(current)
    if depth or not all(found):
        raise StatementError(f"an operand is missing or a bracket is open in {text!r}")
    return tuple(found)


def _annotations(body: str) -> tuple[str, tuple[str, ...]]:
    """Take `(*"..."*)` out; return the rest and the labels they name."""
    if "(*" not in body:
        return body, ()
    words = [word for note in ANNOTATION.findall(body) for word in re.split(r"[\s,=]+", note)]
    return ANNOTATION.sub("", body).rstrip("; "), tuple(word for word in words if word.startswith((".", "$")))
