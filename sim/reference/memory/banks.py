"""Shared-memory banks: how many passes one warp access takes.

A bank serves one row per pass. Lanes that ask a bank for the same row are served together, so an access takes as many passes as
the busiest bank has rows to serve. Wide accesses go in groups of lanes, one after another. The rules of the generations and their
sources are told in `sim.analysis.banks`; CC 1.x serves half-warps and broadcasts one word per pass (CUDA C Programming Guide 4.2, G.3.3).
"""

from collections import Counter

from sim.lowering.memory import GEOMETRY
from sim.reference.memory.coalescer import WORD, Addresses


def groups(rule: str, addresses: Addresses, width: int, doubled: bool = False) -> list[Addresses]:
    """Return the lanes that go together, group by group; groups without a lane are none. doubled: twice as many as their width allows."""
    _, pass_bytes, _, _ = GEOMETRY[rule]
    size = 16 if rule == "cc1" else min(32, pass_bytes // max(width, WORD))
    size *= 2 if doubled else 1
    parts = [{lane: address for lane, address in addresses.items() if lane // size == group} for group in range(32 // size)]
    return [members for members in parts if members]


def passes(rule: str, addresses: Addresses, width: int, atomic: bool) -> int:
    """Return the passes of one access. atomic: lanes that meet in a bank go one after another, whatever they want there."""
    one_word = rule == "cc1" and not atomic
    doubled = rule == "fermi" and width > WORD and not atomic and in_pairs(addresses)
    together = groups(rule, addresses, width, doubled)
    return sum(one_broadcast(lanes, width) if one_word else busiest(rule, lanes, width, atomic) for lanes in together)


def in_pairs(addresses: Addresses) -> bool:
    """Return whether lanes n and n xor 1, or n and n xor 2, want the same place, as far as both take part."""
    return any(all(addresses.get(lane ^ apart, address) == address for lane, address in addresses.items()) for apart in (1, 2))


def passes_needed(rule: str, addresses: Addresses, width: int) -> int:
    """Return the passes of the same lanes without conflicts."""
    return len(groups(rule, addresses, width)) * (max(width // WORD, 1) if rule == "cc1" else 1)


def busiest(rule: str, addresses: Addresses, width: int, atomic: bool) -> int:
    """Return the most rows that one bank has to serve."""
    banks, _, interleave, row_bytes = GEOMETRY[rule]
    words = [address // WORD * WORD + WORD * part for address in addresses.values() for part in range(max(width // WORD, 1))]
    wanted = [(byte // interleave % banks, byte // row_bytes) for byte in words]
    return max(Counter(bank for bank, _ in (wanted if atomic else set(wanted))).values())


def one_broadcast(addresses: Addresses, width: int) -> int:
    """Return the passes of a half-warp: each serves all who want the word of the lowest lane left, and one lane per other bank."""
    banks, count = GEOMETRY["cc1"][0], 0
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
