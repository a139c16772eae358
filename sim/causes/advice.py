"""What binds a run and what would help: a decision from the counters and the closed account, in a sentence or two.

1. How full is each resource that instructions pass through (issue slots, pipes)? Over FULL, it binds: nothing in scheduling helps.
   The same for what bytes pass through (DRAM, L2, banks of shared memory) and for block starts: `sim/causes/memory_advice.py`.
2. Else the idle issue slots say what the schedulers waited for.
3. Waiting for results, by Little's law: with the same latencies, throughput grows with the independent instructions in flight, so
   a resource that is used u needs 1/u times as many, from more warps or from more instruction-level parallelism (ILP) in each.
"""

import math

from isa.vocabulary import Operation
from sim.analysis.lanes import lanes, threads_per_warp
from sim.analysis.resources import ISSUE, resources
from sim.causes.memory_advice import Verdict, full_memory, queue, waiting, wasteful
from sim.causes.places import MATRIX_PIPES, MOSTLY
from sim.causes.products import starved
from sim.causes.residency import has_places, holdable, number, resident_blocks, resident_warps, room
from sim.causes.shape import shape
from sim.result.causes import StallCause
from sim.result.result import Result

DIVERGENT = 0.75  # share of the lanes with a thread that execute, below which divergence is named
AT_PRODUCTS = 0.5  # share of barrier that warps wait for products of their group, from which these are named and not barriers
AT_FIRST = 0.5  # share of no_instruction that warps wait for their first instruction, from which the start of blocks is named
FULL = 0.9  # share of a resource's capacity from which it is said to bind
UNEVEN = 0.75  # share of the run that its SMs have a block, below which that is said


WAITED_FOR = {
    "wait": "arithmetic results",
    "short_scoreboard": "results of shared memory or special functions",
    "long_scoreboard": "global memory",
    "imc_miss": "constants from memory",
    "branch_resolving": "branches",
}
PAUSES = {  # cause -> what warps do, what would help
    "membar": ("wait at fences of the whole GPU", "fewer of them, or fences of the block where these are enough (__threadfence_block)"),
    "sleeping": ("sleep, as NANOSLEEP asks", "shorter sleeps"),
}
THROTTLES = ("math_pipe_throttle", "mio_throttle", "lg_throttle")


def utilisation(result: Result) -> dict[str, float]:
    """Return how full each resource was that instructions pass through, 0 to 1: the issue slots, and "<name> pipe" for each pipe used."""
    return {one.name: one.use(result) for one in resources(result) if one.kind in ("issue", "pipe")}


def advise(result: Result) -> list[Verdict]:
    """Return what binds the run, what starves products of matrices, what the shape of its blocks and of its grid costs it."""
    return [diagnose(result), *starved(result), *shape(result)]


def diagnose(result: Result) -> Verdict:
    """Return what binds the run and what would help."""
    utilised = utilisation(result)
    resource, use = max(utilised.items(), key=lambda item: item[1])
    if use >= FULL:
        return _full(result, utilised)
    if verdict := full_memory(result):
        return verdict
    for name in MATRIX_PIPES:  # what a run with products is to fill, if they are most of what it does
        if utilised.get(name, 0.0) >= MOSTLY * max(utilised.values()):
            resource, use = name, utilised[name]
    if _busy(result) < UNEVEN and not wasteful(result):  # sectors moved for nothing are the larger fault
        return _tail(result)
    cause = _idle_cause(result)
    if result.gpu.memory.kind == "hierarchy":
        if cause == "long_scoreboard":
            return waiting(result)
        if cause in ("lg_throttle", "mio_throttle") and (verdict := queue(result, cause)):
            return verdict
    if cause == "barrier":
        return _barrier(result, resource, use)
    if cause == "no_instruction":
        return _fetch(result)
    if cause in PAUSES:
        does, remedy = PAUSES[cause]
        meanwhile = ", or more warps that work meanwhile," if holdable(result) > resident_warps(result) else ""
        return Verdict(cause, f"Warps {does} ({_idle_for(result, cause)}): {remedy}{meanwhile} would help; {room(result)}.")
    if cause in THROTTLES or (cause == "dispatch_stall" and not result.gpu.core.in_flight_cap):
        return _burst(result, cause, resource, use)
    return _latency(result, cause, resource, use)


