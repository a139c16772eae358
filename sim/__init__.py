"""simtlab: how a GPU schedules warps, cycle by cycle. This file is the whole public API.

    program = isa.load("saxpy.sass")
    launch = sim.Launch(program, grid=(4,), block=(256,), args=(x, y, np.float32(2)))
    result = sim.run(launch, sim.gpu("gtx480"))

Nothing here loads Numba until a program is executed or timed.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa.errors import UserError

# The package `sim.gpus` is loaded before the function of that name is defined: a later first import would overwrite the function.
from sim.gpus import loader as _loader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pandas import DataFrame

    from sim.gpus.model import Gpu
    from sim.gpus.occupancy import Occupancy
    from sim.launch import Launch
    from sim.result import Result
    from sim.trace import Trace

__all__ = ["Launch", "UserError", "execute", "gpu", "gpus", "occupancy", "read_traces", "run", "simulate", "sweep", "write_traces"]

ENGINES = ("numba", "simpy")


def gpu(name_or_path: str | Path) -> "Gpu":
    """Return a GPU by preset name, or from a TOML file of yours.

    Raises UserError when there is no such preset or file, or when a field of the file is unknown, missing or impossible.

    >>> import sim
    >>> gtx480 = sim.gpu("gtx480")
    >>> gtx480.sms, gtx480.clock.alu_mhz
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


def execute(launch: "Launch", limit: int | None = None) -> "Trace":
    """Execute every warp of `launch` and return what was executed; NumPy arguments are updated in place, as a kernel would.

    limit: instructions that one warp may execute, default 2**24; more counts as a loop without end. Raises UserError for that, for an
    access outside its array, a barrier in divergent code.

    >>> import isa, numpy as np, sim
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nEXIT;")
    >>> sim.execute(sim.Launch(program, grid=(2,), block=(64,))).warp_instructions
    8
    """
    from sim.functional.execute import LIMIT, execute

    return execute(launch, LIMIT if limit is None else limit)


def simulate(
    trace: "Trace", gpu: "Gpu", timeline: tuple[int, int] | None = None, engine: str = "numba", threads: int | None = None
) -> "Result":
    """Return how long `trace` takes on `gpu`, and where the time went. The trace can be used again, on other GPUs.

    timeline: first and last cycle (ALU clock, inclusive) whose issues are kept in `result.timeline`; None keeps none. engine:
    "numba", or "simpy" for the readable one, which gives the same result about a thousand times slower. threads: how many of them share
    the SMs (engine "numba"): the result is the same with any number; None = as many as gain, on the cores of this process, or what
    SIMTLAB_THREADS says. Raises UserError when a block does not fit the GPU, and for an engine that does not exist or is not installed.

    >>> import isa, sim
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nFADD R0, R0, 1;\\nEXIT;")
    >>> trace = sim.execute(sim.Launch(program, grid=(1,), block=(32,)))
    >>> [sim.simulate(trace, sim.gpu(name)).cycles for name in ("gtx480", "h100")]
    [36, 428]
    """
    if engine not in ENGINES:
        raise UserError(f"no engine is called '{engine}'", hint=f"engines: {', '.join(ENGINES)}")
    if threads is not None and (type(threads) is not int or threads < 1):
        raise UserError(f"threads = {threads!r} is no number of threads", hint="a whole number from 1 on, or None for as many as gain")
    if threads is not None and engine == "simpy":
        raise UserError("the simpy engine has no threads", hint="leave threads out, or take engine 'numba'")
    if engine == "numba":
        from sim.timing import simulate

        return replace(simulate(trace, gpu, timeline, threads), trace=trace)
    if find_spec("simpy") is None:
        raise UserError("the simpy engine needs SimPy", hint="pip install 'simtlab[reference]'")
    from sim import reference

    return replace(reference.simulate(trace, gpu, timeline), trace=trace)


def run(
    launch: "Launch", gpu: "Gpu", engine: str = "numba", timeline: tuple[int, int] | None = None, threads: int | None = None
) -> "Result":
    """Execute `launch` and time it on `gpu`: `simulate(execute(launch), gpu)`, whose `timeline`, `engine` and `threads` these are.

    Raises UserError for what `execute` and `simulate` refuse, and for an engine that does not exist.

    >>> import isa, sim
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nEXIT;")
    >>> result = sim.run(sim.Launch(program, grid=(1,), block=(32,)), sim.gpu("gtx480"))
    >>> sum(result.stalls.values()) == result.counters["warp_cycles"]
    True
    """
    return simulate(execute(launch), gpu, timeline, engine, threads)


def sweep(
    launch: "Launch | Callable[..., Launch]",
    gpu: "Gpu",
    over: "Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]",
    *,
    output: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: "Callable[[int, int], None] | None" = None,
) -> "DataFrame":
    """Simulate a launch on many variants of a GPU, many variants of the launch, or both; return a pandas table, a row per point.

    over: names and values; a mapping of names to lists is a grid, a list of mappings is taken point by point. Names: fields of the
    GPU ("l2.latency"), "policy", "gpu" (presets, files or Gpus), the launch's "grid", "block", "registers", "shared_static" and
    "shared_dynamic"; where `launch` is a function that returns a Launch, its parameters. A program is executed once per launch, on
    copies of its arrays. Columns: the names, `cycles`, counters, `stall_` and `slot_` by cause, as a single run gives them; a point
    that cannot be (a block that does not fit) has an `error` instead.

    output: a Parquet file; rows are written as they are found, and a sweep that was interrupted goes on where it was. workers:
    processes, all cores unless said. cluster: address of a Dask scheduler, in place of processes here. progress: called with
    points done and points in all. Raises UserError for a name that nothing has, a value that cannot be, and when no point can be.

    >>> import isa, sim
    >>> program = isa.parse(".kernel f\\nFADD R0, R0, 1;\\nFADD R0, R0, 1;\\nEXIT;")
    >>> launch = sim.Launch(program, grid=(1,), block=(32,))
    >>> sim.sweep(launch, sim.gpu("gtx480"), {"units.fp32.latency": [10, 20]})["cycles"].tolist()
    [20, 40]
    """
    from sim.sweeps import sweep

    return sweep(launch, gpu, over, output=output, workers=workers, cluster=cluster, progress=progress)


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
    from sim.traces import read

    return read(path, listing)


def write_traces(traces: "Sequence[Trace]", folder: str | Path) -> Path:
    """Write what was executed as an Accel-Sim trace (tracer version 5) and return the path of its `kernelslist.g`. Raises UserError.

    >>> import isa, sim, tempfile
    >>> trace = sim.execute(sim.Launch(isa.parse(".kernel f\\nFADD R0, R0, 1;\\nEXIT;"), grid=(2,), block=(64,)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sim.write_traces([trace], folder).name
    'kernelslist.g'
    """
    from sim.traces import write

    return write(traces, folder)


def __getattr__(name: str) -> Any:
    """Load `Launch` when it is first asked for: it needs NumPy."""
    if name == "Launch":
        from sim.launch import Launch

        return Launch
    raise AttributeError(f"module 'sim' has no attribute '{name}'")
