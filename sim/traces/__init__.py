"""Accel-Sim's text traces in and out. See README.md beside this file."""

from sim.traces.files import is_trace
from sim.traces.reader import read
from sim.traces.writer import write

__all__ = ["is_trace", "read", "write"]
