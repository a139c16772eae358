"""Allocate what a launch needs: the machine of one block, memory, the log, and the growing trace."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from isa.vocabulary import BARRIERS, CONVERGENCE_REGISTERS
from sim.functional.constants import Banks
from sim.functional.device import words
from sim.functional.growth import ROOM
from sim.functional.hazards import allocate_watch
from sim.functional.state import (
    FULL,
    LANES,
    LOCAL_BYTES,
    NOBODY,
    STACK_DEPTH,
    Cluster,
    Code,
    Log,
    Machine,
    Memory,
    Progress,
    Report,
    Spin,
    Store,
    Turn,
)
from sim.launch.launch import Launch
from sim.launch.placement import BASE, Places

LOG_ENTRIES = 1024  # of a log row, to begin with
LOG_ACCESSES = 256


def allocate_machine(launch: Launch, code: Code, literals: np.ndarray, initial: np.ndarray, log: Log, shared: Mapping[str, Any]) -> Machine:
    """Return a machine for one block. literals: uint32 [rows, 32]; initial: uint32 [registers, 32]; shared: clock, families, chosen."""
    warps = launch.warps_per_block
    rows = np.zeros((len(literals) + warps * code.registers, LANES), np.uint32)
    rows[: len(literals)] = literals
    shape = (*launch.block, 1, 1)[:3]
    thread = np.arange(warps)[:, None] * launch.warp_size + np.arange(LANES)
    stack = [np.zeros((warps, STACK_DEPTH + LANES), np.int64) for _ in range(5)]
    per_warp = [np.zeros(warps, np.int64) for _ in range(7)]
    last = launch.threads_per_block - (warps - 1) * launch.warp_size
    predicates = np.zeros((warps, 16), np.int64)  # P0..P6, PT, UP0..UP6, CC_ZERO
    predicates[:, 7] = FULL
    return Machine(
        lanes=np.array([launch.warp_size]),
        rows=rows,
        floats=rows.view(np.float32),
        base=len(literals),
        initial=initial,
        thread=np.stack([thread % shape[0], thread // shape[0] % shape[1], thread // (shape[0] * shape[1])]).astype(np.uint32),
        block=np.zeros(3, np.int64),
        grid_shape=np.array((*launch.grid, 1, 1)[:3], np.int64),
        block_shape=np.array(shape, np.int64),
        cluster_shape=np.array(launch.cluster_shape or (1, 1, 1), np.int64),
        rank=np.zeros(1, np.int64),
        shared_bytes=launch.shared_per_block,
        existing=np.array([FULL >> (LANES - launch.warp_size)] * (warps - 1) + [(1 << last) - 1], np.int64),
        predicates=predicates,
        carry=per_warp[0],
        pc=per_warp[1],
        active=per_warp[2],
        alive=per_warp[3],
        reconverge=per_warp[4],
        waiting=per_warp[5],
        passed=np.zeros(BARRIERS, np.int64),
        expected=np.full(BARRIERS, NOBODY),
        ended=np.ones(warps, np.int64),
        iterations=np.zeros((warps, len(code.iterations)), np.int64),
        barrier=np.zeros((warps, CONVERGENCE_REGISTERS), np.int64),
        blocked=np.zeros((warps, CONVERGENCE_REGISTERS), np.int64),
        lane_pc=np.zeros((warps, LANES), np.int64),
        turn=np.zeros((warps, len(Turn)), np.int64),
        again=np.zeros((warps, LANES), np.int64),
        depth=per_warp[6],
        stack_pc=stack[0],
        stack_mask=stack[1],
        stack_reconverge=stack[2],
        stack_wait=stack[3],
        stack_members=stack[4],
        target=np.zeros(LANES, np.int64),
        index=np.zeros(LANES, np.int64),
        bits=np.zeros((3, 512), np.int64),
        parts=np.zeros((6, 512), np.int32),
        **{name: np.zeros(warps, np.int64) for name in ("votes", "reduced", "products", "held", "came")},
        window=np.zeros(2, np.int64),
        spin=np.zeros((warps, len(Spin)), np.int64),
        tallies=np.zeros((4, len(code.operation)), np.int64),
        length=log.length,
        **shared,
    )


def allocate_memory(launch: Launch, places: Places, banks: Banks, uses_local: bool, checks: tuple[str, ...] = ()) -> Memory:
    """Return the memories, global memory holding a copy of the arrays. checks: what to watch."""
    constants, bank_start, bank_bytes, known = banks.flat()
    placed = places.allocations
    device = words(placed)
    local = launch.warps_per_block * LANES * LOCAL_BYTES // 4 if uses_local else 0
    return Memory(
        base=BASE,
        words=device,
        start=np.array([item.address for item in placed] or [BASE], np.int64),
        end=np.array([item.end for item in placed] or [BASE], np.int64),
        writable=np.array([item.array.flags.writeable for item in placed] or [False], np.uint8),
        written=np.zeros(max(len(placed), 1), np.uint8),
        seen=np.array(places.seen, np.int64),
        latest=np.zeros(1, np.int64),
        marks=np.zeros(0, np.uint8),
        touched=np.zeros(1, np.uint8),
        **shared_memory(launch, 0),
        shared_bytes=launch.shared_per_block,
        begun=np.zeros(1, np.int64),
        local=np.zeros(local, np.uint32),
        constants=constants,
        bank_start=bank_start,
        bank_bytes=bank_bytes,
        known=known,
        watch=allocate_watch(launch, places, device, checks),
    )


def shared_memory(launch: Launch, rank: int, of: Memory | None = None) -> dict[str, Any]:
    """Return shared memory of the block of a rank: of the same cluster as another block's, or of a new one."""
    if of is not None:
        cluster, phases, barrier = of.cluster, of.cluster_phases, of.cluster_barrier
    else:
        cluster = np.zeros((launch.ranks, -(-launch.shared_per_block // 4)), np.uint32)
        phases = np.zeros((launch.ranks, -(-launch.shared_per_block // 8), 2), np.int64)
        barrier = np.zeros(len(Cluster), np.int64)
        barrier[Cluster.LIVING] = launch.ranks * launch.warps_per_block
    shared = {"ranks": launch.ranks, "cluster": cluster, "cluster_phases": phases, "cluster_barrier": barrier}
    return shared | {"shared": cluster[rank], "phases": phases[rank]}


def of_another_block(launch: Launch, memory: Memory, rank: int, of: Memory | None) -> Memory:
    """Return the memories with shared and local memory of another block, and what is watched of them. of: a block of its cluster."""
    own = {name: np.zeros_like(getattr(memory, name)) for name in ("local", "touched", "latest")}
    own |= shared_memory(launch, rank, of)
    names = ("shadow", "value", "now", "known", "group", "together")
    watch = memory.watch._replace(**{name: getattr(memory.watch, name).copy() for name in names})
    return memory._replace(watch=watch, **own)


def allocate_log(warps: int, limit: int) -> Log:
    """Return a log with one row; more are made when warps wait at barriers. limit: instructions that a warp may execute."""
    entries = min(LOG_ENTRIES, limit + ROOM)
    return Log(
        row=np.full(warps, -1, np.int64),
        free=np.zeros(warps, np.int64),
        free_rows=np.ones(1, np.int64),
        length=np.zeros(warps, np.int64),
        pause=np.zeros(warps, np.int64),
        hash=np.zeros(warps, np.int64),
        accesses=np.zeros(warps, np.int64),
        instruction=np.zeros((1, entries), np.int32),
        mask=np.zeros((1, entries), np.uint32),
        access_base=np.zeros((1, LOG_ACCESSES), np.int64),
        access_stride=np.zeros((1, LOG_ACCESSES), np.int64),
    )


def allocate_store(warps: int, instructions: int) -> Store:
    """Return an empty trace for `warps` warps in all."""
    return Store(
        paths=np.zeros(1, np.int64),
        path_start=np.zeros(65, np.int64),
        path_hash=np.zeros(64, np.int64),
        path_next=np.zeros(64, np.int64),
        bucket=np.full(128, -1, np.int64),
        instruction=np.zeros(4096, np.int32),
        mask=np.zeros(4096, np.uint32),
        warp_path=np.zeros(warps, np.int32),
        access_start=np.zeros(warps + 1, np.int64),
        access_base=np.zeros(4096, np.int64),
        access_stride=np.zeros(4096, np.int64),
        scattered_rows=np.zeros(1, np.int64),
        scattered=np.zeros((64, LANES), np.uint32),
        executed=np.zeros(instructions, np.int64),
        active_lanes=np.zeros(instructions, np.int64),
        true_lanes=np.zeros(instructions, np.int64),
        parted=np.zeros(instructions, np.int64),
        blocks=np.zeros(1, np.int64),
        found=np.zeros((instructions, 2), np.int64),
    )


def allocate_progress(warps: int, following: np.ndarray, clock: np.ndarray, patient: np.ndarray) -> Progress:
    """Return the state of blocks' execution that has not begun; what all blocks share is given."""
    return Progress(
        block=np.full(1, -1, np.int64),
        warp=np.full(1, -1, np.int64),
        committed=np.full(1, warps, np.int64),
        report=np.zeros(len(Report), np.int64),
        next=following,
        clock=clock,
        moves=np.zeros(1, np.int64),
        seen=np.zeros(1, np.int64),
        timed_out=np.zeros(1, np.int64),
        changes=np.zeros(1, np.int64),
        patient=patient,
        called=np.zeros(1, np.int64),
    )
