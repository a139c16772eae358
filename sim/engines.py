"""The engines by name: which of them times a trace, and what each needs."""

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from isa.vocabulary import Kind, Operation
from sim.compiled.cores import check_threads

if TYPE_CHECKING:
    from sim.gpus.model import Gpu
    from sim.launch.launch import Launch
    from sim.result.result import Result
    from sim.traces.trace import Trace

ENGINES = ("numba", "simpy")


def simulate(trace: "Trace", gpu: "Gpu", timeline: tuple[int, int] | None, engine: str, threads: int | None) -> "Result":
    """Time a trace with the engine of that name, as `sim.simulate` says."""
    check_gpu(gpu)
    if engine not in ENGINES:
        raise UserError(f"no engine is called '{engine}'", hint=f"engines: {', '.join(ENGINES)}")
    check_threads(threads)
    if threads is not None and engine == "simpy":
        raise UserError("the simpy engine has no threads", hint="leave threads out, or take engine 'numba'")
    check_barriers(trace)
    check_warps(trace, gpu)
    if engine == "numba":
        from sim.timing import simulate

        return replace(simulate(trace, gpu, timeline, threads), trace=trace, explain=_explain)
    if find_spec("simpy") is None:
        raise UserError("the simpy engine needs SimPy", hint="pip install 'simtlab[reference]'")
    from sim import reference

    return replace(reference.simulate(trace, gpu, timeline), trace=trace, explain=_explain)


def check_barriers(trace: "Trace") -> None:
    """Raise UserError for a BAR that stood for several barriers: the tables of the engines have one for each."""
    encoded = trace.program.encoded
    several = (encoded.operation == Operation.BAR) & (encoded.source_kind[:, :2] != Kind.NONE).any(axis=1) & (trace.executed > 0)
    if several.any():
        line = trace.program.instructions[int(several.argmax())].line
        message = "this barrier's number or threads come from a register and differ between warps: it computes, but is not timed"
        raise UserError(message, path=trace.program.path, line=line, hint="name barriers by constants, one BAR for each")


def check_warps(trace: "Trace", gpu: "Gpu") -> None:
    """Raise UserError for a trace whose warps are not of the GPU's size: which threads execute together is in the trace."""
    size, wanted = trace.launch.warp_size, gpu.core.warp_size
    if size != wanted:
        message = f"core.warp_size = {wanted}, but this trace was executed with warps of {size} threads"
        raise UserError(message, path=trace.program.path, hint=f"sim.run(launch, gpu), or sim.execute of a launch of warp_size={wanted}")


def _explain() -> Any:
    """Return the room that looks for causes; a result asks for it when it is first asked why."""
    from sim.causes import explain

    return explain


def sized(launch: "Launch", gpu: "Gpu") -> "Launch":
    """Return the launch with warps of the GPU's size. Raises UserError for what is not a GPU; of what is not a Launch `execute` tells."""
    from sim.launch.launch import Launch

    check_gpu(gpu)
    return launch.in_warps(gpu.core.warp_size) if isinstance(launch, Launch) else launch


def check_gpu(gpu: object) -> None:
    """Raise UserError, with what to write, for what is not a GPU."""
    from sim.gpus.model import Gpu

    if not isinstance(gpu, Gpu):
        raise UserError(f"{gpu!r} is not a GPU", hint=f"write sim.gpu({gpu!r})" if isinstance(gpu, str) else 'write sim.gpu("h100")')
