"""What a policy with state is asked and told: its hooks, called by address. Without one, all of this is behind a test of `Hardware.hooks`.

A hook that fails, a choice of a warp that cannot issue, and a scheduler held for too long are noted in `Chip.failed`; the run ends with
the window.
"""

import numpy as np

from isa.vocabulary import COUNTERS
from sim.compiled.callback import FAILED, ring
from sim.compiled.kernel import bit, first_bit, inner
from sim.lowering.core import Code, Hardware
from sim.policies.stateful import LOAD, RESULT, Failure, Hook
from sim.result.causes import StallCause
from sim.timing.groups import part_ready
from sim.timing.memory.l1 import is_there
from sim.timing.memory.state import NONE
from sim.timing.pipes import pipe_free
from sim.timing.state import Machine

# Hooks, not literals, for which Numba compiles a kernel each.
CHOOSE, START, ISSUE, STALL = np.int64(Hook.CHOOSE), np.int64(Hook.START), np.int64(Hook.ISSUE), np.int64(Hook.STALL)
WAKE, LOOKUP, EVICT, END = np.int64(Hook.WAKE), np.int64(Hook.LOOKUP), np.int64(Hook.EVICT), np.int64(Hook.END)
HELD, NOT_ELIGIBLE = int(Failure.HELD), int(Failure.NOT_ELIGIBLE)
LONG_SCOREBOARD = int(StallCause.LONG_SCOREBOARD)
SLOTS = 64


@inner
def has(hook: int, hw: Hardware) -> bool:
    """Return whether the policy has that hook."""
    return (hw.hooks >> hook) & 1 != 0


@inner
def tell(hook: int, m: int, q: int, told: tuple[int, int, int], now: int, hw: Hardware, sm: Machine) -> int:
    """Call a hook for scheduler q of SM m; return its answer."""
    answer = ring(hw.policy, hook, told, now, sm.own[m, q], sm.rows[m, q], sm.age[m, q])
    if answer == FAILED:
        fail(1 + hook, now, sm)
    return answer


@inner
def fail(why: int, now: int, sm: Machine) -> None:
    """Note a failure; of several the earliest: the SMs of a window come one after another."""
    chip = sm.chip[0]
    if chip.failed == 0 or now < chip.failed_at:
        chip.failed, chip.failed_at = why, now


@inner
def tell_of(hook: int, warp: np.record, what: int, more: int, now: int, hw: Hardware, sm: Machine) -> None:
    """Tell something of a warp, if the policy has that hook."""
    if has(hook, hw):
        told = np.int64(warp.bit), np.int64(what), np.int64(more)
        tell(hook, np.int64(warp.sm), np.int64(warp.scheduler), told, now, hw, sm)


@inner
def asked(scheduler: np.record, eligible: int, now: int, hw: Hardware, code: Code, sm: Machine) -> int:
    """Return the slot that a policy with state chooses, -1 when it issues nothing in this cycle."""
    m, q = np.int64(scheduler.sm), np.int64(scheduler.number)
    loads, rest = np.uint64(0), eligible
    while rest != np.uint64(0):
        slot = first_bit(rest)
        rest &= rest - np.uint64(1)
        if code.ops[sm.warps[m, slot * hw.schedulers + q].instruction].loads:
            loads |= bit(slot)
    slot = tell(CHOOSE, m, q, (np.int64(eligible), np.int64(loads), np.int64(scheduler.last)), now, hw, sm)
    if slot >= SLOTS or (slot >= 0 and eligible & bit(slot) == np.uint64(0)):
        fail(np.int64(1 + NOT_ELIGIBLE), now, sm)
        return first_bit(eligible)
    if slot < 0:
        hold(scheduler, now, hw, sm)
    return slot


@inner
def hold(scheduler: np.record, now: int, hw: Hardware, sm: Machine) -> None:
    """Issue nothing: count the cycle for the pipes that were free."""
    m, q, classes = scheduler.sm, scheduler.number, scheduler.classes
    while classes != np.uint64(0):
        pipe = first_bit(classes)
        classes &= classes - np.uint64(1)
        sm.withheld[m, q, pipe] += pipe_free(m, q, pipe, hw, sm) <= now
    scheduler.held += 1
    if scheduler.held > hw.patience and now - sm.cores[m].issued > hw.patience:
        fail(np.int64(1 + HELD), now, sm)


