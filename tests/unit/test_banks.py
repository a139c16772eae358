"""Wavefronts of one shared-memory access: strides, broadcast, wide words, Kepler's two modes, compute capability 1.x."""

from math import gcd

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.errors import UserError
from sim.analysis.banks import GEOMETRY, Rule, fewest, rule_of, schedule, wavefronts
from sim.analysis.coalescing import FULL_MASK
from sim.gpus.loader import load

LANES = np.arange(32, dtype=np.int64)
RULES: tuple[Rule, ...] = ("fermi", "kepler4", "kepler8", "cc1")


@pytest.mark.parametrize("stride", range(1, 65))
def test_a_stride_conflicts_by_what_it_shares_with_the_number_of_banks(stride: int) -> None:
    assert wavefronts(LANES * 4 * stride) == gcd(stride, 32)
    assert wavefronts(LANES * 4 * stride, rule="cc1") == 2 * gcd(stride, 16)


@pytest.mark.parametrize(
    ("rule", "by_width"),
    [("fermi", (1, 1, 1, 2, 4)), ("kepler4", (1, 1, 1, 1, 2)), ("kepler8", (1, 1, 1, 1, 2)), ("cc1", (8, 4, 2, 8, 32))],
)
def test_neighbouring_words(rule: Rule, by_width: tuple[int, ...]) -> None:
    """On CC 1.x parts of a word conflict, and wide words are 32-bit requests with a stride."""
    assert tuple(wavefronts(LANES * width, width=width, rule=rule) for width in (1, 2, 4, 8, 16)) == by_width


@pytest.mark.parametrize(
    ("stride", "four", "eight"),
    [(2, 1, 1), (3, 1, 2), (4, 2, 2), (32, 16, 16), (33, 1, 1)],
)
def test_kepler_delivers_eight_bytes_per_bank(stride: int, four: int, eight: int) -> None:
    """4-byte mode: words i and i + 32 of an aligned 64-word segment share; 8-byte mode: the two halves of a 64-bit word."""
    assert (wavefronts(LANES * 4 * stride, rule="kepler4"), wavefronts(LANES * 4 * stride, rule="kepler8")) == (four, eight)


def test_keplers_modes_differ_in_which_words_share_a_bank() -> None:
    halves = np.where(LANES % 2 == 0, 0, 32 * 4).astype(np.int64)  # words 0 and 32
    assert (wavefronts(halves, rule="fermi"), wavefronts(halves, rule="kepler4"), wavefronts(halves, rule="kepler8")) == (2, 1, 1)
    across = np.where(LANES % 2 == 0, 32 * 4, 64 * 4).astype(np.int64)  # words 32 and 64: neighbours, but of two segments
    assert (wavefronts(across, rule="kepler4"), wavefronts(across, rule="kepler8")) == (2, 1)
    next_row = np.where(LANES % 2 == 0, 0, 64 * 4).astype(np.int64)
    assert (wavefronts(next_row, rule="kepler4"), wavefronts(next_row, rule="kepler8")) == (2, 2)


@pytest.mark.parametrize("rule", RULES)
def test_a_broadcast_is_served_at_once(rule: Rule) -> None:
    same = np.full(32, 64, np.int64)
    assert wavefronts(same, rule=rule) == (2 if rule == "cc1" else 1)  # one per half-warp
    assert wavefronts(same, 0xFFFF, rule=rule) == 1