def _busy(result: Result) -> float:
    """Return the share of the run that the SMs used had a block."""
    span = result.counters["sms_used"] * result.cycles
    return result.counters["sm_active_cycles"] / span if span else 1.0


def _idle_cause(result: Result) -> str:
    """Return the wait that took most idle issue slots; schedulers without a warp have no wait, so another's speaks for them."""
    waits = {name: n for name, n in result.issue_slots.items() if name not in ("selected", "no_warp", "tail", "drain")}
    return max(waits, key=lambda name: waits[name]) if waits else "wait"


def _idle_for(result: Result, cause: str) -> str:
    """Return the share of the issue slots that a wait left idle, as a clause."""
    return f"{result.issue_slots[cause] / result.counters['issue_slots']:.0%} of the issue slots idle for it"


def _full(result: Result, use: dict[str, float]) -> Verdict:
    full = {resource: share for resource, share in use.items() if share >= FULL}
    names = " and ".join(f"the {resource} ({share:.0%})" for resource, share in full.items())
    verb = "is" if len(full) == 1 and ISSUE not in full else "are"
    what = "instructions" if ISSUE in full else f"instructions for the {next(iter(full))}"
    sentence = f"{names[0].upper()}{names[1:]} {verb} full: nothing in scheduling would help here, only fewer {what}{_divergence(result)}"
    if (busy := _busy(result)) < UNEVEN:
        sentence += f"; but that is while the SMs have a block, {busy:.0%} of the time: the rest goes between blocks, or to a few SMs alone"
    sms, used = result.gpu.sms, int(result.counters["sms_used"])
    if used < sms:
        sentence += f"; but {sms - used} of the {sms} SMs have no block, so more blocks would do more work in the same time"
    return Verdict("full", sentence + ".")


def _divergence(result: Result) -> str:
    """Return what branches that lanes take apart cost a run whose issue slots are full, as a clause; "" for little."""
    (active, executing), have = lanes(result), threads_per_warp(result)
    if executing >= DIVERGENT * have:
        return ""
    off = f", {executing:.1f} execute it" if active - executing >= 1 else ""
    return (
        f", or fuller ones: of {number(have)} lanes {active:.1f} are active per instruction{off}, so sorting the work so that the lanes "
        f"of a warp branch alike could save up to {1 - executing / have:.0%} of them"
    )


def _apart(result: Result) -> str:
    """Return the same of a run whose warps wait: each part of a warp takes a turn of its own."""
    (active, executing), have = lanes(result), threads_per_warp(result)
    if executing >= DIVERGENT * have:
        return ""
    of = f"of {number(have)} lanes {active:.1f} are active per instruction, {executing:.1f} execute it"
    return f"; lanes that branch apart take turns ({of})"


def _tail(result: Result) -> Verdict:
    blocks, places = math.prod(result.grid), result.gpu.sms * result.occupancy.blocks
    waves = f", or a grid that is a multiple of the {places:,} blocks that run at once," if blocks > places else ", and more of them,"
    return Verdict(
        "tail",
        f"The {int(result.counters['sms_used'])} SMs have work only {_busy(result):.0%} of the time, because blocks end unevenly: "
        f"shorter blocks{waves} would help.",
    )


