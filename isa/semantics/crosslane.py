"""What lanes take from each other."""

from isa.vocabulary import Shuffle


def shuffle_source(lane: int, b: int, c: int, mode: int) -> int:
    """Return the lane that SHFL reads for `lane`, or -1 when it lies outside the segment (PTX `shfl`).

    b: the distance, mask or lane; c: bits 0..4 the bound, bits 8..12 the mask of a segment's lane bits.
    """
    segment, offset = (c >> 8) & 31, b & 31
    bound = (lane & segment) | (c & 31 & ~segment)
    if mode == Shuffle.UP:
        return lane - offset if lane - offset >= bound else -1
    if mode == Shuffle.DOWN:
        source = lane + offset
    elif mode == Shuffle.BFLY:
        source = lane ^ offset
    else:
        source = (lane & segment) | (offset & ~segment)
    return source if source <= bound else -1
