"""UTMALDG, UTMASTG: tiles of up to five dimensions, which a tensor map describes (`sim.launch.tensor_maps`), to shared memory or back.

Rows of the fastest dimension follow each other in shared memory, of a swizzled tile at least as far apart as its pattern is wide. What
lies outside the tensor is filled by loads, element by element, and left out by stores, 16 bytes by 16: the end of a row is written to the
next multiple of 16 bytes. TF32 is rounded by loads. So an H100 does, bit for bit (`programs/measurements/h100/tiles.csv`), and it refuses
coordinates of the fastest dimension that are no multiple of 16 bytes, and of stores negative ones. UTMAREDG reduces what UTMASTG stores.
"""

import numpy as np

from isa.vocabulary import Space
from sim.compiled.kernel import inner, outlined
from sim.functional.marks import LOADED, STORED, mark_bytes
from sim.functional.memory import find
from sim.functional.operands import row_of
from sim.functional.reductions import ELEMENT_OF_MAP, IS_OF_TILES, reduce_words
from sim.functional.state import (
    FIRST,
    FULL,
    PARAMETER_WINDOW,
    SECOND,
    WINDOW_BITS,
    Code,
    Fault,
    Machine,
    Memory,
    Progress,
    Report,
    TileFault,
)
from sim.functional.translation import translate
from sim.functional.watch import Seen, touch
from sim.launch import tensor_maps as maps
from sim.traces.trace import APART, BYTES, COUNTS, DIMENSIONS, SOURCE

STORES, ALIGNMENT, UNIT = np.int64(1), np.int64(128), np.int64(maps.UNIT)
# Columns of the tile that is being moved, five for the dimensions each.
SIZES, STRIDES, ROWS, STEPS, STARTS, REDUCTION, ELEMENT, WORDS = 0, 5, 10, 15, 20, 25, 26, 32
FILL_WORD, NOT_A_NUMBER = np.int64(0x7FF77FF7), np.int64(0x7FFFE000)  # of what lies outside, and of a TF32
EXPONENT, MANTISSA, CUT = np.int64(0x7F800000), np.int64(0x7FFFFF), np.int64(13)  # of a float32; bits that TF32 lacks
BYTES_OF_TYPE = np.array([1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2], np.int64)  # by number
SIGN = np.int64(1 << 31)


