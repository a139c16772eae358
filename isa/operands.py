"""Operands of one instruction: built from the grammar's tokens, printed back as text that reads the same."""

import functools
import math
import re
from typing import Any, NamedTuple

from lark import Token, Transformer

from isa.vocabulary import PT, RZ, SourceFlag

REGISTER, PREDICATE, INTEGER, HEXADECIMAL, FLOAT, CONSTANT, ADDRESS, NAME = "RPIHFCAN"
NUMBERS = (INTEGER, HEXADECIMAL, FLOAT)
SHAPE_NAMES = {
    REGISTER: "a register",
    PREDICATE: "a predicate",
    INTEGER: "a number",
    HEXADECIMAL: "a number",
    FLOAT: "a number",
    CONSTANT: "a constant",
    ADDRESS: "an address",
    NAME: "a name",
}
NEGATE, ABSOLUTE, INVERT = int(SourceFlag.NEGATE), int(SourceFlag.ABSOLUTE), int(SourceFlag.INVERT)
HIGHEST_REGISTER = 254
HALF_OR_BYTE = re.compile(r"(H[01]|B[0-3]|H0_H0|H1_H1)$")
UNIFORM = re.compile(r"U(R\d+|RZ|P[0-6T])$")


class OperandError(ValueError):
    """What is wrong with one operand, its column (1-based), and a remedy."""

    def __init__(self, message: str, column: int, hint: str = "") -> None:
        super().__init__(message)
        self.column, self.hint = column, hint


class Operand(NamedTuple):
    """One operand as written; names are looked up later, by `isa.encode`."""

    shape: str  # one of the letters above
    value: int | float = 0  # register, predicate, number, or byte offset of a constant or address
    flags: int = 0  # SourceFlag; INVERT of a predicate is `!`
    bank: int = 0  # of a constant
    base: int = -1  # register in the brackets, -1 = none
    suffix: str = ""  # "CC" of a register, "64" of an address
    symbol: str = ""  # the name of a NAME; of others, a name whose value is added
    column: int = 0  # 1-based


class OperandBuilder(Transformer[Token, Any]):
    """Turns the operand rules of grammar.lark into `Operand`s."""

    def register(self, children: list[Any]) -> Operand:
        token = children[0]
        number, suffix = register_number(str(token))
        if number < 0:
            raise OperandError(suffix, token.column)
        return Operand(REGISTER, number, suffix=suffix, column=token.column)

    def predicate(self, children: list[Any]) -> Operand:
        return Operand(PREDICATE, predicate_number(children[0]), column=children[0].column)

    def not_predicate(self, children: list[Any]) -> Operand:
        return Operand(PREDICATE, predicate_number(children[0]), INVERT, column=children[0].column - 1)

    def number(self, children: list[Any]) -> Operand:
        shape, value = number_of(str(children[0]))
        return Operand(shape, value, column=children[0].column)

    def name(self, children: list[Any]) -> Operand:
        token = children[0]
        if UNIFORM.match(token):
            raise OperandError(f"{token}: uniform registers are not modelled", token.column)
        return Operand(NAME, symbol=str(token), column=token.column)

    def quoted(self, children: list[Any]) -> Operand:
        token = children[0]
        return Operand(NAME, symbol=token[1:].strip(" \t()"), column=token.column)

    def negated(self, children: list[Operand]) -> Operand:
        return children[0]._replace(flags=children[0].flags ^ NEGATE)

    def inverted(self, children: list[Operand]) -> Operand:
        return children[0]._replace(flags=children[0].flags ^ INVERT)

    def absolute(self, children: list[Any]) -> Operand:
        part = next((str(token[1:]) for token in children[1:] if token.type == "PART"), "")
        operand: Operand = children[0]
        return operand._replace(flags=ABSOLUTE, suffix=part or operand.suffix)

    def address(self, children: list[Operand]) -> Operand:
        return children[0]._replace(shape=ADDRESS)

    def constant(self, children: list[Any]) -> Operand:
        bank, offset, *parts = children
        if bank.base != -1 or bank.symbol or not 0 <= bank.value < 32:
            raise OperandError("a constant bank is a number from 0 to 31", bank.column)
        if offset.suffix:
            raise OperandError(f"c[bank][register] takes no .{offset.suffix}", offset.column)
        return offset._replace(shape=CONSTANT, bank=int(bank.value), suffix=parts[0][1:] if parts else "")

    def offset(self, children: list[Any]) -> Operand:
        """Sum the terms inside brackets: at most one register and one name, and numbers."""
        base, suffix, value, symbol = -1, "", 0, ""
        for token in children:
            if token.type == "REGISTER":
                base, suffix = register_number(str(token))
                if base < 0 or suffix not in ("", "64"):
                    raise OperandError(suffix if base < 0 else f"an address has no .{suffix}", token.column)
            elif token.type == "NUMBER":
                shape, number = number_of(str(token))
                if shape == FLOAT:
                    raise OperandError("an offset is a whole number of bytes", token.column)
                value += int(number)
            elif symbol or UNIFORM.match(token):
                raise OperandError(
                    "one name at most inside brackets" if symbol else f"{token}: uniform registers are not modelled", token.column
                )
            else:
                symbol = str(token)
        return Operand(ADDRESS, value, base=base, suffix=suffix, symbol=symbol, column=children[0].column)


