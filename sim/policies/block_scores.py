"""The scores of the policies of blocks. Pure functions that both engines call.

Each takes some of
    sm      int64   an SM with a free place
    free    int64   how many it has
    last    int64   the SM that took the block before; at the start the last SM
    block   int64   the block, in launch order
    sms     int64   SMs of the GPU
    group   int64   blocks.group_size (grouped only)
and returns an int64. A new policy is its name in `sim.policies.blocks.BlockPolicy`, and one function here.
"""

from collections.abc import Sequence

import numpy as np

from sim.compiled.generated import calling, generated, switch
from sim.compiled.kernel import inner, kernel
from sim.policies.blocks import PARAMETERS, BlockPolicy, OwnBlockPolicy

GIVEN = (*PARAMETERS, "group")


@inner
def emptiest(free: int) -> int:
    """Prefer the SM with the most free places: the first wave spreads breadth first."""
    return free


@inner
def round_robin(sm: int, last: int, sms: int) -> int:
    """Prefer the next SM after the one that took the block before."""
    return -((sm - last - 1) % sms)


@inner
def fill_first(sm: int) -> int:
    """Prefer the SM of the lowest number: one is filled before the next gets any."""
    return -sm


@inner
def grouped(sm: int, free: int, last: int, block: int, group: int) -> int:
    """Let `group` blocks that follow each other share an SM, if it has room; each group goes to the emptiest.

    With groups of two, "block CTA scheduling" of Lee et al., "Improving GPGPU resource utilization through alternative thread block
    scheduling", HPCA 2014.
    """
    return np.int64(1 << 40) if block % group != 0 and sm == last else free


FUNCTIONS = {
    BlockPolicy.EMPTIEST: emptiest,
    BlockPolicy.ROUND_ROBIN: round_robin,
    BlockPolicy.FILL_FIRST: fill_first,
    BlockPolicy.GROUPED: grouped,
}
score = generated(
    "score",
    ", ".join(["policy", *GIVEN]),
    [*switch("policy", {policy: [f"return {calling(FUNCTIONS[policy], GIVEN)}"] for policy in BlockPolicy}), "return int64(0)"],
    {function.__name__: function for function in FUNCTIONS.values()} | {"int64": np.int64},
    inner,
)


@kernel
def score_of(policy: int, sm: int, free: int, last: int, block: int, sms: int, group: int) -> int:
    """Return what `score` does, to Python."""
    return score(policy, sm, free, last, block, sms, group)


def choose_sm(policy: str | OwnBlockPolicy, free: Sequence[int], last: int, block: int, group: int) -> int:
    """Return the SM that takes the block, in Python; free: places of each SM, of which one has some."""
    if isinstance(policy, OwnBlockPolicy):
        return policy.choose(free, last, block)
    number, takers = int(BlockPolicy[policy.upper()]), [sm for sm, places in enumerate(free) if places > 0]
    return max(takers, key=lambda sm: int(score_of(*map(np.int64, (number, sm, free[sm], last, block, len(free), group)))))
