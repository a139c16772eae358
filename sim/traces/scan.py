"""Lines of a kernel file -> numbers: one pass over its bytes, without an object per line.

A line of an instruction (tracer version 3 to 5): `PC MASK n Rd... OPCODE n Rs... WIDTH [MODE ADDRESSES...] [IMMEDIATE]`; before version
3 four numbers stand ahead of it, with line information one. What stays the same from one execution to the next (all but mask, width and
addresses) is known by a 64-bit hash; where one is new, its line is named, and Python takes it apart.
"""

from typing import Any, NamedTuple

import numpy as np

from sim.compiled.kernel import inner, kernel
from sim.traces.trace import SCATTERED

LANES = 32
LISTED, STRIDED, DELTAS = range(3)  # MODE
DONE, FULL, ODD = range(3)  # the bytes are read; a table is full; the line at `at` is no instruction
SPACE, NEWLINE, HASH, MINUS, ZERO, NINE, EQUALS = (ord(c) for c in " \n#-09=")
LETTER_A, LETTER_X, FIRST_MARKER = ord("a"), ord("x"), ord("g")  # markers begin with a letter that is no digit
SMALL = 32  # a letter's bit
TOO_LARGE = 1 << 58  # a number times its base, and a digit more, still fit
BEYOND = 1 << 57  # no GPU has such an address: sums of 32 strides fit
OFFSET, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a

At = np.dtype(
    [
        ("at", "i8"),  # byte that is read next
        ("line", "i8"),  # its line in the file, from 0
        ("steps", "i8"),
        ("accesses", "i8"),
        ("rows", "i8"),
        ("markers", "i8"),
        ("news", "i8"),
        ("statics", "i8"),  # since the file's begin
        ("bad", "u1"),  # what was read last is no number
    ]
)
Access = np.dtype(
    [
        ("static", "i8"),
        ("start", "i8"),  # address of lane 0, or row of the scattered ones
        ("stride", "i8"),  # or SCATTERED
        ("first", "i8"),  # address of the lowest active lane
        ("low", "i8"),  # lowest and highest address of an active lane; -1 = none is active
        ("high", "i8"),
    ]
)
Marker = np.dtype(  # steps, accesses: before it; value: behind its =, -1 where that is no number
    [("at", "i8"), ("line", "i8"), ("steps", "i8"), ("accesses", "i8"), ("value", "i8")]
)
New = np.dtype([("at", "i8"), ("line", "i8")])


class Tables(NamedTuple):
    """What a call of `scan` fills; the caller takes it and sets the counts back. Arrays of records are np.recarray."""

    where: Any  # At [1]
    steps: np.ndarray  # int64 [n]: static << 32 | mask
    accesses: Any  # Access [n]
    rows: np.ndarray  # int64 [r, 32] addresses, 0 where a lane is not active
    markers: Any  # Marker [m] lines that are no instruction
    news: Any  # New [k] lines of instructions that were not seen before, which are numbered in this order
    keys: np.ndarray  # uint64 [2**b] hashes, 0 = free
    numbers: np.ndarray  # int64 [2**b]


def tables(steps: int = 1 << 16, rows: int = 1 << 13, markers: int = 1 << 15, statics: int = 1 << 14) -> Tables:
    """Return empty tables with so much room."""
    where, accesses, lines, news = (
        np.zeros(count, kind).view(np.recarray) for count, kind in ((1, At), (steps, Access), (markers, Marker), (statics, New))
    )
    keys, numbers = np.zeros(2 * statics, np.uint64), np.zeros(2 * statics, np.int64)
    return Tables(where, np.zeros(steps, np.int64), accesses, np.zeros((rows, LANES), np.int64), lines, news, keys, numbers)


@kernel
def scan(text: np.ndarray, end: int, skipped: int, tables: Tables) -> int:
    """Read whole lines of `text` (uint8) up to `end`; return DONE, FULL or ODD. skipped: words ahead of each instruction."""
    where = tables.where[0]
    while True:
        start = blank(text, np.int64(where.at), end)
        if start >= end:
            where.at = end
            return DONE
        c = text[start]
        if c == NEWLINE:
            where.at, where.line = start + 1, where.line + 1
            continue
        if is_full(tables):
            return FULL
        if is_marker(text, start, end):
            marker = tables.markers[where.markers]
            marker.at, marker.line, marker.steps, marker.accesses = start, where.line, where.steps, where.accesses
            marker.value = value_of(text, start, end, where)
            where.markers += 1
        elif not step(text, start, end, skipped, tables):
            return ODD
        at = start
        while at < end and text[at] != NEWLINE:
            at += 1
        where.at = at


