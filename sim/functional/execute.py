"""`execute(launch) -> Trace`: set up, execute the blocks, bring the caller's arrays up to date."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from isa.errors import UserError
from isa.vocabulary import Space
from sim.compiled.cores import check_threads, from_environment
from sim.compiled.kernel import is_compiled
from sim.functional import setup
from sim.functional.checks import check_launch, initial_registers
from sim.functional.code import Literals, resolve
from sim.functional.constants import build
from sim.functional.device import copy_back
from sim.functional.families import link, needed
from sim.functional.hazards import asked, hazards
from sim.functional.joined import NotParallelError
from sim.functional.making import Maker
from sim.functional.registers import check_registers
from sim.functional.resolved import resolved
from sim.functional.state import Store
from sim.functional.team import Team, may_be_shared
from sim.functional.turns import Turns
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
    threads: int | None = None,
) -> Trace:
    """Execute a launch and return what each warp did. The caller's arrays are updated in place, as a kernel would.

    limit: instructions that one warp may execute; more is taken for an endless loop. check: "race" and "init" look for what
    `Trace.hazards` then tells; without them nothing is watched, and nothing slower. runner: who calls the
    kernel (see `stepping`). blocks: int64, ascending: only these of the grid are executed, and the trace is that of a launch of so many;
    the caller's arrays stay as they are then. threads: how many share the blocks where their order does not count (`team`); the result is
    the same with any number, None = what SIMTLAB_THREADS says, else as many as gain; `runner` and `check` have one. Raises UserError for
    arguments that do not fit the program and for mistakes of the program: accesses outside every array or misaligned, divergent barriers,
    no progress. After a mistake the arrays hold what was stored up to it.
    """
    if not isinstance(launch, Launch):
        hint = "write sim.Launch(isa.load(listing), grid, block, args), or sim.launch.file.load_launch(listing).launch"
        raise UserError(f"{type(launch).__name__} is not a Launch", hint=hint)
    checks = asked(check)
    check_threads(threads)
    check_launch(launch, blocks is not None)
    check_registers(launch.program)
    several = runner is Turns and not checks and is_compiled() and (launch.blocks if blocks is None else len(blocks)) > 1
    count = 1 if not several else from_environment() if threads is None else threads
    try:
        return _execute(launch, limit, checks, (runner, count), blocks)
    except NotParallelError:
        pass  # outside of this clause nothing of the attempt is left in memory
    return _execute(launch, limit, checks, (runner, 1), blocks)


def _execute(
    launch: Launch, limit: int, checks: tuple[str, ...], how: tuple[Callable[..., Turns], int | None], blocks: np.ndarray | None
) -> Trace:
    """Execute a launch. how: who calls the kernel, by how many threads. Raises UserError; NotParallelError where one thread must."""
    runner, threads = how
    places = Places(launch)
    placed, literals = places.allocations, Literals()
    banks = build(launch, places)
    code = resolve(launch, banks, literals, bool(checks))
    initial = initial_registers(launch, code.registers, places)
    uses_local = bool(np.isin(code.space, (Space.LOCAL, Space.GENERIC)).any())
    memory = setup.allocate_memory(launch, places, banks, uses_local, checks)
    maker = Maker(launch, code, memory, (literals.rows(), initial), limit, blocks)
    if threads != 1 and may_be_shared(launch, code):
        runner = partial(Team, threads=threads, apart=maker.apart)
    turns = runner(launch, places, code, setup.allocate_store(maker.count * launch.warps_per_block, len(launch.program)), limit)
    first = maker.first()
    link(needed(code.family), code, first.machine, memory, first.log, turns.store, first.progress)

    def leave() -> None:
        if blocks is None:
            copy_back(placed, memory.written[: len(placed)], memory.words)
        places.finish()

    try:
        turns.execute(first, maker.another)
    except UserError as error:
        leave()
        raise turns.driver.with_printed(error) from None
    leave()
    store = turns.store
    spun = int(maker.order.clock[0]) - int(store.executed.sum())
    printed = turns.driver.text()
    timed = launch if blocks is None else replace(launch, grid=(maker.count,))
    counts = store.executed, store.active_lanes, store.true_lanes
    trace = Trace(resolved(timed, store.found), arrays(store), *counts, spun, printed=printed, parted=store.parted)
    return replace(trace, hazards=hazards(trace, places, memory)) if checks else trace


def arrays(store: Store) -> TraceArrays:
    """Return the trace without the room that was kept for growing."""
    paths, accesses = int(store.paths[0]), int(store.access_start[-1])
    entries = int(store.path_start[paths])
    return TraceArrays(
        path_start=_first(store.path_start, paths + 1),
        instruction=_first(store.instruction, entries),
        mask=_first(store.mask, entries),
        warp_path=store.warp_path,
        access_start=store.access_start,
        access_base=_first(store.access_base, accesses),
        access_stride=_first(store.access_stride, accesses),
        scattered=_first(store.scattered, int(store.scattered_rows[0])),
    )


def _first(array: np.ndarray, count: int) -> np.ndarray:
    """Return an array's first entries, without the room behind them."""
    return array if len(array) == count else array[:count].copy()
