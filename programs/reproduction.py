"""`Reproduction`: a published experiment run again, as values that the command line prints and the tests judge."""

from dataclasses import dataclass

from sim.report.curves import Curve


@dataclass(frozen=True)
class Check:
    """One published number beside the simulated one."""

    what: str
    published: str
    simulated: str
    passed: bool | None  # None = shown for comparison, not judged
    note: str = ""


@dataclass(frozen=True)
class Reproduction:
    """A published experiment, its checks, and the curves of its figure (none when it has no figure)."""

    title: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    x_label: str = ""
    y_label: str = ""

    @property
    def passed(self) -> bool:
        """Whether no judged check failed."""
        return all(check.passed is not False for check in self.checks)
