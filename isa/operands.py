"""Operands of one instruction: built from the grammar's tokens, printed back as text that reads the same."""

import functools
import math
import re
from typing import Any, NamedTuple

from lark import Token, Transformer

from isa.vocabulary import CC_ZERO, PT, RZ, UNIFORM_BASE, UNIFORM_REGISTERS, UP0, SourceFlag

REGISTER, PREDICATE, INTEGER, HEXADECIMAL, FLOAT, CONSTANT, ADDRESS, NAME, MATRIX = "RPIHFCANM"
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
    MATRIX: "a descriptor of a matrix",
}
NEGATE, ABSOLUTE, INVERT = int(SourceFlag.NEGATE), int(SourceFlag.ABSOLUTE), int(SourceFlag.INVERT)
CONDITIONS = {"CC.EQ": 0, "CC.NE": INVERT}  # of a branch before Volta -> SourceFlag of CC_ZERO
HIGHEST_REGISTER = 254
SUFFIXES = {"": 1, "64": 1, "U32": 1, "X4": 4, "X8": 8, "X16": 16}  # of an address register -> its factor
HALF_OR_BYTE = re.compile(r"(H[01]|B[0-3]|H0_H0|H1_H1|H0_NH1|F32x2|SIGN|ROW|COL)$")


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
    suffix: str = ""  # "CC", "H1"... of a register, "64", "U32", "X4"... of an address, "negA.tnspB" of a matrix
    uniform: int = -1  # uniform register that is added in the brackets, -1 = none
    descriptor: int = -1  # register of desc[...], which says how memory is mapped; -1 = none
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
        if token in CONDITIONS:
            return Operand(PREDICATE, CC_ZERO, CONDITIONS[token], column=token.column)
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

    def described(self, children: list[Any]) -> Operand:
        token = children[0]
        number, suffix = register_number(str(token))
        if number < UNIFORM_BASE or suffix:
            raise OperandError("a descriptor is a uniform register: desc[UR4][R2.64]", token.column)
        if len(children) == 1:  # of UTMALDG: which lines L2 should keep
            return Operand(NAME, symbol=f"desc[{token}]", column=token.column)
        return children[1]._replace(descriptor=number, column=token.column)

    def matrix(self, children: list[Any]) -> Operand:
        number, wrong = register_number(str(children[0]))
        if (number < UNIFORM_BASE and str(children[0]) != "URZ") or wrong:
            raise OperandError("matrices in shared memory are described by uniform registers: gdesc[UR4]", children[0].column)
        return Operand(MATRIX, number, suffix="".join(children[1:])[1:], column=children[0].column)

    def constant(self, children: list[Any]) -> Operand:
        bank, offset, *half = children
        if bank.base != -1 or bank.symbol or not 0 <= bank.value < 32:
            raise OperandError("a constant bank is a number from 0 to 31", bank.column)
        if offset.suffix:
            raise OperandError(f"c[bank][register] takes no .{offset.suffix}", offset.column)
        if offset.uniform != -1:
            raise OperandError("one register at most in c[bank][...]", offset.column)
        return offset._replace(shape=CONSTANT, bank=int(bank.value), suffix=half[0][1:] if half else "")

    def offset(self, children: list[Any]) -> Operand:
        """Sum the terms inside brackets: at most one name, numbers, and a register followed by a uniform one."""
        base, suffix, uniform, value, symbol = -1, "", -1, 0, ""
        for token in children:
            if token.type == "REGISTER":
                number, wrong = register_number(str(token))
                if number < 0 or wrong not in SUFFIXES:
                    raise OperandError(wrong if number < 0 else f"an address register has no .{wrong}", token.column)
                if base == -1:
                    base, suffix = number, wrong
                elif uniform != -1 or token[0] != "U" or wrong:
                    raise OperandError("inside brackets stand a register and behind it a uniform register", token.column)
                else:
                    uniform = number
            elif token.type == "NUMBER":
                shape, amount = number_of(str(token))
                if shape == FLOAT:
                    raise OperandError("an offset is a whole number of bytes", token.column)
                value += int(amount)
            elif symbol:
                raise OperandError("one name at most inside brackets", token.column)
            else:
                symbol = str(token)
        return Operand(ADDRESS, value, base=base, suffix=suffix, uniform=uniform, symbol=symbol, column=children[0].column)


