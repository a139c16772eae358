"""What runs next: another group of the warp's lanes, another warp, or another block; and what a block starts with."""

import numpy as np

from sim.compiled.kernel import inner
from sim.functional.barriers import at_different_barriers, open_complete
from sim.functional.clusters import begin_cluster, leave_cluster, place_in_grid
from sim.functional.divergence import settle
from sim.functional.paths import commit_ended, lend_row
from sim.functional.spins import LOOK, has_spinners, let_spin, look_at, time_out
from sim.functional.state import NOBODY, Code, Log, Machine, Memory, Progress, Spin, Status, Store, Turn
from sim.functional.watch import start_watch


@inner
def advance(code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Find lanes to run: RUNNING, with their warp in progress.warp; DONE when there are none; ERROR; or a FULL status."""
    while True:
        w = progress.warp[0]
        if w >= 0 and machine.ended[w] == 0 and machine.waiting[w] == 0:
            if log.row[w] < 0 and not lend_row(w, log):
                switch(w - 1, log, progress)  # the next call must come here again for warp w
                return Status.ROWS_FULL
            status = settle(w, code, machine, progress)
            if status != Status.ENDED:
                if machine.waiting[w] == 0:
                    return status
            else:
                machine.ended[w] = 1
                leave_cluster(memory, progress)
                progress.moves[0] += 1
        elif w >= 0 and machine.waiting[w] > 0:
            progress.moves[0] += 1
        status = commit_ended(progress.block[0], machine.ended, log, store, progress)
        if status != Status.RUNNING:
            return status
        switch(next_warp(w, machine), log, progress)
        if progress.warp[0] < 0:
            status = all_stopped(code, machine, memory, log, store, progress)
            if status != Status.RUNNING:
                return status


@inner
def next_warp(w: int, machine: Machine) -> int:
    """Return the first warp after w that may run, or -1."""
    for other in range(w + 1, machine.pc.size):
        if machine.ended[other] == 0 and machine.waiting[other] == 0:
            return np.int64(other)
    return np.int64(-1)


@inner
def switch(w: int, log: Log, progress: Progress) -> None:
    """Let warp w run, -1 = none. The clock goes on with its path."""
    if progress.warp[0] >= 0:
        progress.clock[0] += log.length[progress.warp[0]]
    progress.warp[0] = w
    if w >= 0:
        progress.clock[0] -= log.length[w]


@inner
def all_stopped(code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress) -> int:
    """Open the barrier at which the block's warps wait, or start the next block when they have ended; DONE after the last.

    Warps that spin look once more when others of the block got on meanwhile; otherwise the block WAITS.
    """
    if progress.committed[0] < machine.pc.size:
        if has_ended(machine):
            return Status.BLOCK_ENDED
        if open_complete(code, machine, memory, progress):
            return Status.RUNNING
        if not has_spinners(machine):
            return at_different_barriers(machine, progress)
        if progress.moves[0] == progress.seen[0]:
            return Status.RUNNING if not progress.patient[0] and time_out(code, machine, progress) else Status.WAITS
        progress.seen[0] = progress.moves[0]
        let_spin(machine, log)
        return Status.RUNNING
    if progress.block[0] >= 0:
        store.blocks[0] += 1
        progress.block[0] = -1
        if memory.ranks > 1:  # who starts the next one gives it its part of a cluster
            return Status.DONE
    if progress.next[0] >= store.warp_path.size // machine.pc.size:
        return Status.DONE
    progress.block[0] = progress.next[0]
    progress.next[0] += 1
    start_block(machine.chosen[progress.block[0]] if machine.chosen.size else progress.block[0], code, machine, memory, log)
    progress.committed[0], progress.seen[0], progress.timed_out[0] = 0, -1, 0
    return Status.RUNNING


@inner
def has_ended(machine: Machine) -> bool:
    """Return whether every warp of the block has."""
    ended = 0
    for w in range(machine.ended.size):
        ended += machine.ended[w]
    return ended == machine.ended.size


@inner
def start_block(block: int, code: Code, machine: Machine, memory: Memory, log: Log) -> None:
    """Set up the machine for a block of the grid: registers as preset, everything else zero."""
    place_in_grid(block, machine, memory)
    for word in range(memory.shared.size):
        memory.shared[word] = 0
    if memory.begun[0]:
        memory.phases[:] = 0
    if memory.ranks == 1:
        begin_cluster(machine, memory)
    if memory.touched[0]:
        for word in range(memory.local.size):
            memory.local[word] = 0
        memory.touched[0] = 0
    memory.latest[0] = 0
    for number in range(machine.passed.size):
        machine.passed[number], machine.expected[number] = 0, NOBODY
    if memory.watch.asked[0]:
        start_watch(memory.watch)
    for w in range(machine.pc.size):
        start_warp(w, code, machine, log)


@inner
def start_warp(w: int, code: Code, machine: Machine, log: Log) -> None:
    """Set up one warp at the program's first instruction."""
    first, lanes = machine.base + w * code.registers, machine.lanes[0]
    for register in range(code.registers):
        for k in range(lanes):
            machine.rows[first + register, k] = machine.initial[register, k]
    for p in range(machine.predicates.shape[1]):
        machine.predicates[w, p] = 0 if p != 7 else machine.predicates[w, p]
    for limit in range(code.iterations.size):
        machine.iterations[w, limit] = 0
    machine.products[w], machine.held[w], machine.came[w] = 0, code.held, 0
    machine.votes[w], machine.reduced[w] = 0, 0
    machine.carry[w], machine.pc[w], machine.depth[w], machine.waiting[w], machine.ended[w] = 0, 0, 0, 0, 0
    machine.active[w] = machine.alive[w] = machine.existing[w]
    machine.reconverge[w] = code.operation.size
    if code.converges:
        start_registers(w, machine)
    for column in range(machine.turn.shape[1]):
        machine.turn[w, column] = 0
    machine.turn[w, Turn.CHOSEN_AT] = -1
    log.length[w], log.hash[w], log.accesses[w] = 0, 0, 0
    for column in range(machine.spin.shape[1]):
        machine.spin[w, column] = 0
    machine.spin[w, Spin.STEP] = LOOK
    look_at(w, LOOK, machine, log)


@inner
def start_registers(w: int, machine: Machine) -> None:
    """Empty the convergence registers of a warp."""
    for barrier in range(machine.barrier.shape[1]):
        machine.barrier[w, barrier], machine.blocked[w, barrier] = 0, 0
