"""The mutable state of the Numba engine: arrays of records, one record per SM, place, warp slot and scheduler.

Records keep what belongs to one warp on one or two cache lines and travel as one pointer, so kernels can be small functions.
Slot s of an SM belongs to scheduler s % schedulers and is bit s // schedulers of that scheduler's masks.
m = SM, q = scheduler, s = warp slot of the SM. Cycles are int64.
"""

from typing import Any, NamedTuple

import numpy as np

from isa.program import SOURCES
from isa.vocabulary import BARRIERS, COUNTERS
from sim.gpus.model import Core as CoreSection
from sim.lowering.constant_lines import GROUP_LINES
from sim.lowering.control_words import COLLECTORS
from sim.lowering.core import Code, Hardware
from sim.lowering.fetch import LINE_INSTRUCTIONS, LONG_AGO
from sim.lowering.warpgroups import QUEUED
from sim.policies.stateful import Hook
from sim.result.causes import CAUSES, SLOT_CAUSES
from sim.timing import records
from sim.timing.kinds import MOST_WAITS, CacheLine, Chip, Core, GpcPort, PhaseWait, Place, Scheduler, Warp
from sim.timing.memory.state import Memory
from sim.timing.memory.state import allocate as allocate_memory
from sim.timing.policy_rows import policy_rows

NEVER = np.int64(2**62)
WINDOW = 64  # cycles that the run loop takes at once, at most
PARTS = 2  # of the engine, called by address
OF_L1 = 1 << Hook.LOOKUP | 1 << Hook.EVICT  # hooks for which L1 has to know whose its lines are
NO_PHASES = np.zeros(1, np.int64)
FREE, BEGAN, ENTRIES = np.int64(0), np.int64(1), 2  # columns of `constant_free`; of the entries of LDC the first
WHEEL = 64  # cycles ahead that a scheduler's wake-up wheel reaches; later wake-ups wait in `far`


