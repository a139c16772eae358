"""Interval analysis in words: what each resource needs, one warp's timeline as the notes draw it, time against threads."""

from collections.abc import Sequence
from typing import Any

from isa.vocabulary import Unit
from sim.analysis import little
from sim.analysis.curve import Point
from sim.analysis.interval import Analysis, Resource
from sim.analysis.mwp_cwp import opinion
from sim.analysis.roofline import flops_of, roofline
from sim.report.timeline import Issue, Warp
from sim.report.words import count
from sim.result.causes import RESULT_CAUSE


def heading(analysis: Analysis, name: str) -> str:
    """Return what is analysed, in words."""
    region, program = analysis.region, analysis.program
    if region.loop is None:
        where = "the whole program, which has no loop"
    else:
        labels = [label for label, at in program.labels.items() if at == region.loop.header]
        first = program.instructions[region.loop.header].line
        where = f"the loop {labels[0] if labels else ''} at line {first}".replace("  ", " ")
    classes = ", ".join(f"{number} {name}" for name, number in analysis.classes.items())
    parts = len(analysis.intervals)
    cycles = ", ".join(str(one.latency) for one in analysis.intervals)
    split = f"\n{parts} intervals, divided by barriers: {cycles} cycles" if parts > 1 else ""
    return (
        f"Interval analysis of {name} on {analysis.gpu.name}: {where}\n"
        f"{count(len(region.path), 'instruction')} ({classes}); "
        f"executed {region.warps:,} times by warps, {region.threads:,} by threads{split}"
    )


def table(analysis: Analysis) -> str:
    """Return what each resource needs and how many threads fill it, the fewest first."""
    rows = [("", "per thread", "chip, per cycle", "cycles per warp", "threads", "warps per SM", "")]
    ordered = sorted(analysis.resources, key=lambda resource: resource.threads(analysis.latency))
    for resource in ordered:
        threads = resource.threads(analysis.latency)
        rows.append(
            (
                resource.name,
                f"{_number(resource.work)} {resource.unit}",
                f"{_number(resource.bandwidth)} {resource.unit}",
                f"{_per_warp(analysis, resource):,.1f}",
                f"{threads:,.0f}",
                f"{threads / analysis.gpu.core.warp_size / analysis.gpu.sms:,.1f}",
                "<- fills first" if resource is ordered[0] else "",
            )
        )
    return _columns(rows, "<>>>>><")


def _per_warp(analysis: Analysis, resource: Resource) -> float:
    """Return the cycles that one warp keeps an SM's share of the resource."""
    return analysis.gpu.core.warp_size * analysis.gpu.sms * resource.cycles


def verdict(analysis: Analysis) -> str:
    """Return the latency, the threads worth having, and what other laws say, in sentences."""
    gpu, traffic = analysis.gpu, analysis.traffic
    need, held = f"full with {analysis.threads:,.0f} threads on the chip, {analysis.warps_per_sm:.1f} warps per SM", gpu.limits.warps
    if analysis.warps_per_sm > held:
        fills = f"would be {need}, but an SM holds {held}: more help up to there, then only independent instructions in each."
    else:
        fills = f"is {need} (an SM holds {held}); more do not help."
    lines = [
        f"One warp alone: {analysis.latency:,} cycles from one start of the interval to the next ({analysis.to_last:,} to its last issue).",
        f"{analysis.binding.name} {fills}",
        f"Data per thread: {_number(traffic.asked)} B asked for, {_number(traffic.loaded)} B from L2, {_number(traffic.stored)} B to L2, "
        f"{_number(traffic.dram)} B of DRAM.",
        _laws(analysis),
    ]
    return "\n".join(line for line in lines if line)


