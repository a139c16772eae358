"""Chains of causes for the page: for every wait of every warp what hardware was busy meanwhile, and the run's critical path.

They come from what `result.why` starts from: the run timed once more in the SimPy engine, so for small runs only. A wait is split where
its cause changes, so that the page need not guess what a timeline leaves open: which part of being ready was a held port, and which
another warp's turn. Pages without chains need no SimPy, so what leads to it is imported where it is used.
"""

import base64
import json
import zlib
from importlib.util import find_spec
from typing import Any

from sim.report.tracks import Tracks
from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result

MOST_SECONDS = 8.0  # that the second run may take unless chains are asked for
MOST_ISSUES = 25_000


def are_cheap(result: Result, issues: int) -> bool:
    """Return whether the chains of a run take only seconds to find, and the page does not grow much by them."""
    if find_spec("simpy") is None or issues > MOST_ISSUES:
        return False
    from sim.causes.explain.recording import seconds

    return seconds(result) <= MOST_SECONDS


def chains(result: Result, tracks: Tracks) -> dict[str, Any]:
    """Return the waits of each warp with their links, and the issues on the critical path.

    waits: base64 of deflated JSON: texts, each once, and per warp a list of [begin, end, cause, [begin, end, text, ...]], the nearest
    reason first. path: [warp, cycle] of its issues, backwards. exact: whether the causes of the waits add up to the closed account.
    Raises UserError for a run that is too long, or without its trace.
    """
    from sim.causes.explain.wait import on_path

    first = tracks.first[:-1]
    warps = list(zip(tracks.rows.block[first].tolist(), tracks.rows.warp[first].tolist(), strict=True))
    texts: dict[str, int] = {}
    waits = [_waits(result, who, texts) for who in warps]
    total = dict.fromkeys(CAUSE_NAMES, 0)
    for begin, end, cause, _ in (wait for warp in waits for wait in warp):
        total[CAUSE_NAMES[cause]] += end - begin
    exact = all(total[name] == result.stalls.get(name, 0) for name in CAUSE_NAMES if name != "selected")
    plain = json.dumps({"texts": list(texts), "warps": waits}, separators=(",", ":"))
    number = {warp: place for place, warp in enumerate(warps)}
    return {
        "exact": exact,
        "waits": base64.b64encode(zlib.compress(plain.encode(), 9)).decode("ascii"),
        "path": [[number[moment.work.block, moment.work.warp], moment.cycle] for moment in on_path(result.recording)],
    }


def path_text(result: Result) -> str:
    """Return the critical path in words and tables."""
    from sim.report import causes

    return causes.text(result.critical_path(), result.program)


def _waits(result: Result, who: tuple[int, int], texts: dict[str, int]) -> list[list[Any]]:
    """Return the waits of one warp in order of time, each for one cause; the last one is its drain, if it has one."""
    from sim.causes.explain.segments import merged, segments
    from sim.causes.explain.wait import link

    recording = result.recording
    begin = recording.moments.starts[who[0]].cycle
    found: list[list[Any]] = []
    for moment, after in recording.ends_of_waits(*who):
        if moment.cycle > begin and moment.cause is not None:
            reasons = [link(recording, run) for run in merged(segments(moment, begin))]
            links = [place for each in reasons for place in (each.begin, each.end, texts.setdefault(each.text, len(texts)))]
            found.append([begin, moment.cycle, int(moment.cause), links])
        begin = max(begin, after)
    return found
