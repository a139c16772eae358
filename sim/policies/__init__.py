"""Names of policies: which ready warp a scheduler issues, which line of a cache goes. See README.md beside this file."""

from enum import IntEnum
from typing import Literal


class Replacement(IntEnum):
    """Which line of a cache goes: `replacement.py`."""

    LRU = 0
    RANDOM = 1
    PLRU = 2  # a tree of bits
    SRRIP = 3


NamedReplacement = Literal["lru", "random", "plru", "srrip"]


class Policy(IntEnum):
    """How a scheduler chooses among ready warps; each is a function in `sim/policies/builtin.py`. Those with state are in `supplied.py`."""

    LRR = 0  # loose round robin
    GTO = 1  # greedy then oldest
    GTY = 2  # greedy then youngest
    GTR = 3  # greedy then rotate
    OLDEST = 4
    TWO_LEVEL = 5
    GTYR = 6  # greedy then youngest, or rotate


# The names that `core.policy` may be: these, and those with state.
Named = Literal[
    "lrr", "gto", "gty", "gtr", "gtyr", "oldest", "two_level", "random", "two_level_active", "ccws", "criticality", "remaining_work"
]  # fmt: skip