@functools.lru_cache(maxsize=2048)
def register_number(text: str) -> tuple[int, str]:
    """Return the register and its suffix ("CC", "64", "H1", ...), or -1 and what is wrong. `.reuse` is dropped: see isa/README.md."""
    name, *suffixes = text.split(".")
    suffixes = [suffix for suffix in suffixes if suffix not in ("reuse", "HI_LO")]  # .F32x2.HI_LO: both words as they are
    prefix, digits = name[: name.index("R") + 1], name[name.index("R") + 1 :]
    highest = UNIFORM_REGISTERS - 1 if prefix == "UR" else HIGHEST_REGISTER
    if digits != "Z" and int(digits) > highest:
        return -1, f"{name}: registers are {prefix}0 to {prefix}{highest}, and {prefix}Z"
    if suffixes and (len(suffixes) > 1 or (suffixes[0] not in ("CC", *SUFFIXES) and not HALF_OR_BYTE.match(suffixes[0]))):
        return -1, f"{text}: the suffix .{suffixes[0]} is not modelled"
    number = RZ if digits == "Z" else int(digits) + (UNIFORM_BASE if prefix == "UR" else 0)
    return number, "".join(suffixes)


def predicate_number(text: str) -> int:
    """Return the number of `P3`, `@!P3` or `UP3`; from UP0 on they are uniform ones."""
    return PT if text[-1] == "T" else int(text[-1]) + (UP0 if "U" in text else 0)


def register_name(number: int) -> str:
    """Return `R4`, `RZ` or `UR4`."""
    return "RZ" if number == RZ else f"UR{number - UNIFORM_BASE}" if number >= UNIFORM_BASE else f"R{number}"


def predicate_name(number: int) -> str:
    """Return `P3`, `PT` or `UP3`."""
    return "PT" if number == PT else f"UP{number - UP0}" if number >= UP0 else f"P{number}"


@functools.lru_cache(maxsize=4096)
def number_of(text: str) -> tuple[str, int | float]:
    """Return the shape and the value of a NUMBER token."""
    lower = text.lower()
    if lower.endswith(".neg"):  # an immediate whose sign stands in a bit of its own
        shape, value = number_of(text[:-4])
        return shape, -value
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
    shape, value, flags, bank, base, suffix, uniform, descriptor, symbol, _ = operand
    if shape == PREDICATE and value == CC_ZERO:
        return next(name for name, inverted in CONDITIONS.items() if inverted == flags)
    if shape == PREDICATE:
        return ("!" if flags else "") + predicate_name(int(value))
    if shape == REGISTER:
        text = _print_register(int(value), suffix)
    elif shape == NAME:
        text = symbol
    elif shape == MATRIX:
        text = f"gdesc[{'URZ' if value == RZ else register_name(int(value))}]" + (f".{suffix}" if suffix else "")
    elif shape in NUMBERS:
        text = print_number(shape, value)
    else:
        text = _print_brackets(base, "" if shape == CONSTANT else suffix, uniform, symbol, int(value))
        if shape == CONSTANT:
            text = f"c[{bank:#x}]{text}" + (f".{suffix}" if suffix else "")
        elif descriptor != -1:
            text = f"desc[{register_name(descriptor)}]{text}"
    if flags & ABSOLUTE:
        text = f"|{text}|"
    return ("-" if flags & NEGATE else "") + ("~" if flags & INVERT else "") + text


def _print_register(number: int, suffix: str) -> str:
    return register_name(number) + (f".{suffix}" if suffix else "")


def _print_brackets(base: int, suffix: str, uniform: int, symbol: str, value: int) -> str:
    terms = [_print_register(base, suffix)] if base != -1 else []
    terms += [register_name(uniform)] if uniform not in (-1, RZ) else []
    terms += [symbol] if symbol else []
    terms += [hex(value)] if value or not terms else []
    return f"[{'+'.join(terms)}]"