def _laws(analysis: Analysis) -> str:
    gpu, roof = analysis.gpu, roofline(analysis.gpu, flops_of(analysis.program, analysis.region.path), analysis.traffic.dram)
    sums, bytes_ = little.arithmetic(gpu), little.memory(gpu)
    law = (
        f"Little's law: {sums.operations:,} FP32 operations in flight per SM ({gpu.latency(Unit.FP32)} cycles x {sums.lanes} lanes), "
        f"{bytes_.bytes / 1000:,.0f} kB on the chip ({bytes_.latency} cycles x {bytes_.bandwidth:g} GB/s)."
    )
    if not roof.flops:
        return law
    bound = "arithmetic" if roof.intensity > roof.ridge else "memory"
    where = f"{roof.intensity:.3g} flop/B against {roof.ridge:.3g}" if roof.bytes else "no bytes of DRAM"
    return f"{law}\nRoofline: {where}: bound by {bound}, at most {roof.attainable / 1e9:,.0f} Gflop/s of {roof.peak / 1e9:,.0f}."


def first_iteration(analysis: Analysis) -> Warp:
    """Return the first iteration of one warp, as the timeline draws it."""
    program = analysis.program
    writer: dict[int, tuple[int, int]] = {}  # dependence -> (ready, instruction)
    issues = []
    for step in analysis.steps:
        i = step.instruction
        needed = [int(name) for name in (*program.encoded.reads[i], *program.encoded.writes[i]) if int(name) in writer]
        last = max((writer[name] for name in needed), default=(0, i))[1]
        cause = RESULT_CAUSE[Unit(program.encoded.unit[last])].name.lower()
        eligible = min(max(step.since, step.operands), step.issue)
        issues.append(Issue(i, step.issue, step.end, step.ready, step.since, eligible, cause, analysis.gpu.core.warp_size))
        writer |= {int(name): (step.ready, i) for name in program.encoded.writes[i] if name >= 0}
    return Warp(0, 0, 0, issues)


def curve_table(analysis: Analysis, points: Sequence[Point]) -> str:
    """Return time against threads: interval analysis, simulation, and the third opinion."""
    rows = [("warps per SM", "threads", "iterations each", "interval analysis", "simulated", "above it", "Hong and Kim", "they say")]
    for point in points:
        rows.append(
            (
                str(point.warps),
                f"{point.threads:,}",
                f"{point.iterations / point.threads:.4g}",
                f"{point.bound:,.0f}",
                f"{point.simulated:,}",
                f"{point.gap:+.1f}%",
                f"{point.opinion:,.0f}",
                opinion(analysis, point.warps).binding,
            )
        )
    idle = [point.warps for point in points if point.iterations < point.threads]
    note = (
        f"\nFrom {idle[0]} warps per SM on there are fewer iterations than threads: a launch with more of them would show the rest."
        if idle
        else ""
    )
    if any(point.gap < 0 for point in points):
        note += "\nThe simulation is faster where L2 still holds at the end what was stored: interval analysis is of the steady state."
    return _columns(rows, ">>>>>>><") + note


def _number(value: float) -> str:
    """Return four digits, large numbers whole."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _columns(rows: Sequence[Sequence[str]], align: str) -> str:
    widths = [max(len(row[k]) for row in rows) for k in range(len(align))]
    return "\n".join("  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(row, align, widths, strict=True)).rstrip() for row in rows)


def as_dict(analysis: Analysis, points: Sequence[Point] = ()) -> dict[str, Any]:
    """Return the analysis as plain values, ready for JSON."""
    return {
        "gpu": analysis.gpu.name,
        "instructions": len(analysis.region.path),
        "classes": analysis.classes,
        "latency": analysis.latency,
        "to_last_issue": analysis.to_last,
        "intervals": [one.latency for one in analysis.intervals],
        "bytes_per_thread": analysis.traffic._asdict(),
        "resources": [one._asdict() | {"cycles": one.cycles, "threads": one.threads(analysis.latency)} for one in analysis.resources],
        "binding": analysis.binding.name,
        "threads": analysis.threads,
        "warps_per_sm": analysis.warps_per_sm,
        "steps": [step._asdict() for step in analysis.steps],
        "curve": [
            {name: getattr(point, name) for name in ("warps", "threads", "iterations", "bound", "simulated", "gap", "opinion")}
            | {"counters": point.result.counters}
            for point in points
        ],
    }
