"""What a policy with state keeps, and what the machine keeps for it; without one the arrays are empty. What policies of blocks look at."""

import numpy as np

from isa.vocabulary import COUNTERS
from sim.gpus.model import Core
from sim.lowering.core import Code, Hardware
from sim.policies.stateful import SLOTS
from sim.policies.supplied import stateful
from sim.timing import records


def policy_rows(hw: Hardware, code: Code, core: Core, slots: int, room: records.Room) -> dict[str, np.ndarray]:
    """Return the fields of Machine about policies, as they are before cycle 0."""
    policy, sms, schedulers = stateful(core.policy), int(hw.sms), int(hw.schedulers)
    words = policy.words if policy else (0, 0)
    pipes, counters = (len(hw.row) if policy else 0), (COUNTERS if policy and code.control else 0)
    rows = {
        "own": room.zeros((sms, schedulers, words[0]), np.int64),
        "rows": room.zeros((sms, schedulers, SLOTS if policy else 0, words[1]), np.int64),
        "withheld": room.zeros((sms, schedulers, pipes), np.int64),
        "withheld_until": room.zeros((sms, schedulers, pipes), np.int64),
        **{name: room.zeros(0, np.int64) for name in ("order", "starts", "ends")},
        "free": room.zeros(sms, np.int64),
        "loading": room.zeros((sms, slots, counters), np.uint32),
        "loaded": room.zeros((sms, slots, counters), np.int64),
    }
    for m, q in np.ndindex(sms, schedulers) if policy else ():
        policy.begin(m * schedulers + q, core, rows["own"][m, q], rows["rows"][m, q])  # type: ignore[union-attr]
    return rows
