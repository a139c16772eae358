"""Constant caches of an SM, one of operands for each scheduler and one of LDC: a line that an instruction names comes from the level
behind them, which the SMs of a GPC share, and to that once from L2 (sim.lowering.constant_lines). That level's port takes the lines of an
SM one after another, in its share; when all SMs begin, those of the GPC that began before are served first. LDC with an address per lane
is served once for each distinct one, in the order of the lanes; what L2 has to be asked for is asked for at once. A line that the cache
lacks keeps the SM busy longer, unless an earlier lane named its group of 256 bytes. LDC that asks L2 holds one of a few entries as long
as one with a single address takes; where none is free, it and all LDC behind it wait.
"""

import numpy as np

from sim.compiled.kernel import first_bit, inner
from sim.lowering.constant_lines import GROUP_LINES, LINE, LINES_OF_L2
from sim.lowering.core import Code, Hardware
from sim.lowering.fetch import CONSTANTS
from sim.timing.fetch import find_line, late, line_turn, way
from sim.timing.memory.coalescer import has_lane, lane_address
from sim.timing.state import BEGAN, ENTRIES, FREE, NEVER, Machine
from sim.traces.trace import SCATTERED, TraceArrays

OPERANDS, LOADS = np.int64(0), np.int64(1)  # of what caches have sizes and latencies: the schedulers' of operands, the SM's of LDC


