"""The way back: requests that reach L2, and answers that reach their SM, earliest first, over its port."""

import numpy as np

from sim.compiled.kernel import inner, prefetch
from sim.gpus.path import FILL
from sim.lowering.accesses import ATOMIC, LOAD
from sim.lowering.core import Code, Hardware
from sim.lowering.memory import TICKS
from sim.timing.blocks import store_answered
from sim.timing.memory.copies import copy_ticks, plan_copies
from sim.timing.memory.issue_queue import plan
from sim.timing.memory.l1 import NO_SECTORS, words_of
from sim.timing.memory.l2 import prefetch_line, prefetch_set, serve
from sim.timing.memory.lsu import finish_access
from sim.timing.memory.mshr import free_mshr, wait_for
from sim.timing.memory.requests import sector_count, whole_cycles
from sim.timing.memory.state import FIRST_COPY, NONE, Memory
from sim.timing.parts import What, exchange
from sim.timing.state import NEVER, Machine
from sim.traces.trace import TraceArrays


@inner
def reach_l2(m: int, now: int, mh: np.record, memory: Memory) -> None:
    """Serve the requests of an SM that reach L2 now; a full queue there keeps those behind waiting. The SM is not past this cycle yet."""
    unit = memory.units[m]
    while unit.arrival <= now:
        request = memory.requests[m, unit.first]
        admitted, leaves = serve(m, request, now, mh, memory)
        request.left = now
        request.answer = leaves + mh.network if leaves < NEVER else np.int64(NEVER)
        request.sequence = memory.clock[0]
        memory.clock[0] += 1
        unit.first = (unit.first + 1) % mh.request_ring
        unit.requests -= 1
        unit.served += 1
        unit.blocked = admitted
        unit.arrival = max(memory.requests[m, unit.first].arrival, admitted) if unit.requests else np.int64(NEVER)


