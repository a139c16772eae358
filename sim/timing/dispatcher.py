"""The dispatcher: which SM takes the next block, and when; when the place of a finished one is free. README.md has its equations.

A block starts on the SM with the most free places (lowest number on ties), so the first wave spreads breadth first, or on the one that
another policy says (`sim/policies/blocks.py`): then the dispatcher waits until that one takes a block; blocks of a cluster go to SMs of one
group. It is told of a block's end `retire_latency` later, with `awaits_stores` not before its stores are answered, and takes note of one
after another.
"""

import numpy as np

from sim.compiled.callback import ring
from sim.compiled.kernel import inner
from sim.gpus.path import TICKS
from sim.lowering.core import Hardware
from sim.policies.block_scores import score
from sim.policies.blocks import BY_BLOCKS, OTHERS, BlockPolicy
from sim.timing.state import NEVER, Machine
from sim.timing.telling import fail
from sim.traces.trace import TraceArrays

EMPTIEST = int(BlockPolicy.EMPTIEST)


@inner
def start_blocks(now: int, hw: Hardware, sm: Machine, trace: TraceArrays) -> None:
    """Give a place to every block that starts in cycle `now`; set the next cycle in which another may."""
    chip = sm.chip[0]
    blocks = trace.warp_path.shape[0] // hw.warps
    chip.next_start = NEVER
    while chip.next_block < blocks:
        if start_cycle(chip) > now:
            chip.next_start = start_cycle(chip)
            return
        block = sm.order[chip.next_block] if sm.order.size else np.int64(chip.next_block)
        if hw.groups.size > 1:
            m = member(block, now, hw, sm)
        else:
            m = emptiest(np.int64(0), hw.sms, now, hw, sm) if hw.block_policy == EMPTIEST else chosen_sm(block, now, hw, sm)
        if m < 0:
            chip.next_start = next_place(now, hw, sm)
            return
        if sm.cores[m].starts > now:
            chip.next_start = next_choice(m, now, hw, sm)
            return
        if start_cycle(chip) < now:  # the interval counts from the start itself unless rounding delayed it
            chip.start_tick = now * TICKS
        place_block(m, block, now, hw, sm)
        chip.next_block += 1
        chip.last_sm = m
        chip.start_tick += hw.start_ticks


@inner
def start_cycle(chip: np.record) -> int:
    """Return the first cycle in which the start interval allows a block."""
    return (chip.start_tick + TICKS - 1) // TICKS


