"""Why a warp waited, and what the run as a whole waited for. See README.md beside this file."""

from sim.explain.chain import Chain, Link
from sim.explain.path import CriticalPath, Part, critical_path
from sim.explain.recording import Recording, check_size
from sim.explain.wait import longest_wait, why

__all__ = ["Chain", "CriticalPath", "Link", "Part", "Recording", "check_size", "critical_path", "longest_wait", "why"]
