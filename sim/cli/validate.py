"""`simtlab validate [GPU]`: every launch that was measured on a GPU, simulated; errors by family."""

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from sim.cli.commands import command
from sim.cli.options import JSON, SET, assignments
from sim.cli.output import check_writable, show, working, write_json
from sim.report.tables import table_of

GPU = Annotated[str | None, typer.Argument(metavar="GPU", help="The GPU whose measurements are wanted; only h100 was measured.")]
QUICK = Annotated[bool, typer.Option("--quick", help="Leave out what takes minutes: memory experiments, interval kernels, copies of 1 GB.")]
KERNELS = Annotated[bool, typer.Option("--kernels", help="Also list the ordinary kernels: cycles, hits in L1, largest stall.")]
FIGURE = Annotated[Path | None, typer.Option("--figure", metavar="FILE", help="Also draw simulated against measured (.png, .svg, .pdf).")]

POPULATION = Annotated[
    str | None,
    typer.Option(
        "--population",
        metavar="HALF",
        help="Instead: launches that were drawn from a seed and measured on an H200; 'seen', those that rules are sought on, or 'kept', "
        "the others; 'h100-seen', 'h100-kept': of another seed, on an H100.",
    ),
]
CLOCKS = Annotated[str, typer.Option("--clocks", help="Of --population: 'boost', or 'warm', SMs slower by a fifth, L2 and DRAM as ever.")]


@command()
def validate(
    gpu: GPU = None,
    set_: SET = None,
    quick: QUICK = False,
    kernels: KERNELS = False,
    population: POPULATION = None,
    clocks: CLOCKS = "boost",
    figure: FIGURE = None,
    json: JSON = None,
) -> None:
    """Simulate every launch that was measured on a GPU; print mean and worst error and correlation by family, and what is fitted."""
    from programs.measurements import validation

    check_writable(json, figure=figure)
    if population is not None:
        _population(population, clocks, kernels, assignments(set_, "--set"), json)
        return
    with working("validating"):
        points = validation.validate(gpu, copying=not quick, changes=assignments(set_, "--set"))
    found = validation.families(points)
    if kernels:
        _each_kernel(points)
    _print(found, points)
    if figure is not None:
        validation.scatter(points, figure)
        typer.echo(f"figure: {figure}")
    write_json(json, {"families": [dataclasses.asdict(one) for one in found], "points": [dataclasses.asdict(one) for one in points]})


def _population(which: str, clocks: str, each: bool, changes: dict, json: Path | None) -> None:
    """Score a half of the H200's sample, or SAMPLE-HALF; print errors by family, or of each launch."""
    from programs.measurements.population.score import score, summary

    with working("validating"):
        sample, _, half = which.rpartition("-")
        scores = list(score(half, clocks, changes, sample or "h200"))
    families: dict[str, list] = {}
    for one in scores:
        families.setdefault(one.case.family, []).append(one)
    found = {name: summary(own) for name, own in families.items()} | {"all": summary(scores)}
    columns = ("launches", "mean", "median", "worst", "signed", "elapsed", "stalls")
    typer.echo(f"{'cycles, errors in percent':28}" + "".join(f"{name:>10}" for name in columns))
    for name, values in found.items():
        typer.echo(f"{name:28}" + "".join(f"{values[column]:>10.4g}" for column in columns))
    if each:
        for one in sorted(scores, key=lambda one: -abs(one.error)):
            what = f"{one.case.name} {one.case.body} {one.case.grid} x {one.case.block}"
            typer.echo(f"{what:52} {one.cycles[0]:>9,.0f} {one.cycles[1]:>9,} {one.error:>+6.1f}%  {' | '.join(dict.fromkeys(one.stall))}")
    points = [{"launch": one.case.name, "cycles": one.cycles, "elapsed": one.elapsed, "stall": one.stall} for one in scores]
    write_json(json, {"sample": sample or "h200", "half": half, "clocks": clocks, "families": found, "launches": points})


def _each_kernel(points: tuple) -> None:
    """Print the ordinary kernels, the worst first."""
    from programs.measurements.validation import L1_HITS, STALL_SHARE

    rows = []
    for point in sorted((point for point in points if point.family == "kernels"), key=lambda point: -abs(point.error)):
        hits, shares = (f"{a:.1f}% | {b:.1f}%" for a, b in (point.notes[L1_HITS], point.notes[STALL_SHARE]))
        causes = " | ".join(dict.fromkeys(point.notes["largest stall"]))
        rows.append((point.what, f"{point.measured:,.0f} | {point.simulated:,.0f}", f"{point.error:+.1f}%", hits, causes, shares))
    columns = ("kernel", "cycles", "error", "L1 hits", "largest stall", "share of the H100's")
    show(table_of(columns, rows, "The ordinary kernels: H100 | simulated", words=("kernel", "largest stall")))


def _print(found: list, points: tuple) -> None:
    from programs.measurements.validation import PERCENT

    rows = []
    for one in found:
        correlation = "-" if one.correlation is None else f"{one.correlation:.4f}"
        rows.append((one.name, one.launches, f"{one.mean:.2f}%", f"{one.worst.error:+.1f}%", one.worst.what, correlation, one.fitted))
    columns = ("family", "launches", "mean error", "worst", "at", "correlation", "fitted to it")
    show(table_of(columns, rows, "Measured on an H100 against simulated, durations", words=("family", "at", "fitted to it")))
    launches = sum(one.launches for one in found)
    mean = sum(one.mean * one.launches for one in found) / launches
    unfitted = [one for one in found if not one.fitted]
    rest = sum(one.mean * one.launches for one in unfitted) / max(1, sum(one.launches for one in unfitted))
    kernels = [point for point in points if point.family == "kernels"]
    for name in kernels[0].notes if kernels else ():
        pairs = [point.notes[name] for point in kernels]
        if name in PERCENT:
            apart = [abs(measured - simulated) for measured, simulated in pairs]
            near = f"under 1 apart in {sum(gap < 1 for gap in apart)} of {len(kernels)} kernels"
            typer.echo(f"{name}: {sum(apart) / len(apart):.1f} percentage points apart in the mean, {near}")
        else:
            same = sum(measured == simulated for measured, simulated in pairs)
            typer.echo(f"{name.replace('_', ' ')}: the H100's in {same} of {len(kernels)} kernels")
    typer.echo(f"all {launches} launches: mean error {mean:.2f}%; the {len(unfitted)} families that nothing is fitted to: {rest:.2f}%")