@inner
def constant_there(m: int, cache: int, line: int, turn: int, booked: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return the first cycle from its turn on in which one of the caches of SM m has a line.

    cache: of operands, a scheduler's number, of LDC `hw.schedulers`. booked: when the port is asked, as the instruction issues: in its
    turn it would be held for later from others; NEVER: by lane, where `group_cycles` stands for the port.
    """
    which = LOADS if cache == hw.schedulers else OPERANDS
    number = m * (hw.schedulers + 1) + cache
    place = find_line(sm.constants, number, line, code.constant_sets[which], code.constant_ways[which])
    entry = sm.constants[number, place]
    if entry.line != line:
        entry.line, entry.asked = line, turn
        sm.constant_missing[m] += 1
        served = line_turn(sm.gpc_ports[m, CONSTANTS], np.int64(0), booked) if booked != NEVER else turn
        entry.there = max(served, group_there(m, line, turn, hw, code, sm)) + hw.constant_near[which]
    elif entry.asked > turn:  # who asked for it has its turn only later
        entry.asked = turn
        entry.there = min(entry.there, group_there(m, line, turn, hw, code, sm) + hw.constant_near[which])
    sm.constant_turn[number] += 1
    entry.used = sm.constant_turn[number]
    return np.int64(entry.there)


@inner
def group_there(m: int, line: int, now: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return the first cycle from now on in which the level behind has a line."""
    group = line // GROUP_LINES
    if sm.constant_group[m, group] <= now:
        return now
    far = hw.constant_far if line >= code.constant_present else np.int64(0)
    of_l2 = line // LINES_OF_L2
    come = now + late(hw.constants_in_dram, of_l2, now) + far + way(hw.constants_in_dram, m, of_l2, hw)
    sm.constant_group[m, group] = min(sm.constant_group[m, group], come)
    return max(now, sm.constant_group[m, group])


@inner
def operand_there(warp: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return the first cycle in which the constant is there that the warp's next instruction waits for."""
    if warp.constant < 0:
        return np.int64(0)
    return constant_there(np.int64(warp.sm), np.int64(warp.scheduler), np.int64(warp.constant), now, now, hw, code, sm)


@inner
def operand_line(warp: np.record, code: Code, trace: TraceArrays) -> int:
    """Return the line of the constant that the issue of the warp's next instruction waits for, -1: of none."""
    op = code.ops[warp.instruction]
    if op.constant < 0 or op.late:
        return np.int64(-1)
    if not op.lanes or trace.mask[warp.position] == np.uint32(0):
        return np.int64(op.constant)
    return np.int64(op.constant) + lane_address(np.int64(warp.access), first_bit(np.int64(trace.mask[warp.position])), trace) // LINE


@inner
def result_delay(warp: np.record, op: np.record, mask: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> int:
    """Return how many cycles more the result of an LDC of the warp, issued now for the lanes of `mask`, takes than one address there."""
    m, access = np.int64(warp.sm), np.int64(warp.access)
    if op.constant < 0:
        return np.int64(0)
    entry = free_entry(m, sm) if asks_l2(warp, op, mask, hw, code, sm, trace) else BEGAN
    turn = max(now, sm.constant_free[m, BEGAN], sm.constant_free[m, entry])
    sm.constant_free[m, BEGAN] = turn
    if entry != BEGAN:
        sm.constant_free[m, entry] = turn + hw.constant_far + hw.constant_near[LOADS] + op.latency
    if op.lanes:
        ask_groups(warp, op, mask, turn, hw, code, sm, trace)
    addresses, sm.constant_missing[m] = np.int64(0), np.int64(0)
    booked = np.int64(NEVER) if op.lanes else now
    for lane in range(32):
        if not has_lane(mask, np.int64(lane)) or (addresses and not (op.lanes and names_another(access, np.int64(lane), mask, trace))):
            continue
        line = np.int64(op.constant)
        if op.lanes:
            line += lane_address(access, np.int64(lane), trace) // LINE
        if addresses:
            turn += hw.address_latency
        missing = sm.constant_missing[m]
        turn = max(turn, constant_there(m, hw.schedulers, line, turn, booked, hw, code, sm))
        if sm.constant_missing[m] > missing and (not op.lanes or comes_with_another(op, access, np.int64(lane), mask, trace)):
            sm.constant_missing[m] = missing
        addresses += 1
    free = max(sm.constant_free[m, FREE], now) + addresses * hw.address_cycles + sm.constant_missing[m] * hw.constant_cycles[m]
    sm.constant_free[m, FREE] = free
    return max(turn, free - hw.address_cycles) - now


@inner
def asks_l2(warp: np.record, op: np.record, mask: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> bool:
    """Return whether LDC for the lanes of `mask` asks for a line of 256 bytes that L2 has not been asked for yet."""
    m = np.int64(warp.sm)
    for lane in range(32):
        if has_lane(mask, np.int64(lane)):
            line = np.int64(op.constant)
            if op.lanes:
                line += lane_address(np.int64(warp.access), np.int64(lane), trace) // LINE
            if line >= code.constant_present and sm.constant_group[m, line // GROUP_LINES] == NEVER:
                cache = m * (hw.schedulers + 1) + hw.schedulers
                place = find_line(sm.constants, cache, line, code.constant_sets[LOADS], code.constant_ways[LOADS])
                if sm.constants[cache, place].line != line:
                    return True
            if not op.lanes:  # all lanes name the same
                return False
    return False


@inner
def free_entry(m: int, sm: Machine) -> int:
    """Return the column of the entry of LDC that is free first, BEGAN where there are no entries."""
    first = BEGAN
    for entry in range(ENTRIES, sm.constant_free.shape[1]):
        if first == BEGAN or sm.constant_free[m, entry] < sm.constant_free[m, first]:
            first = np.int64(entry)
    return first


@inner
def ask_groups(warp: np.record, op: np.record, mask: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Let the level behind ask for what it lacks of all lanes' addresses now, before their turns."""
    for lane in range(32):
        if has_lane(mask, np.int64(lane)):
            line = np.int64(op.constant) + lane_address(np.int64(warp.access), np.int64(lane), trace) // LINE
            group_there(np.int64(warp.sm), line, now, hw, code, sm)


@inner
def comes_with_another(op: np.record, access: int, lane: int, mask: int, trace: TraceArrays) -> bool:
    """Return whether a lane of `mask` before this one names a line of the same group."""
    alike, group = False, (np.int64(op.constant) + lane_address(access, lane, trace) // LINE) // GROUP_LINES
    for other in range(lane):
        line = np.int64(op.constant) + lane_address(access, np.int64(other), trace) // LINE
        alike |= has_lane(mask, np.int64(other)) and line // GROUP_LINES == group
    return alike


@inner
def names_another(access: int, lane: int, mask: int, trace: TraceArrays) -> bool:
    """Return whether no lane of `mask` before this one has the same address."""
    stride = trace.access_stride[access]
    if stride != SCATTERED:
        return stride != 0
    address = lane_address(access, lane, trace)
    alike = False
    for other in range(lane):
        alike |= has_lane(mask, np.int64(other)) and lane_address(access, np.int64(other), trace) == address
    return not alike
