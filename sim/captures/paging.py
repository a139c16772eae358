"""Memory as pages of 4 KiB: each distinct page is kept once, pages of zeros not at all."""

from collections.abc import Iterable, Sequence

import numpy as np

PAGE = 4096
INDEX = np.dtype("<u4")  # 0: a page of zeros; k: page k - 1


class Pages:
    """Distinct pages in the order of their first use."""

    def __init__(self) -> None:
        self.found: dict[bytes, int] = {}

    def indices(self, pieces: Iterable[np.ndarray]) -> np.ndarray:
        """Return the pages of pieces of memory (uint8), each from a page of its own on; the last of each is filled up by zeros."""
        numbers = [self._of(piece) for piece in pieces]
        return np.concatenate(numbers) if numbers else np.zeros(0, INDEX)

    def _of(self, piece: np.ndarray) -> np.ndarray:
        whole = np.zeros(-(-piece.size // PAGE) * PAGE, np.uint8)
        whole[: piece.size] = piece
        rows = whole.reshape(-1, PAGE)
        numbers = np.zeros(len(rows), INDEX)
        for k in np.flatnonzero(rows.any(axis=1)):
            numbers[k] = self.found.setdefault(rows[k].tobytes(), len(self.found) + 1)
        return numbers

    def data(self) -> bytes:
        """Return the pages, one after another."""
        return b"".join(self.found)


def memory(indices: np.ndarray, pages: bytes, sizes: Sequence[int]) -> list[np.ndarray]:
    """Return the pieces of memory (uint8) of these sizes. Raises ValueError when indices and sizes do not go together."""
    counts = [-(-size // PAGE) for size in sizes]
    if len(pages) % PAGE or sum(counts) != indices.size or (indices.size and int(indices.max()) > len(pages) // PAGE):
        raise ValueError("pages and sizes do not go together")
    table = np.frombuffer(bytes(PAGE) + pages, np.uint8).reshape(-1, PAGE)
    starts = np.cumsum([0, *counts])
    return [table[indices[start : start + count]].reshape(-1)[:size] for start, count, size in zip(starts, counts, sizes, strict=False)]
