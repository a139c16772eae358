"""Plans -> a table of measurements: compile, launch under Nsight Compute and alone, take medians and spreads."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import isa
from isa.errors import UserError
from programs.measurements.gpu import build, counters
from programs.measurements.gpu.plan import Job, read

REPEAT = 7
MOST_CLOCKS = 1056  # threads of a launch whose clocks are kept


def measure(plan: Path, folder: Path, architecture: str, repeat: int = REPEAT) -> Path:
    """Measure the launches of a plan on this machine's GPU; return the table, `folder`/PLAN.csv.

    architecture: of the GPU, such as "sm_90". Caches are emptied before each launch under the profiler; clocks are left alone.
    Listings of compiled sources are written to `folder` unless one beside the source has the same code. Raises UserError.
    """
    jobs = read(plan)
    build.check(("nvcc", "cuobjdump", "ncu"), plan)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        cubins = {source: build.cubin(source, architecture, work) for source in dict.fromkeys(job.source for job in jobs)}
        listings = {source: listing_of(source, compiled, architecture, folder) for source, compiled in cubins.items()}
        given = [
            {"cubin": str(cubins[job.source]), "listing": str(listings[job.source]), "kernel": job.kernel, "file": str(job.file)}
            | {"values": job.values, "clocks": job.clocks}
            for job in jobs
        ]
        warm = launch(given, work, repeat)
        found, cold = profile(given, work, repeat, counters.CYCLES)
        cycles = [found[start : start + repeat] for start in range(0, len(found), repeat)]
        counted, _ = profile(given, work, 1, counters.METRICS)
    rows = zip(jobs, warm, cycles, counted, strict=True)
    counters.write(
        [_which(job, listings[job.source]) | row(clocks, spread, counts) for job, clocks, spread, counts in rows],
        folder / f"{plan.stem}.csv",
    )
    if any(job.clocks for job in jobs):
        counters.write(list(clock_rows(jobs, listings, {"warm": warm, "cold": cold})), folder / f"{plan.stem}.clocks.csv")
    return folder / f"{plan.stem}.csv"


def listing_of(source: Path, compiled: Path, architecture: str, folder: Path) -> Path:
    """Return the listing of compiled code: the one beside the source where that is the same code, else a new one in `folder`."""
    text, beside = build.listing(compiled), source.with_suffix(f".{architecture}.sass")
    if beside.exists() and _code(beside.read_text(encoding="utf-8")) == _code(text):
        return beside
    made = folder / beside.name
    made.write_text(text, encoding="utf-8")
    return made


def _code(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.lstrip().startswith("/*") or "Function" in line]


Clocks = list[list[list[list[int]]]]  # of each job, launch, thread: start and stop


def launch(jobs: list[dict[str, Any]], work: Path, repeat: int, before: Iterable[str] = ()) -> Clocks:
    """Launch jobs in a process of their own, with a command before it; return what their clocks said."""
    given, results = work / "jobs.json", work / "results.json"
    given.write_text(json.dumps(jobs), encoding="utf-8")
    command = [*before, sys.executable, "-m", "programs.measurements.gpu.launcher", str(given), str(results), str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not results.exists():
        raise UserError(f"launching fails: {(done.stderr or done.stdout).strip()[-2000:]}")
    (work / "output.txt").write_text(done.stdout, encoding="utf-8")
    return json.loads(results.read_text(encoding="utf-8"))


def profile(jobs: list[dict[str, Any]], work: Path, repeat: int, metrics: dict[str, str]) -> tuple[list[dict[str, float]], Clocks]:
    """Launch jobs under Nsight Compute; return the counters of each launch in order, and what the clocks said."""
    names = {isa.load(listing, kernel).name for listing, kernel in {(job["listing"], job["kernel"]) for job in jobs}}
    choose = ["--kernel-name-base", "mangled", "--kernel-name", f"regex:^({'|'.join(sorted(names))})$"]
    clocks = launch(jobs, work, repeat, ["ncu", *counters.PROFILER, *choose, "--metrics", ",".join(metrics.values())])
    found = list(counters.read((work / "output.txt").read_text(encoding="utf-8"), metrics))
    if len(found) != len(jobs) * repeat:
        raise UserError(
            f"Nsight Compute reports {len(found)} launches of {len(jobs) * repeat}", hint="does this user have access to counters?"
        )
    return found, clocks


def _which(job: Job, listing: Path) -> dict[str, Any]:
    values = json.dumps(job.values) if job.values else ""
    return {"listing": listing.name, "kernel": job.kernel or "", "file": job.file.name, "values": values}


def row(clocks: list[list[list[int]]], cycles: list[dict[str, float]], counted: dict[str, float]) -> dict[str, Any]:
    """Return the median, fewest and most cycles of a launch, those between its first and last clock, and its counters."""
    active, between = [one["cycles"] for one in cycles], [max(stop for _, stop in pairs) for pairs in clocks if pairs]
    spread = {"cycles": statistics.median(active), "cycles_least": min(active), "cycles_most": max(active)}
    clock = {"clock_cycles": statistics.median(between) if between else "", "clock_least": min(between, default="")}
    return spread | clock | {name: value for name, value in counted.items() if name not in spread}


def clock_rows(jobs: list[Job], listings: dict[Path, Path], found: dict[str, Clocks]) -> Iterable[dict[str, Any]]:
    """Yield the cycles between the clocks of each thread in the last launch of each job, with warm caches and with cold ones."""
    for caches, clocks in found.items():
        for job, launches in zip(jobs, clocks, strict=True):
            if launches:
                cycles = " ".join(str(stop - start) for start, stop in launches[-1][:MOST_CLOCKS])
                yield _which(job, listings[job.source]) | {"caches": caches, "cycles": cycles}
