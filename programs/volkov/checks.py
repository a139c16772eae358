"""Judge a sweep: the published statements about it, and Little's law beside."""

from collections.abc import Iterator, Mapping
from typing import Any

from programs.reproduction import Check
from programs.volkov.sweep import ILPS, Sweep
from sim.analysis import little
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP


def littles_law(gpu: Gpu, ilp: int) -> int:
    """Return the threads that keep the FP32 lanes busy: latency x throughput / ILP, a whole number of warps on every scheduler.

    Assumes a scoreboard that knows every register.
    """
    return WARP * little.arithmetic(gpu).whole_warps(ilp)


def threads(sweep: Sweep, ilp: int) -> str:
    """Return the threshold in words."""
    found = sweep.threshold(ilp)
    return str(found) if found else f"never ({max(sweep.percent[ilp]):.1f} %)"


def published_checks(published: Mapping[str, Any], sweep: Sweep, fitted: bool = False) -> Iterator[Check]:
    """Yield one judged check per statement of published.toml about this GPU. fitted: the thresholds are what the preset was fitted to."""
    for row in published.get("threshold", ()):
        ilp, wanted = row["ilp"], row["threads"]
        note = ("FITTED to it; " if fitted else "") + row["slide"]
        yield Check(f"threads for 100 %, ILP {ilp}", str(wanted), threads(sweep, ilp), sweep.threshold(ilp) == wanted, note)
    if "no_gain" in published:
        yield from _no_gain(published["no_gain"], sweep)
    for row in published.get("ceiling", ()):
        yield _ceiling(row, max(sweep.percent[row["ilp"]]))


def _no_gain(row: Mapping[str, Any], sweep: Sweep) -> Iterator[Check]:
    last = sweep.threshold(row["past"])
    for ilp in range(row["past"] + 1, ILPS[-1] + 1):
        passed = last is not None and sweep.threshold(ilp) == last
        yield Check(f"threads for 100 %, ILP {ilp}", f"no gain ({last})", threads(sweep, ilp), passed, row["slide"])


def _ceiling(row: Mapping[str, Any], best: float) -> Check:
    what = f"best percent of peak, ILP {row['ilp']}"
    if "at_most" in row:
        return Check(what, f"at most {row['at_most']}", f"{best:.1f}", best <= row["at_most"], row["slide"])
    return Check(what, f"above {row['more_than']}", f"{best:.1f}", best > row["more_than"], row["slide"])


def comparison(label: str, gpu: Gpu, sweep: Sweep, published: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the thresholds of a machine that is shown, not judged, with Little's law for each."""
    said = {row["ilp"]: str(row["threads"]) for row in published.get("threshold", ())}
    for ilp in ILPS:
        note = f"Little's law: {littles_law(gpu, ilp)}"
        yield Check(f"{label}: threads for 100 %, ILP {ilp}", said.get(ilp, "-"), threads(sweep, ilp), None, note)
