"""Control words: `lint` finds what is wrong with them, `schedule` lays them down, both by the latencies of `sim/gpus/families`."""

from sim.control_words.assign import check_sayable, schedule
from sim.control_words.finding import Finding
from sim.control_words.lint import lint

__all__ = ["Finding", "check_sayable", "lint", "schedule"]