@functools.lru_cache(maxsize=2048)
def register_number(text: str) -> tuple[int, str]:
    """Return the register and its suffix ("CC", "64" or ""), or -1 and what is wrong. `.reuse` is dropped: see isa/README.md."""
    name, *suffixes = text.split(".")
    suffixes = [suffix for suffix in suffixes if suffix != "reuse"]
    number = RZ if name == "RZ" else int(name[1:])
    if name != "RZ" and number > HIGHEST_REGISTER:
        return -1, f"{name}: registers are R0 to R{HIGHEST_REGISTER}, and RZ"
    if suffixes and suffixes not in (["CC"], ["64"]) and not (len(suffixes) == 1 and HALF_OR_BYTE.match(suffixes[0])):
        return -1, f"{text}: the suffix .{suffixes[0]} is not modelled"
    return number, "".join(suffixes)


def predicate_number(text: str) -> int:
    return PT if text[-1] == "T" else int(text[-1])


@functools.lru_cache(maxsize=4096)
def number_of(text: str) -> tuple[str, int | float]:
    """Return the shape and the value of a NUMBER token."""
    lower = text.lower()
    if "0x" in lower:
        return HEXADECIMAL, int(lower, 16)
    if "inf" in lower or "nan" in lower:
        return FLOAT, float(lower.replace("qnan", "nan"))
    if any(mark in lower for mark in ".e"):
        return FLOAT, float(lower)
    return INTEGER, int(lower)


def print_number(shape: str, value: int | float) -> str:
    if shape == HEXADECIMAL:
        return hex(int(value))
    if shape == INTEGER:
        return str(value)
    if math.isfinite(value):
        return repr(float(value))
    sign = "-" if math.copysign(1.0, value) < 0 else "+"
    return sign + ("QNAN" if math.isnan(value) else "INF")


def print_operand(operand: Operand) -> str:
    """Return the operand as canonical text."""
    shape, value, flags, bank, base, suffix, symbol, _ = operand
    if shape == PREDICATE:
        return ("!" if flags else "") + ("PT" if value == PT else f"P{value}")
    if shape == REGISTER:
        text = _print_register(int(value), suffix)
    elif shape == NAME:
        text = symbol
    elif shape in NUMBERS:
        text = print_number(shape, value)
    else:
        text = _print_brackets(base, "" if shape == CONSTANT else suffix, symbol, int(value))
        text = f"c[{bank:#x}]{text}" + (f".{suffix}" if suffix else "") if shape == CONSTANT else text
    if flags & ABSOLUTE:
        text = f"|{text}|"
    return ("-" if flags & NEGATE else "") + ("~" if flags & INVERT else "") + text


def _print_register(number: int, suffix: str) -> str:
    return ("RZ" if number == RZ else f"R{number}") + (f".{suffix}" if suffix else "")


def _print_brackets(base: int, suffix: str, symbol: str, value: int) -> str:
    terms = [_print_register(base, suffix)] if base != -1 else []
    terms += [symbol] if symbol else []
    terms += [hex(value)] if value or not terms else []
    return f"[{'+'.join(terms)}]"
