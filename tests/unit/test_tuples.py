"""Large named tuples are handed on by address, small ones as values: kernels find in them what Python does."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from isa.semantics.integers import popc
from sim.compiled.kernel import inner, is_compiled, kernel, outlined


class Inside(NamedTuple):
    """More than seven fields, some of one byte, so that their places differ from their numbers."""

    a: int
    flag: bool
    words: np.ndarray
    b: float
    c: int
    other: bool
    bytes: np.ndarray
    d: int


class Outside(NamedTuple):
    """The same, with such a tuple in its midst, and a small one that kernels make."""

    first: int
    rows: np.ndarray
    inside: Inside
    second: int
    third: int
    fourth: int
    fifth: int
    last: np.ndarray


class Small(NamedTuple):
    """What kernels make themselves."""

    x: int
    y: int


for _kind in (Inside, Outside, Small):
    _kind.__module__ = "sim.of_a_test"


@inner
def total(pair: Small, inside: Inside) -> float:
    """Read all fields."""
    chosen = inside.a if inside.flag else inside.c
    return chosen * inside.b + (inside.d if inside.other else 0) + pair.x - pair.y


@outlined
def write(k: int, given: Outside) -> int:
    """Write arrays that the caller has read."""
    given.inside.words[k] += given.first
    given.rows[k, 1] = given.inside.words[k]
    return given.inside.words[k]


@kernel
def run(given: Outside, inside: Inside) -> float:
    """Read, write and read again."""
    found = 0.0
    for k in range(given.inside.words.size):
        before = given.rows[k, 1]
        found += total(Small(write(k, given), given.fifth), given.inside) + before + given.rows[k, 1] * given.last[0]
        found += total(Small(given.third, given.fourth), inside) + given.inside.bytes[k] - inside.bytes[0] + given.second
    return found


def made(seed: int) -> Outside:
    """Return a tuple of numbers that all differ."""
    draw = np.random.default_rng(seed)
    numbers = [int(number) for number in draw.permutation(50)]
    inside = Inside(numbers[0], bool(seed & 1), draw.integers(99, size=5), 0.5, numbers[1], bool(seed & 2), np.arange(5, dtype=np.uint8), 7)
    return Outside(numbers[2], draw.integers(99, size=(5, 2)), inside, *numbers[3:7], np.array([3]))


@pytest.mark.parametrize("seed", range(4))
def test_kernels_read_the_fields_of_tuples_as_python_does(seed: int) -> None:
    plain: Any = getattr(run, "py_func", run)
    if is_compiled():
        plain = type(plain)(plain.__code__, plain.__globals__ | {"total": total.py_func, "write": write.py_func})  # type: ignore[attr-defined]
    ours, theirs = made(seed), made(seed)
    assert run(ours, made(9).inside) == plain(theirs, made(9).inside)
    assert np.array_equal(ours.rows, theirs.rows)
    assert np.array_equal(ours.inside.words, theirs.inside.words)


@kernel
def count(words: np.ndarray, found: np.ndarray) -> None:
    """Count the bits of each word."""
    for k in range(words.size):
        found[k] = popc(words[k])


@pytest.mark.parametrize("kind", [np.uint32, np.int64])
def test_bits_are_counted_as_python_does(kind: Any) -> None:
    words = np.array([0, 1, 0x80000000, 0xFFFFFFFF, 0x12345678], np.int64)
    words = words.astype(kind) if kind is np.uint32 else np.append(words, [-1, -(2**40)])
    found = np.zeros(words.size, np.int64)
    count(words, found)
    assert found.tolist() == [popc(word) for word in words] == [bin(int(word) & 0xFFFFFFFF).count("1") for word in words]
