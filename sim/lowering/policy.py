"""Policies of warps and of blocks as the timing engine sees them."""

import numpy as np

from sim.gpus.model import Gpu
from sim.policies.blocks import block_policy_number
from sim.policies.supplied import stateful
from sim.policies.user import policy_number


def policy_numbers(gpu: Gpu) -> dict[str, np.int64]:
    """Return the fields of Hardware about the policies of a GPU."""
    core, policy = gpu.core, stateful(gpu.core.policy)
    return {
        "policy": np.int64(policy_number(core.policy)),
        "hooks": np.int64(policy.mask if policy else 0),
        "patience": np.int64(policy.patience if policy else 0),
        "group_size": np.int64(core.group_size),
        "block_policy": np.int64(block_policy_number(gpu.blocks.policy)),
        "block_group": np.int64(gpu.blocks.group_size),
    }