@inner
def was_withheld(warp: np.record, pipe: int, sm: Machine) -> int:
    """Return the cycles since its scheduler's last issue in which the policy kept the warp, ready for that pipe, from issuing."""
    m, q = warp.sm, warp.scheduler
    return sm.withheld[m, q, pipe] - max(warp.withheld_mark, sm.withheld_until[m, q, pipe])


@inner
def hold_no_longer(scheduler: np.record, now: int, sm: Machine) -> None:
    """It issues: what was withheld before is accounted."""
    sm.cores[scheduler.sm].issued = now
    if scheduler.held:
        scheduler.held = 0
        for pipe in range(sm.withheld.shape[2]):
            sm.withheld_until[scheduler.sm, scheduler.number, pipe] = sm.withheld[scheduler.sm, scheduler.number, pipe]


@inner
def tell_stall(warp: np.record, now: int, hw: Hardware, code: Code, sm: Machine) -> None:
    """Tell that the warp's next instruction needs a result that is not there yet, if it does; of several, a load's counts."""
    m, s, i = warp.sm, warp.slot, warp.instruction
    cause = np.int64(NONE)
    for column in range(code.needs.shape[1]):
        name = code.needs[i, column]
        if name < 0:
            break
        if sm.ready[m, s, name] > now:
            cause = max(cause, np.int64(LOAD if is_loading(m, s, name, now, code, sm) else RESULT))
    waits = np.int64(code.ops[i].waits)
    if waits >= 0 and part_ready(m, s, waits, np.int64(code.ops[i].most), code, sm)[0] > now:
        cause = max(cause, np.int64(LOAD if waits < COUNTERS else RESULT))
    if cause >= 0:
        tell_of(STALL, warp, cause, np.int64(0), now, hw, sm)


@inner
def is_loading(m: int, s: int, name: int, now: int, code: Code, sm: Machine) -> bool:
    """Return whether a dependence awaits a load from beyond shared memory; a counter may await other results, too."""
    if code.control:
        return sm.loading[m, s, name] > 0 or sm.loaded[m, s, name] > now
    return sm.ready_cause[m, s, name] == LONG_SCOREBOARD


@inner
def load_begins(warp: np.record, op: np.record, back: int, hw: Hardware, sm: Machine) -> None:
    """A load that holds a dependence counter issues. back: when it is back, if that is known."""
    if has(STALL, hw) and op.loads and op.write_counter >= 0:
        m, s, number = warp.sm, warp.slot, np.int64(op.write_counter)
        if op.memory:
            sm.loading[m, s, number] += 1
        else:
            sm.loaded[m, s, number] = max(sm.loaded[m, s, number], back)


@inner
def load_known(m: int, s: int, op: np.record, back: int, hw: Hardware, sm: Machine) -> None:
    """It is known when it is back."""
    if has(STALL, hw) and op.loads and op.write_counter >= 0:
        number = np.int64(op.write_counter)
        sm.loading[m, s, number] -= 1
        sm.loaded[m, s, number] = max(sm.loaded[m, s, number], back)


@inner
def tell_lookup(m: int, number: int, place: int, k: int, now: int, hw: Hardware, sm: Machine) -> None:
    """Before line k of a load is looked up in L1: tell whether all that it wants is there."""
    mh, memory = hw.memory[0], sm.memory
    if memory.owners.shape[0] == 0:
        return
    warp = sm.warps[m, memory.entries[m, number, place].slot]
    if has(LOOKUP, hw):
        line, first = memory.entry_line[m, number, place, k], memory.entry_set[m, number, place, k]
        hit = is_there(m, line, first, memory.entry_sectors[m, number, place, k], memory.entry_words[m, number, place, k], mh, memory)
        tell_of(LOOKUP, warp, np.int64(line), np.int64(hit), now, hw, sm)
    memory.units[m].asks = warp.slot
    memory.units[m].replaced = NONE


@inner
def tell_evicted(m: int, now: int, hw: Hardware, sm: Machine) -> None:
    """Tell whose line of L1 was replaced by what was just looked up, if one was."""
    unit = sm.memory.units[m]
    if sm.memory.owners.shape[0] and unit.replaced >= 0:
        tell_of(EVICT, sm.warps[m, unit.replaced_of], np.int64(unit.replaced), np.int64(0), now, hw, sm)
        unit.replaced = NONE