@inner
def is_marker(text: np.ndarray, start: int, end: int) -> bool:
    c = text[start]  # no hexadecimal number, by its first or, as in `cluster`, its second letter
    return c == HASH or c >= FIRST_MARKER or (c >= LETTER_A and start + 1 < end and text[start + 1] >= FIRST_MARKER)


@inner
def is_full(tables: Tables) -> bool:
    where = tables.where[0]
    full = where.steps == tables.steps.size or where.rows == tables.rows.shape[0] or where.markers == tables.markers.size
    return full or where.news == tables.news.size or 2 * where.statics >= tables.keys.size


@inner
def value_of(text: np.ndarray, at: int, end: int, where: np.record) -> int:
    """Return the number that stands last in a line of the form `name = number`, else -1."""
    while at < end and text[at] != EQUALS and text[at] != NEWLINE:
        at += 1
    where.bad = 0
    value, at = number(text, blank(text, at + 1, end), end, 10, where)
    at = blank(text, at, end)
    return value if not where.bad and value >= 0 and (at >= end or text[at] == NEWLINE) else np.int64(-1)


@inner
def step(text: np.ndarray, at: int, end: int, skipped: int, tables: Tables) -> bool:
    """Read the instruction at `at`; return whether it is one."""
    where = tables.where[0]
    start, where.bad = at, 0
    for _ in range(skipped):
        at = word_end(text, blank(text, at, end), end)
    pc, at = number(text, blank(text, at, end), end, 16, where)
    mask, at = number(text, blank(text, at, end), end, 16, where)
    key = mixed(OFFSET, np.uint64(pc))
    for part in range(2):  # destinations and opcode, sources
        count, at = number(text, blank(text, at, end), end, 10, where)
        if count < 0:
            return False
        key, words = mixed(key, np.uint64(count)), count + (1 - part)
        while words > 0 and at < end and text[at] != NEWLINE:
            key, at = hashed(text, blank(text, at, end), end, key)
            words -= 1
        if words:
            return False
    width, at = number(text, blank(text, at, end), end, 10, where)
    if where.bad or mask < 0 or mask >> LANES != 0 or width < 0:
        return False
    key = mixed(key, np.uint64(width > 0))
    if width:
        access = tables.accesses[where.accesses]
        at = addresses(text, at, end, mask, access, tables)
        if where.bad:
            return False
    key, at = hashed(text, blank(text, at, end), end, key)  # the immediate
    static = static_of(key, start, tables)
    if width:
        tables.accesses[where.accesses].static = static
        where.accesses += 1
    tables.steps[where.steps] = static << LANES | mask
    where.steps += 1
    return True


@inner
def addresses(text: np.ndarray, at: int, end: int, mask: int, access: np.record, tables: Tables) -> int:
    """Read mode and addresses of an access; return the byte behind them. They are kept as base and stride where they can be."""
    where = tables.where[0]
    mode, at = number(text, blank(text, at, end), end, 10, where)
    first_lane, last_lane, lanes = np.int64(-1), np.int64(0), np.int64(0)
    for lane in range(LANES):
        if mask >> lane & 1:
            first_lane, last_lane, lanes = np.int64(lane) if first_lane < 0 else first_lane, np.int64(lane), lanes + 1
    if mode == STRIDED:
        first, at = number(text, blank(text, at, end), end, 16, where)
        stride, at = number(text, blank(text, at, end), end, 10, where)
        if abs(stride) >= BEYOND:
            where.bad = 1
        span = (last_lane - first_lane) * stride
        access.start, access.stride, access.first = first - first_lane * stride, stride, first
        access.low, access.high = first + min(span, 0), first + max(span, 0)
    elif mode in (LISTED, DELTAS):
        at = spread(text, at, end, mask, mode, access, tables)
    else:
        where.bad = 1
    if lanes == 0:
        access.start, access.stride, access.first, access.low, access.high = 0, 0, -1, -1, -1
    elif access.low < 0 or access.high >= BEYOND:
        where.bad = 1
    return at


