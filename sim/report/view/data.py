"""A run as the page's script reads it: plain values, ready for JSON."""

from typing import Any

import numpy as np

from isa.dependences import name as dependence_name
from isa.vocabulary import Unit
from sim.analysis.resources import pipe_of
from sim.report.barriers import lanes
from sim.report.figures import ISSUE, OTHER, STYLES
from sim.report.tracks import Tracks, far_loads
from sim.report.view.packing import COLUMNS, pack
from sim.report.view.places import drawn_rows
from sim.report.words import CAUSE_MEANINGS
from sim.result.causes import CAUSE_NAMES, PORT_CAUSE
from sim.result.result import Result

ON_BLACK = {ISSUE: "#FFFFFF", "#EFEFEF": "#33373D", "#FFFFFF": "#5B626C"}  # of black, white and near-white


def causes() -> list[dict[str, str]]:
    """Return the stall causes in the order of the vocabulary: name, meaning, hatch, colour on white and colour on black."""
    styles = {"selected": (ISSUE, "")} | STYLES
    found = [(name, *styles.get(name, OTHER)) for name in CAUSE_NAMES]
    return [
        {"name": name, "meaning": CAUSE_MEANINGS[name], "colour": colour, "dark": ON_BLACK.get(colour, colour), "hatch": hatch}
        for name, colour, hatch in found
    ]


def run(result: Result, tracks: Tracks, window: tuple[int, int]) -> dict[str, Any]:
    """Return what the script needs of a run. window: first and last cycle of the timeline."""
    rows, first = tracks.rows, tracks.first[:-1]
    places = drawn_rows(tracks, result.gpu.blocks.retire_latency)
    barriers = lanes(result, tracks)
    several = len({lane.block for lane in barriers}) > 1
    whole = window[0] == 0 and len(rows.cycle) == int(result.issues_by_instruction.sum())
    return {
        "title": f"{result.name} on {result.gpu.name}",
        "cycles": result.cycles,
        "window": [window[0], min(window[1], result.cycles)],
        "whole": whole,
        "interval": result.gpu.core.issue_interval,
        "fitting": result.occupancy.warps,  # resident per SM at most
        "holds_most": result.gpu.limits.warps,  # of any launch
        "instructions": instructions(result),
        "warps": {name: getattr(rows, name)[first].tolist() for name in ("sm", "scheduler", "block", "warp")} | {"row": places.row},
        "rowNames": places.names + [f"{f'b{lane.block}' if several else 'mbar'} {lane.barrier:#x}" for lane in barriers],
        "rowSm": places.sm + [lane.sm for lane in barriers],
        "phases": [[len(places.sm) + row, *span] for row, lane in enumerate(barriers) for span in lane.spans],
        "first": tracks.first.tolist(),
        "dependences": {str(n): dependence_name(int(n)) for n in np.unique(tracks.dependence) if n >= 0},
        "columns": list(COLUMNS),
        "issues": pack(tracks),
    }


def instructions(result: Result) -> list[dict[str, Any]]:
    """Return each instruction: its text and line, its pipe and that pipe's ports, the bytes a lane loads, its issues."""
    loads, units, width = far_loads(result.program), result.program.encoded.unit, result.program.encoded.width
    return [
        {
            "line": i.line,
            "text": i.text,
            "opcode": i.opcode,
            "pipe": (pipe := pipe_of(result.gpu, result.program, i.index)),
            "shared": bool(pipe) and result.gpu.pipes[pipe].owner == "sm",
            "ports": result.gpu.pipes[pipe].count if pipe else 1,
            "port": PORT_CAUSE[Unit(units[i.index])].name.lower(),
            "bytes": int(width[i.index]) if loads[i.index] else 0,
            "issues": int(result.issues_by_instruction[i.index]),
        }
        for i in result.program.instructions
    ]
