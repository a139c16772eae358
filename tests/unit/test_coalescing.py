"""Transactions of one warp access: the programming guide's rules, enumeration by bytes, what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.errors import UserError
from sim.analysis.coalescing import FULL_MASK, Access, Rule, Segment, analyse, passes, transactions
from sim.analysis.patterns import KINDS, pattern
from sim.gpus.loader import load
from sim.gpus.path import LINE, SECTOR

LANES = np.arange(32, dtype=np.int64)
RULES: tuple[Rule, ...] = ("sectors", "cc12", "cc10")
WIDTHS = st.sampled_from([1, 2, 4, 8, 16])


def of(name: str, rule: Rule = "sectors", offset: int = 0, width: int | None = None) -> Access:
    found = pattern(name, width, offset)
    return analyse(found.addresses, FULL_MASK, found.width, rule)


@st.composite
def accesses(draw: st.DrawFn) -> tuple[np.ndarray, int, int]:
    """Draw addresses, mask and width: anything from one word to scattered over 16 KiB."""
    width, reach = draw(WIDTHS), draw(st.sampled_from([1, 8, 64, 1024]))
    elements = draw(st.lists(st.integers(0, reach - 1), min_size=32, max_size=32))
    return np.array(elements, np.int64) * width, draw(st.integers(0, FULL_MASK)), width


def touched(addresses: np.ndarray, mask: int, width: int) -> set[int]:
    return {int(addresses[lane]) + byte for lane in range(32) if mask >> lane & 1 for byte in range(width)}


@given(accesses())
def test_sectors_lines_and_useful_bytes_are_those_of_an_enumeration_by_bytes(access: tuple[np.ndarray, int, int]) -> None:
    found, used = analyse(*access), touched(*access)
    assert set(found.sectors) == {byte // SECTOR * SECTOR for byte in used}
    assert set(found.lines) == {byte // LINE * LINE for byte in used}
    assert found.useful == len(used)
    assert found.asked == access[1].bit_count() * access[2]


@given(accesses(), st.sampled_from(RULES))
def test_transactions_cover_what_is_used_and_are_aligned(access: tuple[np.ndarray, int, int], rule: Rule) -> None:
    found = analyse(*access, rule)
    moved = {byte for start, size in found.transactions for byte in range(start, start + size)}
    assert touched(*access) <= moved
    assert all(start % size == 0 for start, size in found.transactions)
    assert 0 < found.efficiency <= 1
    assert 0 < found.line_efficiency <= 1


@given(accesses(), st.permutations(range(32)))
def test_from_fermi_on_the_order_of_the_threads_does_not_matter(access: tuple[np.ndarray, int, int], order: list[int]) -> None:
    addresses, _, width = access
    assert analyse(addresses, FULL_MASK, width).transactions == analyse(addresses[order], FULL_MASK, width).transactions


@given(accesses(), st.integers(0, 1000), st.sampled_from(RULES))
def test_moving_by_whole_lines_moves_the_transactions(access: tuple[np.ndarray, int, int], lines: int, rule: Rule) -> None:
    addresses, mask, width = access
    before, after = (transactions(addresses + by, mask, width, rule) for by in (0, LINE * lines))
    assert [Segment(start + LINE * lines, size) for start, size in before] == after


@pytest.mark.parametrize("stride", range(1, 70))
def test_the_ladder_of_strides(stride: int) -> None:
    access = of(f"stride:{stride}")
    assert (len(access.sectors), len(access.lines)) == (min(4 * stride, 32), min(stride, 32))


@pytest.mark.parametrize("offset", range(65))
def test_the_ladder_of_offsets(offset: int) -> None:
    access = of("coalesced", offset=offset)
    assert (len(access.sectors), len(access.lines)) == (4 if offset % 8 == 0 else 5, 1 if offset % 32 == 0 else 2)


@pytest.mark.parametrize(
    ("width", "sizes"),
    [(1, [32] * 32), (2, [32] * 32), (4, [64, 64]), (8, [128, 128]), (16, [128] * 4)],
)
def test_cc10_combines_words_of_32_64_and_128_bits_in_order(width: int, sizes: list[int]) -> None:
    assert [segment.bytes for segment in transactions(LANES * width, FULL_MASK, width, "cc10")] == sizes


def test_cc10_idle_threads_spoil_nothing_but_a_swap_does() -> None:
    assert transactions(LANES * 4, 0x0000_FF0E, 4, "cc10") == [Segment(0, 64)]
    swapped = LANES * 4
    swapped[[3, 4]] = swapped[[4, 3]]
    assert [s.bytes for s in transactions(swapped, FULL_MASK, 4, "cc10")] == [32] * 16 + [64]  # the other half-warp is in order
    assert len(transactions(swapped, 0xFF, 4, "cc10")) == 8
    repeated = LANES * 4
    repeated[5] = 24  # as thread 6 does
    assert len(transactions(repeated, 0xFFFF, 4, "cc10")) == 16


@pytest.mark.parametrize(
    ("width", "segments"),
    [
        (1, [(0, 32), (0, 32)]),  # each half-warp uses 16 bytes of a 32-byte segment
        (2, [(0, 32), (32, 32)]),  # 64-byte segments, half used
        (4, [(0, 64), (64, 64)]),
        (8, [(0, 128), (128, 128)]),
        (16, [(0, 128), (128, 128), (256, 128), (384, 128)]),
    ],
)
def test_cc12_segments_by_width(width: int, segments: list[tuple[int, int]]) -> None:
    assert transactions(LANES * width, FULL_MASK, width, "cc12") == segments


def test_cc12_begins_with_the_lowest_thread_left() -> None:
    addresses = np.full(32, 512, np.int64)
    addresses[[1, 2]] = 0, 96
    assert transactions(addresses, 0xFFFF, 4, "cc12") == [(512, 32), (0, 128)]


def test_wide_accesses_go_in_passes() -> None:
    assert [passes(FULL_MASK, width) for width in (1, 2, 4, 8, 16)] == [1, 1, 1, 2, 4]
    assert [passes(0xFF, width) for width in (4, 8, 16)] == [1, 1, 1]
    assert passes(FULL_MASK, 4, "cc10") == 2
    assert passes(0, 4) == 0


def test_no_active_thread_moves_nothing() -> None:
    for rule in RULES:
        access = analyse(LANES, 0, 4, rule)
        assert (access.transactions, access.useful, access.efficiency) == ((), 0, 1.0)


def test_a_broadcast_is_asked_for_128_bytes_and_uses_4() -> None:
    access = of("broadcast")
    assert (access.asked, access.useful, access.moved, access.efficiency) == (128, 4, 32, 0.125)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 3}, "width 3"),
        ({"addresses": LANES}, "thread 1 accesses 4 bytes at 0x1, which is not a multiple of 4"),
        ({"addresses": LANES[:16]}, "32 addresses"),
        ({"mask": 1 << 32}, "mask of 32 bits"),
        ({"rule": "cc13"}, "rules: sectors, cc12, cc10"),
    ],
)
def test_what_cannot_be_is_refused(change: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        analyse(**{"addresses": LANES * 4} | change)


def test_every_pattern_is_aligned_and_says_what_it_is() -> None:
    for name in KINDS:
        found = pattern(name)
        assert analyse(found.addresses, width=found.width).lanes == tuple(range(32))
        assert "thread" in found.meaning
        assert "{" not in found.meaning


@pytest.mark.parametrize(
    ("name", "width", "message"),
    [
        ("strid:3", None, "did you mean stride"),
        ("zigzag", None, "patterns: coalesced"),
        ("stride:x", None, "'x' is not a number of elements"),
        ("stride:99999999999", None, "is not a number of elements from 0"),
        ("soa:3", None, "takes no number"),
        ("float4", 8, "16 bytes per thread, not 8"),
    ],
)
def test_patterns_that_cannot_be_are_refused(name: str, width: int | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        pattern(name, width)


def test_the_preset_chooses_the_rule() -> None:
    rules = {name: load(name).lsu.coalescing for name in ("g80", "gt200", "gtx480", "k20c", "h100")}
    assert rules == {"g80": "cc10", "gt200": "cc12", "gtx480": "sectors", "k20c": "sectors", "h100": "sectors"}
    assert "G.3.2.1" in str(load("g80").source_of("lsu.coalescing"))
    assert "G.3.2.2" in str(load("gt200").source_of("lsu.coalescing"))
