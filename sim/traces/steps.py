"""A kernel file -> what every warp executed, as numbers; a path that several warps take is kept once.

Stages: 1. `scan` reads the bytes of some MiB; 2. lines of instructions that are new are taken apart; 3. the other lines say where
blocks and warps begin and end.
"""

import re
from typing import NamedTuple

import numpy as np

from sim.traces import scan
from sim.traces.text import WARP, KernelFile, Static

LINE = "PC MASK n Rd... OPCODE n Rs... WIDTH [MODE ADDRESSES...] [IMMEDIATE]"
NUMBERED = re.compile(rb"(warp|insts)[ \t]*=")
BLANKS = b" " * 33 + bytes(range(33, 256))  # what `scan` takes for one
CUT = "the trace is cut: trace the kernel again"


class Steps(NamedTuple):
    """Instructions are numbered as they come; one that stands there with and without addresses has two numbers."""

    statics: list[Static]
    lines: list[int]  # where each comes first
    has_addresses: np.ndarray  # bool [statics]
    paths: list[np.ndarray]  # int64: static << 32 | mask
    warp_path: np.ndarray  # int64 [warps], in launch order
    first_access: np.ndarray  # int64 [warps] row of `accesses`; those of a path's other instructions with addresses follow
    accesses: np.ndarray  # scan.Access [accesses] in the file's order
    rows: np.ndarray  # int64 [r, 32] addresses that are not evenly spaced, 0 where a lane is not active


def read(file: KernelFile) -> Steps:
    """Return what a kernel file says. Raises UserError."""
    return _Reader(file).read()


