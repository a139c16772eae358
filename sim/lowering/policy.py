"""A scheduling policy as the timing engine sees it."""

import numpy as np

from sim.gpus.model import Core
from sim.policies.supplied import stateful
from sim.policies.user import policy_number


def policy_numbers(core: Core) -> dict[str, np.int64]:
    """Return the fields of Hardware about the policy of a core."""
    policy = stateful(core.policy)
    return {
        "policy": np.int64(policy_number(core.policy)),
        "hooks": np.int64(policy.mask if policy else 0),
        "patience": np.int64(policy.patience if policy else 0),
        "group_size": np.int64(core.group_size),
    }
