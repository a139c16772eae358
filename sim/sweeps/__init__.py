"""`sweep`: one launch, or a family of launches, on many GPUs. Each launch is executed once; its trace is timed on every variant."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from isa.errors import UserError
from sim.compiled.cores import cores
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.lowering.rescheduling import may_hold, words_of
from sim.sweeps.axes import LANES, SHAPE, WARP_SIZE, Family, Over, Point, Space, family, points_of, space
from sim.sweeps.cluster import Cluster
from sim.sweeps.driver import Group, drive, serial
from sim.sweeps.keys import gpu_key, launch_key, point_key
from sim.sweeps.local import Local
from sim.sweeps.noise import marked, noise_of_best
from sim.sweeps.store import Store
from sim.sweeps.work import Failure, Job
from sim.traces.ensemble import MEMBERS
from sim.warming import EVERY, needed

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Family", "sweep"]

WIDTH = "core.issue_width"  # the field of a GPU by which runs need more kernels
WORDS: tuple[Literal["keep", "schedule"], ...] = ("keep", "schedule")
BASE = ("gpu", *SHAPE, "listing", "control_words", "cycles", "error")  # of the unchanged GPU, in `frame.attrs["base"]`


def sweep(
    launch: Launch | Callable[..., Launch] | Family,
    gpu: Gpu,
    over: Over,
    *,
    output: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    repeat: int | None = None,
) -> "DataFrame":
    """Return one row per point of `over`: `sim.sweep`, where the arguments are explained."""
    launches = _remembering(family(launch, gpu, over))
    if callable(launch):
        launches = _forgiving(launches)
    points = space(launches, gpu, over)
    if repeat is not None and repeat < 1:
        raise UserError(f"repeat = {repeat} runs are none", hint="1 for a single run, 5 for a band")
    keys, groups, bases = _groups(launches, points, repeat or 1)
    store = Store(Path(output) if output is not None else None)
    labels = {key: point.values for key, point in zip(keys, points.points, strict=True)}
    total = len(labels) + len(bases)
    todo = [
        Group(build, wanted, kernels) for build, jobs, kernels in groups if (wanted := [job for job in jobs if job.key not in store.keys])
    ]
    left = sum(len(group.jobs) for group in todo)
    if progress:
        progress(total - left, total)
    with _backend(points.gpus, workers, cluster, todo) as backend:
        for rows in drive(backend, todo) if backend else serial(todo, points.gpus):
            store.add([row | labels[row["key"]] for row in rows if row["key"] in labels])
            bases |= {row["key"]: bases[row["key"]] | row for row in rows if row["key"] in bases}
            left -= len(rows)
            if progress:
                progress(total - left, total)
    frame = store.finish(keys, points.points, points.axes).to_pandas()
    if frame["error"].notna().all() and not callable(launch):
        raise UserError(frame["error"].iloc[0])
    if "cycles" not in frame:
        frame["cycles"] = float("nan")  # a function made no launch that can be
    frame.attrs["base"] = [{name: row[name] for name in BASE if name in row} for row in bases.values()]
    if repeat is None:
        asked = points_of(over)
        frame = marked(frame, noise_of_best(frame, lambda place: sweep(launches, gpu, [asked[place]], workers=1, repeat=MEMBERS)))
    return frame


def _remembering(launches: Family) -> Family:
    """Return launches of which the last one made is kept: most sweeps have one, and making it may mean to compile a program."""
    last: dict[str, Launch] = {}

    def build(shape: Mapping[str, Any]) -> Launch:
        own = {name: value for name, value in shape.items() if name != WARP_SIZE}
        key = repr(own)
        if key not in last:
            last.clear()
            last[key] = launches.build(own)
        return last[key].in_warps(shape.get(WARP_SIZE, LANES))

    return launches._replace(build=build)


def _forgiving(launches: Family) -> Family:
    """Return launches of which one that cannot be made, as a compiler refuses it, is a row with an error and no end of the sweep."""

    def build(shape: Mapping[str, Any]) -> Launch | Failure:
        try:
            launch: Launch = launches.build(shape)
        except UserError as error:
            return Failure(str(error))
        return launch

    return launches._replace(build=build)


Groups = list[tuple[Callable[[], Launch | Failure], list[Job], frozenset[str]]]


def _groups(launches: Family, points: Space, repeat: int) -> tuple[list[str], Groups, dict[str, dict[str, Any]]]:
    """Return the key of each point, the points by launch, each once, with the kernels that they run, and by key what the unchanged GPU is
    to be timed with.

    Where points need control words of their own, all points of the launch get such, so that a compiler's words are not compared with ours;
    the unchanged GPU is then timed with both.
    """
    gpus = {name: gpu_key(gpu) for name, gpu in points.gpus.items()}
    digests: dict[Any, bytes] = {}
    kernels: dict[Any, frozenset[str]] = {}
    jobs: dict[Any, dict[str, Job]] = {}
    keys = []
    same = _by(points, lambda point: repr(point.shape))
    alike = _by(points, lambda point: repr(_without_size(point)))  # warps of 16 are compared with those of 32
    again = {shape: _needs_words(launches.build(dict(mine[0].shape)), points.gpus, mine) for shape, mine in alike.items()}
    for point in points.points:
        shape = repr(point.shape)
        if shape not in digests:
            launch = launches.build(dict(point.shape))
            digests[shape], kernels[shape] = launch_key(launch), _kernels(launch, points.gpus, same[shape])
        words: Literal["", "schedule"] = "schedule" if again[repr(_without_size(point))] else ""
        many = str(repeat) if repeat > 1 else ""
        key = point_key(digests[shape] + f"{words}{many}".encode(), gpus[point.gpu], point.changes)
        keys.append(key)
        jobs.setdefault(shape, {})[key] = Job(key, point.gpu, point.changes, words, repeat)
    bases: dict[str, dict[str, Any]] = {}
    first = {shape: mine[0] for shape, mine in same.items()}
    for (shape, point), name, both in product(first.items(), points.gpus, WORDS):
        size = dict(point.shape).get(WARP_SIZE, LANES)
        if again[repr(_without_size(point))] and size == points.gpus[name].core.warp_size:
            key = point_key(digests[shape] + both.encode(), gpus[name], {"base": True})
            jobs[shape][key] = Job(key, name, {}, both)
            bases[key] = {"gpu": points.gpus[name].name} | dict(_without_size(point))
    shapes = {repr(point.shape): dict(point.shape) for point in points.points}
    groups = [(_builder(launches, shapes[shape]), list(found.values()), kernels[shape]) for shape, found in jobs.items()]
    return keys, groups, bases


def _by(points: Space, of: Callable[[Point], str]) -> dict[str, list[Point]]:
    """Return the points that have the same in common."""
    found: dict[str, list[Point]] = {}
    for point in points.points:
        found.setdefault(of(point), []).append(point)
    return found


def _without_size(point: Point) -> tuple[tuple[str, Any], ...]:
    """Return what distinguishes a point's launch, the size of its warps apart."""
    return tuple((name, value) for name, value in point.shape if name != WARP_SIZE)


