"""Captures: launches as a GPU had them, with their memory before and after."""

from sim.captures.file import SUFFIX, Capture, is_capture, read, write
from sim.captures.live import capture, prepare
from sim.captures.preset import preset_of
from sim.captures.replaying import Difference, differences, expectation_of, launch_of, program_of
from sim.captures.table import Allocation, Machine, Origin, Table

__all__ = [
    "SUFFIX",
    "Allocation",
    "Capture",
    "Difference",
    "Machine",
    "Origin",
    "Table",
    "capture",
    "differences",
    "expectation_of",
    "is_capture",
    "launch_of",
    "prepare",
    "preset_of",
    "program_of",
    "read",
    "write",
]