class Machine(NamedTuple):
    """What changes while the machine runs. Arrays of records are np.recarray, typed Any so that their fields can be named."""

    chip: Any  # Chip [1]
    cores: Any  # Core [m]
    places: Any  # Place [m, places]
    order: np.ndarray  # int64 [blocks] in which they start; [0] = in launch order
    starts: np.ndarray  # int64 [blocks] cycle in which each starts
    ends: np.ndarray  # int64 [blocks] cycle in which its last warp has ended
    free: np.ndarray  # int64 [m] free places, for the policy of blocks
    arrived: np.ndarray  # int64 [m, places, 2 * BARRIERS] warps that came to each barrier, and to those for a number of warps
    warps: Any  # Warp [m, s]
    schedulers: Any  # Scheduler [m, q]
    age: np.ndarray  # int64 [m, q, 64] launch order of the warp in each slot
    own: np.ndarray  # int64 [m, q, *] the policy's row of each scheduler
    rows: np.ndarray  # int64 [m, q, 64, *] and of each warp slot
    withheld: np.ndarray  # int64 [m, q, pipes] cycles in which the policy issued nothing and the pipe had a free port
    withheld_until: np.ndarray  # int64 [m, q, pipes] of them, those before the last issue
    loading: np.ndarray  # uint32 [m, s, COUNTERS] loads that hold a dependence counter until a cycle that is not known yet
    loaded: np.ndarray  # int64 [m, s, COUNTERS] when the last of the others is back
    in_flight: np.ndarray  # int64 [m, s, cap or 1] when each of its in-flight instructions completes
    ready: np.ndarray  # int64 [m, s, dependences] first cycle it may be read
    ready_cause: np.ndarray  # uint8 [m, s, dependences]
    unknown: np.ndarray  # uint32 [m, s, COUNTERS] holders of a dependence counter whose release is not yet known
    released: np.ndarray  # int64 [m, s, COUNTERS] when the last of the others releases it
    released_cause: np.ndarray  # uint8 [m, s, COUNTERS]
    raised: np.ndarray  # int64 [m, s, QUEUED + 1] increments of each counter so far
    group_unknown: np.ndarray  # uint32 [m, s, QUEUED + 1, kept + 1] the last of them and the open one, in turn; at `kept` all before
    group_released: np.ndarray  # int64 [m, s, QUEUED + 1, kept + 1]
    group_cause: np.ndarray  # uint8 [m, s, QUEUED + 1, kept + 1]
    latest_cause: np.ndarray  # uint8 [m, s, QUEUED + 1] of the last holder without a known end
    reuse: np.ndarray  # int64 [m, q, banks, COLLECTORS * SOURCES] what the reuse caches have: warp slot * 256 + register, -1 = nothing
    bank_free: np.ndarray  # int64 [m, q, banks] first cycle in which the port of a register bank is free
    bank_reads: np.ndarray  # int64 [m, q, banks] registers that the instruction issued now reads from it
    product_free: np.ndarray  # int64 [m, q] when the tensor core may begin another product of a warpgroup
    product_begun: np.ndarray  # int64 [m, q] when it began those that follow one another without a gap
    product_over: np.ndarray  # int64 [m, q] when the sums of the last of them are there
    product_beside: np.ndarray  # int64 [m, q] first cycle after the one in which they left the ports to an instruction last
    product_slot: np.ndarray  # int64 [m, q] the slot of its warp
    product_owed: np.ndarray  # int64 [m, q] cycles that they take the ports of registers for, once others leave them a cycle
    waiting: np.ndarray  # uint64 [m, q, pipes] ready warps by the pipe they need
    wheel: np.ndarray  # uint64 [m, q, WHEEL] warps that wake in cycle c, at c % WHEEL
    throttle: np.ndarray  # int64 [m, q, pipes] cycles in which warps ready for the pipe found its port held
    dispatch: np.ndarray  # int64 [m, q, pipes] cycles in which they found the dispatch port held
    port: np.ndarray  # int64 [m, ports] first cycle each issue port is free (pipes with several)
    code: Any  # CacheLine [m, places] caches of code of TPCs, at `code_sharing.tpc`
    code_turn: np.ndarray  # int64 [m]
    code_lacking: np.ndarray  # int64 [m] lines which it has not been asked for; NEVER where they do not all fit into it and the GPC's
    code_whole: np.ndarray  # int64 [m] cycle in which the last of those that it has asked for is there
    gpc_ports: Any  # GpcPort [m, 2] ports: of caches of code at `code_sharing.home`, of constants each SM's part
    far_code: Any  # CacheLine [m, places] the caches of code that SMs share, at their home
    far_code_turn: np.ndarray  # int64 [m]
    code_seen: np.ndarray  # uint8 [m, lines of code] 1 = it has had it, at their home
    code_begun: np.ndarray  # int64 [m] cycle in which the first block of the SMs that share one began, at their home
    constants: Any  # CacheLine [m * (schedulers + 1), places] each SM's caches of constants: of operands, one per scheduler, of LDC
    constant_turn: np.ndarray  # int64 [m * (schedulers + 1)]
    constant_group: np.ndarray  # int64 [m, groups of lines] cycle from which the level behind has them, NEVER = nobody has asked
    constant_free: np.ndarray  # int64 [m, ENTRIES + entries] cycle from which LDC may: take an address, begin, hold each entry
    constant_missing: np.ndarray  # int64 [m] groups of lines that the LDC issued last has asked the level behind for
    row_free: np.ndarray  # int64 [m, rows] first cycle each pipe has a free port
    row_open: np.ndarray  # int64 [m, rows] first cycle the queue behind it has room, NEVER while it is full
    stalls: np.ndarray  # int64 [n, CAUSES] warp-cycles per instruction and cause
    slots: np.ndarray  # int64 [SLOT_CAUSES] scheduler-cycles per cause
    issues: np.ndarray  # int64 [n]
    log: np.ndarray  # int64 [rows, 12] the timeline (Result.Timeline's columns)
    clock_log: np.ndarray  # int64 [rows, 5]: cycle, block, warp, instruction, SM
    phase_left: np.ndarray  # int64 [phases] instructions that are still to count for each phase
    phase_from: np.ndarray  # int64 [phases] cycle in which the first of those so far counted, NEVER = none
    phase_at: np.ndarray  # int64 [phases] cycle in which the last of them did
    phase_waits: Any  # PhaseWait [m, s * MOST_WAITS], `phase_waiting` of them
    phase_waiting: np.ndarray  # int64 [m]
    homes: np.ndarray  # int64 [blocks] SM of each block that has started, else -1; [0]: no clusters
    posted: np.ndarray  # int64 [m, most in a window, 3] what counts for phases of other SMs: clusters.post
    posted_rows: np.ndarray  # int64 [m]
    parts: np.ndarray  # int64 [PARTS] where the machine code lies of those parts of the engine that the run needs (`parts.Part`)
    memory: Memory