@inner
def receive_from_l2(m: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Note when the answers come to the requests that L2 has served, or will have in this window."""
    mh, memory = hw.memory[0], sm.memory
    unit = memory.units[m]
    if unit.served == 0 and unit.landed == 0:
        return
    while unit.landed:
        rise(m, memory)
        unit.landed -= 1
    place = (unit.first - unit.served + mh.request_ring) % mh.request_ring
    while unit.served:
        request = memory.requests[m, place]
        if request.kind not in (LOAD, ATOMIC):
            store_answered(m, np.int64(request.place), np.int64(request.answer), hw, sm)
        elif request.answer < NEVER:
            push(m, request, memory)
        place = (place + 1) % mh.request_ring
        unit.served -= 1
    next_response(unit, m, memory)
    plan(m, mh, code, memory)
    plan_copies(m, mh, memory)
    sm.cores[m].next = min(sm.cores[m].next, unit.next, unit.response, unit.copy_next)


@inner
def look_ahead(until: int, sms: int, mh: np.record, memory: Memory) -> None:
    """Ask for what L2 keeps of the lines of all requests that reach it before cycle `until`: first for tags, then for the rest."""
    for rest in (False, True):
        for m in range(sms):
            unit = memory.units[m]
            for k in range(unit.requests):
                request = memory.requests[m, (unit.first + k) % mh.request_ring]
                if max(request.arrival, unit.blocked) >= until:
                    break
                if rest:
                    prefetch_line(request, mh, memory)
                else:
                    prefetch_set(request, mh, memory)


@inner
def prefetch_lines(m: int, until: int, memory: Memory) -> None:
    """Ask for the lines of L1 that answers fill before cycle `until`."""
    for k in range(memory.units[m].responses):
        answer = memory.responses[m, k]
        if answer.time < until and answer.place >= 0:
            prefetch(memory.lines, m * memory.lines.shape[1] + answer.place)


@inner
def earlier(m: int, a: int, b: int, memory: Memory) -> bool:
    """Return whether answer a comes before answer b."""
    one, other = memory.responses[m, a], memory.responses[m, b]
    return one.time < other.time or (one.time == other.time and one.sequence < other.sequence)


@inner
def swap(m: int, a: int, b: int, memory: Memory) -> None:
    """Exchange two answers."""
    one, other = memory.responses[m, a], memory.responses[m, b]
    one.time, other.time = other.time, one.time
    one.sequence, other.sequence = other.sequence, one.sequence
    one.sectors, other.sectors = other.sectors, one.sectors
    one.mshr, other.mshr = other.mshr, one.mshr
    one.place, other.place = other.place, one.place


@inner
def push(m: int, request: np.record, memory: Memory) -> None:
    """Put the answer to a request into the heap of its SM."""
    answer = memory.responses[m, memory.units[m].responses]
    answer.time = request.answer
    answer.sequence = request.sequence
    answer.sectors = request.sectors
    answer.mshr = request.mshr
    answer.place = request.place
    rise(m, memory)


@inner
def rise(m: int, memory: Memory) -> None:
    """Take the answer behind the heap of an SM into it."""
    k = np.int64(memory.units[m].responses)
    memory.units[m].responses += 1
    while k > 0 and earlier(m, k, (k - 1) >> 1, memory):
        swap(m, k, (k - 1) >> 1, memory)
        k = (k - 1) >> 1


@inner
def pop(m: int, memory: Memory) -> None:
    """Move the first answer to the end of the heap and take it off."""
    unit = memory.units[m]
    unit.responses -= 1
    last, k = np.int64(unit.responses), np.int64(0)
    swap(m, k, last, memory)
    while 2 * k + 1 < last:
        child = 2 * k + 1
        if child + 1 < last and earlier(m, child + 1, child, memory):
            child += 1
        if not earlier(m, child, k, memory):
            break
        swap(m, k, child, memory)
        k = child


@inner
def next_response(unit: np.record, m: int, memory: Memory) -> None:
    """Find the next cycle in which an answer can start its transfer: it has come, and the port is free in that cycle."""
    unit.response = max(memory.responses[m, 0].time, unit.response_free // TICKS) if unit.responses else np.int64(NEVER)


@inner
def respond(m: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Transfer the answers that can start now; loads whose last MSHR has come are finished."""
    mh, memory = hw.memory[0], sm.memory
    unit = memory.units[m]
    while unit.response <= now:
        pop(m, memory)
        answer = memory.responses[m, unit.responses]
        sectors, mshr, place = answer.sectors, np.int64(answer.mshr), np.int64(answer.place)
        sector_ticks = copy_ticks((FIRST_COPY - mshr) & 1, mh) if mshr <= FIRST_COPY else mh.response_ticks
        unit.response_free = max(now * TICKS, unit.response_free) + sector_count(sectors) * sector_ticks
        next_response(unit, m, memory)
        ready = whole_cycles(unit.response_free) + FILL
        if place >= 0:
            fill(m, place, sectors, ready, hw, code, sm)
        elif mshr <= FIRST_COPY:
            exchange(What.LAND, m, mshr, ready, hw, code, sm, trace)
        else:
            complete(m, mshr, ready, hw, code, sm)
    plan(m, mh, code, memory)


@inner
def fill(m: int, place: int, sectors: int, ready: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Put sectors into a line of L1 and serve the MSHRs that waited for them; the others keep waiting."""
    memory = sm.memory
    line = memory.lines[m, place]
    line.there |= words_of(sectors)
    line.pending &= ~sectors
    number = np.int64(line.waiting)
    line.waiting = NONE
    while number >= 0:
        mshr = memory.mshrs[m, number]
        following = np.int64(mshr.next)
        mshr.need &= ~sectors
        if mshr.need == NO_SECTORS:
            complete(m, number, ready, hw, code, sm)
        else:
            wait_for(m, line, number, memory)
        number = following


@inner
def complete(m: int, number: int, ready: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """An MSHR has come: free its entry, and finish its load if it was the last."""
    memory = sm.memory
    a = np.int64(memory.mshrs[m, number].access)
    access = memory.accesses[m, a]
    access.missing -= 1
    access.ready = max(access.ready, ready)
    free_mshr(m, number, memory)
    if access.missing == 0:
        if access.reading:
            replay(memory.units[m], access)
        finish_access(m, a, hw, code, sm)


@inner
def replay(unit: np.record, access: np.record) -> None:
    """All data of a load are in L1: it reads them, after the loads that waited before it."""
    begins, reading = max(access.ready, unit.banks), np.int64(access.reading)
    unit.banks = begins + reading
    access.ready = begins + reading - 1
