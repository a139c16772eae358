"""Warps that spin: they repeat a few instructions until another warp's store lets them go on. Such a warp gives way.

Every LOOK instructions the loop of `warp` asks whether the warp's path has come to go round: its last instructions, lanes and addresses
repeat, and a load or an atomic is among them. Then it executes one round more. When all its registers and predicates are afterwards what
they were before, nothing but another's store can end this: the rounds but one are taken out of the path, as on hardware their number
depends on time, and other warps go on. Lanes of the warp that may run, and wait behind those that spin (Volta on), go first. A loop that
changes a register, as one that counts, is not taken for a spin until it has gone round for FOREVER entries.
"""

import numpy as np

from isa.operations import Form
from isa.vocabulary import Space
from sim.compiled.kernel import inner, outlined
from sim.functional.addresses import names_lanes
from sim.functional.growth import ROOM
from sim.functional.paths import mixed
from sim.functional.stack import insert
from sim.functional.state import AT_PHASE, RUNNABLE, SPINS, Code, Log, Machine, Progress, Spin, Status, Store
from sim.traces.trace import ADDRESS, SCATTERED

LOOK = np.int64(2048)
SHORT, ENTRIES = 256, 1024  # entries of a short round, which is looked for each time; how many entries must have gone round so
LONG, AGAIN = 1 << 17, 3  # entries of a long round, looked for when the path has doubled; how often it must have been repeated
EARLIEST = np.int64(8192)  # length of a path in which a long round is looked for
FOREVER = np.int64(1 << 20)  # entries


@inner
def look_at(w: int, length: int, machine: Machine, log: Log) -> None:
    """Look at the warp's path when it is so long: that does not depend on how long a path the log has room for."""
    machine.spin[w, Spin.LOOK] = length
    log.pause[w] = min(length, log.instruction.shape[1] - ROOM)


@outlined
def look(w: int, code: Code, machine: Machine, log: Log, store: Store, progress: Progress) -> int:
    """See whether the warp spins, and let it give way if so; or ask for room. Return a Status."""
    length, spin = log.length[w], machine.spin[w]
    room = log.instruction.shape[1] - ROOM
    if length >= room:
        return Status.LOG_FULL
    if length < spin[Spin.LOOK]:  # there is room now
        look_at(w, spin[Spin.LOOK], machine, log)
        return Status.RUNNING
    if spin[Spin.PERIOD] > 0 and spin[Spin.START] >= 0:
        if length < spin[Spin.START] + spin[Spin.PERIOD]:
            look_at(w, spin[Spin.START] + spin[Spin.PERIOD], machine, log)
        else:
            conclude(w, code, machine, log, store, progress)
        return Status.RUNNING
    period = spin[Spin.PERIOD] if spin[Spin.PERIOD] > 0 else period_of(w, code, machine, log, store)
    look_at(w, length + (period if period > 0 else spin[Spin.STEP]), machine, log)
    if period > 0:
        begin(w, period, code, machine, log, store)
    return Status.RUNNING


@outlined
def conclude(w: int, code: Code, machine: Machine, log: Log, store: Store, progress: Progress) -> None:
    """Say what a round has shown: that the warp spins, or may spin (it has for too long), or that it makes progress."""
    spin, period = machine.spin[w], machine.spin[w, Spin.PERIOD]
    end, last = log.length[w], log.accesses[w]
    accesses = last - spin[Spin.ACCESSES]
    again = end == spin[Spin.START] + period and goes_round(w, end, last, period, accesses, np.int64(1), log, store)
    if again and digest(w, code, machine) == spin[Spin.DIGEST]:
        spin[Spin.SINCE] = 0
        take_out(w, machine, log, store, progress)
        give_way(w, code, machine, progress)
    else:
        spin[Spin.PERIOD] = 0
        spin[Spin.SINCE] = 0 if not again else spin[Spin.SINCE] if spin[Spin.SINCE] > 0 else spin[Spin.START]
        if again and end - spin[Spin.SINCE] >= FOREVER:
            spin[Spin.MARK], spin[Spin.MARK_HASH] = end, log.hash[w]
            give_way(w, code, machine, progress)
        else:
            spin[Spin.STEP] = min(4 * spin[Spin.STEP], 32 * LOOK)
            progress.moves[0] += 1
    look_at(w, log.length[w] + spin[Spin.STEP], machine, log)


