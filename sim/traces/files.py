"""The files of a trace: `kernelslist.g` and what it names; plain text, packed by gzip or xz, or by Accel-Sim 2.0."""

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from isa.errors import UserError
from sim.traces import tracez

LIST, KERNEL = ".g", ".traceg"
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
COPY = "Memcpy"
CHUNK = 1 << 22  # bytes


def is_trace(path: Path) -> bool:
    """Return whether a file is a trace, by its name: kernelslist.g, kernel-1.traceg, kernel-1.traceg.xz, kernel-1.tracez."""
    name = path.name.removesuffix(path.suffix) if path.suffix in PACKED else path.name
    return name.endswith((LIST, KERNEL, tracez.SUFFIX))


def kernels(path: Path) -> list[Path]:
    """Return the kernel files that a list names, in order, or the kernel file itself. Raises UserError."""
    if not path.name.removesuffix(path.suffix if path.suffix in PACKED else "").endswith(LIST):
        return [path]
    found = []
    for number, line in enumerate(lines(path), 1):
        name = line.strip()
        if name and not name.startswith(COPY):
            if not (path.parent / name).resolve().is_relative_to(path.parent.resolve()):  # absolute, by "..", or by a link
                raise UserError(f"{name} lies outside the list's folder", path=str(path), line=number, hint="name files beside the list")
            found.append(_there(path.parent / name, path, number))
    if not found:
        raise UserError("the list names no kernel", path=str(path), hint="one file per line: kernel-1.traceg")
    return found


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, unpacked. Raises UserError when it cannot be read."""
    for chunk in chunks(path):
        yield from chunk.decode("utf-8", "replace").rstrip("\n").split("\n")


def chunks(path: Path) -> Iterator[bytes]:
    """Yield whole lines of a file, unpacked, some MiB at a time. Raises UserError when it cannot be read."""
    opened, rest = PACKED.get(path.suffix, open), b""
    try:
        if path.suffix == tracez.SUFFIX:
            yield from tracez.chunks(path)
            return
        with opened(path, "rb") as file:
            while block := file.read(CHUNK):
                head, newline, tail = block.rpartition(b"\n")
                if newline:
                    yield rest + head + newline
                    rest = tail
                else:
                    rest += block
                if len(rest) > CHUNK:
                    raise UserError(f"a line of over {CHUNK:,} bytes", path=str(path), hint="is this a .traceg file?")
        if rest:
            yield rest
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(f"cannot read the trace: {reason}", path=str(path)) from None


def _there(file: Path, path: Path, number: int) -> Path:
    """Return a kernel file, or its packed form."""
    candidates = [file, *(file.with_name(file.name + suffix) for suffix in PACKED)]
    if found := next((candidate for candidate in candidates if candidate.is_file()), None):
        return found
    hint = f"put it beside {path.name}, packed by xz or gzip or not"
    raise UserError(f"there is no kernel file {file.name}", path=str(path), line=number, hint=hint)
