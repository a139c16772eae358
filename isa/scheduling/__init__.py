"""Control words: `lint` finds what is wrong with them, `schedule` lays them down, both by the latencies of `latencies.toml`."""

from isa.scheduling.assign import schedule
from isa.scheduling.finding import Finding
from isa.scheduling.lint import lint

__all__ = ["Finding", "lint", "schedule"]
