"""The reference engine: the machine of `sim.timing` as SimPy processes, written to be read. See README.md beside this file."""

from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.result.result import Result
from sim.traces.trace import Trace

try:
    from sim.reference.session import Session
except ModuleNotFoundError as error:
    if error.name != "simpy":
        raise
    raise UserError("the SimPy engine needs the package simpy", hint="pip install 'simtlab[reference]'") from None

__all__ = ["Session", "simulate"]


def simulate(trace: Trace, gpu: Gpu, timeline: tuple[int, int] | None = None) -> Result:
    """Return the Result of `trace` on `gpu`, equal to that of `sim.timing.simulate` but for the engine's name.

    timeline: first and last cycle of the issues to record, inclusive; None records none. Raises UserError when a block does
    not fit the GPU (the message names the limiter).
    """
    return Session(trace, gpu, timeline).result()
