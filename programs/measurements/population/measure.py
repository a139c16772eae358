"""Measure a sample of the population on a GPU.

    python -m programs.measurements.population.measure SAMPLE FOLDER ARCHITECTURE
    python -m programs.measurements.population.measure SAMPLE FOLDER times FIRST WARM CUBINS
    python -m programs.measurements.population.measure SAMPLE FOLDER join TIMES...

The first writes `population.csv` and the code that ran, `population.cubins.tar.xz`; its times are those of PLACES processes. The second
writes more of them, of processes number FIRST on, `times_FIRST.csv`, each launch after WARM milliseconds of matrix products; of one GPU or
of several. The third puts the times of such files into `population.csv`. Needs the CUDA toolkit, Nsight Compute, CuPy, and PyTorch to
warm. Caches are emptied before each launch, clocks left alone. A time is the median of the places, each of which stands for its REPEAT
launches in a row by their median: where code and arrays lie moves short launches by more than anything else (../h200/places.csv).
"""

import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from programs.measurements.gpu import counters
from programs.measurements.gpu.counters import write
from programs.measurements.population.cases import population, sources

REPEAT, PLACES = 3, 6
TIMES = {
    "cycles": "sm__cycles_active.max",
    "elapsed_cycles": "sm__cycles_elapsed.max",
    "l2_cycles": "lts__cycles_elapsed.max",
    "nanoseconds": "gpu__time_duration.sum",
}


def measure(sample: str, folder: Path, architecture: str) -> None:
    """Compile, launch, write."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        code = compiled(sample, Path(scratch), architecture)
        with tarfile.open(folder / "population.cubins.tar.xz", "w:xz") as archive:
            for cubin in sorted(code.iterdir()):
                archive.add(cubin, cubin.name)
        found = times(sample, code, range(1, PLACES + 1), 0)
        metrics = {name: metric for name, metric in counters.METRICS.items() if name not in TIMES}
        counts = {one["launch"]: one for one in profiled(sample, code, 1, metrics, 0, 0)}
    own = joined(found)
    write(
        [
            {"launch": case.name, "kept": int(case.kept)}
            | own[case.name]
            | {name: value for name, value in counts[case.name].items() if name in metrics}
            for case in population(sample)
        ],
        folder / "population.csv",
    )


def times(sample: str, code: Path, places: Iterable[int], warm: int) -> list[dict[str, Any]]:
    """Return {launch, place, warm, of TIMES} for each launch of processes with so many places for its code and arrays."""
    return [one for place in places for one in profiled(sample, code, REPEAT, TIMES, place, warm)]


def joined(found: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the columns of `population.csv` of each launch: those of warm launches are `warm_...`."""
    launches: dict[str, dict[str, float]] = {name: {} for name in dict.fromkeys(one["launch"] for one in found)}
    for name, columns in launches.items():
        for prefix in ("", "warm_"):
            own = [one for one in found if one["launch"] == name and bool(int(one["warm"])) == bool(prefix)]
            if not own:
                continue
            middle = {time: middle_of(own, time) for time in TIMES}
            cycles = [float(one["cycles"]) for one in own]
            columns[f"{prefix}cycles"] = middle["cycles"]
            if not prefix:
                columns |= {"cycles_least": min(cycles), "cycles_most": max(cycles)}
            columns[f"{prefix}elapsed_cycles"] = middle["elapsed_cycles"]
            for clock, of in (("core_mhz", "elapsed_cycles"), ("l2_mhz", "l2_cycles")):
                columns[f"{prefix}{clock}"] = round(middle[of] / middle["nanoseconds"] * 1000)
    return launches


def middle_of(own: list[dict[str, Any]], name: str) -> float:
    """Return the median over the places of a launch of the median of its launches in each."""
    of_place: dict[Any, list[float]] = {}
    for one in own:
        of_place.setdefault(one["place"], []).append(float(one[name]))
    return statistics.median(statistics.median(values) for values in of_place.values())


def join(folder: Path, files: list[Path]) -> None:
    """Put times into the table that a folder has."""
    from programs.published import rows  # needs the simulator, which a machine that measures may lack

    new = joined([one for file in files for one in rows(file)])
    write([row | new.get(row["launch"], {}) for row in rows(folder / "population.csv")], folder / "population.csv")


def compiled(sample: str, scratch: Path, architecture: str) -> Path:
    """Compile the kernels of a sample, a cubin per template; return their folder."""
    from programs.measurements.gpu import build  # needs isa; times do not, and their machine may lack what it needs

    text, code = scratch / "sources", scratch / "cubins"
    text.mkdir()
    code.mkdir()
    (text / "kernels.cuh").write_bytes((Path(__file__).parent / "kernels.cuh").read_bytes())
    for name, source in sources(sample).items():
        (text / f"{name}.cu").write_text(source, encoding="utf-8")
    with ThreadPoolExecutor() as pool:
        for made in pool.map(lambda source: build.cubin(source, architecture, code), sorted(text.glob("*.cu"))):
            made.rename(code / f"{made.name.split('.')[0]}.cubin")
    return code


def profiled(sample: str, code: Path, repeat: int, metrics: dict[str, str], place: int, warm: int) -> list[dict[str, Any]]:
    """Launch a sample under Nsight Compute; return the counters of each launch."""
    out = code / "found.npz"
    launcher = ("programs.measurements.population.launcher", str(code), sample, str(repeat), str(warm), str(place), str(out))
    command = ["ncu", *counters.PROFILER, "--kernel-name", "regex:^k[0-9][0-9][0-9]_", "--metrics", ",".join(metrics.values())]
    done = subprocess.run([*command, sys.executable, "-m", *launcher], capture_output=True, text=True, check=True)
    found, cases = list(counters.read(done.stdout, metrics)), population(sample)
    if len(found) != repeat * len(cases):
        raise RuntimeError(f"Nsight Compute reports {len(found)} launches: {done.stdout[-2000:]}")
    order = np.repeat(np.load(out)["order"], repeat)
    return [{"launch": cases[number].name, "place": place, "warm": warm} | one for number, one in zip(order, found, strict=True)]


def main(sample: str, folder: Path, what: str, *rest: str) -> None:
    """Do what the command line says."""
    if what == "times":
        first, warm, code = int(rest[0]), int(rest[1]), Path(rest[2])
        write(times(sample, code, range(first, first + PLACES), warm), folder / f"times_{first}.csv")
    elif what == "join":
        join(folder, [Path(file) for file in rest])
    else:
        measure(sample, folder, what)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
