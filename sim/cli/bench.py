"""`simtlab bench`: how fast the simulator is on this machine."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.options import JSON
from sim.cli.output import check_writable, show, working, write_json
from sim.report.tables import table_of
from sim.report.words import count

if TYPE_CHECKING:
    from sim.bench import Rate
    from sim.lab.measure import Load, Students, Times

RATES, LAB_CHANGES = 5, 20  # repetitions unless told
REPEATS = Annotated[
    int | None,
    typer.Option("--repeats", min=1, metavar="N", help=f"Repetitions of each measurement: {RATES}, or {LAB_CHANGES} with --lab."),
]
SCALE = Annotated[float, typer.Option("--scale", min=0.001, max=50, metavar="X", help="Run X times the usual ten million instructions.")]
COMPILE = Annotated[bool, typer.Option("--compile/--no-compile", help="Also time a fresh process, with and without compiled kernels.")]
LAB = Annotated[
    bool, typer.Option("--lab", help="Measure `simtlab lab` alone: from a keystroke to the page of its run, and a class at once.")
]
SESSIONS = Annotated[
    int | None, typer.Option("--sessions", min=1, max=10_000, metavar="N", help="With --lab: sessions of the class in all.")
]
AT_ONCE = Annotated[int | None, typer.Option("--at-once", min=1, max=500, metavar="N", help="With --lab: sessions at the same time.")]
SECONDS = Annotated[float | None, typer.Option("--seconds", min=0.1, max=3600, metavar="S", help="With --lab: how long a session lasts.")]
PAUSE = Annotated[
    float | None, typer.Option("--pause", min=0.01, max=60, metavar="S", help="With --lab: from one keystroke of a session to the next.")
]
START = Annotated[
    bool, typer.Option("--start", help="Measure a fresh start alone: a clone, pip, the README's main command without a cache.")
]
TESTS = Annotated[bool, typer.Option("--tests", help="With --start: the README's tests, too.")]


SWEEPS = Annotated[bool, typer.Option("--sweeps", help="Measure `simtlab sweep` alone: points per second on all cores.")]


class Alone(NamedTuple):
    """What is measured in place of the rates."""

    lab: LAB = False
    start: START = False
    tests: TESTS = False
    sweeps: SWEEPS = False


class Class(NamedTuple):
    """The load test of the lab; None: what sim/lab/measure.py says."""

    sessions: SESSIONS = None
    at_once: AT_ONCE = None
    seconds: SECONDS = None
    pause: PAUSE = None


@command()
def bench(alone: Alone, students: Class, repeats: REPEATS = None, scale: SCALE = 1.0, compile_: COMPILE = True, json: JSON = None) -> None:
    """Measure the simulator: warp instructions per second, variants of a GPU per second, and what compiling costs."""
    check_writable(json)
    if alone.tests and not alone.start:
        raise UserError("--tests goes with --start", hint="add --start")
    if any(value is not None for value in students) and not alone.lab:
        raise UserError("--sessions, --at-once, --seconds and --pause go with --lab", hint="add --lab")
    if alone.lab + alone.start + alone.sweeps > 1 or (scale != 1 and (alone.lab or alone.start)):
        raise UserError("--lab, --start and --sweeps are measured alone, the first two without --scale", hint="leave one of them out")
    if repeats is not None and (alone.start or alone.sweeps):
        raise UserError("--start and --sweeps measure once: there is nothing to repeat", hint="leave --repeats out")
    if alone.lab or alone.start:
        return write_json(json, _lab(repeats or LAB_CHANGES, students) if alone.lab else _start(alone.tests))
    if alone.sweeps:
        return write_json(json, {"sweeps": _sweeps(scale)})
    repeats = repeats or RATES
    with working("measuring"):
        from sim import bench as measure

        found = [
            *measure.rates(repeats, scale),
            *measure.memory(repeats, scale),
            *measure.growth(repeats, scale),
            *measure.engines(repeats),
        ]
        loading = measure.loading(repeats)
        compilation = measure.compilation() if compile_ else None
    _table(found, repeats)
    swept = _sweeps(scale)
    forms = ", ".join(f"{seconds:.2f} s ({form})" for form, seconds in loading.items())
    typer.echo(f"processor time to read a listing of {measure.LISTED:,} different instructions: {forms}")
    if compilation:
        typer.echo(
            f"first result of a fresh process: {compilation.cached:.2f} s; {compilation.cold:.1f} s when kernels must be compiled first"
        )
    write_json(
        json,
        {
            "rates": [rate._asdict() | {"million_per_second": rate.best, "spread": rate.spread} for rate in found],
            "sweeps": swept,
            "loading_seconds": loading,
            "compilation": compilation._asdict() if compilation else None,
        },
    )


def _sweeps(scale: float) -> list[dict[str, Any]]:
    """Print and return how fast sweeps are."""
    from sim.sweep_rates import sweeps

    found = []
    for one in sweeps(scale):
        what = f"sweep of {one.points:,} points, {one.program} ({one.instructions:,} warp instructions each)"
        typer.echo(f"{what}: {one.seconds:.1f} s, {one.per_second:.0f} points per second on {count(one.workers, 'core')}")
        found.append(one._asdict() | {"per_second": one.per_second})
    return found


def _start(tests: bool) -> dict[str, Any]:
    """Print and return how long a newcomer waits."""
    from sim import fresh

    typer.echo("a fresh start from a clone of these sources, as committed; goals are for two cores that nothing else uses")
    found = []
    for one in fresh.waits(tests):
        found.append(one)
        typer.echo(f"{one.what:<14} {one.seconds:6.1f} s (goal {one.goal:.0f} s), {one.processor:.0f} s of processor time")
    return {"start": [one._asdict() | {"goal": one.goal} for one in found]}


def _lab(repeats: int, students: Class) -> dict[str, Any]:
    """Print and return how long the lab takes to answer, and what a class on one server finds."""
    with working("measuring the lab"):
        from sim.lab import measure
        from sim.lab.server import check_installed

        check_installed()
        asked = measure.Students()._replace(**{name: value for name, value in students._asdict().items() if value is not None})
        answers, load = measure.answers(repeats), measure.load_test(asked)
    _keystrokes(answers, repeats)
    _class(load, asked)
    return {
        "keystrokes": {name: {"median": times.share(0.5), "p95": times.share(0.95)} for name, times in answers.items()},
        "class": asked._asdict(),
        "load": load._asdict()
        | {"times": {"median": load.times.share(0.5), "p95": load.times.share(0.95), "longest": load.times.share(1)}},
    }


def _keystrokes(answers: "dict[str, Times]", repeats: int) -> None:
    typer.echo(f"from a keystroke to the page of its run, over HTTP, without the browser's drawing; {repeats} keystrokes each")
    everything = sorted(seconds for times in answers.values() for seconds in times.seconds)
    named = [*answers.items(), ("all", next(iter(answers.values()))._replace(seconds=everything))]
    rows = [(name, f"{1000 * times.share(0.5):.0f}", f"{1000 * times.share(0.95):.0f}") for name, times in named]
    show(table_of(("exercise", "median, ms", "95 % within, ms"), rows, words=("exercise",)))


def _class(load: "Load", asked: "Students") -> None:
    times = load.times
    typer.echo(
        f"{asked.sessions} sessions of {asked.seconds:g} s, {asked.at_once} at once, a keystroke every {asked.pause:g} s in each: "
        f"{load.sent} sent, {len(times.seconds)} answered, {load.overtaken} overtaken by later ones"
    )
    typer.echo(
        f"  answers: median {1000 * times.share(0.5):.0f} ms, 95 % within {1000 * times.share(0.95):.0f} ms, "
        f"longest {1000 * times.share(1):.0f} ms"
    )
    typer.echo(
        f"  lost updates (the page of a session's last keystroke never came): {load.lost}; pages of another keystroke: {load.wrong}; "
        f"workers replaced: {load.replaced}"
    )
    for text, number in load.refused.items():
        typer.echo(f"  refused: {number} times, {text}")
    for what, halves in load.memory._asdict().items():
        first, second = (size / 2**20 for size in halves)
        typer.echo(f"  memory of the {what}: {first:.0f} MiB at most in the first half of the test, {second:.0f} MiB in the second")


def _table(found: "list[Rate]", repeats: int) -> None:
    title = f"Million warp instructions per second, best of {repeats}, compilation excluded; one thread unless more are named"
    rows = [(rate.part, rate.program, f"{rate.instructions:,}", f"{rate.best:.3g}", f"{rate.spread:.0%}") for rate in found]
    show(table_of(("what", "program", "instructions", "million/s", "spread"), rows, title, words=("what", "program")))
