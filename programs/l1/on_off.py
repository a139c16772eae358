"""`l1-on-off`: global loads through L1 (-dlcm=ca) or past it (-dlcm=cg): strided, offset and random accesses, listings and compiled code.

P. Richmond, "Parallel Computing with GPUs: Performance Part 2 - L1 Cache": L1 increases over-fetch of accesses that do not coalesce.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import isa
from isa.vocabulary import Operation
from programs.reproduction import Check, Reproduction
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.path import SECTOR
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.report.curves import Curve
from sim.timing import simulate

PROGRAMS = Path(__file__).parents[1]
GPUS = ("gtx480", "k20c", "gtx980", "h100")  # L1 by lines on and off by default; by sectors
COMPILED = {"gtx980": "sm_52", "h100": "sm_90"}  # whose compiled code is here
OPT_IN = ("k20c", "gtx980")  # "Compute 3.5, 3.7 or 5.2 have opt in global L1 caching"
STRIDES = (1, 2, 3, 4, 8, 16, 32)
BLOCKS, THREADS = 60, 256
MANY = BLOCKS * THREADS
OPERATORS = ("ca", "cg")
WORSE = {"random": "random", "stride 32": "strided"}  # "for strided and random access performance is much worse with L1"


class Run(NamedTuple):
    """One access pattern on one GPU, with L1 on or off."""

    over_fetch: float  # bytes from L2 over bytes asked for, loads alone
    hits: float  # of L1, 0 to 1
    cycles: int
    past: bool  # every sector that a load asks for comes from L2
    sectors: float  # that loads ask for, per word asked for by a thread


Runs = Mapping[str, Mapping[str, Run]]  # by operator, then pattern


def reproduce(gpu: str | None = None) -> Reproduction:
    """Run each pattern with L1 on and off on `gpu`, or on GPUs with each kind of L1."""
    checks: list[Check] = []
    curves: list[Curve] = []
    kinds: set[int] = set()
    for name in (gpu,) if gpu else GPUS:
        machine = load(name)
        if machine.l1 is None:
            checks.append(Check(machine.name, "-", "no L1 for global loads", None))
            continue
        runs = run(machine, patterns() | compiled(COMPILED.get(name)))
        checks += _table(machine, runs)
        if name in OPT_IN:
            on = machine.l1.global_loads
            checks.append(Check(f"{machine.name}: global loads in L1", "opt-in", "by default" if on else "with -dlcm=ca", not on))
        if machine.l1.sector not in kinds:  # one panel for each kind of L1
            kinds.add(machine.l1.sector)
            curves += _curves(machine, runs)
    return Reproduction(
        title="Global loads through L1 and past it",
        checks=tuple(checks),
        notes=(NOTE,),
        curves=tuple(curves),
        x_label="stride, words",
        y_label="bytes from L2 that nobody asked for, percent",
    )


def patterns() -> dict[str, Launch]:
    """Return accesses by name. A word per thread and load, read once."""
    found = {f"stride {stride}": _strided(stride, 0) for stride in STRIDES}
    found["offset 1"] = _strided(1, 1)
    launch = load_launch(PROGRAMS / "access" / "random.toml").launch
    arrays = (np.zeros(MANY, np.float32), np.zeros(32 * MANY, np.float32), _index().astype(np.uint32))
    found["random"] = replace(launch, grid=(BLOCKS,), block=(THREADS,), args=arrays)
    return found


def _index() -> np.ndarray:
    return np.random.default_rng(1).permutation(32 * MANY)[:MANY]


def _strided(stride: int, offset: int) -> Launch:
    words = MANY * stride + offset
    arrays = (np.zeros(words, np.float32), np.zeros(words, np.float32), np.uint32(stride), np.uint32(offset))
    return replace(load_launch(PROGRAMS / "access" / "strided.toml").launch, grid=(BLOCKS,), block=(THREADS,), args=arrays)


def compiled(architecture: str | None) -> dict[str, Launch]:
    """Return a gather of 64-bit numbers as the compiler made it for an architecture; nothing for None."""
    if architecture is None:
        return {}
    listing = PROGRAMS / "cuda" / f"gather.{architecture}.sass"
    launch = load_launch(listing.parent / "gather.toml", isa.load(listing)).launch
    size = 32 * MANY
    args = (np.zeros(size, np.int64), _index().astype(np.int32), np.zeros(MANY, np.int64), np.int32(MANY), np.int32(size))
    return {f"compiled gather, {architecture}": replace(launch, grid=(BLOCKS,), block=(THREADS,), args=args)}


def run(gpu: Gpu, launches: Mapping[str, Launch]) -> Runs:
    """Return what the accesses move with each operator: each launch is executed once, for both."""
    found: dict[str, dict[str, Run]] = {operator: {} for operator in OPERATORS}
    for name, launch in launches.items():
        trace = execute(launch)
        code = launch.program.encoded
        loads = np.flatnonzero((code.operation == Operation.LOAD) & (code.width > 0))
        asked = int((trace.true_lanes[loads] * code.width[loads]).sum())
        for operator in OPERATORS:
            program = isa.with_load_cache(launch.program, operator)
            result = simulate(replace(trace, launch=replace(trace.launch, program=program)), gpu)
            counters, read = result.counters, result.counters["l2_sectors_read"]
            sectors = counters["global_load_sectors"]
            words = int(trace.true_lanes[loads].sum())
            found[operator][name] = Run(SECTOR * read / asked, counters["l1_hit_rate"], result.cycles, read == sectors, sectors / words)
    return found


def _curves(gpu: Gpu, runs: Runs) -> Iterator[Curve]:
    """Yield the curve of each operator over strides, and the level of random accesses."""
    for operator in OPERATORS:
        one = runs[operator]
        share = tuple(_unasked(one[f"stride {stride}"]) for stride in STRIDES)
        yield Curve(f"strided, -dlcm={operator}", tuple(map(float, STRIDES)), share, _kind(gpu))
    for operator in OPERATORS:
        level = _unasked(runs[operator]["random"])
        yield Curve(f"random, with its indices, -dlcm={operator}", (float(STRIDES[0]), float(STRIDES[-1])), (level, level), _kind(gpu))


def _unasked(one: Run) -> float:
    return 100 - 100 / max(one.over_fetch, 1.0)


def _kind(gpu: Gpu) -> str:
    return f"{gpu.name}: L1 fetches {'lines of 128' if gpu.l1 and gpu.l1.sector == 128 else 'sectors of 32'} bytes"


def _table(gpu: Gpu, runs: Runs) -> Iterator[Check]:
    """Show every pattern; judge those without a neighbour that reads the rest of a line, and that off means off."""
    whole = gpu.l1 is not None and gpu.l1.sector == 128
    default = "on" if gpu.l1 and gpu.l1.global_loads else "off"
    for name, on in runs["ca"].items():
        off, passed, said = runs["cg"][name], None, "-"
        if name in WORSE and whole:
            said, passed = "more over-fetch, and slower", on.over_fetch > off.over_fetch and on.cycles > off.cycles
        elif name in WORSE or name.startswith("compiled"):
            said, passed = "sectors: as without L1", abs(on.over_fetch / off.over_fetch - 1) < 0.01
        if name == "stride 1":
            said, passed = "coalesced: no over-fetch", on.over_fetch == off.over_fetch == 1
        simulated = f"ca {on.over_fetch:.2f} times the bytes, {on.cycles:,} cycles; cg {off.over_fetch:.2f}, {off.cycles:,}"
        note = f"L1 hits {100 * on.hits:.0f} %; fetches {'lines of 128' if whole else 'sectors of 32'} bytes; {default} by default"
        yield Check(f"{gpu.name}: {name}", said, simulated, passed, note)
    strided, random = runs["cg"]["stride 32"].sectors, 2 * runs["cg"]["random"].sectors - runs["cg"]["stride 1"].sectors
    simulated = f"{strided:.2f} and {random:.2f} sectors per word"
    yield Check(f"{gpu.name}: stride 32 and random", "as bad", simulated, abs(strided / random - 1) < 0.01, "without the indices")
    past = sum(one.past for one in runs["cg"].values())
    number = len(runs["cg"])
    yield Check(f"{gpu.name}: past L1 with -dlcm=cg", "every sector comes from L2", f"in {past} of {number} patterns", past == number)


NOTE = (
    "ca, cg: what isa.with_load_cache (run --dlcm) writes on loads that name no cache operator, as the compiler's -dlcm does; what a GPU "
    "does with those that still name none is its field l1.global_loads. Loads of .CONSTANT (__ldg, const __restrict__) stay in L1 with "
    "both, as the compiler leaves them. A warp that reads at an offset asks for two lines, 50 % of which it "
    "uses; the other warps of its SM use the rest while it is in L1, so L2 sends little more than what is asked for. Where all lines of a "
    "set are on their way further loads go past L1: so stride 32 and random accesses fetch less than 32 times their bytes."
)
