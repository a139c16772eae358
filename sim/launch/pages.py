"""Memory at a program's own addresses: whole pages of 2 MiB, one after another below 4 GiB, as a page table would have them.

What the program sees are its own addresses, up to 2^47; what executor, caches and traces see are the places of `page_table`: the
position within a page stays, so lines, sectors and sets are those of the program; which page follows which is ours, as it is a driver's.
"""

import numpy as np

from isa.errors import UserError

PAGE = 1 << 21
TOP = 1 << 47  # where the addresses of CUDA programs end
WINDOWS = (1 << 32, 3 << 32)  # of shared and local memory, see sim.functional.windows


def page_table(memory: dict[int, np.ndarray], base: int, limit: int) -> dict[int, int]:
    """Return for each allocation, by its address, the place of its first byte. Raises UserError for memory that cannot lie so."""
    places, free, last, end = {}, base, -1, 0
    for address in sorted(memory):
        array = memory[address]
        check(address, array, end)
        first, end = address // PAGE, address + array.nbytes
        free += PAGE * (first != last)
        places[address] = free - PAGE + address % PAGE
        last = max(first, (end - 1) // PAGE)
        free += PAGE * (last - first)
        if free > limit:
            raise UserError(f"memory in more than {(limit - base) // PAGE:,} pages of 2 MiB", hint="device memory here ends at 4 GiB")
    return places


def check(address: int, array: np.ndarray, previous: int) -> None:
    """Raise UserError for an allocation that cannot be; previous: the end of the one below."""
    where = f"memory at {address:#x}"
    if not isinstance(array, np.ndarray) or array.dtype.hasobject or array.dtype.newbyteorder("<") != array.dtype:
        raise UserError(f"{where}: an array of numbers is needed, the lowest byte first")
    if not array.flags.c_contiguous or not array.nbytes:
        raise UserError(f"{where}: the array is empty or not C-contiguous")
    if not 0 < address <= TOP - array.nbytes:
        raise UserError(f"{where}: addresses are 1 to {TOP - 1:#x}, the whole array included")
    if address < previous:
        raise UserError(f"{where}: it overlaps with the memory below, which ends at {previous:#x}")
    if address < WINDOWS[1] and address + array.nbytes > WINDOWS[0]:
        message = f"{where}: {WINDOWS[0]:#x} to {WINDOWS[1]:#x} are the windows of shared and local memory here"
        raise UserError(message, hint="no CUDA driver puts memory there")
