"""How the matrices of products lie in registers and in shared memory, as PTX's `mma.sync` and `wgmma` say."""

from collections.abc import Iterable

import numpy as np

from programs.measurements.conformance.families import CHUNK, LAYOUTS, Kind, Layout, inputs

LANES = np.arange(32)
ROWS = 16  # of a warp of a warpgroup
PIECE = 8, 2, 16  # rows and bytes of two pieces side by side in shared memory


def words(elements: np.ndarray, layout: Layout) -> np.ndarray:
    """Return elements as they lie in memory, along the last axis: uint32, of float64 uint64."""
    return np.ascontiguousarray(elements.astype(layout.dtype)).view(np.uint64 if layout.dtype == np.uint64 else np.uint32)


def factor(matrix: np.ndarray, layout: Layout) -> np.ndarray:
    """Return factors [..., lines, terms] as the lanes hold them: words [..., 32, registers]."""
    lines, terms = matrix.shape[-2:]
    packed = max(4 // layout.dtype().itemsize, 1)
    places = [
        (LANES // 4 + 8 * upper, (4 * block + LANES % 4) * packed + part)
        for block in range(terms // (4 * packed))
        for upper in range(lines // 8)
        for part in range(packed)
    ]
    return words(np.stack([matrix[..., line, term] for line, term in places], -1), layout)


def addend(matrix: np.ndarray, layout: Layout) -> np.ndarray:
    """Return sums [..., lines, 8] as the lanes hold them: words [..., 32, registers]."""
    places = [(LANES // 4 + 8 * upper, 2 * (LANES % 4) + part) for upper in range(matrix.shape[-2] // 8) for part in range(2)]
    return words(np.stack([matrix[..., line, column] for line, column in places], -1), layout)


def image(matrix: np.ndarray, layout: Layout) -> np.ndarray:
    """Return factors [..., lines, terms] of 32 bytes a line as shared memory holds them: words [..., 8 * lines].

    Pieces of 8 lines of 16 bytes: first the two of the same 8 lines, 128 bytes apart, then those of the next.
    """
    pieces = words(matrix, layout).view(np.uint8).reshape(*matrix.shape[:-2], -1, *PIECE)
    return np.ascontiguousarray(pieces.swapaxes(-3, -2)).reshape(*matrix.shape[:-2], -1).view(np.uint32)


def of_warps(kind: Kind, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the lanes hold of products of warps: words [products, 32, registers] of each matrix."""
    left, right, sums = LAYOUTS[kind.left], LAYOUTS[kind.right], LAYOUTS[kind.sums]
    return factor(a, left), factor(b.swapaxes(1, 2), right), addend(c, sums)


def of_warpgroups(kind: Kind, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the matrices of products of warpgroups: words [products, 512], [products, 8 * columns] and [products, 128, registers].

    The left factor is an image of shared memory in even products, what the 128 lanes hold in odd ones.
    """
    left, right, sums = LAYOUTS[kind.left], LAYOUTS[kind.right], LAYOUTS[kind.sums]
    given = image(a, left)
    given[1::2] = factor(a[1::2].reshape(-1, kind.m // ROWS, ROWS, kind.k), left).reshape(-1, given.shape[1])
    tiles = c.reshape(len(c), kind.m // ROWS, ROWS, -1, 8).swapaxes(2, 3)  # [products, warps, tiles of 8 columns, 16, 8]
    held = addend(tiles, sums).swapaxes(2, 3).reshape(len(c), 32 * kind.m // ROWS, -1)
    return given, image(b.swapaxes(1, 2), right), np.ascontiguousarray(held)


def fragments(kind: Kind, chunks: Iterable[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the left factors, the right ones and the addends of some chunks as a kernel takes them."""
    held = of_warpgroups if kind.m > ROWS else of_warps
    made = [held(kind, *inputs(kind, chunk)) for chunk in chunks]
    left, right, sums = (np.concatenate(part) for part in zip(*made, strict=True))
    return left, right, sums


def every(kind: Kind) -> range:
    """Return the chunks of all products of a kind."""
    return range(2 * kind.products // CHUNK)
