"""What NumPy and Python say of the kernels in this folder: its .npy files, written by `python -m programs.cuda.heldout.references`."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from programs.cuda.references import Arrays, files, save

FOLDER = Path(__file__).parent


def levenshtein(first: np.ndarray, second: np.ndarray, lengths: np.ndarray, **_: Any) -> Arrays:
    """Return the edit distances by the table's rows."""
    distances = []
    for a, b, (m, n) in zip(first, second, lengths, strict=True):
        row = list(range(n + 1))
        for i in range(1, m + 1):
            above, row = row, [i]
            for j in range(1, n + 1):
                row.append(min(above[j - 1] + int(a[i - 1] != b[j - 1]), above[j] + 1, row[-1] + 1))
        distances.append(row[-1])
    return {"distances": np.array(distances)}


def _texts() -> list[bytes]:
    random = np.random.default_rng(11)
    return [random.bytes(length) for length in random.integers(0, 56, 250)]


def sha256_messages() -> Arrays:
    """Return 250 messages of at most 55 bytes, padded to 64."""
    padded = [text + b"\x80" + bytes(55 - len(text)) + (8 * len(text)).to_bytes(8, "big") for text in _texts()]
    return {"messages": np.frombuffer(b"".join(padded), np.uint32).reshape(250, 16)}


def sha256(**_: Any) -> Arrays:
    """Return the digests by the standard library."""
    return {"digests": np.frombuffer(b"".join(hashlib.sha256(text).digest() for text in _texts()), np.uint32).reshape(250, 8)}


def philox(numbers: np.ndarray, seed: Any, n: Any, **_: Any) -> Arrays:
    """Return the numbers by 64-bit products."""
    word = np.uint64(0xFFFFFFFF)
    x, y, z, w = (np.arange(n, dtype=np.uint64), *(np.full(n, value, np.uint64) for value in (0, 7, 0)))
    key0, key1 = np.uint64(seed) & word, np.uint64(seed) >> np.uint64(32)
    for _round in range(10):
        first, second = np.uint64(0xD2511F53) * x, np.uint64(0xCD9E8D57) * z
        x, y, z, w = second >> np.uint64(32) ^ y ^ key0, second & word, first >> np.uint64(32) ^ w ^ key1, first & word
        key0, key1 = key0 + np.uint64(0x9E3779B9) & word, key1 + np.uint64(0xBB67AE85) & word
    found = np.zeros(numbers.shape)
    found[:n] = np.stack([x, y, z, w], axis=1) // 256 / 2**24
    return {"numbers": found}


def floyd_warshall(edges: np.ndarray, **_: Any) -> Arrays:
    """Return the lengths of the shortest paths, -1 where there is none."""
    length = np.where(edges < 0, 1 << 29, edges)
    length[:, np.arange(edges.shape[1]), np.arange(edges.shape[1])] = 0
    for k in range(edges.shape[1]):
        length = np.minimum(length, length[:, :, k, None] + length[:, None, k])
    return {"paths": np.where(length >= 1 << 29, -1, length)}


def lu(matrices: np.ndarray, pivots: np.ndarray, **_: Any) -> Arrays:
    """Return both factors in one array, and the rows exchanged."""
    factors, rows = matrices.copy(), np.zeros_like(pivots)
    for matrix, a in enumerate(factors):
        for k in range(len(a)):
            pivot = k + int(np.argmax(np.abs(a[k:, k])))
            a[[k, pivot]] = a[[pivot, k]]
            rows[matrix, k] = pivot
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return {"matrices": factors, "pivots": rows}


def k_means(points: np.ndarray, centres: np.ndarray, **_: Any) -> Arrays:
    """Return the nearest centres, every operation in float32."""
    difference = points[:, None] - centres
    squares = difference[..., 0] * difference[..., 0] + difference[..., 1] * difference[..., 1]
    nearest = np.argmin(squares, axis=1)
    return {"nearest": nearest, "sizes": np.bincount(nearest, minlength=len(centres)), "farthest": squares.min(axis=1).max(keepdims=True)}


def life(before: np.ndarray, **_: Any) -> Arrays:
    """Return the next generation."""
    around = sum(np.roll(before, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - before
    return {"after": (around == 3) | (around == 2) & (before == 1)}


def half_dot_rows() -> Arrays:
    """Return rows of small whole numbers, whose products and sums a half holds exactly."""
    random = np.random.default_rng(12)
    return {name: random.integers(-3, 4, (33, 150)).astype(np.float16) for name in ("a", "b")}


def half_dot(a: np.ndarray, b: np.ndarray, **_: Any) -> Arrays:
    """Return the larger of the sums over even and over odd columns."""
    products = a.astype(np.int32) * b.astype(np.int32)
    return {"dots": np.maximum(np.sum(products[:, ::2], axis=1), np.sum(products[:, 1::2], axis=1))}


def compact(source: np.ndarray, counts: np.ndarray, n: Any, threshold: Any, **_: Any) -> Arrays:
    """Return each block's elements above the threshold."""
    blocks = np.where(np.arange(source.size) < n, source, -32768).reshape(counts.size, -1)
    out = np.zeros_like(blocks)
    for block, kept in zip(blocks, out, strict=True):
        above = block[block > threshold]
        kept[: above.size] = above
    return {"out": out.reshape(-1), "counts": (blocks > threshold).sum(axis=1)}


def quicksort(values: np.ndarray, **_: Any) -> Arrays:
    """Return how deep each call went."""
    return {"depths": np.array([_depth(row.tolist(), 0, 15) for row in values])}


def _depth(keys: list[int], low: int, high: int) -> int:
    if low >= high:
        return 0
    pivot, i, j = keys[(low + high) // 2], low, high
    while i <= j:
        while keys[i] < pivot:
            i += 1
        while keys[j] > pivot:
            j -= 1
        if i <= j:
            keys[i], keys[j] = keys[j], keys[i]
            i, j = i + 1, j - 1
    return 1 + max(_depth(keys, low, j), _depth(keys, i, high))


INPUTS = {"sha256": sha256_messages, "half_dot": half_dot_rows}
RESULTS = (levenshtein, sha256, philox, floyd_warshall, lu, k_means, life, half_dot, compact, quicksort)


def arrays() -> Iterator[tuple[Path, np.ndarray]]:
    """Yield every file of this folder and what it holds."""
    yield from files(FOLDER, INPUTS, RESULTS)


if __name__ == "__main__":
    save(arrays())
