"""Results of an H200 (`programs/measurements/conformance`), bit for bit: random kernels, and the multi-function unit over whole octaves."""

import zlib

import numpy as np
import pytest

from isa import cubin
from isa.semantics import mufu
from isa.vocabulary import Flag, Mufu
from programs.measurements.conformance import kept
from programs.measurements.conformance.kernels import kernel

FRACTIONS = 1 << 23
OCTAVES = {  # first row, bits of a segment's x, exponent of the results, CRC-32 of all 2**23 results
    "rcp": (mufu.RCP, 16, 126, 0xA9F2ECFC),
    "rsq of [2, 4)": (mufu.RSQ + 64, 17, 126, 0x510DC204),
    "sqrt of [1, 2)": (mufu.SQRT, 17, 127, 0x851C4F4C),
    "sqrt of [2, 4)": (mufu.SQRT + 64, 17, 127, 0x279BC15F),
    "ex2 of [1, 2)": (mufu.EX2, 17, 128, 0x676486CD),
}


@pytest.mark.skipif(cubin.disassembler() is None, reason="needs the extra `disassembler`")
@pytest.mark.slow
@pytest.mark.parametrize("part", kept.parts())
def test_random_kernels_leave_what_an_h200_leaves(part: int) -> None:
    assert list(kept.run(part)) == []


def test_a_wrong_result_is_seen() -> None:
    part = kept.parts()[0]
    number, made = next(iter(kept.kernels(part).values()))
    assert kernel(kept.SEED, number).results == made.results  # the generator still makes the kernels that are kept
    left = np.zeros((made.words + 5) * 64, np.uint32)
    assert len(list(kept._differences(made, left, np.zeros(len(made.results) + 1, np.uint32)))) == len(made.results) + 1


def values(first: int, size: int) -> np.ndarray:
    """Return the interpolated values of all fractions: int64, in steps, as what is between would fill the memory."""
    blocks = [np.arange(start, start + FRACTIONS // 16, dtype=np.int64) for start in range(0, FRACTIONS, FRACTIONS // 16)]
    return np.concatenate([np.asarray(mufu.interpolated(first, block, size)) for block in blocks])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OCTAVES)
def test_all_fractions_of_an_octave(name: str) -> None:
    first, size, exponent, crc = OCTAVES[name]
    bits = (values(first, size) >> mufu.PLACES) + ((exponent - 1) << 23)
    assert zlib.crc32(bits.astype("<u4").tobytes()) == crc


def test_all_fractions_of_the_logarithm_and_of_a_quarter_turn() -> None:
    """Which are normalised: of 41 binary places the highest 24 from the first one on."""
    for first, sign, crc in ((mufu.LG2, 0, 0x15F1D460), (mufu.SIN, mufu.SIGN, 0x4EBCD39B)):
        mantissa, exponent = np.frexp(values(first, 17).astype(float))
        bits = np.floor(mantissa * 2**24).astype(np.int64) + ((exponent.astype(np.int64) + 126 - 41) << 23) - (1 << 23)
        bits[0] = 0  # log2(1), sin(0)
        assert zlib.crc32((bits | sign).astype("<u4").tobytes()) == crc


@pytest.mark.parametrize(
    ("name", "is_bfloat", "crc"),
    [("EX2", 0, 0x97A64DA3), ("TANH", 0, 0x0CA6CE91), ("EX2", Flag.BF16, 0x6087F470), ("TANH", Flag.BF16, 0x462A818A)],
)
def test_every_seventeenth_half(name: str, is_bfloat: int, crc: int) -> None:
    with np.errstate(all="ignore"):
        found = [mufu.mufu_half(Mufu[name], np.uint32(bits), int(is_bfloat)) for bits in range(0, 1 << 16, 17)]
    assert zlib.crc32(np.array(found, "<u4").tobytes()) == crc


@pytest.mark.parametrize("key", np.load(kept.FOLDER / "mufu.npz").files)
def test_all_exponents(key: str) -> None:
    name, first, step = key.split("_")
    expected = np.load(kept.FOLDER / "mufu.npz")[key]
    given = (int(first, 16) + np.arange(len(expected), dtype=np.uint64) * int(step)).astype(np.uint32)
    if name.endswith("64h"):
        found = [mufu.mufu64(Mufu[name[:3].upper()], word) for word in given]
    else:
        with np.errstate(all="ignore"):
            found = [mufu.mufu(Mufu[name.upper()], x, 1).view(np.uint32) for x in given.view(np.float32)]
    wrong = np.array(found, np.uint32) != expected
    assert not wrong.any(), [hex(x) for x in given[wrong][:4]]
