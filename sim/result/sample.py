"""`Sample`: what of a launch was executed and timed where not all of it was, and how far the estimate may be from the whole run's."""

from typing import Any, NamedTuple


class Sample(NamedTuple):
    """Of a sampled run: what it is an estimate from, and its bars: the truth lies within them in 95 of 100 cases."""

    blocks: int  # executed and timed
    grid: int  # blocks of the launch
    warp_instructions: int  # executed
    pieces: tuple[tuple[int, int], ...]  # first block and how many, ascending: each is contiguous in launch order
    cycles_bar: float  # half of the interval of `Result.cycles`
    instructions_bar: float  # half of that of the counter warp_instructions; 0 where all blocks execute as many

    @property
    def whole(self) -> bool:
        """Whether nothing was left out: a sample would have been most of the launch."""
        return self.blocks == self.grid

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return self._asdict() | {"pieces": [list(piece) for piece in self.pieces], "confidence": 0.95}