@outlined
def read_map(i: int, w: int, k: int, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Take the map of a tile apart, and the coordinates of lane k; return the Fault, -1 for none."""
    tile, near = machine.bits[0], row_of(code.operand[i, FIRST], w, code, machine)
    problem = fetch_map(row_of(code.operand[i, SECOND], w, code, machine), k, machine, memory, progress)
    if problem >= 0:
        return problem
    stores, dimensions, control = code.function[i] & STORES, code.function[i] >> 1, tile[WORDS + 2]
    number = control >> maps.TYPE & 15
    if control >> maps.RANK & 7 != dimensions - 1 or number >= BYTES_OF_TYPE.size:
        return wrong(TileFault.NO_MAP if number >= BYTES_OF_TYPE.size else TileFault.RANK, control >> maps.RANK & 7, progress)
    if control >> maps.INTERLEAVE & 3:
        return wrong(TileFault.INTERLEAVE, np.int64(0), progress)
    tile[REDUCTION], tile[ELEMENT] = code.combine[i], ELEMENT_OF_MAP[number]
    if not IS_OF_TILES[tile[REDUCTION], number]:
        return wrong(TileFault.REDUCTION, control, progress)
    for d in range(5):
        there = d < dimensions
        tile[SIZES + d] = tile[WORDS + maps.SIZE + d] + 1
        tile[STRIDES + d] = BYTES_OF_TYPE[number]
        if d:
            high = tile[WORDS + maps.STRIDE_HIGH] >> 4 * (d - 1) & 15
            tile[STRIDES + d] = (high << 32 | tile[WORDS + maps.STRIDE + d - 1]) * UNIT
        tile[STEPS + d] = (tile[WORDS + maps.STEP] >> 3 * d & 7) + 1 if d else 1
        box = tile[WORDS + maps.STEP] >> maps.BOX_FIRST if d == 0 else tile[WORDS + maps.BOX] >> 8 * (d - 1) & 0xFF
        tile[ROWS + d] = (box + tile[STEPS + d]) // tile[STEPS + d] if there else 1
        tile[STARTS + d] = (np.int64(machine.rows[near + 2 - stores + d, k]) ^ SIGN) - SIGN if there else 0
        if stores and tile[STARTS + d] < 0:
            return wrong(TileFault.NEGATIVE, tile[STARTS + d], progress)
    if tile[STARTS] * tile[STRIDES] % UNIT:
        return wrong(TileFault.COORDINATE, tile[STARTS] * tile[STRIDES], progress)
    return np.int64(-1)


@inner
def wrong(problem: int, value: int, progress: Progress) -> int:
    """Report what is wrong with a tile."""
    progress.report[Report.EXPECTED], progress.report[Report.ADDRESS] = problem, value
    return np.int64(Fault.TILE)


@outlined
def fetch_map(row: int, k: int, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Copy the words of the map whose address these two registers of lane k hold; return the Fault, -1 for none."""
    tile = machine.bits[0]
    machine.target[0] = np.int64(machine.rows[row, k]) | np.int64(machine.rows[row + 1, k]) << 32
    address = machine.target[0]
    if address & (maps.ALIGNMENT - 1):
        return wrong(TileFault.MAP_ADDRESS, address, progress)
    if address >> WINDOW_BITS == PARAMETER_WINDOW:
        if (address & FULL) + 4 * maps.WORDS > memory.bank_bytes[0]:
            return wrong(TileFault.NO_MAP, address, progress)
        for n in range(maps.WORDS):
            tile[WORDS + n] = memory.constants[memory.bank_start[0] + ((address & FULL) >> 2) + n]
    else:
        if memory.seen.size:
            translate(np.int64(1), machine.target, memory.seen, memory.start, memory.end, memory.latest)
        address = machine.target[0]
        progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = address, Space.GLOBAL
        if find(Space.GLOBAL, address, address + 4 * maps.WORDS, memory) < 0:
            return np.int64(Fault.OUT_OF_RANGE)
        mark_bytes(address, np.int64(4 * maps.WORDS), LOADED, memory)
        for n in range(maps.WORDS):
            tile[WORDS + n] = memory.words[((address - memory.base) >> 2) + n]
    machine.target[0] = tile[WORDS] | tile[WORDS + 1] << 32
    if memory.seen.size:
        translate(np.int64(1), machine.target, memory.seen, memory.start, memory.end, memory.latest)
    return np.int64(-1)


@outlined
def move_tile(inside: int, stores: int, words: np.ndarray, seen: Seen, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Move the tile that has been read, to or from `inside` in shared memory, whose words are given; return the Fault, -1 for none.

    machine.target[0] is where the tensor lies; the trace's row is written there.
    """
    tile, base = machine.bits[0], machine.target[0]
    width, span = tile[ROWS] * tile[STRIDES], UNIT << (tile[WORDS + 2] >> maps.SWIZZLE & 3)
    pitch = width if span == UNIT else max(width, span)
    rows = tile[ROWS + 1] * tile[ROWS + 2] * tile[ROWS + 3] * tile[ROWS + 4]
    if inside % ALIGNMENT:
        return wrong(TileFault.SHARED_ADDRESS, inside, progress)
    progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = inside, Space.SHARED
    if find(Space.SHARED, inside, inside + (rows - 1) * pitch + width, memory) < 0:
        return np.int64(Fault.OUT_OF_RANGE)
    start, limit = tile[STARTS] * tile[STRIDES], tile[SIZES] * tile[STRIDES]
    limit = (limit + UNIT - 1) // UNIT * UNIT if stores else limit
    low, high = max(start, np.int64(0)), min(start + width, limit)
    for row in range(rows):
        address = row_address(np.int64(row), base, tile)
        if address >= 0 and high > low:
            array = find(Space.GLOBAL, address + low, address + high, memory)
            progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = address + low, Space.GLOBAL
            if array < 0:
                return np.int64(Fault.OUT_OF_RANGE)
            if stores:
                memory.written[array] = memory.writable[array]
                if not memory.writable[array]:
                    return np.int64(Fault.READ_ONLY)
            mark_bytes(address + low, high - low, STORED if stores else LOADED, memory)
        for piece in range(width // UNIT):
            place = inside + row * pitch + piece * UNIT
            place ^= (place // ALIGNMENT & (span // UNIT - 1)) * UNIT
            if stores and address >= 0 and start + piece * UNIT < limit:
                store_piece((address + start + piece * UNIT - memory.base) >> 2, place >> 2, tile, words, memory)
            elif not stores:
                load_piece(place, address, start + piece * UNIT, limit, tile, words, memory)
            if memory.watch.asked[0]:
                for byte in range(UNIT):
                    touch(place + byte, np.int64(-1), seen, machine, memory.watch)
    clip(base, low, high, machine)
    return np.int64(-1)


@inner
def bytes_of_tile(machine: Machine) -> int:
    """Return the bytes that a tile completes at its barrier: all of its box, and no gaps."""
    tile = machine.bits[0]
    return tile[ROWS] * tile[ROWS + 1] * tile[ROWS + 2] * tile[ROWS + 3] * tile[ROWS + 4] * tile[STRIDES]


@inner
def row_address(row: int, base: int, tile: np.ndarray) -> int:
    """Return where a row of the tile begins in global memory, its fastest coordinate 0; -1 outside the tensor."""
    for d in range(1, 5):
        coordinate = tile[STARTS + d] + row % tile[ROWS + d] * tile[STEPS + d]
        if coordinate < 0 or coordinate >= tile[SIZES + d]:
            return np.int64(-1)
        base += coordinate * tile[STRIDES + d]
        row //= tile[ROWS + d]
    return base


@inner
def store_piece(at: int, place: int, tile: np.ndarray, words: np.ndarray, memory: Memory) -> None:
    """Store or reduce 16 bytes of a row; at, place: the first words."""
    if tile[REDUCTION]:
        reduce_words(at, memory.words, place, words, UNIT >> 2, tile[REDUCTION], tile[ELEMENT])
        return
    for word in range(UNIT >> 2):
        memory.words[at + word] = words[place + word]


@inner
def load_piece(place: int, address: int, start: int, limit: int, tile: np.ndarray, words: np.ndarray, memory: Memory) -> None:
    """Load 16 bytes of a row, `start` from its beginning; what lies outside is filled."""
    fill = FILL_WORD if tile[WORDS + 2] >> maps.FILL & 1 else np.int64(0)
    for word in range(4):
        at, value = start + 4 * word, fill
        there = min(limit - at, np.int64(4)) if address >= 0 and at >= 0 else np.int64(0)
        if there > 0:
            value = np.int64(memory.words[(address + at - memory.base) >> 2])
            if there < 4:
                taken = (np.int64(1) << 8 * there) - 1
                value = value & taken | fill & ~taken
            elif tile[WORDS + 2] >> maps.ROUND & 1:
                value = rounded(value)
        words[(place >> 2) + word] = np.uint32(value)


@inner
def rounded(value: int) -> int:
    """Return a float32 as TF32: to nearest, ties to even; a NaN is one."""
    if value & EXPONENT == EXPONENT:
        return NOT_A_NUMBER if value & MANTISSA else value
    return (value + (np.int64(1) << (CUT - 1)) - 1 + (value >> CUT & 1)) >> CUT << CUT


@inner
def clip(base: int, low: int, high: int, machine: Machine) -> None:
    """Write what of the tile lies inside the tensor as the row of the trace (`sim.traces.trace`)."""
    tile, target, source = machine.bits[0], machine.target, base + low
    target[BYTES] = max(high - low, np.int64(0))
    for d in range(1, DIMENSIONS + 1):
        start, step, size = tile[STARTS + d], tile[STEPS + d], tile[SIZES + d]
        first = (-start + step - 1) // step if start < 0 else np.int64(0)
        last = min(tile[ROWS + d] - 1, (size - 1 - start) // step)
        target[COUNTS + d - 1] = max(last - first + 1, np.int64(0))
        target[APART + d - 1] = step * tile[STRIDES + d] if last > first else 0
        source += (start + first * step) * tile[STRIDES + d]
        if last < first:
            target[BYTES] = 0
    target[SOURCE] = source if target[BYTES] else 0
