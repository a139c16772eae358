"""Waves of blocks: how often a grid fills the chip, and how full it leaves it at the end (the tail)."""

from typing import NamedTuple


class Waves(NamedTuple):
    """A grid of `blocks` on a chip that holds `places` of them at once."""

    blocks: int
    places: int

    @property
    def number(self) -> int:
        """Waves, the last of which may not be full."""
        return -(-self.blocks // self.places)

    @property
    def last(self) -> int:
        """Blocks of the last wave."""
        return self.blocks - (self.number - 1) * self.places

    @property
    def share(self) -> float:
        """How full the last wave is, 0 to 1."""
        return self.last / self.places

    @property
    def efficiency(self) -> float:
        """Work per time against a grid of whole waves, 0 to 1, if every wave takes as long whatever is in it."""
        return self.blocks / (self.number * self.places)

    def sentence(self) -> str:
        """Return the waves in words, and what a grid of whole ones would give."""
        last = f"the last has {self.last:,} of {self.places:,} blocks ({self.share:.0%})"
        if self.last == self.places:
            return f"{self.number:,} of {self.places:,} blocks, all full"
        gain = 100 * (1 / self.efficiency - 1)
        return f"{self.blocks / self.places:.2f}: {last}; a grid of whole waves would do up to {gain:.0f}% more in the same time"
