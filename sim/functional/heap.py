"""The heap of device code, from which `malloc` takes: first fit, addresses in ascending order."""

from bisect import bisect_left

ALIGNMENT = 16  # bytes


class Heap:
    """A part of device memory, 8 MiB as CUDA has it by default; blocks of one launch share it, and nothing is kept for the next."""

    def __init__(self, start: int, size: int) -> None:
        self.start, self.end = start, start + size
        self._used: list[tuple[int, int]] = []  # first byte, one past the last, ascending
        self._freed: set[int] = set()

    def take(self, size: int) -> int:
        """Return the address of `size` bytes, 0 when there is no room, or nothing is asked for."""
        size = -(-size // ALIGNMENT) * ALIGNMENT
        if size == 0 or size > self.end - self.start:
            return 0
        free = self.start
        for k, (start, end) in enumerate([*self._used, (self.end, self.end)]):
            if start - free >= size:
                self._used.insert(k, (free, free + size))
                self._freed.discard(free)
                return free
            free = end
        return 0

    def give(self, address: int) -> str:
        """Take back what `take` returned; return what is wrong with the address, nothing when nothing is. 0 is nothing to take back."""
        k = bisect_left(self._used, (address, 0))
        if k < len(self._used) and self._used[k][0] == address:
            del self._used[k]
            self._freed.add(address)
        elif address in self._freed:
            return "has been freed before (double free)"
        elif address:
            return "is not what malloc() returned"
        return ""
