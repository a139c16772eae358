"""Shared-memory banks: how many passes one warp access takes.

A bank serves one row per pass. Lanes that ask a bank for the same row are served together, so an access takes as many passes as
the busiest bank has rows to serve. Wide accesses go in groups of lanes, one after another. Banks are 4 bytes wide; Kepler's are 8
(CUDA C Programming Guide, shared memory of compute capability 3.x). CC 1.x serves half-warps and broadcasts one word per pass (4.2, G.3.3).
"""

from collections import Counter

from sim.reference.memory.coalescer import WORD, Addresses

GROUP = {  # lanes that go together, by rule and width
    "words": {1: 32, 2: 32, 4: 32, 8: 16, 16: 8},
    "kepler": {1: 32, 2: 32, 4: 32, 8: 32, 16: 16},
    "cc1": {1: 16, 2: 16, 4: 16, 8: 16, 16: 8},
}
BANK_BYTES = {"words": 4, "kepler": 8, "cc1": 4}


def passes(rule: str, banks: int, addresses: Addresses, width: int, atomic: bool) -> int:
    """Return the passes of one access. atomic: lanes that meet in a bank go one after another, whatever they want there."""
    size, total = GROUP[rule][width], 0
    for group in range(32 // size):
        members = {lane: address for lane, address in addresses.items() if lane // size == group}
        if not members:
            continue
        if rule == "cc1" and not atomic:
            total += one_broadcast(members, width, banks)
        else:
            total += busiest(members, width, banks, BANK_BYTES[rule], atomic)
    return total


def passes_needed(rule: str, width: int) -> int:
    """Return the passes of a whole warp without conflicts."""
    return 2 * max(width // WORD, 1) if rule == "cc1" else 32 // GROUP[rule][width]


def busiest(addresses: Addresses, width: int, banks: int, size: int, atomic: bool) -> int:
    """Return the most rows that one bank of `size` bytes has to serve."""
    rows = [address // size + part for address in addresses.values() for part in range(max(width // size, 1))]
    served = Counter(row % banks for row in (rows if atomic else set(rows)))
    return max(served.values())


def one_broadcast(addresses: Addresses, width: int, banks: int) -> int:
    """Return the passes of a half-warp: each serves all who want the word of the lowest lane left, and one lane per other bank."""
    count = 0
    for part in range(max(width // WORD, 1)):
        left = {lane: address // WORD + part for lane, address in addresses.items()}
        while left:
            word = left[min(left)]
            busy = {word % banks}
            for lane, wanted in list(left.items()):
                if wanted == word or wanted % banks not in busy:
                    busy.add(wanted % banks)
                    del left[lane]
            count += 1
    return count
