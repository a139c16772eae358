"""What `printf` writes: the conversions of C on the values of CUDA's, whose `long`, `size_t` and pointers have 64 bits."""

import math
import re
import struct
from collections.abc import Callable

CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?(?P<size>hh|h|ll|l|j|z|t)?(?P<type>[diouxXcspeEfFgGaA%])"
)
WIDE = (b"l", b"ll", b"j", b"z", b"t")
NARROW = {b"h": 16, b"hh": 8}
BYTES, LONG = 4, 8  # of an argument; bytes of the others
MOST = 1 << 20  # characters of a field
MANTISSA = 52  # bits of a double behind the point

Take = Callable[[int], bytes]
Text = Callable[[int], bytes]


def formatted(template: bytes, take: Take, text: Text) -> tuple[bytes, int]:
    """Return what printf writes, and how many arguments it took.

    take: returns that many bytes of the next argument; text: returns the string at an address. What is no conversion stays as it is.
    """
    count = 0

    def argument(size: int) -> bytes:
        nonlocal count
        count += 1
        return take(size)

    def converted(match: re.Match[bytes]) -> bytes:
        kind = match["type"]
        if kind == b"%":
            return b"%"
        flags, width, precision = match["flags"], _number(match["width"], argument), None
        if match["precision"] is not None:
            precision = _number(match["precision"], argument)
        if width < 0:
            flags, width = flags + b"-", -width
        if precision is not None and precision < 0:
            precision = None
        if kind == b"s":
            address = int.from_bytes(argument(LONG), "little")
            return _padded((text(address) if address else b"(null)")[:precision], flags, width)
        if kind == b"c":
            return _padded(argument(BYTES)[:1], flags, width)
        if kind == b"p":
            address = int.from_bytes(argument(LONG), "little")
            return _padded(b"%#x" % address if address else b"(nil)", flags, width)
        if kind in b"diouxX":
            size = LONG if match["size"] in WIDE else BYTES
            return _integer(argument(size), kind, NARROW.get(match["size"], 8 * size), flags, width, precision)
        return _floating(struct.unpack("<d", argument(LONG))[0], kind.decode(), flags, width, precision)

    return CONVERSION.sub(converted, template), count


def _number(digits: bytes, argument: Take) -> int:
    """Return a width or a precision, within what is kept of all output."""
    number = int.from_bytes(argument(BYTES), "little", signed=True) if digits == b"*" else int(digits[:9] or 0)
    return max(-MOST, min(number, MOST))


def _integer(data: bytes, kind: bytes, bits: int, flags: bytes, width: int, precision: int | None) -> bytes:
    value = int.from_bytes(data, "little") & (1 << bits) - 1
    if kind in b"di" and value >> (bits - 1):
        value -= 1 << bits
    digits = {b"o": b"%o", b"x": b"%x", b"X": b"%X"}.get(kind, b"%d") % abs(value)
    digits = b"" if precision == 0 and value == 0 else digits.rjust(precision or 0, b"0")
    prefix = _sign(value < 0, flags) if kind in b"di" else b""
    if b"#" in flags and kind == b"o" and not digits.startswith(b"0"):
        digits = b"0" + digits
    if b"#" in flags and kind in b"xX" and value:
        prefix = b"0" + kind
    return _padded(digits, flags if precision is None else flags.replace(b"0", b""), width, prefix)


def _floating(value: float, kind: str, flags: bytes, width: int, precision: int | None) -> bytes:
    prefix = _sign(math.copysign(1, value) < 0, flags)
    value = abs(value)
    if not math.isfinite(value):
        word = b"nan" if math.isnan(value) else b"inf"
        return _padded(word.upper() if kind.isupper() else word, flags.replace(b"0", b""), width, prefix)
    if kind in "aA":
        digits = _hexadecimal(value, precision, b"#" in flags)
        prefix, digits = (prefix + b"0X", digits.upper()) if kind == "A" else (prefix + b"0x", digits)
        return _padded(digits, flags, width, prefix)
    alternative = "#" if b"#" in flags else ""
    return _padded((f"%{alternative}.{6 if precision is None else precision}{kind}" % value).encode(), flags, width, prefix)


def _hexadecimal(value: float, precision: int | None, point: bool) -> bytes:
    """Return a double as `1.8p+1`, rounded to even."""
    exponent = max(math.frexp(value)[1] - 1, -1022) if value else 0
    bits = int(math.ldexp(value, MANTISSA - exponent)) if value else 0
    digits = MANTISSA // 4
    if precision is not None and precision < digits:
        dropped = 4 * (digits - precision)
        rest, bits = bits & (1 << dropped) - 1, bits >> dropped
        bits += rest > 1 << (dropped - 1) or (rest == 1 << (dropped - 1) and bits & 1)
        digits = precision
    whole, behind = bits >> 4 * digits, f"{bits & (1 << 4 * digits) - 1:0{digits}x}" if digits else ""
    behind = behind.rstrip("0") if precision is None else behind.ljust(precision, "0")
    return f"{whole:x}{'.' if behind or point else ''}{behind}p{exponent:+d}".encode()


def _sign(negative: bool, flags: bytes) -> bytes:
    return b"-" if negative else b"+" if b"+" in flags else b" " if b" " in flags else b""


def _padded(digits: bytes, flags: bytes, width: int, prefix: bytes = b"") -> bytes:
    """Return what was converted in a field: to the left, with zeros behind the sign, or to the right."""
    if b"-" in flags:
        return (prefix + digits).ljust(width)
    if b"0" in flags and prefix + digits:
        return prefix + digits.rjust(width - len(prefix), b"0")
    return (prefix + digits).rjust(width)