@outlined
def begin(w: int, period: int, code: Code, machine: Machine, log: Log, store: Store) -> None:
    """Note what there is before a round that is to be compared with the one before it."""
    spin, length = machine.spin[w], log.length[w]
    spin[Spin.PERIOD], spin[Spin.START], spin[Spin.ACCESSES] = period, length, log.accesses[w]
    spin[Spin.SCATTERED], spin[Spin.DIGEST] = store.scattered_rows[0], digest(w, code, machine)
    for i in range(code.operation.size):
        machine.tallies[0, i], machine.tallies[1, i] = store.executed[i], store.active_lanes[i]
        machine.tallies[2, i], machine.tallies[3, i] = store.true_lanes[i], store.parted[i]


@outlined
def period_of(w: int, code: Code, machine: Machine, log: Log, store: Store) -> int:
    """Return after how many entries the path of warp w repeats, with the same addresses and some access among them; 0 = it does not."""
    length, spin = log.length[w], machine.spin[w]
    longest = np.int64(SHORT)
    if length >= max(EARLIEST, 2 * spin[Spin.SEARCHED]):
        spin[Spin.SEARCHED] = length
        longest = min(length // (AGAIN + 1), np.int64(LONG))
    if log.accesses[w] == 0 or length < ENTRIES:
        return np.int64(0)
    row, last, accesses = log.row[w], log.accesses[w], np.int64(0)
    for period in range(1, longest + 1):
        if is_access(log.instruction[row, length - period], code):
            accesses += 1
        if accesses > 0 and log.instruction[row, length - 1] == log.instruction[row, length - 1 - period]:
            rounds = max(np.int64(ENTRIES // period - 1), np.int64(AGAIN))
            if goes_round(w, length, last, np.int64(period), accesses, rounds, log, store) and asks(row, length, period, code, log):
                return np.int64(period)
    return np.int64(0)


@inner
def is_access(i: int, code: Code) -> bool:
    """Return whether instruction i has an entry among the accesses."""
    form = code.form[i]
    if form == Form.CONSTANT:
        return names_lanes(i, code)
    return form == Form.LOAD or form == Form.STORE or form == Form.ATOM or form >= Form.MBARRIER  # noqa: PLR1714  Numba compiles no set of members


@inner
def goes_round(w: int, end: int, last: int, period: int, accesses: int, rounds: int, log: Log, store: Store) -> bool:
    """Return whether the path up to its entry `end`, and access `last`, repeats what is a round before it, `rounds` times.

    period, accesses: entries and accesses of a round. Addresses are looked at first: of a loop that makes progress they differ.
    """
    row = log.row[w]
    if accesses * (rounds + 1) > last:
        return False
    for access in range(last - 1, last - accesses * rounds - 1, -1):
        base, before = log.access_base[row, access], log.access_base[row, access - accesses]
        stride = log.access_stride[row, access]
        if stride != log.access_stride[row, access - accesses] or (stride != SCATTERED and base != before):
            return False
        if stride == SCATTERED:
            for k in range(store.scattered.shape[1]):
                if store.scattered[base & ADDRESS, k] != store.scattered[before & ADDRESS, k]:
                    return False
    for entry in range(end - 1, end - period * rounds - 1, -1):
        if log.instruction[row, entry] != log.instruction[row, entry - period] or log.mask[row, entry] != log.mask[row, entry - period]:
            return False
    return True


@outlined
def asks(row: int, end: int, period: int, code: Code, log: Log) -> bool:
    """Return whether the last round waits for memory: it loads or does an atomic, and has no barrier, which orders it with other warps."""
    found, barrier = False, False
    for entry in range(end - period, end):
        i = log.instruction[row, entry]
        loads = code.form[i] == Form.LOAD or code.form[i] == Form.ATOM
        found = found or (loads and log.mask[row, entry] != 0 and code.space[i] != Space.LOCAL)
        barrier = barrier or code.form[i] == Form.BARRIER
    return found and not barrier


@outlined
def digest(w: int, code: Code, machine: Machine) -> int:
    """Return a hash of all that a warp's next instructions depend on, memory left out."""
    found = mixed(np.int64(0), machine.pc[w], machine.active[w])
    first = machine.base + w * code.registers
    for register in range(code.registers):
        for k in range(machine.lanes[0]):
            found = mixed(found, np.int64(0), np.int64(machine.rows[first + register, k]))
    for p in range(machine.predicates.shape[1]):
        found = mixed(found, np.int64(1), machine.predicates[w, p])
    return mixed(found, np.int64(2), machine.carry[w])


@outlined
def take_out(w: int, machine: Machine, log: Log, store: Store, progress: Progress) -> None:
    """Take the rounds that are equal to the last one out of the path of warp w, but for one; they still count for the clock."""
    spin, row, length, last = machine.spin[w], log.row[w], log.length[w], log.accesses[w]
    period, accesses, dropped = spin[Spin.PERIOD], last - spin[Spin.ACCESSES], np.int64(0)
    while length - (dropped + 2) * period >= spin[Spin.MARK] and goes_round(
        w, length - dropped * period, last - dropped * accesses, period, accesses, np.int64(1), log, store
    ):
        dropped += 1
    if dropped == 0:
        return
    set_back(store.executed, machine.tallies[0], dropped)
    set_back(store.active_lanes, machine.tallies[1], dropped)
    set_back(store.true_lanes, machine.tallies[2], dropped)
    set_back(store.parted, machine.tallies[3], dropped)
    log.length[w], log.accesses[w] = length - dropped * period, last - dropped * accesses
    store.scattered_rows[0] -= dropped * (store.scattered_rows[0] - spin[Spin.SCATTERED])
    progress.clock[0] += dropped * period
    found, entry = spin[Spin.MARK_HASH], spin[Spin.MARK]
    mark = max(log.length[w] - period, entry)
    while entry < log.length[w]:
        if entry == mark:
            spin[Spin.MARK_HASH] = found
        found = mixed(found, np.int64(log.instruction[row, entry]), np.int64(log.mask[row, entry]))
        entry += 1
    spin[Spin.MARK], log.hash[w] = mark, found


@outlined
def set_back(tally: np.ndarray, before: np.ndarray, dropped: int) -> None:
    """Take the rounds that are dropped, the last one among them, out of a tally per instruction. before: that one."""
    for i in range(tally.size):
        tally[i] = before[i] - (dropped - 1) * (tally[i] - before[i])


@outlined
def give_way(w: int, code: Code, machine: Machine, progress: Progress) -> None:
    """Let others go on: first lanes of this warp that wait behind these, then other warps."""
    if offer(w, code, machine):
        return
    spin, state = machine.spin[w], digest(w, code, machine)
    if spin[Spin.STATE] != state:
        progress.changes[0] += 1
    spin[Spin.STATE], spin[Spin.START] = state, -1
    machine.waiting[w] = SPINS


@outlined
def offer(w: int, code: Code, machine: Machine) -> bool:
    """Let lanes of the warp go first that wait behind those which run; return False, the second time in a row, or when there are none."""
    spin = machine.spin[w]
    if not (code.converges and has_runnable(w, machine)) or spin[Spin.OFFERED]:
        spin[Spin.OFFERED] = 0
        return False
    spin[Spin.OFFERED], spin[Spin.PERIOD] = 1, 0
    insert(w, np.int64(0), machine.pc[w], machine.active[w], machine)
    machine.active[w] = 0
    return True


@outlined
def has_runnable(w: int, machine: Machine) -> bool:
    """Return whether other lanes of the warp may run."""
    found = np.int64(0)
    for entry in range(machine.depth[w]):
        if machine.stack_wait[w, entry] == RUNNABLE:
            found |= machine.stack_mask[w, entry]
    return found & machine.alive[w] != 0


@outlined
def has_spinners(machine: Machine) -> bool:
    """Return whether a warp of the block spins, or waits for a phase."""
    found = False
    for w in range(machine.waiting.size):
        found = found or machine.waiting[w] < 0
    return found


@outlined
def let_spin(machine: Machine, log: Log) -> None:
    """Let every warp that spins, or waits for a phase, look once more."""
    for w in range(machine.waiting.size):
        if machine.waiting[w] == SPINS:
            look_at(w, log.length[w], machine, log)
        machine.waiting[w] = max(machine.waiting[w], np.int64(0))


@outlined
def time_out(code: Code, machine: Machine, progress: Progress) -> bool:
    """Let warps that wait for a phase look in vain and go on; where that came to nothing, let lanes behind those that wait go first.

    Return False when no warp waits so, or this came to nothing either.
    """
    again, found = progress.timed_out[0] == progress.moves[0] + 1, False
    progress.timed_out[0] = progress.moves[0] + 1
    for w in range(machine.waiting.size):
        if machine.waiting[w] == AT_PHASE and (not again or offer(w, code, machine)):
            machine.waiting[w], machine.spin[w, Spin.TIMED_OUT], found = 0, np.int64(not again), True
    return found
