"""A plain interpreter of structured programs, lane by lane, and their mini-SASS text: written from the instructions' definitions alone."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

MASK = 0xFFFFFFFF
NAN = 0x7FFFFFFF


class Exit(Exception):  # noqa: N818 - it is no error
    """The lane has ended."""


@dataclass
class Lane:
    registers: list[int]
    counters: list[int] = field(default_factory=lambda: [0] * 8)
    alive: bool = True


def real(bits: int) -> float:
    return float(np.uint32(bits).view(np.float32))


def signed(bits: int) -> int:
    return bits - (1 << 32) if bits >> 31 else bits


def nearest(value: Fraction, zero_sign: float = 1.0) -> int:
    """Return the bits of the float32 nearest to an exact value."""
    if value == 0:
        return int(np.float32(math.copysign(0.0, zero_sign)).view(np.uint32))
    magnitude = abs(value)
    exponent = max(magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - 25, -149)
    while magnitude >= Fraction(2) ** (exponent + 24):
        exponent += 1
    result = round(magnitude / Fraction(2) ** exponent) * Fraction(2) ** exponent
    size = math.inf if result >= Fraction(2) ** 128 else float(result)
    return int(np.float32(math.copysign(size, value)).view(np.uint32))


def multiply_add(a: int, b: int, c: int) -> int:
    x, y, z = real(a), real(b), real(c)
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        with np.errstate(all="ignore"):
            special = np.float64(x) * np.float64(y) + np.float64(z)
        return NAN if np.isnan(special) else int(np.float32(special).view(np.uint32))
    product_sign = math.copysign(1.0, x) * math.copysign(1.0, y)
    both_negative = product_sign < 0 and math.copysign(1.0, z) < 0
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    return nearest(exact, -1.0 if both_negative else 1.0)


def flush(bits: int) -> int:
    return bits & 0x80000000 if bits & 0x7F800000 == 0 else bits


def to_integer(bits: int) -> int:
    x = real(bits)
    if math.isnan(x):
        return 0
    return (min(max(math.trunc(x), -(2**31)), 2**31 - 1) if math.isfinite(x) else (2**31 - 1 if x > 0 else -(2**31))) & MASK


OPERATIONS = {
    "IADD": lambda a, b, c: a + b,
    "IADD3": lambda a, b, c: a + b + c,
    "IMAD": lambda a, b, c: a * b + c,
    "IMAD.HI": lambda a, b, c: (signed(a) * signed(b) >> 32) + c,
    "IMAD.HI.U32": lambda a, b, c: (a * b >> 32) + c,
    "SHL": lambda a, b, c: a << b if b < 32 else 0,
    "SHL.W": lambda a, b, c: a << (b & 31),
    "SHR": lambda a, b, c: signed(a) >> min(b, 32),
    "SHR.U32": lambda a, b, c: a >> min(b, 32),
    "SHF.L.W.U32.HI": lambda a, b, c: (c << 32 | a) << (b & 31) >> 32,
    "SHF.R.U32": lambda a, b, c: (c << 32 | a) >> min(b, 32),
    "LOP.AND": lambda a, b, c: a & b,
    "LOP.OR": lambda a, b, c: a | b,
    "LOP.XOR": lambda a, b, c: a ^ b,
    "LOP3.LUT": lambda a, b, c: (a & b) ^ c,
    "MOV": lambda a, b, c: a,
    "POPC": lambda a, b, c: a.bit_count(),
    "I2F": lambda a, b, c: nearest(Fraction(signed(a))),
    "F2I.TRUNC": lambda a, b, c: to_integer(a),
    "FADD": lambda a, b, c: multiply_add(a, 0x3F800000, b),
    "FMUL": lambda a, b, c: multiply_add(a, b, (a ^ b) & 0x80000000),
    "FFMA": multiply_add,
    "FFMA.FTZ": lambda a, b, c: flush(multiply_add(flush(a), flush(b), flush(c))),
}
ARITY = {"MOV": 1, "POPC": 1, "I2F": 1, "F2I.TRUNC": 1} | dict.fromkeys(
    ("IADD3", "IMAD", "IMAD.HI", "IMAD.HI.U32", "FFMA", "FFMA.FTZ", "LOP3.LUT", "SHF.L.W.U32.HI", "SHF.R.U32"), 3
)
COMPARES = {
    "ISETP.LT.AND": lambda a, b: signed(a) < signed(b),
    "ISETP.GE.U32.AND": lambda a, b: a >= b,
    "ISETP.NE.AND": lambda a, b: a != b,
    "FSETP.GT.AND": lambda a, b: real(a) > real(b),
    "FSETP.LTU.AND": lambda a, b: not real(a) >= real(b),
}


def execute(program: list[tuple], lanes: list[Lane]) -> None:
    """Run top-level statements one after another, each in every living lane: an exchange is then two passes."""
    for statement in program:
        if statement[0] == "exchange":
            _, target, source, distance = statement
            shared = [0] * len(lanes)
            for k, lane in enumerate(lanes):
                if lane.alive:
                    shared[k] = lane.registers[source]
            for k, lane in enumerate(lanes):
                if lane.alive:
                    lane.registers[target] = shared[(k + distance) % len(lanes)]
            continue
        for lane in lanes:
            if lane.alive:
                try:
                    step(statement, lane)
                except Exit:
                    lane.alive = False


def step(statement: tuple, lane: Lane) -> None:
    kind, r = statement[0], lane.registers
    if kind == "op":
        _, name, target, *sources = statement
        a, b, c = (*(value(source, r) for source in sources), 0, 0)[:3]
        r[target] = OPERATIONS[name](a, b, c) & MASK
    elif kind == "exit":
        if holds(statement[1], r):
            raise Exit
    elif kind == "if":
        for inner in statement[2] if holds(statement[1], r) else statement[3]:
            step(inner, lane)
    elif kind == "guarded":
        if holds(statement[1], r):
            step(statement[2], lane)
    else:
        for _ in range(r[statement[1]] & 3):
            for inner in statement[2]:
                step(inner, lane)


def value(source: tuple[str, int], registers: list[int]) -> int:
    return registers[source[1]] if source[0] == "R" else source[1]


def holds(condition: tuple, registers: list[int]) -> bool:
    name, a, b = condition
    return COMPARES[name](value(a, registers), value(b, registers))


class Writer:
    """Turns a program into text, with or without reconvergence markers: style is "", "SSY" or "BSSY"."""

    def __init__(self, style: str) -> None:
        self.style, self.lines, self.labels = style, [], 0

    def block(self, statements: list[tuple], depth: int) -> None:
        for statement in statements:
            getattr(self, statement[0].replace("if", "branch").replace("exit", "leave"))(statement, depth)

    def emit(self, text: str) -> None:
        self.lines.append(text)

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def source(self, source: tuple[str, int]) -> str:
        return f"R{source[1]}" if source[0] == "R" else f"{source[1]:#x}"

    def op(self, statement: tuple, depth: int, guard: str = "") -> None:
        _, name, target, *sources = statement
        table = ", 0x6a" if name == "LOP3.LUT" else ""  # (a & b) ^ c
        self.emit(f"{guard} {name} R{target}, {', '.join(self.source(s) for s in sources)}{table}")

    def condition(self, condition: tuple, depth: int) -> None:
        name, a, b = condition
        self.emit(f"{name} P{depth}, PT, {self.source(a)}, {self.source(b)}, PT")

    def leave(self, statement: tuple, depth: int) -> None:
        self.condition(statement[1], depth)
        self.emit(f"@P{depth} EXIT")

    def guarded(self, statement: tuple, depth: int) -> None:
        self.condition(statement[1], depth)
        self.op(statement[2], depth, f"@P{depth}")

    def open(self, end: str, depth: int) -> None:
        if self.style:
            self.emit(f"SSY {end}" if self.style == "SSY" else f"BSSY B{depth}, {end}")

    def close(self, end: str, depth: int) -> None:
        self.emit(f"{end}:")
        if self.style == "BSSY":
            self.emit(f"BSYNC B{depth}")

    def branch(self, statement: tuple, depth: int) -> None:
        other, end = self.label(), self.label()
        self.open(end, depth)
        self.condition(statement[1], depth)
        self.emit(f"@!P{depth} BRA {other}")
        self.block(statement[2], depth + 1)
        self.emit("SYNC" if self.style == "SSY" else f"BRA {end}")
        self.emit(f"{other}:")
        self.block(statement[3], depth + 1)
        if self.style == "SSY":
            self.emit("SYNC")
        self.close(end, depth)

    def loop(self, statement: tuple, depth: int) -> None:
        top, out, end = self.label(), self.label(), self.label()
        counter = 20 + depth
        self.emit(f"LOP.AND R{counter}, R{statement[1]}, 0x3")
        self.open(end, depth)
        self.emit(f"{top}:")
        self.emit(f"ISETP.EQ.AND P{depth}, PT, R{counter}, RZ, PT")
        self.emit(f"@P{depth} BRA {out if self.style == 'SSY' else end}")
        self.block(statement[2], depth + 1)
        self.emit(f"IADD R{counter}, R{counter}, -1")
        self.emit(f"BRA {top}")
        if self.style == "SSY":
            self.emit(f"{out}:")
            self.emit("SYNC")
        self.close(end, depth)

    def exchange(self, statement: tuple, depth: int) -> None:
        _, target, source, distance = statement
        self.emit(f"STS [R15], R{source}")
        self.emit("BAR.SYNC 0x0")
        self.emit(f"LDS R{target}, [R{15 + distance}]")
        self.emit("BAR.SYNC 0x0")
        self.emit("STS [R15], RZ")
