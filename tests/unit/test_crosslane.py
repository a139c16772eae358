"""SHFL, VOTE, MATCH and REDUX against PTX's rules written out over lists of lanes."""

import numpy as np
import pytest

from tests.unit.one_instruction import THREADS, compute, words

LANE = np.arange(THREADS) % 32
ODD = "S2R R4, SR_LANEID\nLOP.AND R5, R4, 1\nISETP.NE.AND P2, PT, R5, RZ, PT"  # P2: odd lanes


def warps(array: np.ndarray) -> list[list[int]]:
    return array.reshape(-1, 32).tolist()


def shuffled(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """Return the source lane and the predicate, as the PTX ISA gives them under `shfl`."""
    bval, cval, mask = b & 31, c & 31, c >> 8 & 31
    max_lane = (lane & mask) | (cval & ~mask)
    min_lane = lane & mask
    j = {"UP": lane - bval, "DOWN": lane + bval, "BFLY": lane ^ bval, "IDX": min_lane | (bval & ~mask)}[mode]
    inside = j >= max_lane if mode == "UP" else j <= max_lane
    return (j if inside else lane), inside


@pytest.mark.parametrize("mode", ["IDX", "UP", "DOWN", "BFLY"])
@pytest.mark.parametrize("control", [0x1F, 0, 0x181F, 0x1C03, 0x1000, 0x100F, "register"])
def test_shuffle(mode: str, control: int | str) -> None:
    a, b = words(1), words(2) & np.uint32(63)
    c = words(3) & np.uint32(0x1F1F) if control == "register" else np.full(THREADS, control, np.uint32)
    text = f"SHFL.{mode} P0, {{d}}, {{a}}, {{b}}, {{c}}"
    result, flags = compute(text, a, b, c)
    for first in range(0, THREADS, 32):
        for lane in range(32):
            source, inside = shuffled(mode, lane, int(b[first + lane]), int(c[first + lane]))
            assert (int(result[first + lane]), int(flags[first + lane])) == (int(a[first + source]), int(inside))


def test_shuffle_with_immediates_into_its_own_source_and_under_a_guard() -> None:
    a = words(4)
    result, _ = compute("SHFL.BFLY PT, {a}, {a}, 0x1, 0x1f\nMOV {d}, {a}", a)
    assert result.tolist() == a[np.arange(THREADS) ^ 1].tolist()
    result, flags = compute("@P2 SHFL.DOWN P0, {d}, {a}, 0x2, 0x1f", a, prologue=ODD)
    source = np.where(LANE + 2 < 32, np.arange(THREADS) + 2, np.arange(THREADS))
    assert result.tolist() == np.where(LANE % 2 == 1, a[np.minimum(source, THREADS - 1)], 0).tolist()
    assert flags.tolist() == ((LANE % 2 == 1) & (LANE + 2 < 32)).astype(int).tolist()


@pytest.mark.parametrize("mode", ["ALL", "ANY", "EQ"])
@pytest.mark.parametrize("threshold", [0, 1 << 31, 0xFFFFFFFF])
@pytest.mark.parametrize("guard", ["", "@P2 "])
def test_vote(mode: str, threshold: int, guard: str) -> None:
    a = words(5)
    compare = f"ISETP.GE.U32.AND P1, PT, {{a}}, {threshold:#x}, PT\nISETP.F.AND P0, PT, RZ, RZ, PT\n{ODD}"
    result, flags = compute(f"{guard}VOTE.{mode} {{d}}, P0, P1", a, prologue=compare)
    for first in range(0, THREADS, 32):
        members = [lane for lane in range(32) if not guard or lane % 2]
        votes = [int(a[first + lane]) >= threshold for lane in members]
        ballot = sum(vote << lane for vote, lane in zip(votes, members, strict=True))
        truth = {"ALL": all(votes), "ANY": any(votes), "EQ": len(set(votes)) == 1}[mode]
        for lane in members:
            assert (int(result[first + lane]), int(flags[first + lane]) & 1) == (ballot, truth)


@pytest.mark.parametrize("wide", [False, True])
def test_match(wide: bool) -> None:
    rng = np.random.default_rng(6)
    a = rng.integers(0, 4, THREADS).astype(np.uint64 if wide else np.uint32)
    a[:32] = 7
    a = a << np.uint64(32) if wide else a
    size = ".U64" if wide else ""
    anywhere, _ = compute(f"MATCH.ANY{size} {{d}}, {{a}}", a)
    everywhere, flags = compute(f"MATCH.ALL{size} P0, {{d}}, {{a}}", a)
    for warp, values in enumerate(warps(a)):
        same = [sum((other == value) << lane for lane, other in enumerate(values)) for value in values]
        assert warps(anywhere)[warp] == same
        alike = len(set(values)) == 1
        assert set(warps(everywhere)[warp]) == {0xFFFFFFFF if alike else 0}
        assert set(warps(flags)[warp]) == {int(alike)}


@pytest.mark.parametrize("guard", ["", "@P2 "])
@pytest.mark.parametrize("name", ["", ".AND", ".OR", ".XOR", ".SUM", ".MIN", ".MAX", ".SUM.S32", ".MIN.S32", ".MAX.S32"])
def test_reduction(name: str, guard: str) -> None:
    a = words(7)
    result, _ = compute(f"{guard}REDUX{name} {{d}}, {{a}}", a, prologue=ODD)
    typed = (a.view(np.int32) if "S32" in name else a).astype(np.int64).reshape(-1, 32)[:, slice(1, None, 2) if guard else slice(None)]
    functions = {
        "": np.bitwise_and,
        "AND": np.bitwise_and,
        "OR": np.bitwise_or,
        "XOR": np.bitwise_xor,
        "SUM": np.add,
        "MIN": np.minimum,
        "MAX": np.maximum,
    }
    expected = functions[name.split(".")[1] if name else ""].reduce(typed, axis=1) & 0xFFFFFFFF
    assert warps(result)[0][1] == expected[0]
    assert result.reshape(-1, 32)[:, 1].tolist() == expected.tolist()