def _needs_words(launch: Launch | Failure, gpus: Mapping[str, Gpu], points: list[Point]) -> bool:
    """Return whether some points of a launch would obey a compiler's control words and others need new ones."""
    if isinstance(launch, Failure) or launch.program.control is None:
        return False
    machines: dict[str, tuple[str, dict[str, Any]]] = {}
    for point in points:
        changes = {name: value for name, value in point.changes.items() if may_hold(name)}
        machines[repr((point.gpu, sorted(changes.items())))] = point.gpu, changes
    kinds = set()
    for name, changes in machines.values():
        with suppress(UserError):  # what cannot be says so when its turn comes
            kinds.add(words_of(launch, gpus[name].replace(changes)).kind)
    return {"compiler", "scheduled"} <= kinds


def _kernels(launch: Launch | Failure, gpus: Mapping[str, Gpu], points: list[Point]) -> frozenset[str]:
    """Return those of `sim.warming.EVERY` that points of a launch run, as far as there can be such points."""
    found: set[str] = set()
    if isinstance(launch, Failure):
        return frozenset()
    for name, width in {repr(pair): pair for pair in ((point.gpu, point.changes.get(WIDTH)) for point in points)}.values():
        with suppress(UserError):
            found.update(needed(launch, gpus[name] if width is None else gpus[name].replace({WIDTH: width})))
    return frozenset(found)


def _builder(launches: Family, shape: Mapping[str, Any]) -> Callable[[], Launch | Failure]:
    return lambda: launches.build(shape)


def _backend(gpus: Mapping[str, Gpu], workers: int | None, cluster: str | None, todo: list[Group]) -> AbstractContextManager[Any]:
    """Return where the points are simulated; nothing = in this process."""
    if cluster is not None:
        return Cluster(cluster, gpus)
    if workers is not None and workers < 1:
        raise UserError(f"{workers} workers cannot do anything", hint="give at least 1; left out: one per core")
    count = min(workers or cores(), sum(len(group.jobs) for group in todo))
    return nullcontext() if count <= 1 else Local(count, gpus, [name for name in EVERY if any(name in group.kernels for group in todo)])