class _Reader:
    """Follows the lines between the instructions."""

    def __init__(self, file: KernelFile) -> None:
        self.file, self.tables = file, scan.tables()
        self.warps_per_block = -(-int(np.prod(file.head.block, dtype=object)) // WARP)
        self.statics: list[Static] = []
        self.lines: list[int] = []
        self.has_addresses: list[bool] = []
        self.paths: dict[bytes, int] = {}
        self.accesses: list[np.ndarray] = []
        self.rows: list[np.ndarray] = []
        self.taken = self.rows_taken = 0  # of those
        self.warps: dict[int, tuple[int, int]] = {}  # of the launch -> path, first access
        self.place: tuple[int, int, int] | None = None  # of the block that is being read
        self.found: dict[int, tuple[int, int]] = {}  # its warps
        self.warp, self.first, self.expected = -1, 0, 0
        self.pieces: list[np.ndarray] = []  # of the warp's steps

    def read(self) -> Steps:
        where = self.tables.where[0]
        for number, chunk in enumerate(self.file.chunks()):
            text, where["at"] = np.frombuffer(chunk, np.uint8), 0
            if number == 0:
                where["at"], where["line"] = self.file.begins, self.file.line
            status = scan.FULL
            while status == scan.FULL:
                status = scan.scan(text, text.size, self.file.head.skipped, self.tables)
                self._take(chunk)
            if status == scan.ODD:
                self._odd(int(where["line"]) + 1)
        if self.place is not None or self.pieces:
            self.file.fail("the file ends inside a block", CUT)
        self._check_complete()
        in_order = [self.warps[warp] for warp in range(len(self.warps))]
        warp_path, first_access = np.array(in_order, np.int64).reshape(-1, 2).T
        return Steps(
            self.statics,
            self.lines,
            np.array(self.has_addresses, bool),
            [np.frombuffer(path, np.int64) for path in self.paths],
            warp_path,
            first_access,
            np.concatenate(self.accesses) if self.accesses else np.zeros(0, scan.Access),
            np.concatenate(self.rows) if self.rows else np.zeros((0, WARP), np.int64),
        )

    def _odd(self, line: int) -> None:
        self.file.fail("this line is not an instruction of a trace", f"an instruction is {LINE}", line)

    def _take(self, chunk: bytes) -> None:
        """Take what a call of `scan` found, and make room."""
        tables, where = self.tables, self.tables.where[0]
        for at, line in tables.news[: where["news"]].tolist():
            try:
                static, has_addresses = self.file.static(_line(chunk, at))
            except (ValueError, IndexError):
                self._odd(line + 1)
            self.statics.append(static)
            self.lines.append(line + 1)
            self.has_addresses.append(has_addresses)
        steps, begin = tables.steps[: where["steps"]], 0
        for at, line, step, access, value in tables.markers[: where["markers"]].tolist():
            self.file.line = line + 1
            if step > begin:
                self.pieces.append(steps[begin:step].copy())
                begin = step
            numbered = NUMBERED.match(chunk, at) if value >= 0 and self.place is not None else None
            if numbered is None:
                self._marker(_line(chunk, at))
            elif numbered[1] == b"insts":
                self.expected = value
            else:
                self._end_warp()
                self.warp, self.first, self.expected = value, self.taken + access, 0
        if len(steps) > begin:
            self.pieces.append(steps[begin:].copy())
        self._take_accesses()
        if 2 * where["statics"] >= tables.keys.size:
            self.tables = _with_more_statics(tables)

    def _take_accesses(self) -> None:
        where = self.tables.where[0]
        accesses = self.tables.accesses[: where["accesses"]].copy()
        accesses["start"][accesses["stride"] == scan.SCATTERED] += self.rows_taken
        self.accesses.append(accesses)
        self.rows.append(self.tables.rows[: where["rows"]].copy())
        self.taken += len(accesses)
        self.rows_taken += int(where["rows"])
        for count in ("steps", "accesses", "rows", "markers", "news"):
            where[count] = 0

    def _marker(self, text: str) -> None:
        """Heed a line that is no instruction, no warp's and no number of instructions."""
        if text.startswith("#traces"):
            return
        if self.place is None:
            if text != "#BEGIN_TB" or self.pieces:
                self.file.fail(f"expected #BEGIN_TB, found {text[:60]!r}", "the trace is cut or was edited")
            self.place, self.found, self.warp, self.expected = (0, 0, 0), {}, -1, 0
        elif text == "#END_TB":
            self._end_warp()
            self._end_block(self.place)
        elif text.startswith("thread block"):
            self.place = self.file.place(text)
        elif text.startswith("cluster"):
            self._check_cluster(text)
        elif text.startswith(("warp", "insts")):
            self.file.fail(f"{text}: not a number", "write it as warp = 0, insts = 12")
        else:
            self._odd(self.file.line)

    def _check_cluster(self, text: str) -> None:
        """Refuse blocks that share a cluster; which cluster a block is does not matter where it is alone."""
        name, _, value = text.partition("=")
        if name.split() == ["cluster", "rank"] and value.strip() != "0":
            self.file.fail(f"{text}: traces of clusters of several blocks are not read")

    def _end_warp(self) -> None:
        steps = self.pieces[0] if len(self.pieces) == 1 else np.concatenate([np.zeros(0, np.int64), *self.pieces])
        if len(steps) != self.expected:
            self.file.fail(f"a warp has {len(steps)} of {self.expected} instructions", CUT)
        self.pieces = []
        if self.warp >= 0 and len(steps):
            self.found[self.warp] = self.paths.setdefault(steps.tobytes(), len(self.paths)), self.first

    def _end_block(self, place: tuple[int, int, int]) -> None:
        """Keep the warps of a block in launch order."""
        (x, y, z), (wide, high, deep) = place, self.file.head.grid
        if not (0 <= x < wide and 0 <= y < high and 0 <= z < deep):
            self.file.fail(f"block {x},{y},{z} lies outside the grid")
        start = (x + wide * (y + high * z)) * self.warps_per_block
        for warp, found in self.found.items():
            if warp >= self.warps_per_block:
                self.file.fail(f"warp {warp} of a block of {self.warps_per_block} warps")
            self.warps[start + warp] = found
        self.place = None

    def _check_complete(self) -> None:
        if len(self.warps) == int(np.prod(self.file.head.grid, dtype=object)) * self.warps_per_block:
            return
        lacking = next(warp for warp in range(len(self.warps) + 1) if warp not in self.warps)
        block, warp = divmod(lacking, self.warps_per_block)
        hint = "trace all blocks, and warps that execute nothing, too"
        self.file.fail(f"the trace has no instructions of warp {warp} of block {block}", hint)


def _line(chunk: bytes, at: int) -> str:
    """Return the line that begins at a byte, without blanks around it."""
    end = chunk.find(b"\n", at)
    return chunk[at : end if end >= 0 else len(chunk)].translate(BLANKS).decode("utf-8", "replace").strip()


def _with_more_statics(full: scan.Tables) -> scan.Tables:
    """Return the tables with room for twice as many instructions."""
    keys, numbers = np.zeros(2 * full.keys.size, np.uint64), np.zeros(2 * full.keys.size, np.int64)
    for key, number_of in zip(full.keys[full.keys != 0].tolist(), full.numbers[full.keys != 0].tolist(), strict=True):
        place = (key >> 20) & (keys.size - 1)
        while keys[place]:
            place = (place + 1) & (keys.size - 1)
        keys[place], numbers[place] = key, number_of
    return full._replace(keys=keys, numbers=numbers)
