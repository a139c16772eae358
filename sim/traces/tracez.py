"""`.tracez`, the packed kernel files of Accel-Sim 2.0 -> the text that they hold, block by block.

A file: the head of a `.traceg`, ended by a zero byte; bytes of a dictionary, instructions per piece (both u32); the dictionary of zstd; for
each warp its instructions and pieces (u32), each piece its bytes (u32) and a frame of zstd, which holds lines of a `.traceg`; an index;
the place of the index (u64). The index: blocks (u32); for each its place, its cluster's, its own in the cluster (3 u32 each), its rank
there, its warps; for each of these instructions, pieces (u32), place (u64), instructions of each piece (u32). The lowest byte comes first.
Source: `tracez_format.h` and `traceDsm.cpp` of github.com/accel-sim/accel-sim-framework (commits e1c2b67 and 0cee02c).
"""

import importlib.util
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from isa.errors import UserError

SUFFIX = ".tracez"
INSTALL = "pip install 'simtlab[traces]'"
MOST_PIECE = 1 << 28  # bytes of text; Accel-Sim packs 2,048 instructions at a time
TOGETHER = 1 << 20  # bytes of text that are handed out at once
AGAIN = "the trace is cut or damaged: pack the kernel again"


class Warp(NamedTuple):
    """Where a warp's pieces lie."""

    instructions: int
    pieces: int
    offset: int


class Block(NamedTuple):
    """A block of the index. rank: in its cluster."""

    place: tuple[int, int, int]
    rank: int
    warps: list[Warp]


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the text, whole lines, its head first. Raises OSError, and UserError for a file that is damaged or no such file."""
    if importlib.util.find_spec("zstandard") is None:
        raise UserError("reading .tracez needs zstandard, which is not installed", path=str(path), hint=INSTALL)
    import zstandard

    data = path.read_bytes()
    try:
        yield from _Packed(data, zstandard).text()
    except (struct.error, zstandard.ZstdError, ValueError) as error:
        raise UserError(f"not a .tracez file: {error}", path=str(path), hint=AGAIN) from None


class _Packed:
    """A file's bytes and what unpacks them."""

    def __init__(self, data: bytes, zstandard: Any) -> None:
        self.data, self.zstandard = data, zstandard
        end = data.find(b"\0")
        if end < 0:
            raise ValueError("it has no head")
        self.head = data[:end]
        size, _ = struct.unpack_from("<2I", data, end + 1)
        self.begin = end + 9 + size
        (self.index,) = struct.unpack_from("<Q", data, max(len(data) - 8, 0))
        if not self.begin <= self.index <= len(data) - 12:
            raise ValueError("its index lies outside the file")
        dictionary = zstandard.ZstdCompressionDict(data[self.begin - size : self.begin]) if size else None
        self.unpacker = zstandard.ZstdDecompressor(dict_data=dictionary)

    def text(self) -> Iterator[bytes]:
        yield self.head.rstrip(b"\n") + b"\n"
        parts: list[bytes] = []
        size = 0
        for block in self.blocks():
            place = ",".join(map(str, block.place))
            parts.append(f"\n#BEGIN_TB\n\nthread block = {place}\ncluster rank = {block.rank}\n".encode())
            for number, warp in enumerate(block.warps):
                parts.append(f"\nwarp = {number}\ninsts = {warp.instructions}\n".encode())
                for piece in self.pieces(warp):
                    parts += [piece, b"\n"]
                    size += len(piece)
                if size > TOGETHER:
                    yield b"".join(parts)
                    parts, size = [], 0
            parts.append(b"\n#END_TB\n")
        yield b"".join(parts)

    def blocks(self) -> Iterator[Block]:
        (count,), at = struct.unpack_from("<I", self.data, self.index), self.index + 4
        for _ in range(count):
            numbers, at = struct.unpack_from("<11I", self.data, at), at + 44
            warps = []
            for _ in range(numbers[10]):
                found, at = Warp(*struct.unpack_from("<2IQ", self.data, at)), at + 16
                at += 4 * found.pieces
                warps.append(found)
            yield Block(numbers[:3], numbers[9], warps)

    def pieces(self, warp: Warp) -> Iterator[bytes]:
        counted, at = struct.unpack_from("<2I", self.data, warp.offset), warp.offset + 8
        if warp.offset < self.begin or counted != warp[:2]:
            raise ValueError("its index and its warps do not go together")
        for _ in range(warp.pieces):
            (size,) = struct.unpack_from("<I", self.data, at)
            frame, at = self.data[at + 4 : at + 4 + size], at + 4 + size
            if at > self.index:
                raise ValueError("a piece lies outside the file")
            if not 0 <= self.zstandard.frame_content_size(frame) <= MOST_PIECE:
                raise ValueError(f"a piece does not say its size, or would have over {MOST_PIECE:,} bytes")
            yield self.unpacker.decompress(frame)
