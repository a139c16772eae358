"""Opcodes and modifiers that are known and not modelled: why, and what to do, in place of a guess at what was meant."""

from collections.abc import Sequence

TENSOR_MEMORY = "tensor memory and tcgen05 are not modelled; compile for sm_80, whose mma.sync is, or write mma.sync"
SMALL = "products of floats of 8 bits and less are not modelled; take f16, bf16 or s8"
SPARSE = "sparse products are not modelled; use the dense mma.sync or wgmma"
NIBBLES = "products of 4-bit and 1-bit numbers are not modelled; use s8 or u8"
BARRIERS = "barriers in shared memory (mbarrier) are modelled from sm_90 on; compile for that, or for sm_75, where cuda::barrier needs none"
ARRIVALS = "arrivals of copies (cp.async.mbarrier.arrive) are not modelled; use cp.async.wait_group, or bulk copies"
IMAGES = "tiles of images (im2col, tile::w) are not modelled; use tiles (.tile)"
REFUSED = {
    "ATOMS.ARRIVE": BARRIERS,
    **dict.fromkeys(("ARRIVES", "SYNCS.A0T1"), ARRIVALS),
    **dict.fromkeys(("UTMALDG.IM2COL", "UTMASTG.IM2COL", "UTMAREDG.IM2COL", "UTMAPF.IM2COL"), IMAGES),
    **dict.fromkeys(
        ("UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA", "UTCBAR", "UTCCP", "UTCSHIFT", "UTCATOMSWS", "UVIRTCOUNT", "LDTM", "STTM", "FENCE.T"),
        TENSOR_MEMORY,
    ),
    **dict.fromkeys(("QMMA", "OMMA"), SMALL),
    **dict.fromkeys(("BMMA", "BGMMA"), NIBBLES),
    **dict.fromkeys(("HMMA.SP", "IMMA.SP", "HGMMA.SP", "QGMMA.SP", "IGMMA.SP"), SPARSE),
    **dict.fromkeys(("IMMA.S4", "IMMA.U4", "IMMA.8832", "IMMA.16864"), NIBBLES),
    "HMMA.884": "Volta's HMMA, in four steps by quarters of a warp, is not modelled; compile for sm_75 or later",
}


def refusal(name: str, modifiers: Sequence[str] = ()) -> str:
    """Return why an opcode with these modifiers is refused, and the remedy; an empty string when nothing is known against it."""
    for spelling in (name, *(f"{name}.{modifier}" for modifier in modifiers)):
        if spelling in REFUSED:
            return f"{spelling}: {REFUSED[spelling]}"
    return ""
