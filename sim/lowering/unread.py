"""Which fields of a GPU one run never looks at, and why: by the machine (`sim.gpus.unread`), and by the control words that it obeyed."""

from sim.gpus.model import Gpu
from sim.gpus.unread import READS, why_unread
from sim.result.words import Words

SCOREBOARD = ("core.wake_rule", "core.in_flight_cap")


def why_unread_by(gpu: Gpu, name: str, words: Words) -> str:
    """Return why a run on `gpu` that obeyed those control words does not read the field `name`, as a clause; "" when it does."""
    if reason := why_unread(gpu, name):
        return reason
    if words.kind == "none":
        return "not read: the listing has no control words that this GPU obeys" if name in (*READS, "core.kind") else ""
    if name in SCOREBOARD:
        return "not read: control words say which results a warp waits for"
    if words.kind == "kept" and name in words.fields:
        return f"not read: {words.why}"
    return ""
