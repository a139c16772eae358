"""`warp-scheduling`: round robin, GTO, two-level and cache-conscious scheduling on a cache-sensitive and on an insensitive kernel.

Rows: each thread adds up its own row of a matrix times a vector, so a warp uses 32 lines of L1 again and again, and all warps together
far more than it has. Polynomials: each thread loads numbers that it never sees again, and evaluates polynomials of them. Each kernel is
executed once; its trace is timed with every policy. What the papers state is in `published.toml`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

import isa
from programs.published import published
from programs.reproduction import Check, Reproduction
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import occupancy
from sim.launch.launch import Launch
from sim.report.curves import Curve
from sim.result.result import Result
from sim.timing import simulate

THREADS = 256
COLUMNS, PASSES, TERMS = 32, 8, 16
SENSITIVE, PLAIN, CHAINED = "rows", "polynomials, 2 per thread", "polynomials, 1 per thread"
POLICIES = ("lrr", "gto", "two_level", "ccws")
SHARES = (1, 2, 4, 8)  # parts of a scheduler's warps that are active
WITHIN = 0.05  # "minimal impact"

ROWS = """.kernel rows
.param ptr matrix
.param ptr vector
.param ptr out
.param u32 columns
S2R R0, SR_CTAID.X
S2R R1, SR_NTID.X
S2R R2, SR_TID.X
IMAD R0, R0, R1, R2
IMAD R3, R0, c[0x0][columns], RZ
ISCADD R3, R3, c[0x0][matrix], 2
MOV R4, c[0x0][vector]
MOV R5, c[0x0][columns]
MOV R8, RZ
.Loop:
LDG R6, [R3]
LDG R7, [R4]
IADD R3, R3, 4
IADD R4, R4, 4
IADD R5, R5, -1
ISETP.NE.AND P0, PT, R5, RZ, PT
FFMA R8, R6, R7, R8
@P0 BRA .Loop
ISCADD R0, R0, c[0x0][out], 2
STG [R0], R8
EXIT
"""

Times = Mapping[str, Result]  # by policy; of an active set by its share


def polynomials(chains: int) -> str:
    """Return a kernel that evaluates so many polynomials at once per thread, a number from memory in each pass."""
    values = range(chains)
    lines = [".kernel polynomials", ".param ptr points", ".param ptr out", ".param u32 passes"]
    lines += ["S2R R0, SR_CTAID.X", "S2R R1, SR_NTID.X", "S2R R2, SR_TID.X", "IMAD R0, R0, R1, R2", "S2R R4, SR_NCTAID.X"]
    lines += ["IMAD R4, R4, R1, RZ", "SHL R4, R4, 2", "ISCADD R3, R0, c[0x0][points], 2", "MOV R5, c[0x0][passes]"]
    lines += [*(f"MOV R{10 + k}, RZ" for k in values), ".Loop:"]
    lines += [line for k in values for line in (f"LDG R{6 + k}, [R3]", "IADD R3, R3, R4")]
    lines += ["IADD R5, R5, -1", "ISETP.NE.AND P0, PT, R5, RZ, PT"]
    lines += [f"FFMA R{10 + k}, R{10 + k}, R{6 + k}, R{6 + k}" for _ in range(TERMS) for k in values]
    lines += ["@P0 BRA .Loop", "ISCADD R0, R0, c[0x0][out], 2", *(f"FADD R10, R10, R{10 + k}" for k in values[1:])]
    return "\n".join([*lines, "STG [R0], R10", "EXIT"]) + "\n"


def launches(gpu: Gpu) -> dict[str, Launch]:
    """Return each kernel with as many blocks as the GPU holds at once."""
    random = np.random.default_rng(1)

    def wave(listing: str) -> tuple[isa.Program, int]:
        program = isa.parse(listing)
        registers = Launch(program, (1,), (THREADS,)).registers_per_thread
        return program, gpu.sms * occupancy(gpu, THREADS, registers, 0).blocks

    program, blocks = wave(ROWS)
    threads = blocks * THREADS
    arrays = random.random((threads, COLUMNS), np.float32), random.random(COLUMNS, np.float32), np.zeros(threads, np.float32)
    found = {SENSITIVE: Launch(program, (blocks,), (THREADS,), (*arrays, np.uint32(COLUMNS)))}
    for name, chains in ((PLAIN, 2), (CHAINED, 1)):
        program, blocks = wave(polynomials(chains))
        threads = blocks * THREADS
        points = random.random(threads * chains * PASSES, np.float32)
        found[name] = Launch(program, (blocks,), (THREADS,), (points, np.zeros(threads, np.float32), np.uint32(PASSES)))
    return found


def times(launch: Launch, gpu: Gpu) -> Times:
    """Time one kernel with every policy, and with active sets of a part of a scheduler's warps."""
    trace = execute(launch)
    found = {policy: simulate(trace, gpu.replace({"core.policy": policy})) for policy in POLICIES}
    warps = -(-found["lrr"].occupancy.warps // gpu.core.schedulers)
    for share in SHARES:
        changes = {"core.policy": "two_level_active", "core.group_size": max(warps // share, 1)}
        found[active(share)] = simulate(trace, gpu.replace(changes))
    return found


def active(share: int) -> str:
    """Return what an active set of one in `share` warps is called."""
    return f"two_level_active, 1/{share}"


def reproduce(gpu: str | None = None) -> Reproduction:
    """Time the kernels on `gpu`, or on a GTX 480, the GPU that those papers set out from."""
    machine = load(gpu or "gtx480")
    found = {name: times(launch, machine) for name, launch in launches(machine).items()}
    said = published(Path(__file__).parent)
    checks = [*_cache(found, said["ccws"]), *_active(found, said["active_set"]), *_shown(found, said["two_level"])]
    curves = []
    for name, runs in found.items():
        best = min(run.cycles for run in runs.values())
        sets = tuple(100 * best / runs[active(share)].cycles for share in SHARES)
        curves.append(Curve("two_level_active", tuple(100 / share for share in SHARES), sets, name))
        curves += [Curve(policy, (100 / SHARES[-1], 100), (100 * best / runs[policy].cycles,) * 2, name) for policy in POLICIES]
    title = f"Warp scheduling, {machine.name}"
    return Reproduction(title, tuple(checks), (NOTE,), tuple(curves), "percent of warps that are active", "percent of the highest speed")


def misses(run: Result) -> float:
    """Return the sectors that L1 did not have; 0 without a hierarchy."""
    return run.counters.get("l1_sectors", 0.0) * (1 - run.counters.get("l1_hit_rate", 0.0))


def _cache(found: Mapping[str, Times], said: Mapping[str, str]) -> Iterator[Check]:
    """Judge that fewer lines are lost, and that this pays, where warps use their lines again; show where they do not."""
    runs, rest = found[SENSITIVE], {name: runs for name, runs in found.items() if name != SENSITIVE}
    before = {policy: run for policy, run in runs.items() if policy != "ccws"}
    fewest, fastest = min(before, key=lambda name: misses(before[name])), min(before, key=lambda name: before[name].cycles)
    ccws, fewer, faster = runs["ccws"], "fewer misses than every other", "faster than every other"
    passed = misses(ccws) < misses(before[fewest])
    shown = f"{100 * (1 - misses(ccws) / max(misses(before[fewest]), 1)):.0f} % fewer than {fewest}"
    yield Check(f"{SENSITIVE}, ccws: {fewer}", said["text"], shown, passed, said["source"])
    passed, gain = ccws.cycles < before[fastest].cycles, before[fastest].cycles / ccws.cycles
    yield Check(f"{SENSITIVE}, ccws: {faster}", "the same", f"{100 * (gain - 1):.0f} % faster than {fastest}", passed)
    for name, runs in rest.items():
        shown = f"{100 * (runs['gto'].cycles / runs['ccws'].cycles - 1):+.0f} % against gto"
        yield Check(f"{name}, ccws", "-", shown, None, "no line is used again: what is left of it is gto")


def _active(found: Mapping[str, Times], said: Mapping[str, int | str]) -> Iterator[Check]:
    """Judge a quarter of the warps where a warp has two instructions to issue; show it where each waits for the one before."""
    share = int(said["factor"])
    for name, runs in found.items():
        change = runs["lrr"].cycles / runs[active(share)].cycles - 1
        shown = f"{100 * change:+.0f} % with {runs[active(share)].gpu.core.group_size} of a scheduler's warps active"
        judged = change > -WITHIN if name == PLAIN else None
        note = "too few to cover the latency of a chain of FFMA" if name == CHAINED and change < -WITHIN else ""
        yield Check(f"{name}, two_level_active", str(said["text"]), shown, judged, note or str(said["source"]))


def _shown(found: Mapping[str, Times], said: Mapping[str, float | str]) -> Iterator[Check]:
    """Show what two levels of fixed groups do: the paper's number is of both its ideas together."""
    for name, runs in found.items():
        change = runs["lrr"].cycles / runs["two_level"].cycles - 1
        yield Check(f"{name}, two_level", str(said["text"]), f"{100 * change:+.0f} % against lrr", None, str(said["source"]))


NOTE = (
    "Speeds are against round robin (lrr) unless said. The papers' programs and machines are not these: directions are judged, and "
    f"'minimal impact' as at most {100 * WITHIN:.0f} % slower. Where a kernel does nothing but use its lines again, more is gained than "
    "in the mean of whole programs. The active set is a part of a scheduler's warps; no parameter is fitted."
)
