"""Which line of a set goes when a cache needs a place: one function, which both engines call. README.md says what each policy is.

A policy keeps one int64 for each way of a set, zero before cycle 0:
    RANDOM   of the first way: numbers drawn so far
    PLRU     of way k, from 1 on: 1 = of the node whose right half begins at way k the right half goes next
    SRRIP    the interval in which the line is expected to be used again, 0 (soon) to 3
LRU is not here: the caches keep its order themselves, as fast as they can.
"""

import numpy as np

from sim.compiled.kernel import inner, kernel
from sim.policies import Replacement

RANDOM, PLRU, SRRIP = int(Replacement.RANDOM), int(Replacement.PLRU), int(Replacement.SRRIP)
USED, FILLED, VICTIM = range(3)  # what happens: a line is found, a line comes, a line has to go
LONG, DISTANT = 2, 3  # intervals of SRRIP: of a line that comes, of one that goes


@inner
def replaced(policy: int, event: int, state: np.ndarray, first: int, way: int, may_go: np.ndarray, salt: int) -> int:
    """Note that a way is used or filled, or return the way that goes.

    state: int64, those of the set from `first` on. may_go: uint8 [ways] 1 = this one may go, of which there is one. salt: which set.
    """
    if event == VICTIM:
        if policy == RANDOM:
            return drawn(state, first, may_go, salt)
        return of_tree(state, first, may_go) if policy == PLRU else most_distant(state, first, may_go)
    if policy == PLRU:
        point_away(state, first, way, may_go.shape[0])
    elif policy == SRRIP:
        state[first + way] = LONG if event == FILLED else 0
    return way


@inner
def drawn(state: np.ndarray, first: int, may_go: np.ndarray, salt: int) -> int:
    """Return one of the ways that may go, by a hash of the set and of how many were drawn before."""
    state[first] += 1
    mixed = (salt * 0x9E3779B1 ^ state[first] * 0x85EBCA6B) >> 9
    mixed = ((mixed ^ mixed >> 15) & 0x7FFFFFFF) * 0xC2B2AE35
    ways = np.int64(0)
    for way in range(may_go.shape[0]):
        ways += may_go[way]
    turn = (mixed >> 20) % ways
    for way in range(may_go.shape[0]):
        turn -= may_go[way]
        if turn < 0:
            return np.int64(way)
    return np.int64(-1)


@inner
def of_tree(state: np.ndarray, first: int, may_go: np.ndarray) -> int:
    """Go down to a way, at each node into the half that goes next, into the other where none of that may go."""
    low, high = np.int64(0), np.int64(may_go.shape[0])
    while high - low > 1:
        middle = (low + high) // 2
        left, right = any_of(may_go, low, middle), any_of(may_go, middle, high)
        if right and (state[first + middle] == 1 or not left):
            low = middle
        else:
            high = middle
    return low


@inner
def any_of(may_go: np.ndarray, low: int, high: int) -> bool:
    """Return whether one of these ways may go."""
    found = False
    for way in range(low, high):
        found |= may_go[way] != 0
    return found


@inner
def point_away(state: np.ndarray, first: int, way: int, ways: int) -> None:
    """Let each node above a way name the other half."""
    low, high = np.int64(0), np.int64(ways)
    while high - low > 1:
        middle = (low + high) // 2
        if way < middle:
            state[first + middle], high = 1, middle
        else:
            state[first + middle], low = 0, middle


@inner
def most_distant(state: np.ndarray, first: int, may_go: np.ndarray) -> int:
    """Return the first way whose line is expected latest; all lines age until that one is distant."""
    best = np.int64(-1)
    for way in range(may_go.shape[0]):
        if may_go[way] and (best < 0 or state[first + way] > state[first + best]):
            best = np.int64(way)
    older = DISTANT - state[first + best]
    for way in range(may_go.shape[0]):
        state[first + way] = min(state[first + way] + older, DISTANT)
    return best


@kernel
def replaced_of(policy: int, event: int, state: np.ndarray, first: int, way: int, may_go: np.ndarray, salt: int) -> int:
    """Do what `replaced` does, for Python."""
    return replaced(policy, event, state, first, way, may_go, salt)
