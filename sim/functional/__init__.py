"""Execute a program lane by lane: `execute(launch) -> Trace`. README.md in this folder says what is modelled."""

from sim.functional.execute import execute

__all__ = ["execute"]