@inner
def spread(text: np.ndarray, at: int, end: int, mask: int, mode: int, access: np.record, tables: Tables) -> int:
    """Read one address per active lane into the next row of addresses, which is kept if they are not evenly spaced; return as above."""
    where = tables.where[0]
    row = tables.rows[where.rows]
    before, before_lane, lanes = np.int64(0), np.int64(0), np.int64(0)
    stride, is_even = np.int64(0), True
    for lane in range(LANES):
        row[lane] = 0
        if not mask >> lane & 1:
            continue
        hexadecimal = mode == LISTED or lanes == 0
        address, at = number(text, blank(text, at, end), end, 16 if hexadecimal else 10, where)
        if not hexadecimal:
            address += before
        if address < 0 or address >= BEYOND:
            where.bad = 1
        row[lane] = address
        if lanes == 0:
            access.first, access.low, access.high = address, address, address
        elif lanes == 1:
            stride = (address - before) // (lane - before_lane)
            is_even = stride * (lane - before_lane) == address - before
        else:
            is_even = is_even and address == before + stride * (lane - before_lane)
        access.low, access.high = min(access.low, address), max(access.high, address)
        before, before_lane, lanes = address, np.int64(lane), lanes + 1
    if mode == DELTAS and lanes == 0:
        at = word_end(text, blank(text, at, end), end)
    access.stride, access.start = stride, before - stride * before_lane
    if not is_even:
        access.stride, access.start = SCATTERED, where.rows
        where.rows += 1
    return at


@inner
def static_of(key: int, start: int, tables: Tables) -> int:
    """Return the number of an instruction by its hash; a new one is noted."""
    where = tables.where[0]
    key |= np.uint64(1)  # 0 is for free places
    place = np.int64(key >> np.uint64(20)) & (tables.keys.size - 1)
    while tables.keys[place] != np.uint64(0):
        if tables.keys[place] == key:
            return np.int64(tables.numbers[place])
        place = (place + 1) & (tables.keys.size - 1)
    tables.keys[place], tables.numbers[place] = key, where.statics
    new = tables.news[where.news]
    new.at, new.line = start, where.line
    where.news += 1
    where.statics += 1
    return where.statics - 1


@inner
def number(text: np.ndarray, at: int, end: int, base: int, where: np.record) -> tuple[int, int]:
    """Return a number and the byte behind it; what is none is noted in `where`. Only decimal ones may be negative."""
    negative = base == 10 and at < end and text[at] == MINUS
    at += negative
    if base == 16 and at + 1 < end and text[at] == ZERO and text[at + 1] | SMALL == LETTER_X:
        at += 2
    value, start = np.int64(0), at
    while at < end and text[at] > SPACE:
        c = text[at]
        digit = np.int64(c) - ZERO
        if base == 16 and c > NINE:
            digit = np.int64(c | SMALL) - LETTER_A + 10
            digit = digit if digit >= 10 else np.int64(-1)
        if digit < 0 or digit >= base or value >= TOO_LARGE:
            where.bad = 1
            return np.int64(0), at
        value = value * base + digit
        at += 1
    if at == start:
        where.bad = 1
    return -value if negative else value, at


@inner
def hashed(text: np.ndarray, at: int, end: int, key: int) -> tuple[int, int]:
    """Return the hash with a word more, and the byte behind the word."""
    while at < end and text[at] > SPACE:
        key = mixed(key, np.uint64(text[at]))
        at += 1
    return mixed(key, np.uint64(SPACE)), at


@inner
def mixed(key: int, value: int) -> int:
    return (key ^ value) * PRIME


@inner
def blank(text: np.ndarray, at: int, end: int) -> int:
    """Return the first byte from `at` on that is no blank of the line."""
    while at < end and text[at] <= SPACE and text[at] != NEWLINE:
        at += 1
    return at


@inner
def word_end(text: np.ndarray, at: int, end: int) -> int:
    """Return the byte behind a word."""
    while at < end and text[at] > SPACE:
        at += 1
    return at
