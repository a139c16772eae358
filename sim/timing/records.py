"""Arrays of records, as compiled kernels like them: one of more than half a cache line of the processor begins with a line."""

from typing import Any

import numpy as np

LINE = 64  # bytes of a cache line


def kind(*fields: tuple[str, str]) -> np.dtype:
    """Return a record type with fields (name, type) in that order; one longer than half a cache line takes whole lines."""
    packed: Any = np.dtype(list(fields), align=True)
    size = packed.itemsize if packed.itemsize <= LINE // 2 else -(-packed.itemsize // LINE) * LINE
    names = list(packed.names)
    formats, offsets = [packed[name] for name in names], [packed.fields[name][1] for name in names]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size}, align=True)


def zeros(kind: np.dtype, *shape: int) -> Any:
    """Return an array of records, all zero, that begins with a cache line: np.recarray, typed Any so that its fields can be named."""
    size = int(np.prod(shape)) * kind.itemsize
    memory = np.zeros(size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(kind).reshape(shape).view(np.recarray)
