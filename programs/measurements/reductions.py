"""Bulk reductions (UBLKRED, UTMAREDG), on a GPU and simulated: `python -m programs.measurements.reductions FILE`.

`gpu/reductions.cu results` writes the 1,024 words that each operation leaves of pairs of numbers: all pairs of twenty of interest by type,
then hashed words. In place of the words `h100/reductions.csv` has `zlib.crc32` of their 4,096 bytes, little-endian. `gpu/reductions.cu
times` writes how long reductions take (`h100/reduction_times.csv`).
"""

import sys
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

import isa
import sim
from isa.errors import UserError
from programs.measurements.tensor import Row, Scored, report
from programs.measurements.tiles import HERE, TYPES, words
from programs.measurements.warpgroups import simulated
from programs.published import ends_with_status, rows
from sim.launch.launch import Launch
from sim.launch.pointers import Pointer
from sim.launch.tensor_maps import MAP, encoded

CODE, BYTES, GIVEN, NEAR_ROOM = HERE / "reductions.sm_90.cubin", 4096, 5000, 128 << 10
ROW, SHARED = 128, 200 << 10  # bytes of a row of a tile, of shared memory in loops
CASE = ("what", "operation", "type", "number", "error")  # and words or crc32
TIMED = ("what", "name", "bytes", "count", "places", "blocks")
OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
OF_MAPS = (
    "u8",
    "u16",
    "u32",
    "s32",
    "u64",
    "s64",
    "f16",
    "f32",
    "f64",
    "bf16",
    "f32_ftz",
    "tf32",
    "tf32_ftz",
)  # the driver's types, in order
SIZES = dict(zip(OF_MAPS, (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4), strict=True)) | {"b32": 4, "b64": 8}
WHOLE = (
    *(0, 1, 2, 3, -1, -2, -3, 1 << 31, (1 << 31) - 1, (1 << 31) + 1, 1 << 32, (1 << 32) - 1),
    *(1 << 63, (1 << 63) - 1, 1 << 63 | 1, 7, 8, 0x55555555AAAAAAAA, 0xAAAAAAAA55555555, 1000),
)
DIGITS = {"f16": (16, 10), "bf16": (16, 7), "f64": (64, 52)}  # bits, those of the fraction; of the others 32 and 23


def specials(name: str) -> list[int]:
    """Return the bits of twenty numbers of a type: zeros, subnormals, one, halves of its last place, infinities, NaNs."""
    if name[0] not in "ft" and name != "bf16":
        return [value % (1 << 8 * SIZES[name]) for value in WHOLE]
    bits, fraction = DIGITS.get(name, (32, 23))
    sign, least, infinity = 1 << bits - 1, 1 << fraction, (1 << bits - 1) - (1 << fraction)
    one = (1 << bits - 2) - least
    half, quiet = one - (fraction + 1) * least, infinity | least >> 1
    signalling = {"f16": 0x7D01, "bf16": 0x7FA1, "f64": 0x7FF4 << 48 | 1}.get(name, 0x7FA00001)
    return [
        *(0, sign, 1, sign | 1, least - 1, least, sign | least, one, sign | one, one + 1, half, half + 1),
        *(infinity - 1, sign | infinity - 1, infinity, sign | infinity, quiet, sign | quiet | 1, signalling, 2),
    ]


