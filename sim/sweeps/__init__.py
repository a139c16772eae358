"""`sweep`: one launch, or a family of launches, on many GPUs. Each launch is executed once; its trace is timed on every variant."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from sim.cores import cores
from sim.gpus.model import Gpu
from sim.launch import Launch
from sim.sweeps.axes import Family, Over, Space, family, space
from sim.sweeps.cluster import Cluster
from sim.sweeps.driver import Group, drive, serial
from sim.sweeps.keys import gpu_key, launch_key, point_key
from sim.sweeps.local import Local
from sim.sweeps.store import Store
from sim.sweeps.work import Job

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Family", "sweep"]


def sweep(
    launch: Launch | Callable[..., Launch] | Family,
    gpu: Gpu,
    over: Over,
    *,
    output: str | Path | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> "DataFrame":
    """Return one row per point of `over`: `sim.sweep`, where the arguments are explained."""
    launches = _remembering(family(launch))
    points = space(launches, gpu, over)
    keys, groups = _groups(launches, points)
    store = Store(Path(output) if output is not None else None)
    labels = {key: point.values for key, point in zip(keys, points.points, strict=True)}
    total = len(labels)
    todo = [Group(build, wanted) for build, jobs in groups if (wanted := [job for job in jobs if job.key not in store.keys])]
    left = sum(len(group.jobs) for group in todo)
    if progress:
        progress(total - left, total)
    with _backend(points.gpus, workers, cluster, left) as backend:
        for rows in drive(backend, todo) if backend else serial(todo, points.gpus):
            store.add([row | labels[row["key"]] for row in rows])
            left -= len(rows)
            if progress:
                progress(total - left, total)
    frame = store.finish(keys, points.points, points.axes).to_pandas()
    if frame["error"].notna().all():
        raise UserError(frame["error"].iloc[0])
    return frame


def _remembering(launches: Family) -> Family:
    """Return launches of which the last one made is kept: most sweeps have one, and making it may mean to compile a program."""
    last: dict[str, Launch] = {}

    def build(shape: Mapping[str, Any]) -> Launch:
        key = repr(shape)
        if key not in last:
            last.clear()
            last[key] = launches.build(shape)
        return last[key]

    return launches._replace(build=build)


def _groups(launches: Family, points: Space) -> tuple[list[str], list[tuple[Callable[[], Launch], list[Job]]]]:
    """Return the key of each point, and the points by launch, each once."""
    gpus = {name: gpu_key(gpu) for name, gpu in points.gpus.items()}
    digests: dict[Any, bytes] = {}
    jobs: dict[Any, dict[str, Job]] = {}
    keys = []
    for point in points.points:
        shape = repr(point.shape)
        if shape not in digests:
            digests[shape] = launch_key(launches.build(dict(point.shape)))
        key = point_key(digests[shape], gpus[point.gpu], point.changes)
        keys.append(key)
        jobs.setdefault(shape, {})[key] = Job(key, point.gpu, point.changes)
    shapes = {repr(point.shape): dict(point.shape) for point in points.points}
    return keys, [(_builder(launches, shapes[shape]), list(found.values())) for shape, found in jobs.items()]


def _builder(launches: Family, shape: Mapping[str, Any]) -> Callable[[], Launch]:
    return lambda: launches.build(shape)


def _backend(gpus: Mapping[str, Gpu], workers: int | None, cluster: str | None, left: int) -> AbstractContextManager[Any]:
    """Return where the points are simulated; nothing = in this process."""
    if cluster is not None:
        return Cluster(cluster, gpus)
    if workers is not None and workers < 1:
        raise UserError(f"{workers} workers cannot do anything", hint="give at least 1; left out: one per core")
    count = min(workers or cores(), left)
    return nullcontext() if count <= 1 else Local(count, gpus)
