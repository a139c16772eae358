"""Programs that copy a tile into shared memory and back, in mini-SASS, and listings of what compilers make of maps by value."""

from typing import Any

import numpy as np

import isa
import sim
from sim.launch.launch import Launch
from sim.launch.tensor_maps import MAP
from tests.unit.mbarrier_programs import init, wait


def there_and_back(source: Any, target: Any, at: tuple[int, ...], size: int, place: int = 1024) -> Launch:
    """Return a launch of one warp that loads `size` bytes of a tile at coordinates `at`, the fastest first, and stores them at the start.

    source, target: tensor maps of as many dimensions, which lie in memory.
    """
    count = len(at)
    move = "\n".join(f"MOV R{10 + d}, {value}\nR2UR UR{10 + d}, R{10 + d}" for d, value in enumerate(at))
    zeros = "\n".join(f"R2UR UR{9 + d}, RZ" for d in range(count))
    text = f""".kernel tiles
.param ptr from
.param ptr to
.shared 16384
S2R R0, SR_TID.X
ISETP.NE P0, PT, R0, RZ, PT
{init(0, 1)}MOV R4, c[0x0][from]
MOV R6, c[0x0][to]
MOV R8, {place}
MOV R16, {size}
R2UR UR4, R4
R2UR UR5, RZ
R2UR UR6, R6
R2UR UR7, RZ
R2UR UR8, R8
R2UR UR9, RZ
{move}
@P0 BRA `(read)
SYNCS.ARRIVE.TRANS64 RZ, [RZ], R16
UTMALDG.{count}D [UR8], [UR4]
read:
{wait("again", "RZ", "RZ")}{zeros}
@!P0 UTMASTG.{count}D [UR8], [UR6]
UTMACMDFLUSH
DEPBAR.LE SB0, 0x0
EXIT
"""
    maps = (np.array([one], MAP) for one in (source, target))
    return Launch(isa.parse(text), (1,), (32,), tuple(maps))


def two_rows_of_blocks(steps: tuple[int, int] = (1, 1)) -> tuple[Launch, np.ndarray, np.ndarray]:
    """Return a launch that moves a tile of 24 x 16 float32 from row 3, column 8 of an array, the array, and where the tile comes to."""
    data, out = np.arange(40 * 64, dtype=np.float32).reshape(40, 64), np.full((24, 16), -1, np.float32)
    rows = -(-24 // steps[0])
    source = sim.tensor_map(data, (24, 16), "64B", steps=steps)
    target = sim.tensor_map(out[:rows], (rows, 16), "64B")
    return there_and_back(source, target, (8, 3), rows * 64), data, out


SETMAXREG = """.kernel pass
.registers {begun}
.param ptr out
S2R R0, SR_TID.X
ISETP.GE P0, PT, R0, 128, PT
@P0 BRA `(takes)
USETMAXREG.DEALLOC.CTAPOOL {left}
BRA `(store)
takes:
USETMAXREG.TRY_ALLOC.CTAPOOL UP0, {taken}
@!UP0 BRA `(takes)
MOV R{high}, R0
store:
SHL R1, R0, 2
IADD R2, R1, c[0x0][out]
STG [R2], R0
EXIT
"""


def passing(begun: int = 64, left: int = 24, taken: int = 104, high: int = 100) -> Launch:
    """Return a launch of eight warps: four give registers back, four take them and use R{high}."""
    text = SETMAXREG.format(begun=begun, left=left, taken=taken, high=high)
    return Launch(isa.parse(text), (1,), (256,), (np.zeros(256, np.uint32),))


def reduced_tile(operation: str, target: Any, tile: np.ndarray, at: tuple[int, ...]) -> Launch:
    """Return a launch of one warp that reduces a tile, which an array holds, into a tensor at coordinates `at`, the fastest first."""
    move = "\n".join(f"MOV R{10 + d}, {value}\nR2UR UR{9 + d}, R{10 + d}" for d, value in enumerate(at))
    text = f""".kernel reduced
.param ptr tile
.param ptr to
.shared 40960
S2R R0, SR_TID.X
ISETP.NE P0, PT, R0, RZ, PT
SHL R1, R0, 2
IADD R2, R1, c[0x0][tile]
next:
LDG R3, [R2]
STS [R1+0x400], R3
IADD R1, R1, 128
IADD R2, R2, 128
ISETP.LT P1, PT, R1, {tile.nbytes}, PT
@P1 BRA `(next)
MOV R6, c[0x0][to]
MOV R8, 0x400
R2UR UR6, R6
R2UR UR7, RZ
R2UR UR8, R8
{move}
@!P0 UTMAREDG.{len(at)}D.{operation} [UR8], [UR6]
UTMACMDFLUSH
DEPBAR.LE SB0, 0x0
EXIT
"""
    words = np.zeros(-(-tile.nbytes // 128) * 32, np.uint32)
    words.view(np.uint8)[: tile.nbytes] = tile.reshape(-1).view(np.uint8)
    return Launch(isa.parse(text), (1,), (32,), (words, np.array([target], MAP)))
