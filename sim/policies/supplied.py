"""The policies with state that are supplied, by the names that `core.policy` takes; the cache-conscious one has a file of its own.

Each is written with what a user has, too: the hooks of `sim.policies.stateful`.
"""

from typing import Any

import numpy as np

from sim.policies.ccws import CacheConscious
from sim.policies.stateful import BARRIER, LOAD, SLOTS, HookedPolicy, StatefulPolicy, hooked

MODULUS, FACTOR = 2**31 - 1, 48271  # of the generator of S. K. Park, K. W. Miller and P. K. Stockmeyer, CACM 36 (7), 1993
SPREAD = 69621  # another factor of theirs: sets the generators of schedulers apart
NONE, ACTIVE, PENDING, WAITING = range(4)  # what a slot of TwoLevelActive is
SIZE, TURN, ACTIVES = range(3)  # of its own row
STATE, SINCE = range(2)  # of its warps' rows
STARTED, ISSUED_LAST, LEFT, ISSUED, STALLED = range(5)  # of the rows of Criticality's warps


class Random(StatefulPolicy):
    """Any eligible warp, each as likely. Every scheduler has its own numbers, from `core.policy_seed`."""

    scheduler_words = 1

    @staticmethod
    def begin(number: int, core: Any, own: np.ndarray, warps: np.ndarray) -> None:
        """Set a scheduler's generator."""
        own[0] = (core.policy_seed * FACTOR + number * SPREAD) % (MODULUS - 1) + 1

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        """Return the slot of a number drawn."""
        own[0] = own[0] * FACTOR % MODULUS
        count = 0
        for slot in range(SLOTS):
            count += eligible >> slot & 1
        wanted = own[0] % count
        for slot in range(SLOTS):
            if eligible >> slot & 1:
                if wanted == 0:
                    return slot
                wanted -= 1
        return -1


def fill(own: np.ndarray, warps: np.ndarray) -> None:
    """Move pending warps to the places of the active set that are free, the one that waits longest first."""
    while own[ACTIVES] < own[SIZE]:
        first = -1
        for slot in range(SLOTS):
            if warps[slot, STATE] == PENDING and (first < 0 or warps[slot, SINCE] < warps[first, SINCE]):
                first = slot
        if first < 0:
            return
        warps[first, STATE] = ACTIVE
        own[ACTIVES] += 1


def leave(slot: int, state: int, own: np.ndarray, warps: np.ndarray) -> None:
    """Give a warp another state; one that was active gives its place to the next that is pending."""
    if warps[slot, STATE] == ACTIVE:
        own[ACTIVES] -= 1
    warps[slot, STATE] = state
    own[TURN] += 1
    warps[slot, SINCE] = own[TURN]
    fill(own, warps)


class TwoLevelActive(StatefulPolicy):
    """Round robin in a small active set; a warp that begins to wait for memory or at a barrier leaves it, and queues up when it can go on.

    M. Gebhart, D. R. Johnson, D. Tarjan, S. W. Keckler, W. J. Dally, E. Lindholm, K. Skadron, "Energy-efficient mechanisms for managing
    thread context in throughput processors", ISCA 2011. The set of each scheduler has `core.group_size` places.
    """

    scheduler_words, warp_words = 3, 2

    @staticmethod
    def begin(number: int, core: Any, own: np.ndarray, warps: np.ndarray) -> None:
        """Set the size of the active set."""
        own[SIZE] = core.group_size

    @staticmethod
    def on_start(slot: int, block: int, work: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Let a new warp queue up."""
        leave(slot, PENDING, own, warps)

    @staticmethod
    def on_stall(slot: int, cause: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Let a warp go that will wait for long."""
        if cause in (LOAD, BARRIER):
            leave(slot, WAITING, own, warps)

    @staticmethod
    def on_wake(slot: int, load: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Let a warp that waited queue up."""
        if warps[slot, STATE] == WAITING:
            leave(slot, PENDING, own, warps)

    @staticmethod
    def on_end(slot: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Forget a warp that has ended: its place is another's."""
        leave(slot, NONE, own, warps)

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        """Return the next active slot after the last one; -1 when no active warp is eligible."""
        start = last if last >= 0 else ~last
        for step in range(1, SLOTS + 1):
            slot = (start + step) % SLOTS
            if eligible >> slot & 1 and warps[slot, STATE] == ACTIVE:
                return slot
        return -1


def greatest(eligible: int, age: np.ndarray, now: int, warps: np.ndarray, by_time: bool) -> int:
    """Return the eligible slot with the most work left, in instructions or in cycles as its warp went so far; of equals the oldest."""
    best, most = -1, 0
    for slot in range(SLOTS):
        if eligible >> slot & 1:
            value = warps[slot, LEFT]
            if by_time:
                each = (now - warps[slot, STARTED]) // max(warps[slot, ISSUED], 1)
                value = value * each + warps[slot, STALLED]
            if best < 0 or value > most or (value == most and age[slot] < age[best]):
                best, most = slot, value
    return best


class RemainingWork(StatefulPolicy):
    """The warp that has the most instructions left, of equals the oldest. The trace tells how many: no hardware knows."""

    warp_words = 5

    @staticmethod
    def on_start(slot: int, block: int, work: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Note a new warp's instructions."""
        warps[slot, STARTED], warps[slot, ISSUED_LAST], warps[slot, LEFT] = now, now, work
        warps[slot, ISSUED], warps[slot, STALLED] = 0, 0

    @staticmethod
    def on_issue(slot: int, instruction: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Count them down; count the cycles in which the warp did not issue."""
        warps[slot, STALLED] += max(now - warps[slot, ISSUED_LAST] - 1, 0)
        warps[slot, ISSUED_LAST] = now
        warps[slot, LEFT] -= 1
        warps[slot, ISSUED] += 1

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        """Return the warp with the most instructions left."""
        return greatest(eligible, age, now, warps, False)


class Criticality(RemainingWork):
    """Greedy, then the most critical warp: instructions left times its cycles per instruction so far, plus the cycles that it stalled.

    S.-Y. Lee, A. Arunkumar, C.-J. Wu, "CAWA: coordinated warp scheduling and cache prioritization for critical warp acceleration of GPGPU
    workloads", ISCA 2015: their gCAWS, with the instructions left from the trace where they estimate them from branches.
    """

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        """Return the warp that issued last if it can go on, else the most critical one."""
        if last >= 0 and eligible >> last & 1:
            return last
        return greatest(eligible, age, now, warps, True)


SUPPLIED: dict[str, type[StatefulPolicy]] = {
    "random": Random,
    "two_level_active": TwoLevelActive,
    "ccws": CacheConscious,
    "criticality": Criticality,
    "remaining_work": RemainingWork,
}


def stateful(policy: Any) -> HookedPolicy | None:
    """Return the policy with state that `core.policy` is or names; None when it has none."""
    if isinstance(policy, HookedPolicy):
        return policy
    return hooked(SUPPLIED[policy]) if policy in SUPPLIED else None