def code_caches(hw: Hardware, instructions: int, room: records.Room) -> dict[str, Any]:
    """Return the caches of code of a Machine, empty."""
    sms, lines = int(hw.sms), -(-instructions // LINE_INSTRUCTIONS) if hw.jump else 1
    caches = {
        "code": room.records(CacheLine, sms, int(hw.code_sets * hw.code_ways)),
        "code_turn": room.zeros(sms, np.int64),
        "code_lacking": room.zeros(sms, np.int64),
        "code_whole": room.zeros(sms, np.int64),
        "gpc_ports": room.records(GpcPort, sms, 2),
        "far_code": room.records(CacheLine, sms, int(hw.far_code_sets * hw.far_code_ways)),
        "far_code_turn": room.zeros(sms, np.int64),
        "code_seen": room.zeros((sms, lines), np.uint8),
        "code_begun": room.full(sms, NEVER, np.int64),
    }
    caches["code"].line = caches["far_code"].line = -1
    room_for = min(hw.code_sets * hw.code_ways, hw.far_code_sets * hw.far_code_ways)  # asks for more, though answered, change the GPC's
    caches["code_lacking"][:] = hw.code_lines if hw.code_lines <= room_for else NEVER
    caches["gpc_ports"].free = LONG_AGO
    return caches


def constant_caches(hw: Hardware, code: Code, room: records.Room) -> dict[str, Any]:
    """Return the caches of constants of a Machine, empty."""
    sms = int(hw.sms)
    caches = (int(hw.schedulers) + 1) * sms
    lines = room.records(CacheLine, caches, int((code.constant_sets * code.constant_ways).max()))
    lines.line = -1
    return {
        "constants": lines,
        "constant_turn": room.zeros(caches, np.int64),
        "constant_group": room.full((sms, -(-int(code.constant_lines) // GROUP_LINES)), NEVER, np.int64),
        "constant_free": room.zeros((sms, ENTRIES + int(hw.constant_entries)), np.int64),
        "constant_missing": room.zeros(sms, np.int64),
    }


def dependence_counters(sms: int, slots: int, code: Code, room: records.Room) -> dict[str, Any]:
    """Return the dependence counters of a Machine, and their parts where something waits for a part."""
    counters, parts, kept = COUNTERS if code.control else 0, QUEUED + 1 if code.kept else 0, int(code.kept) + 1
    return {
        "unknown": room.zeros((sms, slots, counters), np.uint32),
        "released": room.zeros((sms, slots, counters), np.int64),
        "released_cause": room.zeros((sms, slots, counters), np.uint8),
        "raised": room.zeros((sms, slots, parts), np.int64),
        "group_unknown": room.zeros((sms, slots, parts, kept), np.uint32),
        "group_released": room.zeros((sms, slots, parts, kept), np.int64),
        "group_cause": room.zeros((sms, slots, parts, kept), np.uint8),
        "latest_cause": room.zeros((sms, slots, parts), np.uint8),
    }


def most_posted(hw: Hardware) -> int:
    """Return the most that an SM posts in a window: one per issue, and one per instruction that the load/store unit takes."""
    return WINDOW * (int(hw.schedulers) * int(hw.issue_width) + 1)


def allocate(
    hw: Hardware, code: Code, dependences: int, window: tuple[int, int] | None, core: CoreSection, phases: np.ndarray = NO_PHASES
) -> Machine:
    """Return the machine at rest before cycle 0. window: first and last cycle of the timeline, None = none. core: of its GPU.

    phases: how many instructions count for each phase of a barrier in shared memory.
    """
    sms, schedulers, pipes = int(hw.sms), int(hw.schedulers), len(hw.row)
    slots = -(-int(hw.places * hw.warps) // schedulers) * schedulers
    instructions = len(code.ops)
    room = records.Room()
    rows = 65536 + WINDOW * sms * schedulers * int(hw.issue_width)  # the run loop returns to have the logs enlarged
    machine = Machine(
        chip=room.records(Chip, 1),
        cores=room.records(Core, sms),
        places=room.records(Place, sms, int(hw.places)),
        arrived=room.zeros((sms, int(hw.places), 2 * BARRIERS), np.int64),
        warps=room.records(Warp, sms, slots),
        schedulers=room.records(Scheduler, sms, schedulers),
        age=room.zeros((sms, schedulers, 64), np.int64),
        **policy_rows(hw, code, core, slots, room),
        in_flight=room.zeros((sms, slots, max(1, int(hw.in_flight_cap))), np.int64),
        ready=room.zeros((sms, slots, dependences), np.int64),
        ready_cause=room.zeros((sms, slots, dependences), np.uint8),
        **dependence_counters(sms, slots, code, room),
        reuse=room.full((sms, schedulers, max(1, int(hw.banks)), COLLECTORS * SOURCES), -1, np.int64),
        bank_free=room.zeros((sms, schedulers, max(1, int(hw.banks))), np.int64),
        bank_reads=room.zeros((sms, schedulers, max(1, int(hw.banks))), np.int64),
        product_free=room.zeros((sms, schedulers), np.int64),
        product_begun=room.zeros((sms, schedulers), np.int64),
        product_over=room.zeros((sms, schedulers), np.int64),
        product_beside=room.zeros((sms, schedulers), np.int64),
        product_slot=room.zeros((sms, schedulers), np.int64),
        product_owed=room.zeros((sms, schedulers), np.int64),
        waiting=room.zeros((sms, schedulers, pipes), np.uint64),
        wheel=room.zeros((sms, schedulers, WHEEL), np.uint64),
        throttle=room.zeros((sms, schedulers, pipes), np.int64),
        dispatch=room.zeros((sms, schedulers, pipes), np.int64),
        port=room.zeros((sms, int(hw.ports)), np.int64),
        **code_caches(hw, instructions, room),
        **constant_caches(hw, code, room),
        row_free=room.zeros((sms, int(hw.rows)), np.int64),
        row_open=room.zeros((sms, int(hw.rows)), np.int64),
        stalls=room.zeros((instructions, CAUSES), np.int64),
        slots=room.zeros(SLOT_CAUSES, np.int64),
        issues=room.zeros(instructions, np.int64),
        log=room.zeros((rows if window else 1, 12), np.int64),
        clock_log=room.zeros((rows, 5), np.int64),
        phase_left=phases.copy(),
        phase_from=room.full(len(phases), NEVER, np.int64),
        phase_at=room.zeros(len(phases), np.int64),
        phase_waits=room.records(PhaseWait, sms, slots * (MOST_WAITS + 1) if len(phases) > 1 else 1),
        **{name: room.zeros(sms, np.int64) for name in ("phase_waiting", "posted_rows")},
        homes=np.zeros(0, np.int64),
        posted=room.zeros((sms, most_posted(hw), 3) if hw.groups.size > 1 or code.ops["copies"].any() else (1, 1, 3), np.int64),
        parts=room.zeros(PARTS, np.int64),
        memory=allocate_memory(hw.memory[0], sms, int(NEVER), room, bool(int(hw.hooks) & OF_L1), bool(code.ops["copies"].any())),
    )
    set_at_rest(machine, hw, window)
    return machine


def set_at_rest(machine: Machine, hw: Hardware, window: tuple[int, int] | None) -> None:
    """Write what is not zero before cycle 0."""
    sms, slots = machine.warps.shape
    schedulers = int(hw.schedulers)
    machine.chip.log_from, machine.chip.log_to = window if window else (0, -1)
    machine.chip.next_step, machine.chip.last_sm = NEVER, sms - 1
    machine.cores.next = NEVER
    machine.cores.busy_until = -1
    machine.cores.open = hw.places
    machine.cores.emptied = NEVER
    machine.cores.begins = NEVER
    machine.cores.leaves = machine.places.leaves = machine.places.begins = NEVER
    machine.cores.fetched = NEVER
    for field, value in (("visit", NEVER), ("last", ~63), ("far_next", NEVER)):
        machine.schedulers[field] = value
    machine.schedulers["sm"] = machine.warps["sm"] = np.arange(sms)[:, None]
    machine.schedulers["number"] = np.arange(schedulers)
    slot = np.arange(slots)
    for field, values in (
        ("slot", slot),
        ("scheduler", slot % schedulers),
        ("bit", slot // schedulers),
        ("place", slot // int(hw.warps)),
        ("number", slot % int(hw.warps)),
    ):
        machine.warps[field] = values


def in_order(rows: np.ndarray, sm: int) -> np.ndarray:
    """Return the rows of a log by cycle, their first column, then by SM, that column; what an SM does in a cycle is in order already."""
    return rows[np.lexsort((rows[:, sm], rows[:, 0]))]


def with_longer_logs(sm: Machine) -> Machine:
    """Return the machine with twice the room in both logs."""
    log, clocks = sm.log, sm.clock_log
    longer = [np.concatenate([array, np.zeros_like(array)]) for array in (log, clocks)]
    return sm._replace(log=longer[0] if len(log) > 1 else log, clock_log=longer[1])
