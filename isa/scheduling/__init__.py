"""Control words: `lint` finds what is wrong with a compiler's or an editor's, by the latencies of `latencies.toml`."""

from isa.scheduling.finding import Finding
from isa.scheduling.lint import lint

__all__ = ["Finding", "lint"]
