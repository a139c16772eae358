"""Which fields of a GPU one run never looks at, and why: by the machine (`sim.gpus.unread`), its control words, the units that it needs."""

import numpy as np

from isa.program import Program
from isa.vocabulary import Unit
from sim.gpus.model import Gpu
from sim.gpus.unread import READS, why_unread
from sim.result.words import Words

SCOREBOARD = ("core.wake_rule", "core.in_flight_cap")
QUEUED = ("global", "local", "shared")  # units whose pipes have queues, used or not


def units_of(program: Program, executed: np.ndarray, words: Words) -> frozenset[str]:
    """Return the units whose instructions a run executed; where words were rescheduled, of all its instructions."""
    found = program.encoded.unit if words.kind == "scheduled" else program.encoded.unit[executed > 0]
    return frozenset(Unit(int(unit)).name.lower() for unit in np.unique(found))


def why_unread_by(gpu: Gpu, name: str, words: Words, units: frozenset[str] | None = None) -> str:
    """Return why a run on `gpu` that obeyed those control words does not read the field `name`, as a clause; "" when it does.

    units: of `units_of`; None = not known.
    """
    if reason := why_unread(gpu, name):
        return reason
    if units is not None and (reason := _not_used(gpu, name, units)):
        return reason
    if words.kind == "none":
        return "not read: the listing has no control words that this GPU obeys" if name in (*READS, "core.kind") else ""
    if name in SCOREBOARD:
        return "not read: control words say which results a warp waits for"
    if words.kind == "kept" and name in words.fields:
        return f"not read: {words.why}"
    return ""


def _not_used(gpu: Gpu, name: str, units: frozenset[str]) -> str:
    """Return why nothing reads a field of a unit or of a pipe that no instruction needs."""
    section, owner, *_ = (*name.split("."), "")
    if section == "units" and owner not in units and owner not in QUEUED:
        return f"not read: no instruction of unit {owner} is executed"
    if section == "pipes" and owner in gpu.pipes:
        own = {owner, gpu.pipes[owner].within, *(other for other, pipe in gpu.pipes.items() if pipe.within == owner)}
        if own.isdisjoint(unit.pipe for served, unit in gpu.units.items() if served in units or served in QUEUED):
            return f"not read: no instruction that is executed goes through pipe {owner}"
    return ""