def _barrier(result: Result, resource: str, use: float) -> Verdict:
    waited = result.stalls_by_instruction[:, StallCause.BARRIER]
    if waited[result.program.encoded.operation == Operation.WARPGROUP_WAIT].sum() >= AT_PRODUCTS * waited.sum():
        others = ", or other groups that ask meanwhile," if has_places(result) else ""
        return Verdict(
            "barrier",
            f"Warps wait for products of their group of four ({_idle_for(result, 'barrier')}), though {_only(resource, use)}: products "
            f"asked for earlier (wgmma.wait_group N leaves N groups under way){others} would help; {room(result)}.",
        )
    if has_places(result):
        remedy = "more blocks per SM, so that one computes while another waits, or "
    else:
        remedy = "" if "blocks" in result.occupancy.limiters else "smaller blocks, of which an SM holds more, or "
    return Verdict(
        "barrier",
        f"Warps wait for each other at barriers ({_idle_for(result, 'barrier')}): {remedy}fewer barriers would help "
        f"(blocks per SM: {number(resident_blocks(result))}; {room(result)}).",
    )


def _fetch(result: Result) -> Verdict:
    """Neither warps nor ILP help against it: every warp needs the same code, and none of it is there."""
    waited = result.stalls_by_instruction[:, StallCause.NO_INSTRUCTION]
    first = waited[0] / waited.sum() if waited.sum() else 0.0
    if first >= AT_FIRST:
        how = (
            f"{first:.0%} of it before the first one, while a block starts: more work in each block, or for each SM, would make that small"
        )
    else:
        how = "code that the instruction caches hold (less unrolling, fewer functions and jumps) would help"
    return Verdict("fetch", f"Warps wait for instructions to be fetched ({_idle_for(result, 'no_instruction')}); {how}.")


def _burst(result: Result, cause: str, resource: str, use: float) -> Verdict:
    return Verdict(
        "burst",
        f"Ports are asked for in bursts ({cause}: {_idle_for(result, cause)}, though {_only(resource, use)}): spreading "
        "those instructions among others would help.",
    )


def _latency(result: Result, cause: str, resource: str, use: float) -> Verdict:
    if cause == "dispatch_stall":
        start = f"Each warp already has the {result.gpu.core.in_flight_cap} instructions in flight that this GPU allows it"
        how = _by_warps(result, use)
    else:
        start = f"Warps wait for {WAITED_FOR.get(cause, cause)}"
        how = _by_warps_or_ilp(result, use)
    sentence = f"{start}: {_only(resource, use)}, and {how}; {room(result)}"
    sentence += _apart(result)
    if cause == "long_scoreboard":
        return Verdict("memory", sentence + " (with memory.kind = 'fixed' bandwidth is not modelled, and may bind before that).")
    return Verdict("cap" if cause == "dispatch_stall" else "latency", sentence + ".")


def _by_warps_or_ilp(result: Result, use: float) -> str:
    """Return how many warps, or instructions in each, fill a resource that is used `use`; never more warps than an SM holds."""
    have, can = resident_warps(result), holdable(result)
    need, ilp = math.ceil(have / use - 1e-9), f"{number(1 / use)} times the independent instructions in each (ILP)"
    if need <= can:
        return f"filling it would take about {need:,} warps per SM instead of {number(have)}, or {ilp}, or a mix"
    if number(can) == number(have):
        return f"filling it would take {ilp.replace('each', 'each of its warps')}, as more warps do not fit"
    those = ilp.replace("each", f"each of its {number(have)} warps")
    return f"filling it would take {those}, or {number(have / use / can)} times in each of the {number(can)} warps per SM that fit"


def _by_warps(result: Result, use: float) -> str:
    """Return the same where warps have as many instructions in flight as they may."""
    have, can = resident_warps(result), holdable(result)
    need = math.ceil(have / use - 1e-9)
    if need <= can:
        return f"filling it would take about {need:,} warps per SM instead of {number(have)}, as more ILP cannot"
    if number(can) == number(have):
        return "nothing would fill it: more ILP cannot, and more warps do not fit"
    return f"the {number(can)} warps per SM that fit instead of {number(have)} would fill {use * can / have:.0%} of it; more ILP cannot"


def _only(resource: str, use: float) -> str:
    return f"the {resource if resource in MATRIX_PIPES else f'busiest resource, the {resource},'} is only {use:.0%} used"