@inner
def emptiest(first: int, end: int, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the SM of `first` to before `end` with the most places free now, of those that take a block; -1 when there is none."""
    best, most = np.int64(-1), np.int64(0)
    for m in range(first, end):
        core = sm.cores[m]
        if core.emptied <= now:
            count_open(m, now, hw, sm)
        if core.open > most and core.starts <= now:
            best, most = np.int64(m), core.open
    return best


@inner
def member(block: int, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the SM for a block of a cluster: of the group that has the most places free when that begins, if they are enough."""
    chip = sm.chip[0]
    if block % hw.ranks == 0:
        chip.group = emptiest_group(now, hw, sm)
    if chip.group < 0:
        return np.int64(-1)
    return emptiest(hw.groups[chip.group], hw.groups[chip.group + 1], now, hw, sm)


@inner
def emptiest_group(now: int, hw: Hardware, sm: Machine) -> int:
    """Return the group with the most places free now, if a cluster has room; else -1."""
    best, most = np.int64(-1), hw.ranks - 1
    for group in range(hw.groups.size - 1):
        places = np.int64(0)
        for m in range(hw.groups[group], hw.groups[group + 1]):
            if sm.cores[m].emptied <= now:
                count_open(np.int64(m), now, hw, sm)
            places += sm.cores[m].open
        if places > most:
            best, most = np.int64(group), places
    return best


@inner
def chosen_sm(block: int, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the SM with a free place that the policy chooses; -1 when there is none, or the policy fails."""
    chip, best, highest = sm.chip[0], np.int64(-1), np.int64(0)
    for m in range(hw.sms):
        if sm.cores[m].emptied <= now:
            count_open(m, now, hw, sm)
        sm.free[m] = sm.cores[m].open
        if sm.free[m] > 0 and (best < 0 or hw.block_policy < OTHERS):
            value = score(hw.block_policy, np.int64(m), sm.free[m], np.int64(chip.last_sm), block, hw.sms, hw.block_group)
            if best < 0 or value > highest:
                best, highest = np.int64(m), value
    if best >= 0 and hw.block_policy >= OTHERS:
        best = ring(hw.block_policy, np.int64(0), (np.int64(chip.last_sm), block, hw.sms), now, sm.free, sm.free, sm.free)
        if best < 0:
            fail(np.int64(BY_BLOCKS), now, sm)
    return best


@inner
def next_choice(m: int, now: int, hw: Hardware, sm: Machine) -> int:
    """Return the first cycle in which the chosen SM may take a block, or another may be chosen because a place is free."""
    soonest = np.int64(sm.cores[m].starts)
    for other in range(hw.sms):
        soonest = min(soonest, sm.cores[other].emptied, sm.cores[other].leaves)
    return max(soonest, now + 1)


@inner
def count_open(m: int, now: int, hw: Hardware, sm: Machine) -> None:
    """Count the places of SM m that can take a block now; note when the next one can."""
    core = sm.cores[m]
    core.open, core.emptied = 0, NEVER
    for place in range(hw.places):
        free = sm.places[m, place].free
        if free <= now:
            core.open += 1
        else:
            core.emptied = min(core.emptied, free)


@inner
def next_place(now: int, hw: Hardware, sm: Machine) -> int:
    """Return the first cycle in which an SM may take a block again, or the dispatcher is told of the end of one, or NEVER."""
    soonest = np.int64(NEVER)
    for m in range(hw.sms):
        core = sm.cores[m]
        opens = np.int64(core.starts) if core.open else np.int64(core.emptied)
        soonest = min(soonest, opens, core.leaves)
    return max(soonest, now + 1)


@inner
def retire_blocks(until: int, hw: Hardware, sm: Machine) -> None:
    """Let the dispatcher take note of the blocks of whose end it is told before cycle `until`: by cycle, SM and place."""
    m = first_leaver(hw, sm)
    while sm.cores[m].leaves < until:
        retire_block(m, hw, sm)
        m = first_leaver(hw, sm)


@inner
def first_leaver(hw: Hardware, sm: Machine) -> int:
    """Return the SM of whose blocks the dispatcher is told next."""
    first = np.int64(0)
    for m in range(1, hw.sms):
        if sm.cores[m].leaves < sm.cores[first].leaves:
            first = np.int64(m)
    return first


@inner
def retire_block(m: int, hw: Hardware, sm: Machine) -> None:
    """Take note of the next block of SM m that leaves: its place is free when the dispatcher has done with it."""
    chip, core = sm.chip[0], sm.cores[m]
    number = np.int64(0)
    while sm.places[m, number].leaves != core.leaves:
        number += 1
    place = sm.places[m, number]
    chip.retire_tick = max(chip.retire_tick, place.leaves * TICKS) + hw.retire_ticks
    place.free = (chip.retire_tick + TICKS - 1) // TICKS
    place.leaves = core.leaves = NEVER
    for other in range(hw.places):
        core.leaves = min(core.leaves, sm.places[m, other].leaves)
    core.emptied = min(core.emptied, place.free)
    chip.next_start = min(chip.next_start, place.free)


def last_retired(hw: Hardware, sm: Machine) -> int:
    """Return the cycle in which the dispatcher has done with the last block of a finished machine; 0 where that takes no time."""
    tick = int(sm.chip.retire_tick[0])
    if not hw.retire_ticks:
        return 0
    for leaves in np.sort(sm.places.leaves[sm.places.leaves < NEVER]):
        tick = max(tick, int(leaves) * TICKS) + int(hw.retire_ticks)
    return -(-tick // TICKS)


@inner
def place_block(m: int, block: int, now: int, hw: Hardware, sm: Machine) -> None:
    """Give the block the first free place of SM m, where it begins in cycle `now`."""
    number = np.int64(0)
    while sm.places[m, number].free > now:
        number += 1
    core, place = sm.cores[m], sm.places[m, number]
    core.open -= 1
    core.starts = now + hw.sm_interval
    core.begins = min(core.begins, now)
    core.next = min(core.next, now)
    place.free = NEVER
    place.begins = now
    place.block = block
    sm.starts[block] = now
    place.turn = sm.chip[0].next_block
    if sm.homes.size:
        sm.homes[block] = m
