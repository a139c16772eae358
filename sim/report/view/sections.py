"""The parts of the page that need no script: heads, listings with stall bars, the account, memory, occupancy."""

import textwrap
from typing import Any

import numpy as np

from sim.causes.advice import advise, utilisation
from sim.causes.places import MATRIX_PIPES
from sim.gpus.occupancy import UNLIMITED
from sim.report import memory as memory_text
from sim.report import text
from sim.report.occupancy import RESOURCES, limit_sentence
from sim.report.words import CAUSE_MEANINGS, count, seconds, size, sizes
from sim.result.causes import CAUSE_NAMES, StallCause
from sim.result.result import Result

WAITS = [int(cause) for cause in StallCause if cause is not StallCause.SELECTED]
ARROW = (1.0, 16.0)  # thinnest and thickest arrow of the memory chart, pixels


def head(result: Result, run: dict[str, Any], window: tuple[int, int]) -> dict[str, Any]:
    """Return the title, the main numbers and the verdict of a run, and which part of it the timeline shows."""
    counters = result.counters
    slots = result.issue_slots.get("selected", 0) / counters["issue_slots"] if counters["issue_slots"] else 0.0
    blocks = count(result.grid[0], "block") if len(sizes(result.grid).split()) == 1 else f"{sizes(result.grid)} blocks"
    lanes = counters["thread_instructions"] / (counters["warp_instructions"] or 1)
    matrix = {name: use for name, use in utilisation(result).items() if name in MATRIX_PIPES}
    numbers = [
        ("cycles", f"{result.cycles:,}"),
        ("time", seconds(result.seconds)),
        ("IPC", f"{counters['ipc']:.3f}"),
        ("issue slots used", f"{slots:.1%}"),
        *([("active lanes", f"{lanes:.1f} of {result.gpu.core.warp_size}")] if lanes < result.gpu.core.warp_size else []),
        ("achieved occupancy", f"{counters['achieved_occupancy']:.1%}"),
        *([("FP32 peak, SMs used", f"{text.peak(result, int(counters['sms_used'])):.1%}")] if counters["fp32_flops"] or not matrix else []),
        *((f"{name} used", f"{use:.1%}") for name, use in matrix.items()),
    ]
    sms = sorted(set(run["warps"]["sm"]))
    issues = sum(i["issues"] for i in run["instructions"])
    recorded = run["first"][-1]
    where = f"SM {sms[0]}" if len(sms) == 1 else f"{len(sms)} SMs"
    first, last = run["window"]
    shown = f"cycles {first:,} to {last:,} on {where}: {recorded:,} of {issues:,} issues"
    part = "the page holds the whole run" if run["whole"] else f"the page holds {shown}"
    return {
        "title": run["title"],
        "launch": f"{blocks} of {sizes(result.block)} threads, {count(int(counters['sms_used']), 'SM')} of {result.gpu.sms}",
        "numbers": numbers,
        "verdict": " ".join(one.sentence for one in advise(result)),
        "part": part,
        "fitting": run["fitting"],
        "holds_most": run["holds_most"],
    }


def same_listing(one: Result, other: Result) -> bool:
    """Return whether two runs executed the same instructions, so that one listing serves both."""
    return [i.text for i in one.program.instructions] == [i.text for i in other.program.instructions]


def listings(results: list[Result], *, same: bool) -> list[dict[str, Any]]:
    """Return the rows of each listing to show: one with the bars of both runs where these have the same instructions, else one each."""
    most = max(int(result.stalls_by_instruction[:, WAITS].sum(axis=1).max(initial=1)) for result in results)
    groups = [results] if same else [[result] for result in results]
    return [{"name": group[0].name, "rows": _rows(group, most), "both": same} for group in groups]


