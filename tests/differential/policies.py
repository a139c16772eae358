"""A policy that remembers all that it is told, in order, and chooses by it: two engines that tell it anything differently part for good."""

import numpy as np

from sim.policies.stateful import SLOTS, StatefulPolicy

MODULUS, FACTOR = 2**31 - 1, 48271
HOLDS = 5  # it issues nothing about once in so many cycles in which it could


def note(hook: int, slot: int, first: int, second: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
    """Mix what is told into the scheduler's row and the warp's."""
    for value in (hook, slot, first, second, now):
        own[0] = (own[0] * FACTOR + value % MODULUS) % MODULUS
    warps[slot, 0] = (warps[slot, 0] * FACTOR + own[0]) % MODULUS


class Witness(StatefulPolicy):
    """All hooks."""

    scheduler_words, warp_words = 1, 1

    @staticmethod
    def begin(number: int, core: object, own: np.ndarray, warps: np.ndarray) -> None:
        own[0] = number + 1

    @staticmethod
    def on_start(slot: int, block: int, work: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        note(1, slot, block, work, now, own, warps)

    @staticmethod
    def on_issue(slot: int, instruction: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        note(2, slot, instruction, 0, now, own, warps)

    @staticmethod
    def on_stall(slot: int, cause: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        note(3, slot, cause, 0, now, own, warps)

    @staticmethod
    def on_wake(slot: int, load: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        note(4, slot, load, 0, now, own, warps)

    @staticmethod
    def on_lookup(slot: int, line: int, hit: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        note(5, slot, line, hit, now, own, warps)

    @staticmethod
    def on_evict(slot: int, line: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        note(6, slot, line, 0, now, own, warps)

    @staticmethod
    def on_end(slot: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        note(7, slot, 0, 0, now, own, warps)

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        for value in (eligible, loads, last, now):
            own[0] = (own[0] * FACTOR + value % MODULUS) % MODULUS
        if own[0] % HOLDS == 0:
            return -1
        best = -1
        for slot in range(SLOTS):
            if eligible >> slot & 1 and (best < 0 or warps[slot, 0] + age[slot] < warps[best, 0] + age[best]):
                best = slot
        return best
