"""`execute(launch) -> Trace`: set up, run the kernels, give them room when they ask, bring the caller's arrays up to date."""

import numpy as np

from isa.vocabulary import Space
from sim.functional import setup
from sim.functional.checks import check_launch, explain, initial_registers, no_end
from sim.functional.code import Literals, resolve
from sim.functional.constants import build
from sim.functional.device import copy_back
from sim.functional.growth import ROOM, grow_log, grow_store
from sim.functional.state import Progress, Status, Store
from sim.functional.warp import run
from sim.launch import Launch
from sim.placement import placed_arguments
from sim.trace import Trace, TraceArrays

LIMIT = 1 << 24  # instructions of one warp: about 17 million
LOG_STATUSES = (Status.LOG_FULL, Status.ROWS_FULL, Status.WARP_ACCESSES_FULL)


def execute(launch: Launch, limit: int = LIMIT) -> Trace:
    """Execute a launch and return what each warp did. The caller's arrays are updated in place, as a kernel would.

    limit: instructions that one warp may execute; more is taken for an endless loop. Raises UserError for arguments that do
    not fit the program and for mistakes of the program: accesses outside every array or misaligned, divergent barriers,
    no progress. After a mistake the arrays hold what was stored up to it.
    """
    check_launch(launch)
    placed = placed_arguments(launch)
    literals = Literals()
    banks = build(launch, placed)
    code = resolve(launch, banks, literals)
    machine = setup.allocate_machine(launch, code, literals.rows(), initial_registers(launch, code.registers, placed))
    uses_local = bool((code.space == Space.LOCAL).any())
    memory = setup.allocate_memory(launch, placed, banks, uses_local)
    log, store = (
        setup.allocate_log(launch.warps_per_block),
        setup.allocate_store(launch.blocks * launch.warps_per_block, len(launch.program)),
    )
    progress = setup.allocate_progress(launch.warps_per_block)
    try:
        with np.errstate(all="ignore"):  # only the uncompiled kernels warn: infinities and wrap-around are results, not mistakes
            while (status := run(code, machine, memory, log, store, progress)) != Status.DONE:
                if status == Status.ERROR:
                    raise explain(launch, placed, memory, machine, progress)
                if status == Status.LOG_FULL and log.instruction.shape[1] >= limit + ROOM:
                    raise no_end(launch, machine, log, progress, limit)
                if status in LOG_STATUSES:
                    log = grow_log(status, log, limit)
                else:
                    store = grow_store(status, store, log, _done(launch, progress))
    finally:
        copy_back(placed, memory.written[: len(placed)], memory.words)
    return Trace(launch, arrays(store), store.executed, store.active_lanes, store.true_lanes)


def _done(launch: Launch, progress: Progress) -> float:
    """Return the share of the warps that have ended, one more included: the trace needs room for it."""
    warps = launch.warps_per_block
    return (int(progress.block[0]) * warps + int(progress.committed[0]) + 1) / (launch.blocks * warps)


def arrays(store: Store) -> TraceArrays:
    """Return the trace without the room that was kept for growing."""
    paths, accesses = int(store.paths[0]), int(store.access_start[-1])
    entries = int(store.path_start[paths])
    return TraceArrays(
        path_start=store.path_start[: paths + 1].copy(),
        instruction=store.instruction[:entries].copy(),
        mask=store.mask[:entries].copy(),
        warp_path=store.warp_path,
        access_start=store.access_start,
        access_base=store.access_base[:accesses].copy(),
        access_stride=store.access_stride[:accesses].copy(),
        scattered=store.scattered[: int(store.scattered_rows[0])].copy(),
    )