def _rows(results: list[Result], most: int) -> list[dict[str, Any]]:
    program = results[0].program
    labels: dict[int, list[str]] = {}
    for label, place in program.labels.items():
        labels.setdefault(place, []).append(label)
    return [
        {
            "index": i.index,
            "line": i.line,
            "text": i.text,
            "labels": labels.get(i.index, []),
            "runs": [bar(result, [i.index], most) for result in results],
        }
        for i in program.instructions
    ]


def bar(result: Result, chosen: list[int], most: int) -> dict[str, Any]:
    """Return the stalls of some instructions together as segments of a bar, percent of `most` warp-cycles."""
    stalls, issues = result.stalls_by_instruction[chosen].sum(axis=0), int(result.issues_by_instruction[chosen].sum())
    waited = int(stalls[WAITS].sum())
    order = sorted((cause for cause in WAITS if stalls[cause]), key=lambda cause: -stalls[cause])
    parts = [f"{CAUSE_NAMES[cause]}: {count(int(stalls[cause]), 'warp-cycle')} ({stalls[cause] / waited:.0%})" for cause in order]
    return {
        "issues": issues,
        "each": waited / issues if issues else 0.0,
        "segments": [(cause, 100 * float(stalls[cause]) / most) for cause in order],
        "says": f"issued {count(issues, 'time')}; " + ("; ".join(parts) or "never waited"),
    }


def account(results: list[Result]) -> list[dict[str, Any]]:
    """Return each cause that occurs: its share of the warps' time in every run, the largest of the first run first."""
    totals = [sum(result.stalls.values()) or 1 for result in results]
    rows = [
        {
            "cause": number,
            "name": name,
            "meaning": CAUSE_MEANINGS[name],
            "shares": [result.stalls.get(name, 0) / total for result, total in zip(results, totals, strict=True)],
        }
        for number, name in enumerate(CAUSE_NAMES)
        if any(result.stalls.get(name) for result in results)
    ]
    return sorted(rows, key=lambda row: row["shares"], reverse=True)


def occupancy(result: Result) -> dict[str, Any]:
    """Return how many blocks each resource would allow, and what limits them."""
    found = result.occupancy
    rows = [
        (RESOURCES[name], "any number" if blocks >= UNLIMITED else f"{blocks:,}", name in found.limiters)
        for name, blocks in found.by_limiter.items()
    ]
    return {"title": f"{result.name} on {result.gpu.name}", "rows": rows, "says": limit_sentence(found, result.gpu)}


def memory(result: Result) -> dict[str, Any]:
    """Return the boxes and arrows of the memory chart; only a sentence where there is nothing to draw."""
    title = f"{result.name} on {result.gpu.name}"
    if not memory_text.chart(result):
        return {"title": title, "says": text.memory(result) or "The kernel does not access memory.", "arrows": []}
    moved, rows = memory_text.flow(result), memory_text.accesses(result)
    reads, writes = [moved.l1_read, moved.l2_read, moved.dram_read], [moved.written, moved.written, moved.dram_written]
    most = max(*reads, *writes, 1)
    merged = [f"{moved.l1_merged:,} joined a fetch"] if moved.l1_merged else []
    return {
        "title": title,
        "says": textwrap.dedent(memory_text.times(result)) if any(row.kind != "shared memory" for row in rows) else "",
        "boxes": [
            ("registers", [f"{row.kind}: {row.requests:,} x {row.each:.3g}" for row in rows if row.kind != "shared memory"]),
            ("L1", [memory_text.hits(moved.l1_hits), *merged]),
            ("L2", [memory_text.hits(moved.l2_hits)]),
            ("DRAM", [f"{moved.dram_share:.1%} of the pins"]),
        ],
        "shared": [f"{count(row.requests, 'request')}, {row.each:.2f} passes each" for row in rows if row.kind == "shared memory"],
        "arrows": [
            {
                "read": size(read),
                "written": size(written),
                "wide": float(np.interp(read, [0, most], ARROW)),
                "deep": float(np.interp(written, [0, most], ARROW)),
            }
            for read, written in zip(reads, writes, strict=True)
        ],
    }
