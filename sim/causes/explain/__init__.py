"""Why a warp waited, and what the run as a whole waited for. See README.md beside this file."""

from sim.causes.explain.chain import Chain, Link
from sim.causes.explain.path import CriticalPath, Part, critical_path
from sim.causes.explain.recording import Recording, check_size
from sim.causes.explain.wait import longest_wait, why
from sim.result.result import Result

__all__ = [
    "Chain",
    "CriticalPath",
    "Explained",
    "Link",
    "Part",
    "Recording",
    "check_size",
    "critical_path",
    "longest_wait",
    "record",
    "why",
]


class Explained(Recording):
    """A recording that answers for itself: what `Result.why` and its siblings ask."""

    def why(self, warp: int | tuple[int, int], cycle: int) -> Chain:
        """Return why a warp did not issue in a cycle."""
        return why(self, warp, cycle)

    def longest_wait(self, warp: int | tuple[int, int] | None = None) -> Chain:
        """Return the longest wait of a warp, or, of None, the longest on the critical path."""
        return longest_wait(self, warp)

    def critical_path(self) -> CriticalPath:
        """Return what the run's length is made of."""
        return critical_path(self)


def record(result: Result) -> Explained:
    """Return the run of `result` with everything that each event had to wait for. Raises UserError for a run that is too long."""
    assert result.trace is not None
    check_size(result)
    return Explained(result.trace, result.gpu)
