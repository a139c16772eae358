"""simtlab: how a GPU schedules warps, cycle by cycle. This file is the whole public API.

    program = isa.load("saxpy.sass")
    launch = sim.Launch(program, grid=(4,), block=(256,), args=(x, y, np.float32(2)))
    result = sim.run(launch, sim.gpu("gtx480"))

Nothing here loads Numba until a program is executed or timed.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from sim import engines as _engines

# The package `sim.gpus` is loaded before the function of that name is defined: a later first import would overwrite the function.
from sim.gpus import loader as _loader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pandas import DataFrame

    from isa.program import Program
    from sim.control_words import Finding
    from sim.gpus.best_block import BestBlock
    from sim.gpus.model import Gpu
    from sim.gpus.occupancy import Occupancy
    from sim.launch.cuda import cuda
    from sim.launch.launch import Launch
    from sim.launch.numba_cuda import numba
    from sim.launch.pointers import Pointer
    from sim.launch.tensor_maps import tensor_map
    from sim.launch.triton import tensor_descriptor, triton
    from sim.result.result import Result
    from sim.traces.trace import Trace

__all__ = [
    "Launch",
    "Pointer",
    "UserError",
    "best_block",
    "cuda",
    "execute",
    "gpu",
    "gpus",
    "lint",
    "numba",
    "occupancy",
    "read_traces",
    "run",
    "schedule",
    "simulate",
    "sweep",
    "tensor_descriptor",
    "tensor_map",
    "triton",
    "write_traces",
]

ENGINES = _engines.ENGINES


def gpu(name_or_path: str | Path) -> "Gpu":
    """Return a GPU by preset name, or from a TOML file of yours.

    Raises UserError when there is no such preset or file, or when a field of the file is unknown, missing or impossible.

    >>> import sim
    >>> gtx480 = sim.gpu("gtx480")
    >>> gtx480.sms, gtx480.clock.core_mhz
    (15, 1401.0)
    >>> gtx480.replace({"core.schedulers": 4}).core.schedulers
    4
    """
    return _loader.load(name_or_path)


def gpus() -> tuple[str, ...]:
    """Return the names of the presets, sorted.

    >>> import sim
    >>> "gtx480" in sim.gpus()
    True
    """
    return _loader.names()


def execute(launch: "Launch", limit: int | None = None, check: Sequence[str] = (), threads: int | None = None) -> "Trace":
    """Execute every warp of `launch` and return what was executed; NumPy arguments are updated in place, as a kernel would.

    limit: instructions that one warp may execute, default 2**24; more counts as a loop without end. check: "race", "init" or both:
    `trace.hazards` then tells which accesses of shared memory no barrier orders, and what is read unwritten; it may take ten times longer.
    threads: how many share the blocks where these tell each other nothing, None = as for `simulate`; the same result with any number.
    Raises UserError for a loop without end, an access outside its array, a barrier in divergent code, no such check or number of threads.

    >>> import isa, numpy as np, sim
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nEXIT;")
    >>> sim.execute(sim.Launch(program, grid=(2,), block=(64,))).warp_instructions
    8
    """
    from sim.functional.execute import LIMIT, execute

    return execute(launch, LIMIT if limit is None else limit, check, threads=threads)


def simulate(
    trace: "Trace", gpu: "Gpu", timeline: tuple[int, int] | None = None, engine: str = "numba", threads: int | None = None
) -> "Result":
    """Return how long `trace` takes on `gpu`, and where the time went. The trace can be used again, on other GPUs.

    timeline: first and last cycle (core clock, inclusive) whose issues are kept in `result.timeline`; None keeps none. engine:
    "numba", or "simpy" for the readable one, which gives the same result about a thousand times slower. threads: how many of them share
    the SMs (engine "numba"): the result is the same with any number; None = as many as gain, on the cores of this process, or what
    SIMTLAB_THREADS says. Raises UserError when a block does not fit the GPU, and for an engine that does not exist or is not installed.

    >>> import isa, sim
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nFADD R0, R0, 1;\\nEXIT;")
    >>> trace = sim.execute(sim.Launch(program, grid=(1,), block=(32,)))
    >>> [sim.simulate(trace, sim.gpu(name)).cycles for name in ("gtx480", "h100")]
    [36, 326]
    """
    return _engines.simulate(trace, gpu, timeline, engine, threads)


def run(
    launch: "Launch",
    gpu: "Gpu",
    engine: str = "numba",
    timeline: tuple[int, int] | None = None,
    threads: int | None = None,
    check: Sequence[str] = (),
    sample: bool | float = False,
) -> "Result":
    """Execute `launch` and time it on `gpu`: `simulate(execute(launch, check=check), gpu, ...)`, whose parameters the others are.
    What a check found is in `result.trace.hazards`. sample: True, or a share of the blocks, for an estimate (`result.sample` has its
    bars) that leaves the arguments as they are. Raises UserError for what `execute` and `simulate` refuse.

    >>> import isa, sim
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nEXIT;")
    >>> result = sim.run(sim.Launch(program, grid=(1,), block=(32,)), sim.gpu("gtx480"))
    >>> sum(result.stalls.values()) == result.counters["warp_cycles"]
    True
    """
    what = _engines.sized(launch, gpu)
    if sample is not False:
        from sim.sampling import Wanted, run

        return run(what, gpu, None if sample is True else sample, Wanted(engine, threads, timeline, tuple(check)))
    return simulate(execute(what, check=check, threads=threads), gpu, timeline, engine, threads)


def sweep(
    launch: "Launch | Callable[..., Launch]",
    gpu: "Gpu",
    over: "Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]",
    *,
    output: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: "Callable[[int, int], None] | None" = None,
    repeat: int | None = None,
) -> "DataFrame":
    """Simulate a launch on many variants of a GPU, many variants of the launch, or both; return a pandas table, a row per point.

    over: names and values; a mapping of names to lists is a grid, a list of mappings is taken point by point. Names: fields of the GPU
    ("l2.latency"), "policy", "gpu" (presets, files or Gpus), the launch's "grid", "block", "registers", "shared_static" and
    "shared_dynamic"; where `launch` is a function that returns a Launch, its parameters, of `**names` any. A program is executed once
    per launch, on copies of its arrays. Columns: the names, `cycles`, counters, `stall_` and `slot_` by cause, as a single run gives
    them; a point that cannot be has an `error` instead. output: a Parquet file; rows are written as they are found, and an interrupted
    sweep continues where it stopped. workers: processes, all cores unless said. cluster: address of a Dask scheduler instead. progress:
    called with points done and points in all. repeat: runs of each point that differ in what no user controls (where arrays lie, which
    of neighbouring blocks starts first); columns `cycles_median`, `cycles_low`, `cycles_high`. None: one run, and five of the fastest
    point if that costs little: `within_noise` marks points that are no slower than these differ, `attrs["noise"]` says how much (1.02 =
    2 %). Raises UserError for a name that nothing has, a value that cannot be, and when no point of a Launch can be.

    >>> import isa, sim
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nFADD R0, R0, 1;\\nEXIT;")
    >>> launch = sim.Launch(program, grid=(1,), block=(32,))
    >>> sim.sweep(launch, sim.gpu("gtx480"), {"units.fp32.latency": [10, 20]})["cycles"].tolist()
    [20, 40]
    """
    from sim.sweeps import sweep

    return sweep(launch, gpu, over, output=output, workers=workers, cluster=cluster, progress=progress, repeat=repeat)


def occupancy(gpu: "Gpu", block: int | tuple[int, ...], registers: int, shared: int = 0) -> "Occupancy":
    """Return how many blocks of `block` threads one SM holds (0 when not even one fits), and every limit that keeps out more.

    registers: 32-bit registers per thread. shared: bytes of shared memory per block, static and dynamic together. Raises UserError
    for sizes below their minimum.

    >>> import sim
    >>> found = sim.occupancy(sim.gpu("gtx480"), block=256, registers=21)
    >>> found.blocks, found.warps, round(found.fraction, 3), found.limiters
    (5, 40, 0.833, ('registers',))
    """
    from sim.gpus.occupancy import occupancy

    return occupancy(gpu, block, registers, shared)


def lint(program: "Program", gpu: "Gpu | None" = None) -> "list[Finding]":
    """Return what is wrong with the control words of a program, in the order of the listing: hazards, and cycles that are lost.

    gpu: by the latencies of this one, where they differ from those of its architecture.
    Raises UserError for a listing without control words, and for an architecture whose latencies are not known.

    >>> import isa, sim
    >>> program = sim.schedule(isa.parse(".kernel f\\nFADD R0, R0, 1;\\nFADD R0, R0, 1;\\nEXIT;"), "sm_90")
    >>> [finding for finding in sim.lint(program) if finding.level == "hazard"]
    []
    """
    from sim.control_words import lint
    from sim.lowering.rescheduling import change_of

    return lint(program, change_of(program, gpu))


def schedule(program: "Program", architecture: str = "", gpu: "Gpu | None" = None) -> "Program":
    """Return a program with control words for an architecture such as "sm_90", by default its own; those that it has are not read.

    gpu: for the latencies of this one, where they differ from those of its architecture.
    Raises UserError for an architecture whose latencies are not known (Kepler and older do without), and, without gpu, where a stall
    count would be more than a control word can say.

    >>> import isa, sim
    >>> sim.schedule(isa.parse(".kernel f\\nFADD R0, R0, 1;\\nFADD R0, R0, 1;\\nEXIT;"), "sm_90").control.stall.tolist()
    [4, 1, 5]
    """
    from sim.control_words import check_sayable, schedule
    from sim.lowering.rescheduling import change_of

    found = schedule(program, architecture, change_of(program, gpu))
    if gpu is None:
        check_sayable(found)
    return found


def best_block(gpu: "Gpu", registers: int = 0, shared: "int | Callable[[int], int]" = 0, limit: int | None = None) -> "BestBlock":
    """Return the block size that cudaOccupancyMaxPotentialBlockSize proposes, and the smallest grid that fills the chip with it.

    registers: 32-bit registers per thread; 0 = no limit. shared: bytes of shared memory per block, or a function of the block's
    threads. limit: the most threads per block that the kernel allows. Occupancy is all it looks at. Raises UserError for sizes below
    their minimum.

    >>> import sim
    >>> found = sim.best_block(sim.gpu("k20c"), registers=40, shared=lambda threads: 4 * threads)
    >>> found.block, found.grid, round(found.occupancy.fraction, 3)
    (768, 26, 0.75)
    """
    from sim.gpus.best_block import best_block

    return best_block(gpu, registers, shared, limit)


def read_traces(path: str | Path, listing: str | Path | None = None) -> "list[Trace]":
    """Return the kernels of an Accel-Sim trace, `kernelslist.g` or a `.traceg`, packed by xz or gzip or not; `simulate` takes each.

    listing: the disassembly of the traced program, for what a trace lacks: predicates, uniform registers, control words. Raises UserError
    with file and line for what is no such trace, and for opcodes that are not covered.

    >>> import isa, sim, tempfile
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nEXIT;")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = sim.write_traces([sim.execute(sim.Launch(program, grid=(2,), block=(64,)))], folder)
    ...     [trace.warp_instructions for trace in sim.read_traces(path)]
    [8]
    """
    from sim.traces.reader import read

    return read(path, listing)


def write_traces(traces: "Sequence[Trace]", folder: str | Path) -> Path:
    """Write what was executed as an Accel-Sim trace (tracer version 5) and return the path of its `kernelslist.g`. Raises UserError.

    >>> import isa, sim, tempfile
    >>> trace = sim.execute(sim.Launch(isa.parse(".kernel f\\nFADD R0, R0, 1;\\nEXIT;"), grid=(2,), block=(64,)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sim.write_traces([trace], folder).name
    'kernelslist.g'
    """
    from sim.traces.writer import write

    return write(traces, folder)


LAZY = {"Launch": "launch", "Pointer": "pointers", "cuda": "cuda", "numba": "numba_cuda", "tensor_map": "tensor_maps"}
LAZY |= dict.fromkeys(("tensor_descriptor", "triton"), "triton")  # name -> module of sim.launch


def __getattr__(name: str) -> Any:
    """Load what needs NumPy when it is first asked for."""
    if name in LAZY:
        return getattr(import_module(f"sim.launch.{LAZY[name]}"), name)
    raise AttributeError(f"module 'sim' has no attribute '{name}'")
