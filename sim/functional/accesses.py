"""Accesses that few programs have: atomics, LDGSTS, LDSM and STSM, those that write a predicate; and all accesses of a cluster, or of a
launch that is checked. They are a family of their own (`families`); `memory` has the plain ones, and what both share.
"""

import numpy as np

from isa.operations import Form
from isa.vocabulary import PT, Space
from sim.compiled.kernel import first_bit, inner
from sim.functional.addresses import spacing
from sim.functional.atomics import update
from sim.functional.bulk import copy_to_shared, fill_in, grant, load_matrices, says_where_done, spread_rows, store_matrices, take_lengths
from sim.functional.clusters import give_rank, own_addresses, perform_far, take_rank, wrong_rank
from sim.functional.flags import ASYNC, MATRIX, ZFILL
from sim.functional.memory import Part, checked, keep_access, move, room_for_access
from sim.functional.operands import predicate
from sim.functional.stack import fault
from sim.functional.state import FIRST, FULL, Code, Fault, Log, Machine, Memory, Progress, Report, Status, Store
from sim.functional.translation import device_addresses
from sim.functional.watch import observe
from sim.functional.windows import has_windows, next_window
from sim.traces.trace import FAR, PHASE_SHIFT


@inner
def access_anything(
    i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress
) -> int:
    """Execute LOAD, STORE or ATOM i for the lanes of `mask`; return a Status (a FULL one changes nothing)."""
    room = room_for_access(w, log, store)
    if room != Status.RUNNING:
        return room
    base, stride = np.int64(0), np.int64(0)
    if mask:
        device_addresses(i, w, mask, code, machine, memory)
        if memory.ranks > 1 and code.space[i] == Space.SHARED:
            own_addresses(i, mask, code, machine)
        reading = mask
        if code.flags[i] & (ASYNC | MATRIX):
            if code.flags[i] & MATRIX:
                lane = spread_rows(code.width[i], machine) if mask == FULL else np.int64(0)
                if lane >= 0:
                    progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = machine.target[lane], Space.SHARED
                    return fault(Fault.MISALIGNED if mask == FULL else Fault.MATRIX_IN_PART, w, lane, i, progress)
            else:
                if code.flags[i] & ZFILL:
                    take_lengths(code.width[i], machine)
                reading = mask & predicate(i, FIRST, w, code, machine)
                fill_in(reading, machine)
        base, stride = spacing(mask, machine)
        rest, windows = mask, (code.space[i] == Space.GENERIC or memory.ranks > 1) and has_windows(base, stride, mask, machine)
        done, anywhere = mask, not (windows and says_where_done(i, code))
        while rest:
            part, space = (next_window(rest, machine), machine.window[0]) if windows else (rest, code.space[i])
            ranked = windows and memory.ranks > 1 and space == Space.SHARED
            if ranked:
                part = take_rank(part, machine)
                if machine.window[1] >= memory.ranks:
                    return wrong_rank(i, w, first_bit(part), machine.window[1], progress)
                store.found[i, 0] |= np.int64(machine.window[1] != machine.rank[0]) << FAR
            if windows:
                base, stride = spacing(part, machine)
            if code.space[i] == Space.GENERIC:
                store.found[i, 0] |= np.int64(1) << space
            if space <= Space.GLOBAL or anywhere:
                status = perform(i, w, Part(part, reading & part, np.int64(space), base, stride), code, machine, memory, progress)
                if status != Status.RUNNING:
                    return status
                if ranked:
                    give_rank(part, machine, memory)
            else:
                done &= ~part
            rest &= ~part
        if windows:
            base, stride = spacing(mask, machine)
        if code.predicate_destination[i, 0] != PT:
            grant(i, w, mask, done, code, machine)
    keep_access(w, mask, base, stride, machine, log, store)
    if mask and code.flags[i] & ASYNC:
        log.access_base[log.row[w], log.accesses[w] - 1] += machine.index[0] << PHASE_SHIFT
    return Status.RUNNING


@inner
def perform(i: int, w: int, part: Part, code: Code, machine: Machine, memory: Memory, progress: Progress) -> int:
    """Check and carry out the part of access i that goes to one memory; return a Status."""
    mask, reading, space = part.lanes, part.reading, part.space
    status = checked(i, w, part, code, machine, memory, progress)
    if status != Status.RUNNING:
        return status
    if space == Space.SHARED and machine.window[1] != machine.rank[0]:
        perform_far(i, w, mask, code, machine, memory)
        return Status.RUNNING
    if memory.watch.asked[0]:
        observe(i, w, reading, space, code, machine, memory)
    if code.form[i] == Form.ATOM:
        if space == Space.LOCAL:
            return fault(Fault.ATOMIC_ON_LOCAL, w, first_bit(mask), i, progress)
        update(i, w, mask, space, code, machine, memory)
    elif code.flags[i] & ASYNC:
        return copy_to_shared(i, w, mask, reading, code, machine, memory, progress)
    elif code.flags[i] & MATRIX:
        if code.form[i] == Form.LOAD:
            load_matrices(i, w, code, machine, memory)
        else:
            store_matrices(i, w, code, machine, memory)
    else:
        move(i, w, mask, space, part.stride, code, machine, memory)
    return Status.RUNNING
