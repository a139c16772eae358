"""Measure a sample of the population on a GPU: `python -m programs.measurements.population.measure SAMPLE FOLDER ARCHITECTURE`.

Needs the CUDA toolkit, Nsight Compute, CuPy. Writes `population.csv` and the code that ran, `population.cubins.tar.xz`. Caches are emptied
before each launch, clocks left alone; cycles are medians of REPEAT launches in a row, counters those of one more.
"""

import statistics
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs.measurements.gpu import build, counters
from programs.measurements.gpu.counters import write
from programs.measurements.population.cases import population, sources

REPEAT = 9
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
        times = profiled(sample, code, REPEAT, TIMES)
        counts = profiled(sample, code, 1, {k: v for k, v in counters.METRICS.items() if k not in TIMES})
    rows = []
    for k, case in enumerate(population(sample)):
        own = times[k * REPEAT : (k + 1) * REPEAT]
        cycles = [one["cycles"] for one in own]
        middle = {name: statistics.median(one[name] for one in own) for name in TIMES}
        rows.append(
            {"launch": case.name, "kept": int(case.kept), "cycles": middle["cycles"], "cycles_least": min(cycles)}
            | {"cycles_most": max(cycles), "elapsed_cycles": middle["elapsed_cycles"]}
            | {
                name: round(middle[of] / middle["nanoseconds"] * 1000)
                for name, of in (("core_mhz", "elapsed_cycles"), ("l2_mhz", "l2_cycles"))
            }
            | counts[k]
        )
    write(rows, folder / "population.csv")


def compiled(sample: str, scratch: Path, architecture: str) -> Path:
    """Compile the kernels of a sample, a cubin per template; return their folder."""
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


def profiled(sample: str, code: Path, repeat: int, metrics: dict[str, str]) -> list[dict[str, float]]:
    """Launch a sample under Nsight Compute; return the counters of each launch, in order."""
    launcher = (sys.executable, "-m", "programs.measurements.population.launcher", str(code), sample, str(repeat), "0", str(code / "found"))
    command = ["ncu", *counters.PROFILER, "--kernel-name", "regex:^k[0-9][0-9][0-9]_", "--metrics", ",".join(metrics.values()), *launcher]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = list(counters.read(done.stdout, metrics))
    if len(found) != repeat * len(population(sample)):
        raise RuntimeError(f"Nsight Compute reports {len(found)} launches: {done.stdout[-2000:]}")
    return found


if __name__ == "__main__":
    measure(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
