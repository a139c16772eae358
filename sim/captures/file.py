"""A capture as one file: a zip whose comment is a checksum of everything before it."""

import hashlib
import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from isa.errors import UserError
from sim.captures import paging
from sim.captures.table import FORMAT, MOST_BYTES, VERSION, Table

SUFFIX = ".capture"
SEAL = re.compile(rb"simtlab capture (\d{4}) sha256 ([0-9a-f]{64})")
SEAL_BYTES = 16 + 4 + 8 + 64
LIMITS = {
    "capture.json": 1 << 26,
    "kernel.cubin": 1 << 28,
    "pages": 2 * MOST_BYTES,
    "before": 1 << 23,
    "after": 1 << 23,
}  # bytes of a member
FORGED = (zipfile.BadZipFile, zlib.error, ValueError, KeyError, NotImplementedError, RuntimeError, EOFError, OSError, struct.error)
AGAIN = "capture the launch again, or fetch the file again"
DATE = (1980, 1, 1, 0, 0, 0)  # of all members: equal captures are equal files


@dataclass(frozen=True)
class Capture:
    """A launch as a GPU had it. before, after: memory (uint8) of each allocation of the table; after: None when not captured."""

    table: Table
    cubin: bytes = field(repr=False)
    before: list[np.ndarray] = field(repr=False)
    after: list[np.ndarray] | None = field(repr=False)
    path: Path = Path("capture")

    def with_counters(self, counters: dict[str, float]) -> "Capture":
        """Return the capture with counters in place of its own."""
        return replace(self, table=self.table.model_copy(update={"counters": counters}))


def is_capture(path: Path) -> bool:
    """Return whether a file is a capture, by its name."""
    return path.suffix == SUFFIX


def write(capture: Capture, path: Path) -> int:
    """Write a capture, whole or not at all; return its bytes. Raises UserError."""
    pages = paging.Pages()
    members = {"capture.json": capture.table.model_dump_json(indent=1).encode(), "kernel.cubin": capture.cubin}
    members["before"] = pages.indices(capture.before).tobytes()
    if capture.after is not None:
        members["after"] = pages.indices(capture.after).tobytes()
    members["pages"] = pages.data()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name, DATE), content, zipfile.ZIP_DEFLATED)
        file.comment = bytes(SEAL_BYTES)
    body = data.getvalue()[:-SEAL_BYTES]
    seal = f"{FORMAT} {VERSION:04d} sha256 {hashlib.sha256(body).hexdigest()}".encode()
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(body + seal)
        part.replace(path)
    except OSError as error:
        raise UserError(f"cannot write: {error.strerror}", path=str(path)) from None
    return len(body) + len(seal)


def read(path: str | Path) -> Capture:
    """Read a capture. Nothing in it is executed or written. Raises UserError for one that is damaged, cut, newer or no capture."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the capture: {error.strerror}", path=str(path)) from None
    _check_seal(data, path)
    try:
        return _parsed(_members(data), path)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"not a capture: capture.json: {where}: {first['msg']}", path=str(path), hint=AGAIN) from None
    except FORGED as error:
        raise UserError(f"not a capture: {error}", path=str(path), hint=AGAIN) from None


def _check_seal(data: bytes, path: Path) -> None:
    """Raise UserError unless the checksum is right."""
    seal = SEAL.fullmatch(data[-SEAL_BYTES:])
    if seal is None:
        raise UserError("not a capture, or cut off: it does not end in a capture's checksum", path=str(path), hint=AGAIN)
    if int(seal[1]) != VERSION:
        hint = "it was made by another simtlab: update this one"
        raise UserError(f"a capture of version {int(seal[1])}; this simtlab reads version {VERSION}", path=str(path), hint=hint)
    if hashlib.sha256(data[:-SEAL_BYTES]).hexdigest() != seal[2].decode():
        raise UserError("the capture is damaged: its checksum is another", path=str(path), hint=AGAIN)


def _members(data: bytes) -> dict[str, bytes]:
    """Return what the zip holds. Raises ValueError for members that no capture has, and for more bytes than a capture may have."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        names = [member.filename for member in file.infolist()]
        if len(set(names)) != len(names) or not {*names} <= {*LIMITS} or not {*LIMITS} <= {*names, "after"}:
            raise ValueError(f"its members are {', '.join(name[:40] for name in names[:9]) or 'none'}")
        for member in file.infolist():
            if member.file_size > LIMITS[member.filename]:
                raise ValueError(f"{member.filename} would have {member.file_size:,} bytes; at most {LIMITS[member.filename]:,} are read")
        return {member.filename: file.read(member) for member in file.infolist()}


def _parsed(members: dict[str, Any], path: Path) -> Capture:
    table = Table.model_validate_json(members["capture.json"])
    sizes = [one.size for one in table.allocations]
    if sum(sizes) > MOST_BYTES:
        raise ValueError(f"it has {sum(sizes):,} bytes of memory; at most {MOST_BYTES:,} are read")
    before = paging.memory(np.frombuffer(members["before"], paging.INDEX), members["pages"], sizes)
    after = paging.memory(np.frombuffer(members["after"], paging.INDEX), members["pages"], sizes) if "after" in members else None
    return Capture(table, members["kernel.cubin"], before, after, path)