@pytest.mark.parametrize(
    ("vectors", "passes"),
    [(LANES // 16, 2), (LANES % 16 // 8 * 0, 2), (LANES // 2, 2), (LANES // 4 * 2 + LANES % 2, 2), (LANES % 16, 4), (LANES % 16 * 2, 8)],
)
def test_pairs_of_lanes_that_want_the_same_vector_go_twice_as_many_at_once(vectors: np.ndarray, passes: int) -> None:
    """Tile products on an H200 (population.csv, product_221 and product_048): 2 of `LANES // 16` and 4, or 4 and 16, per step."""
    assert wavefronts(vectors * 16, width=16) == passes
    assert wavefronts(LANES // 2 * 8, width=8) == 1


def test_several_broadcasts_at_once_need_fermi() -> None:
    pairs = LANES // 2 * 4
    assert wavefronts(pairs) == 1
    assert wavefronts(pairs, 0xFFFF, rule="cc1") == 2  # one word is broadcast, of the other pairs one thread each; then the rest
    assert schedule(pairs, 0xFFFF, rule="cc1")[0][0].lanes == (0, 1)


def test_half_warps_of_64_bit_words_do_not_meet() -> None:
    addresses = np.where(LANES < 16, LANES, LANES - 16) * 8 + np.where(LANES < 16, 0, 4096)
    assert wavefronts(addresses, width=8) == 2
    assert wavefronts(addresses, 0xFFFF, 8) == 1
    shared = LANES % 16 * 8  # both half-warps read the same words
    assert (wavefronts(shared, width=8), wavefronts(shared, width=8, rule="kepler8")) == (2, 1)


@st.composite
def accesses(draw: st.DrawFn) -> tuple[np.ndarray, int, int]:
    width, reach = draw(st.sampled_from([1, 2, 4, 8, 16])), draw(st.sampled_from([1, 40, 1024]))
    elements = draw(st.lists(st.integers(0, reach - 1), min_size=32, max_size=32))
    return np.array(elements, np.int64) * width, draw(st.integers(0, FULL_MASK)), width


@given(accesses(), st.sampled_from(RULES))
def test_every_word_is_served_once_and_a_bank_serves_one_row_at_a_time(access: tuple[np.ndarray, int, int], rule: Rule) -> None:
    addresses, mask, width = access
    found = schedule(addresses, mask, width, rule)
    served: dict[int, int] = {}
    for wavefront in found:
        assert len({place.bank for place in wavefront}) == len(wavefront) > 0
        for place in wavefront:
            assert 0 <= place.bank < GEOMETRY[rule].banks
            for lane in place.lanes:
                served[lane] = served.get(lane, 0) + 1
    assert set(served) == {lane for lane in range(32) if mask >> lane & 1}
    words = max(width // 4, 1)
    least = {"kepler8": -(-words // 2)}.get(rule, words)
    assert all(least <= times <= words for times in served.values())
    assert len(found) == wavefronts(addresses, mask, width, rule)


@given(accesses(), st.integers(0, 100), st.sampled_from(RULES))
def test_moving_by_whole_rows_changes_nothing(access: tuple[np.ndarray, int, int], rows: int, rule: Rule) -> None:
    addresses, mask, width = access
    assert wavefronts(addresses + 256 * rows, mask, width, rule) == wavefronts(addresses, mask, width, rule)


def test_the_fewest_wavefronts_are_those_without_conflict() -> None:
    assert [fewest(FULL_MASK, width, "fermi") for width in (1, 4, 8, 16)] == [1, 1, 2, 4]
    assert [fewest(0xFF, width, "fermi") for width in (4, 8, 16)] == [1, 1, 1]
    assert [fewest(FULL_MASK, width, "cc1") for width in (1, 4, 8, 16)] == [2, 2, 4, 8]
    assert fewest(0, 4, "fermi") == wavefronts(LANES * 4, 0) == 0


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UserError, match="rules: fermi, kepler4, kepler8, cc1"):
        wavefronts(LANES * 4, rule="volta")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="not a multiple of 8"):
        wavefronts(LANES * 4, width=8)


def test_the_generation_chooses_the_rule() -> None:
    assert [rule_of(load(name)) for name in ("g80", "gt200", "gtx480", "k20c", "gtx980", "h100")] == [
        *("cc1", "cc1", "fermi"),
        *("kepler4", "fermi", "fermi"),
    ]
