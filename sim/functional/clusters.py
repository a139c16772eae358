"""Clusters: blocks that run at once. Their barrier, UCGABAR, and the shared memory of each other's.

An address of shared memory has from bit 24 on the rank of its block. The log has there how many ranks further on that is, 0 for the own.
The barrier of a cluster is for all its warps that have not ended. For the timing engines its phases are numbered as those of barriers in
shared memory are (`mbarriers`).
"""

import numpy as np

from isa.operations import Form
from isa.vocabulary import Space
from sim.compiled.kernel import first_bit, inner, outlined
from sim.functional.atomics import apply
from sim.functional.flags import CLUSTER
from sim.functional.stack import fault
from sim.functional.state import (
    AT_CLUSTER,
    IN_BLOCK,
    RANK_BITS,
    SHARED_WINDOW,
    WINDOW_BITS,
    Cluster,
    Code,
    Fault,
    Log,
    Machine,
    Memory,
    Progress,
    Report,
    Status,
)
from sim.functional.transfers import ONE, transfer
from sim.functional.watch import come_after_all
from sim.traces.trace import PHASE_SHIFT, SCATTERED

WAITS = 1  # function of UCGABAR


@inner
def place_in_grid(block: int, machine: Machine, memory: Memory) -> None:
    """Find a block's place in the grid, by its number in launch order: cluster after cluster, x fastest; in each its blocks, x fastest."""
    cluster, rank = block // memory.ranks, block % memory.ranks
    machine.rank[0] = rank
    machine.window[1] = rank
    for d in range(3):
        size = machine.cluster_shape[d]
        clusters = machine.grid_shape[d] // size
        machine.block[d] = cluster % clusters * size + rank % size
        cluster, rank = cluster // clusters, rank // size


@inner
def begin_cluster(machine: Machine, memory: Memory) -> None:
    """Let the barrier of a cluster of one block begin."""
    memory.cluster_barrier[Cluster.ARRIVED], memory.cluster_barrier[Cluster.LIVING] = 0, machine.pc.size
    memory.cluster_barrier[Cluster.PHASE] = 0


@inner
def leave_cluster(memory: Memory, progress: Progress) -> None:
    """A warp has ended: the barrier of its cluster is for one less."""
    memory.cluster_barrier[Cluster.LIVING] -= 1
    end_phase(memory, progress)


@inner
def end_phase(memory: Memory, progress: Progress) -> None:
    """Let the next phase of the cluster's barrier begin, if all have arrived."""
    barrier = memory.cluster_barrier
    if barrier[Cluster.ARRIVED] and barrier[Cluster.ARRIVED] >= barrier[Cluster.LIVING]:
        barrier[Cluster.ARRIVED], barrier[Cluster.PHASE] = 0, 0
        progress.moves[0] += 1


@outlined
def use_cluster_barrier(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, progress: Progress) -> int:
    """Execute UCGABAR: the warp arrives, or waits until all of its cluster have; BLOCKED, and nothing done, while they have not."""
    if log.accesses[w] == log.access_base.shape[1]:
        return Status.WARP_ACCESSES_FULL
    barrier, phase = memory.cluster_barrier, np.int64(0)
    if mask and mask != machine.alive[w]:
        progress.report[Report.EXPECTED] = machine.alive[w] & ~mask
        return fault(Fault.DIVERGENT_BARRIER, w, first_bit(mask), i, progress)
    if mask and code.function[i] == WAITS:
        phase = machine.came[w]
        if phase and phase == barrier[Cluster.PHASE]:
            machine.waiting[w] = AT_CLUSTER
            return Status.BLOCKED
        if memory.watch.asked[0]:
            come_after_all(w, memory.watch)
    elif mask:
        if barrier[Cluster.PHASE] == 0:
            memory.begun[0] += 1
            barrier[Cluster.PHASE] = memory.begun[0]
        phase = machine.came[w] = barrier[Cluster.PHASE]
        barrier[Cluster.ARRIVED] += 1
        end_phase(memory, progress)
    row, entry = log.row[w], log.accesses[w]
    log.access_base[row, entry], log.access_stride[row, entry] = phase << PHASE_SHIFT, 0
    log.accesses[w] = entry + 1
    return Status.RUNNING


@outlined
def own_addresses(i: int, mask: int, code: Code, machine: Machine) -> None:
    """Make addresses of shared memory of the cluster such of the block's, and those of CLUSTER instructions generic ones.

    What is of another block stays, and so lies outside.
    """
    for k in range(machine.lanes[0]):
        if (mask >> k) & 1:
            if code.flags[i] & CLUSTER:
                machine.target[k] |= SHARED_WINDOW << WINDOW_BITS
            elif machine.target[k] >> RANK_BITS == machine.rank[0]:
                machine.target[k] &= IN_BLOCK


@outlined
def take_rank(part: int, machine: Machine) -> int:
    """Take the lanes of `part`, offsets in shared memory of the cluster, that are of the same block as the first one's; return them.

    Which block goes to machine.window; the ranks are taken out of the addresses.
    """
    rank, lanes = machine.target[first_bit(part)] >> RANK_BITS, np.int64(0)
    for k in range(machine.lanes[0]):
        if (part >> k) & 1 and machine.target[k] >> RANK_BITS == rank:
            lanes |= np.int64(1) << k
    for k in range(machine.lanes[0]):
        if (lanes >> k) & 1:
            machine.target[k] &= IN_BLOCK
        elif (part >> k) & 1:
            machine.target[k] |= SHARED_WINDOW << WINDOW_BITS
    machine.window[1] = rank
    return lanes


@outlined
def give_rank(part: int, machine: Machine, memory: Memory) -> None:
    """Note in the addresses of the lanes of `part` how many ranks further on they lie."""
    further = (machine.window[1] - machine.rank[0]) % memory.ranks
    for k in range(machine.lanes[0]):
        if (part >> k) & 1:
            machine.target[k] |= further << RANK_BITS
    machine.window[1] = machine.rank[0]


@outlined
def perform_far(i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory) -> None:
    """Carry out an access, which has been checked, to shared memory of another block of the cluster."""
    words = memory.cluster[machine.window[1]]
    if code.form[i] == Form.ATOM:
        apply(i, w, mask, np.int64(0), words, code, machine)
        return
    for k in range(machine.lanes[0]):
        machine.index[k] = machine.target[k] >> 2
    transfer(i, w, mask, SCATTERED, ONE, words, code, machine)


@outlined
def wrong_rank(i: int, w: int, lane: int, rank: int, progress: Progress) -> int:
    """Report an address of a block that is not in the cluster."""
    progress.report[Report.ADDRESS], progress.report[Report.EXPECTED] = rank, Space.SHARED
    return fault(Fault.NO_BLOCK, w, lane, i, progress)
