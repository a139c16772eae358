"""Cache-conscious scheduling: warps that lose lines of L1 which they would have used again keep others from loading.

T. G. Rogers, M. O'Connor, T. M. Aamodt, "Cache-conscious wavefront scheduling", MICRO 2012. Each warp has a victim tag array: the lines
that it brought and that were replaced. A miss that finds its line there is lost locality: it raises the warp's score, which falls by one
per cycle to BASE. Scores are added up from the highest; warps beyond `warps * BASE` may not load. Among the others: greedy, then oldest.

Here each scheduler keeps the scores of its own warps (theirs is of the SM), and a new warp in a slot finds its victim tags empty.
The sizes, BASE and THROTTLE are as we know them of that paper, not checked against its table; victim tags go first in, first out.
"""

import numpy as np

from sim.policies.stateful import SLOTS, StatefulPolicy

SETS, WAYS = 2, 8  # of a victim tag array
BASE = 100  # score of a warp without lost locality
THROTTLE = 8  # K_THROTTLE
# Of a scheduler's row: warps, hits in victim tag arrays and instructions so far; all scores are BASE from UNTIL on.
WARPS, HITS, ISSUED, UNTIL = 0, 1, 2, 3
ALIVE, SCORE, SINCE, NEXT = 0, 1, 2, 3  # of a warp's row; NEXT: the way of each set that is written next
TAGS = NEXT + SETS  # lines, plus one


def score(slot: int, now: int, warps: np.ndarray) -> int:
    """Return a warp's score in this cycle."""
    return max(BASE, warps[slot, SCORE] - (now - warps[slot, SINCE]))


def may_load(slot: int, now: int, own: np.ndarray, warps: np.ndarray) -> bool:
    """Return whether the scores of the warps before this one, from the highest, of equals from the lowest slot, leave room for it."""
    mine, before = score(slot, now, warps), 0
    for other in range(SLOTS):
        if warps[other, ALIVE] and other != slot:
            its = score(other, now, warps)
            if its > mine or (its == mine and other < slot):
                before += its
                if before + mine > own[WARPS] * BASE:
                    return False
    return True


class CacheConscious(StatefulPolicy):
    """CCWS."""

    scheduler_words, warp_words = 4, TAGS + SETS * WAYS

    @staticmethod
    def on_start(slot: int, block: int, work: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Begin a warp without lost locality."""
        warps[slot, :] = 0
        warps[slot, ALIVE], warps[slot, SCORE], warps[slot, SINCE] = 1, BASE, now
        own[WARPS] += 1

    @staticmethod
    def on_end(slot: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Its share is the others'."""
        warps[slot, ALIVE] = 0
        own[WARPS] -= 1

    @staticmethod
    def on_issue(slot: int, instruction: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Count instructions."""
        own[ISSUED] += 1

    @staticmethod
    def on_evict(slot: int, line: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Keep the tag of a line that was replaced; the oldest of its set goes."""
        place = line % SETS
        way = warps[slot, NEXT + place]
        warps[slot, TAGS + place * WAYS + way] = line + 1
        warps[slot, NEXT + place] = (way + 1) % WAYS

    @staticmethod
    def on_lookup(slot: int, line: int, hit: int, now: int, own: np.ndarray, warps: np.ndarray) -> None:
        """Raise the score of a warp that misses a line which it has lost: hits per instruction, times THROTTLE, times the cutoff."""
        if hit:
            return
        first = TAGS + line % SETS * WAYS
        for place in range(first, first + WAYS):
            if warps[slot, place] == line + 1:
                own[HITS] += 1
                raised = own[HITS] * THROTTLE * own[WARPS] * BASE // max(own[ISSUED], 1)
                warps[slot, SCORE] = max(raised, BASE)
                warps[slot, SINCE] = now
                own[UNTIL] = max(own[UNTIL], now + raised - BASE)
                return

    @staticmethod
    def choose(eligible: int, loads: int, last: int, age: np.ndarray, now: int, own: np.ndarray, warps: np.ndarray) -> int:
        """Return the warp that issued last, or the oldest, of those that may issue; -1 when there is none."""
        best = -1
        for slot in range(SLOTS):
            better = eligible >> slot & 1 and (slot == last or best < 0 or age[slot] < age[best])
            if better and (now >= own[UNTIL] or not loads >> slot & 1 or may_load(slot, now, own, warps)):
                if slot == last:
                    return slot
                best = slot
        return best
