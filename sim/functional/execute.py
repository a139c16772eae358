"""`execute(launch) -> Trace`: set up, execute the blocks, bring the caller's arrays up to date."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from isa.errors import UserError
from isa.vocabulary import Space
from sim.functional import setup
from sim.functional.checks import check_launch, initial_registers
from sim.functional.code import Literals, resolve
from sim.functional.constants import build
from sim.functional.device import copy_back
from sim.functional.families import Family, link, needed
from sim.functional.hazards import asked, hazards
from sim.functional.registers import check_registers
from sim.functional.resolved import resolved
from sim.functional.state import Memory, Store
from sim.functional.turns import Place, Turns
from sim.launch.launch import Launch
from sim.launch.placement import Places
from sim.traces.trace import Trace, TraceArrays

LIMIT = 1 << 24  # instructions of one warp: about 17 million


def execute(
    launch: Launch,
    limit: int = LIMIT,
    check: Sequence[str] = (),
    runner: Callable[..., Turns] = Turns,
    blocks: np.ndarray | None = None,
) -> Trace:
    """Execute a launch and return what each warp did. The caller's arrays are updated in place, as a kernel would.

    limit: instructions that one warp may execute; more is taken for an endless loop. check: "race" and "init" look for what
    `Trace.hazards` then tells; without them nothing is watched, and nothing slower. runner: who calls the
    kernel (see `stepping`). blocks: int64, ascending: only these of the grid are executed, and the trace is that of a launch of so many;
    the caller's arrays stay as they are then. Raises UserError for arguments that do not fit the program and for mistakes of the program:
    accesses outside every array or misaligned, divergent barriers, no progress. After a mistake the arrays hold what was stored up to it.
    """
    if not isinstance(launch, Launch):
        hint = "write sim.Launch(isa.load(listing), grid, block, args), or sim.launch.file.load_launch(listing).launch"
        raise UserError(f"{type(launch).__name__} is not a Launch", hint=hint)
    checks = asked(check)
    check_launch(launch, blocks is not None)
    check_registers(launch.program)
    places = Places(launch)
    placed, literals = places.allocations, Literals()
    banks = build(launch, places)
    code = resolve(launch, banks, literals, bool(checks))
    initial = initial_registers(launch, code.registers, places)
    uses_local = bool(np.isin(code.space, (Space.LOCAL, Space.GENERIC)).any())
    memory = setup.allocate_memory(launch, places, banks, uses_local, checks)
    following, clock, patient = np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, launch.ranks > 1, np.int64)

    shared = {"clock": clock, "families": np.zeros(len(Family), np.int64)}

    def place(memory: Memory) -> Place:
        log = setup.allocate_log(launch.warps_per_block, limit)
        machine = setup.allocate_machine(launch, code, literals.rows(), initial, log, shared)
        if blocks is not None:
            machine = machine._replace(chosen=np.ascontiguousarray(blocks, np.int64))
        return Place(machine, memory, log, setup.allocate_progress(launch.warps_per_block, following, clock, patient))

    blocks_of = setup.Blocks(launch, memory, following)

    count = launch.blocks if blocks is None else len(blocks)
    turns = runner(launch, places, code, setup.allocate_store(count * launch.warps_per_block, len(launch.program)), limit)
    first = place(memory)
    link(needed(code.family), code, first.machine, memory, first.log, turns.store, first.progress)
    try:
        turns.execute(first, lambda: place(blocks_of.another()))
    except UserError as error:
        raise turns.driver.with_printed(error) from None
    finally:
        if blocks is None:
            copy_back(placed, memory.written[: len(placed)], memory.words)
        places.finish()
    store = turns.store
    spun = int(clock[0]) - int(store.executed.sum())
    printed = turns.driver.text()
    timed = launch if blocks is None else replace(launch, grid=(count,))
    counts = store.executed, store.active_lanes, store.true_lanes
    trace = Trace(resolved(timed, store.found), arrays(store), *counts, spun, printed=printed, parted=store.parted)
    return replace(trace, hazards=hazards(trace, places, memory)) if checks else trace


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
