"""Named access patterns: which byte address each of a warp's 32 threads accesses, the array starting at address 0."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isa.errors import UserError
from sim.analysis.coalescing import LANES
from sim.gpus.fields import nearest

SEED = 1  # of `permuted` and `random`: the same addresses every time
RANDOM_ELEMENTS = 1 << 20
MOST = 1 << 24  # elements; keeps an address below 2**31 bytes
THREADS = np.arange(LANES, dtype=np.int64)


class Pattern(NamedTuple):
    """Addresses of one warp access and what they stand for."""

    name: str  # as the user writes it: "stride:2"
    meaning: str
    addresses: np.ndarray  # int64 [32] byte addresses
    width: int  # bytes per thread


class Kind(NamedTuple):
    """A kind of pattern: the element of each thread, from a number that the user may give after a colon."""

    elements: Callable[[int], np.ndarray]
    default: int | None  # the number when none is given; None = it takes none
    meaning: str  # of the access, {n} = the number
    width: int | None = None  # bytes, when the name says it


def _permuted(_: int) -> np.ndarray:
    return np.random.default_rng(SEED).permutation(LANES).astype(np.int64)


def _random(elements: int) -> np.ndarray:
    return np.random.default_rng(SEED).integers(0, max(elements, 1), LANES, dtype=np.int64)


KINDS: dict[str, Kind] = {
    "coalesced": Kind(lambda n: THREADS, None, "thread k accesses element k"),
    "offset": Kind(lambda n: THREADS + n, 1, "thread k accesses element k + {n}"),
    "stride": Kind(lambda n: THREADS * n, 2, "thread k accesses element {n} k"),
    "aos": Kind(lambda n: THREADS * n, 3, "thread k accesses the first of the {n} fields of structure k (array of structures)"),
    "soa": Kind(lambda n: THREADS, None, "thread k accesses element k of one field's array (structure of arrays)"),
    "permuted": Kind(_permuted, None, "the threads access 32 neighbouring elements in a shuffled order"),
    "broadcast": Kind(lambda n: THREADS * 0, None, "all threads access the same element"),
    "random": Kind(_random, RANDOM_ELEMENTS, "each thread accesses a random one of {n} elements"),
    "float": Kind(lambda n: THREADS, None, "thread k accesses the k-th 32-bit word", 4),
    "float2": Kind(lambda n: THREADS, None, "thread k accesses the k-th 64-bit word", 8),
    "float4": Kind(lambda n: THREADS, None, "thread k accesses the k-th 128-bit word", 16),
}


def pattern(text: str, width: int | None = None, offset: int = 0) -> Pattern:
    """Return the pattern that `text` names, such as "stride:2", "aos:3" or "float4", every thread `offset` elements further on.

    width: bytes per thread and per element; None = the pattern's own, else 4. Raises UserError for an unknown name, a number that
    the pattern does not take, and a width that contradicts the name.
    """
    name, colon, number = text.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        near = nearest(name, KINDS)
        raise UserError(f"no access pattern is called '{name}'", hint=f"did you mean {near}?" if near else f"patterns: {', '.join(KINDS)}")
    if kind.width and width and width != kind.width:
        raise UserError(f"--pattern {name} is an access of {kind.width} bytes per thread, not {width}", hint="leave --width out")
    n = _number(text, number, kind) if colon else kind.default or 0
    if not 0 <= offset <= MOST:
        raise UserError(f"an offset of {offset} elements is not between 0 and {MOST:,}")
    bytes_per_thread = kind.width or width or 4
    meaning = kind.meaning.format(n=n) + (f", {offset} elements further on" if offset else "")
    return Pattern(text, meaning, (kind.elements(n) + offset) * bytes_per_thread, bytes_per_thread)


def _number(text: str, number: str, kind: Kind) -> int:
    if kind.default is None:
        raise UserError(f"--pattern {text}: this pattern takes no number", hint=f"write --pattern {text.partition(':')[0]}")
    if not number.isdecimal() or int(number) > MOST:
        raise UserError(f"--pattern {text}: '{number}' is not a number of elements from 0 to {MOST:,}")
    return int(number)
