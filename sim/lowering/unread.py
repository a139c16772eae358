"""Which fields of a GPU one run never reads, and why: by the machine (`sim.gpus.unread`), control words, what was executed and counted."""

from sim.gpus.fields import needed
from sim.gpus.model import Gpu
from sim.gpus.unread import CONTROL, why_unread
from sim.lowering.needs import NEEDS
from sim.lowering.used import Used
from sim.result.words import Words

QUEUED = {"global", "local", "shared"}  # units whose pipes have queues, used or not
UNKNOWN = ("reads", "wide_passes")  # of units, to those who schedule words
SCOREBOARD = ("core.wake_rule", "core.in_flight_cap")


def why_unread_by(gpu: Gpu, name: str, words: Words, used: Used | None = None) -> str:
    """Return why a run on `gpu` that obeyed those control words does not read the field `name`, as a clause; "" when it does.

    used: what the run executed and counted; None = not known.
    """
    if reason := why_unread(gpu, name):
        return reason
    if used is not None and (reason := _not_used(gpu, name, used)):
        return reason
    if words.kind == "none":
        of_words = name in (*CONTROL, "core.kind") or name.endswith(".reads")
        return "not read: the listing has no control words that this GPU obeys" if of_words else ""
    if name in SCOREBOARD:
        return "not read: control words say which results a warp waits for"
    if words.kind == "kept" and name in words.fields:
        return f"not read: {words.why}"
    return ""


def _not_used(gpu: Gpu, name: str, used: Used) -> str:
    """Return why nothing reads a field whose need nothing meets, or of a unit or a pipe that no instruction needs."""
    section, owner, leaf = (*name.split("."), "", "")[:3]
    units = used.units if leaf in UNKNOWN else used.held_units
    if section == "units" and owner not in units and not (leaf == "pipe" and owner in QUEUED and used.accesses):
        return f"not read: no instruction of unit {owner} is executed"
    if section == "pipes" and owner in gpu.pipes:
        units |= QUEUED if used.accesses else set()
        own = {owner}
        if leaf != "within":  # whatever else it says counts for those that share its port, too
            own |= {gpu.pipes[owner].within or owner, *(other for other, pipe in gpu.pipes.items() if pipe.within == owner)}
        if own.isdisjoint(unit.pipe for served, unit in gpu.units.items() if served in units):
            return f"not read: no instruction that is executed goes through pipe {owner}"
    need = NEEDS[needed(Gpu, name)]
    return "" if need.met(gpu, used) else f"not read: {need.lacks}"
