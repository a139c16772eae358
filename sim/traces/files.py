"""The files of a trace: `kernelslist.g` and what it names; plain text, or packed by gzip or xz."""

import gzip
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from isa.errors import UserError

LIST, KERNEL = ".g", ".traceg"
PACKED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
COPY = "Memcpy"


def is_trace(path: Path) -> bool:
    """Return whether a file is a trace, by its name: kernelslist.g, kernel-1.traceg, kernel-1.traceg.xz."""
    name = path.name.removesuffix(path.suffix) if path.suffix in PACKED else path.name
    return name.endswith((LIST, KERNEL))


def kernels(path: Path) -> list[Path]:
    """Return the kernel files that a list names, in order, or the kernel file itself. Raises UserError."""
    if not path.name.removesuffix(path.suffix if path.suffix in PACKED else "").endswith(LIST):
        return [path]
    found = []
    for number, line in enumerate(lines(path), 1):
        name = line.strip()
        if name and not name.startswith(COPY):
            found.append(_there(path.parent / name, path, number))
    if not found:
        raise UserError("the list names no kernel", path=str(path), hint="one file per line: kernel-1.traceg")
    return found


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, unpacked. Raises UserError when it cannot be read."""
    opened = PACKED.get(path.suffix, open)
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(f"cannot read the trace: {reason}", path=str(path)) from None


def _there(file: Path, path: Path, number: int) -> Path:
    """Return a kernel file, or its packed form."""
    candidates = [file, *(file.with_name(file.name + suffix) for suffix in PACKED)]
    if found := next((candidate for candidate in candidates if candidate.is_file()), None):
        return found
    hint = f"put it beside {path.name}, packed by xz or gzip or not"
    raise UserError(f"there is no kernel file {file.name}", path=str(path), line=number, hint=hint)
