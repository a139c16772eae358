"""How schedulers choose among ready warps. See README.md beside this file."""

from enum import IntEnum


class Policy(IntEnum):
    """How a scheduler chooses among ready warps; each is a function in `sim/policies/builtin.py`. Those with state are in `supplied.py`."""

    LRR = 0  # loose round robin
    GTO = 1  # greedy then oldest
    GTY = 2  # greedy then youngest
    GTR = 3  # greedy then rotate
    OLDEST = 4
    TWO_LEVEL = 5
