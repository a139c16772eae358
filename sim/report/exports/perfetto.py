"""A timeline as Chrome trace JSON, which ui.perfetto.dev and chrome://tracing open.

An SM is a process, a warp a thread. A thread's slices are complete events ("X") that never overlap: the instruction in the cycle of its
issue, each wait under the name of its cause. A barrier in shared memory (`mbarrier`) is a thread, too, with a slice per phase. Flow arrows
lead from the issue that made a result to the one that waited for it. Each SM has counters: loads in flight and the bytes they asked for,
warps resident, warps ready (the queue before its schedulers). The format counts microseconds: one of them is a cycle here.

Format: "Trace Event Format" (Chromium project).
"""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from isa.dependences import name as dependence_name
from sim.report.barriers import lanes
from sim.report.slices import NOT_SELECTED, SELECTED, slices
from sim.report.tracks import Tracks, in_flight, steps, tracks
from sim.report.words import CAUSE_MEANINGS
from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result


def text(result: Result) -> str:
    """Return the trace. Raises UserError when the run recorded no timeline."""
    found = tracks(result)
    events = ",\n".join(json.dumps(event, separators=(",", ":")) for event in _events(result, found))
    other = {
        "kernel": result.name,
        "gpu": result.gpu.name,
        "alu_mhz": result.gpu.clock.core_mhz,
        "time": "a microsecond of this trace is a cycle of the core clock",
    }
    return f'{{"displayTimeUnit":"ns","otherData":{json.dumps(other)},"traceEvents":[\n{events}\n]}}\n'


def _events(result: Result, found: Tracks) -> Iterator[dict[str, Any]]:
    yield from _names(found)
    yield from _slices(result, found)
    yield from _flows(found)
    yield from _barriers(result, found)
    for sm in np.unique(found.rows.sm).tolist():
        yield from _counters(result, found, sm)


def _thread(found: Tracks, warp: int) -> dict[str, int]:
    """Return the process and the thread of a warp; both count from 1, 0 is the idle process to some readers."""
    return {"pid": int(found.rows.sm[found.first[warp]]) + 1, "tid": warp + 1}


def _names(found: Tracks) -> Iterator[dict[str, Any]]:
    for sm in np.unique(found.rows.sm).tolist():
        yield {"ph": "M", "name": "process_name", "pid": sm + 1, "args": {"name": f"SM {sm}"}}
        yield {"ph": "M", "name": "process_sort_index", "pid": sm + 1, "args": {"sort_index": sm}}
    for warp, row in enumerate(found.first[:-1].tolist()):
        rows = found.rows
        name = f"block {rows.block[row]} warp {rows.warp[row]} (scheduler {rows.scheduler[row]})"
        yield {"ph": "M", "name": "thread_name", **_thread(found, warp), "args": {"name": name}}
        yield {"ph": "M", "name": "thread_sort_index", **_thread(found, warp), "args": {"sort_index": warp}}


def _slices(result: Result, found: Tracks) -> Iterator[dict[str, Any]]:
    rows, instructions = found.rows, result.program.instructions
    for warp, row, cause, begin, end in zip(*(column.tolist() for column in slices(found)), strict=True):
        event: dict[str, Any] = {"ph": "X", **_thread(found, warp), "ts": begin, "dur": end - begin}
        instruction = instructions[rows.instruction[row]]
        if cause != SELECTED:
            meaning = "is ready, but not its turn or its port taken" if cause == NOT_SELECTED else CAUSE_MEANINGS[CAUSE_NAMES[cause]]
            args = {"before": instruction.text, "line": instruction.line, "meaning": f"the warp {meaning}"}
            yield event | {"name": CAUSE_NAMES[cause], "cat": "stall", "args": args}
            continue
        args = {
            "line": instruction.line,
            "lanes": int(rows.lanes[row]),
            "port_until": int(rows.dispatched[row]),
            "ready": int(rows.ready[row]),
        }
        if row + 1 < found.first[warp + 1] and rows.cycle[row + 1] == rows.cycle[row]:
            args["issued_with_it"] = instructions[rows.instruction[row + 1]].text
        yield event | {"name": instruction.text, "cat": "issue", "args": args}


def _barriers(result: Result, found: Tracks) -> Iterator[dict[str, Any]]:
    """Yield a thread per barrier in shared memory, a slice per phase."""
    warps = len(found.first) - 1
    for place, lane in enumerate(lanes(result, found)):
        thread = {"pid": lane.sm + 1, "tid": warps + place + 1}
        yield {"ph": "M", "name": "thread_name", **thread, "args": {"name": f"block {lane.block} mbarrier {lane.barrier:#x}"}}
        yield {"ph": "M", "name": "thread_sort_index", **thread, "args": {"sort_index": warps + place}}
        for span in lane.spans:
            yield {"ph": "X", **thread, "ts": span.first, "dur": span.last - span.first, "name": f"phase {span.number}", "cat": "mbarrier"}


def _flows(found: Tracks) -> Iterator[dict[str, Any]]:
    rows = found.rows
    warps = np.searchsorted(found.first, np.arange(len(rows.cycle)), side="right") - 1
    for row in np.flatnonzero(found.producer >= 0).tolist():
        maker, thread = int(found.producer[row]), _thread(found, int(warps[row]))
        if rows.cycle[maker] == rows.cycle[row]:
            continue
        flow = {"cat": "result", "name": dependence_name(int(found.dependence[row])), "id": row + 1, **thread}
        yield {"ph": "s", "ts": int(rows.cycle[maker]), **flow}
        yield {"ph": "f", "bp": "e", "ts": int(rows.cycle[row]), **flow}


def _counters(result: Result, found: Tracks, sm: int) -> Iterator[dict[str, Any]]:
    rows = found.rows
    first, last = found.first[:-1], found.first[1:] - 1
    own = rows.sm[first] == sm
    begin, end = rows.since[first[own]], rows.cycle[last[own]] + 1
    here = np.flatnonzero(rows.sm == sm)
    ready = np.maximum(rows.eligible[here], rows.since[here])
    loads, asked = in_flight(result, rows)
    mine = rows.sm[loads] == sm
    loads, asked = loads[mine], asked[mine]
    counters = {
        "warps resident": ("warps", begin, end, np.ones(len(begin), np.int64)),
        "warps ready": ("warps", ready, np.maximum(rows.cycle[here], ready), np.ones(len(here), np.int64)),
        "loads in flight": ("loads", rows.cycle[loads], rows.ready[loads], np.ones(len(loads), np.int64)),
        "bytes in flight": ("bytes", rows.cycle[loads], rows.ready[loads], asked),
    }
    for name, (unit, start, stop, change) in counters.items():
        cycles, values = steps(np.concatenate([start, stop]), np.concatenate([change, -change]))
        for cycle, value in zip(cycles.tolist(), values.tolist(), strict=True):
            yield {"ph": "C", "pid": sm + 1, "name": name, "ts": cycle, "args": {unit: value}}