def numbers(name: str, salt: int) -> tuple[np.ndarray, np.ndarray]:
    """Return uint32 [1024] twice: what is there, and what comes."""
    there, given = words(BYTES // 4, salt), words(BYTES // 4, salt + GIVEN)
    size = SIZES[name]
    first, count = np.array(specials(name), np.uint64), min(400, BYTES // size)
    for array, chosen in ((there, np.repeat(first, 20)), (given, np.tile(first, 20))):
        array.view(f"u{size}")[:count] = chosen[:count].astype(f"u{size}")
    return there, given


@cache
def kernel(name: str) -> isa.Program:
    """Return a kernel of `gpu/reductions.cu`."""
    return isa.load(CODE, name)


def launch_of(row: Row) -> tuple[Launch, np.ndarray, np.ndarray]:
    """Return the launch of a row, the array that it reduces into, and what comes."""
    what, operation, name = row["what"], row["operation"], row["type"]
    there, given = numbers(name, int(row["number"]))
    if what == "tile":
        arguments = _mapped(there, BYTES, name), given
        return Launch(kernel(f"tile_{operation}"), (1,), (32,), arguments, shared_dynamic=BYTES), there, given
    code = kernel(f"{what}_{operation}_{name}")
    if what == "bulk":
        return Launch(code, (1,), (32,), (there, given), shared_dynamic=BYTES), there, given
    sizes = (np.uint64(0), np.int32(BYTES), np.int32(1), np.int32(0))
    return Launch(code, (2,), (32,), (there, given, *sizes), shared_dynamic=NEAR_ROOM), there, given


def compared(path: Path) -> Iterator[str]:
    """Yield a line for each case of a GPU's file that is not the simulator's, and one for all. Raises UserError for no such table."""
    count = equal = refused = 0
    for row in rows(path, CASE):
        count += 1
        name = f"{row['what']} {row['operation']} {row['type']}"
        given, result, _ = launch_of(row)
        try:
            sim.execute(given)
        except UserError as error:
            says = f"refused ({error.message})"
            if row["error"] == "0":
                yield f"{name}: the GPU takes it, {says}"
            else:
                refused += 1
            continue
        if row["error"] != "0":
            yield f"{name}: the GPU ends with error {row['error']}"
            continue
        if "crc32" in row:
            equal += (same := zlib.crc32(result.tobytes()) == int(row["crc32"], 16))
            if not same:
                yield f"{name}: other words are left on the GPU"
            continue
        bits = f"u{SIZES[row['type']]}"
        chips = np.array([int(row["words"][k : k + 8], 16) for k in range(0, len(row["words"]), 8)], np.uint32).view(bits)
        there, came = (one.view(bits) for one in numbers(row["type"], int(row["number"])))
        wrong = np.flatnonzero(chips != result.view(bits))
        equal += not len(wrong)
        for k in wrong[:5]:
            left = f"leave {chips[k]:#x} on the GPU, {result.view(bits)[k]:#x} here; {len(wrong)} differ"
            yield f"{name}: {there[k]:#x} and {came[k]:#x} {left}"
    yield f"{equal + refused} of {count} cases as on the GPU: {equal} with the same bits, {refused} refused by both"


def timed(row: Row) -> Scored:
    """Return cycles until all are done, by one block or in the other's shared memory; of a flood the median of its blocks."""
    what, name = row["what"], row["name"]
    size, count, blocks, apart = int(row["bytes"]), int(row["count"]), int(row["blocks"]), row["places"] == "apart"
    took, pieces = np.zeros(max(blocks, 8) * 6, np.int32), count * blocks if apart else 1
    if what == "near":
        arrays = np.zeros(BYTES // 4, np.uint32), np.ones(BYTES // 4, np.uint32)
        sizes = (np.int32(size), np.int32(count), np.int32(size * apart))
        given = Launch(kernel(f"near_{name}"), (2,), (32,), (*arrays, took, *sizes), shared_dynamic=NEAR_ROOM)
    else:
        loop, of = name.rsplit("_", 1) if name.startswith("tile") else (name, "")
        array, step = np.zeros(size * pieces // 4, np.uint32), (size // ROW if of else size) * apart
        target = _mapped(array, size, of) if of else array
        pieces_at = (np.int32(size), np.int32(count), np.int32(step), np.int32(step * count))
        code = kernel(f"{'time' if what == 'alone' else what}_{loop}")
        given = Launch(code, (blocks,), (32,), (target, took, *pieces_at), shared_dynamic=SHARED)
    result = simulated(given)
    reads = result.clock_reads
    clocks = [reads[reads[:, 1] == block, 0] for block in range(given.blocks)]
    if what == "flood":
        cycles = int(np.sort([one[-1] - one[count // 2] for one in clocks])[blocks // 2])  # the clock is read for each piece
    else:  # of the second time
        cycles = int(clocks[-1][-1] - clocks[-1][-3 if what == "near" else -4])
    measured = row[{"alone": "t5", "flood": "t1", "near": "t7"}[what]]
    return Scored(" ".join(row[key] for key in TIMED), float(measured), cycles, row, result)


def _mapped(array: np.ndarray, size: int, name: str) -> np.ndarray:
    """Return a map of rows of 128 bytes, with boxes of `size` bytes."""
    width, number = ROW // SIZES[name], TYPES[OF_MAPS.index(name)]
    made = encoded([width, array.nbytes // ROW], [ROW], [width, size // ROW], [1, 1], number, "none", "zeros")
    found: np.ndarray = np.array((Pointer(array, 0), made[2:]), MAP)[()]
    return found


def times(path: Path, what: str) -> Iterator[Scored]:
    """Yield the rows of a GPU's file of times that are of one kind: alone, flood or near."""
    return (timed(row) for row in rows(path, (*TIMED, "t0")) if row["what"] == what and row["t0"].isdecimal())


def main() -> None:
    """Print what differs, and end with status 1 where something does; or the times."""
    if len(sys.argv) != 2:
        raise UserError("a file is needed: what gpu/reductions.cu wrote", hint="python -m programs.measurements.reductions FILE")
    path = Path(sys.argv[1])
    if {"words", "crc32"} & set(next(rows(path, ["what"]), ())):
        lines = list(compared(path))
        sys.stdout.write("\n".join(lines) + "\n")
        sys.exit(int(len(lines) > 1))
    else:
        report({what: times(path, what) for what in ("alone", "flood", "near")})


if __name__ == "__main__":
    ends_with_status(main)
