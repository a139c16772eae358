"""What binds a run whose memory is modelled: DRAM, L2, shared memory, block starts, full queues, or too few bytes in flight.

Each use is what the run asked of a resource over what the resource gives in the run's time. The start and the end of a run count
too, so a resource is said to bind from MEMORY_FULL on, and not only when it is quite full.
"""

import math
from typing import NamedTuple

import numpy as np

from isa.vocabulary import Operation, Space
from sim.analysis import little
from sim.analysis.resources import ACCESSES, BANKS, DRAM, L2, resources
from sim.causes.places import after_looks, place
from sim.causes.residency import has_places, holdable, number, resident_blocks, resident_warps, room, size
from sim.gpus.path import SECTOR
from sim.result.causes import CAUSE_NAMES, StallCause
from sim.result.memory_counters import ratio
from sim.result.result import Result

MEMORY_FULL = 0.8
WASTE = 1.3  # sectors per request over those needed, from which an access pattern is said to waste
CONFLICTS = 0.25  # share of the passes over the banks, from which conflicts are named
FROM_DRAM = 0.5  # share of the bytes loaded, below which Little's law is not asked about DRAM
QUEUED = 0.1  # share of the sectors at L2 that found its queue full, from which the queue is named
AT_PHASES = 0.5  # share of long_scoreboard that warps wait at mbarriers, from which these are named and not loads
SHORT = 0.25  # share of a block's stay that starting and retiring it take, from which blocks are called short


class Verdict(NamedTuple):
    """kind: full, latency, cap, barrier, burst, fetch or tail; of memory dram, l2, l2_queue, shared, conflicts, blocks, queue, phases,
    uncoalesced, bytes or memory; of products of matrices products; of the shape of a launch lanes, block_slots or last_wave. sentence: for
    a person. share: of the run's time, at most, that following it saves; None where that is not known."""

    kind: str
    sentence: str
    share: float | None = None


def uses(result: Result) -> dict[str, float]:
    """Return how full DRAM, L2 and the banks of shared memory were, 0 to 1: what was asked of them over what they can do."""
    found = {one.name: one.use(result) for one in resources(result)}
    return {"dram": found.get(DRAM, 0.0), "l2": found.get(L2, 0.0), "shared": found.get(BANKS, 0.0)}


def waste(result: Result) -> float:
    """Return the sectors that global loads and stores touched over those that full warps need for neighbouring words; 1 is ideal.

    A full warp of 32 needs as many sectors, of 32 bytes, as each lane takes bytes; a smaller one fewer.
    """
    counters, encoded = result.counters, result.program.encoded
    issues, needed = 0, 0.0
    for operation, space, width, n in zip(encoded.operation, encoded.space, encoded.width, result.issues_by_instruction, strict=True):
        if operation in (Operation.LOAD, Operation.STORE) and space in (Space.GLOBAL, Space.GENERIC):
            issues, needed = issues + int(n), needed + int(n) * int(width) * result.gpu.core.warp_size / SECTOR
    requests = counters["global_load_requests"] + counters["global_store_requests"]
    sectors = counters["global_load_sectors"] + counters["global_store_sectors"]
    return ratio(sectors, requests * ratio(needed, issues))


def wasteful(result: Result) -> bool:
    """Return whether accesses touch far more sectors than neighbouring words would."""
    return result.gpu.memory.kind == "hierarchy" and waste(result) >= WASTE


def full_memory(result: Result) -> Verdict | None:
    """Return the verdict when a resource of the memory system, or the start of blocks, is full; None when none is."""
    if result.gpu.memory.kind != "hierarchy":
        return None
    use = uses(result)
    if use["dram"] >= MEMORY_FULL:
        return _dram(result)
    if use["shared"] >= MEMORY_FULL:
        return _shared(result, use["shared"])
    if use["l2"] >= MEMORY_FULL:
        return _l2(result, use["l2"])
    return _blocks(result)


def _dram(result: Result) -> Verdict:
    share, gpu = result.counters["dram_throughput"], result.gpu
    limit = f", of the {gpu.dram.efficiency:.0%} that streams reach" if gpu.dram.efficiency < 1 else ""
    return Verdict(
        "dram",
        f"DRAM bandwidth binds: {share:.0%} of the pins' {gpu.dram.bandwidth:g} GB/s is used{limit}, so more warps or more loads in "
        f"flight would not help; fewer bytes from DRAM would.{_wasted(result)}",
    )


def _wasted(result: Result) -> str:
    """Return a sentence about sectors moved for nothing, "" when there are few."""
    excess = waste(result)
    if excess < WASTE:
        return ""
    requests = result.counters["global_load_requests"] + result.counters["global_store_requests"]
    each = (result.counters["global_load_sectors"] + result.counters["global_store_sectors"]) / requests
    return (
        f" A warp's access touches {number(each)} sectors of 32 bytes where neighbouring words would take {number(each / excess)}: let "
        "neighbouring threads use neighbouring words (`simtlab coalesce` shows which access)."
    )


def _shared(result: Result, use: float) -> Verdict:
    counters = result.counters
    wavefronts, conflicts = counters["shared_wavefronts"], counters["shared_bank_conflicts"]
    rate = f"{ratio(wavefronts, counters['sm_active_cycles']):.2f} passes (wavefronts) per cycle and SM"
    if conflicts >= CONFLICTS * wavefronts:
        return _conflicts(result, f"The banks of shared memory are {use:.0%} busy")
    flops = ratio(counters["fp32_flops"], wavefronts * result.gpu.shared.pass_cycles) * result.gpu.sms * result.gpu.clock.core_mhz / 1e3
    bound = f"; with so many operations per pass the chip can do no more than {flops:,.0f} Gflop/s" if flops else ""
    return Verdict(
        "shared",
        f"Shared-memory bandwidth binds: the banks are {use:.0%} busy, {rate}{bound}. Fewer or wider accesses (64 or 128 bits), or more "
        "operands kept in registers so that each value loaded is used more often, would help.",
    )


def _conflicts(result: Result, start: str) -> Verdict:
    counters = result.counters
    wavefronts, conflicts, requests = (counters[f"shared_{name}"] for name in ("wavefronts", "bank_conflicts", "requests"))
    return Verdict(
        "conflicts",
        f"{start}, and bank conflicts are {conflicts / wavefronts:.0%} of the passes: a shared-memory access takes "
        f"{number(wavefronts / requests)} passes where {number((wavefronts - conflicts) / requests)} would do without. Padding the rows of "
        "the array by a word, or another order of threads, would help (`simtlab coalesce --shared` shows the banks).",
    )


def _l2(result: Result, use: float) -> Verdict:
    assert result.gpu.l2
    hit = f" (of loads {result.counters['l1_load_hit_rate']:.0%} hit)" if result.counters["l1_load_sectors"] else ""
    return Verdict(
        "l2",
        f"L2 bandwidth binds: {use:.0%} of its {number(result.gpu.l2.bytes_per_cycle)} bytes per cycle and SM are used. Fewer sectors from "
        f"L2 would help: reuse in registers, in shared memory or in L1{hit}." + _wasted(result),
    )


def _blocks(result: Result) -> Verdict | None:
    """Return a verdict when SMs stay half empty or its warps idle, because blocks end soon after they start."""
    blocks, places, have = math.prod(result.grid), result.occupancy.blocks, resident_blocks(result)
    settings, used = result.gpu.blocks, result.counters["sms_used"]
    if blocks < 2 * places * used:
        return None
    stay = have * result.counters["sm_active_cycles"] / blocks + settings.retire_latency
    interval = max(settings.start_interval, settings.retire_interval)
    overhead, starting = settings.start_latency + settings.retire_latency, blocks * interval / result.cycles
    few = f"only {number(have)} of the {places} blocks that fit are resident on an SM"
    threads = ", or more threads" if math.prod(result.block) < result.gpu.limits.threads_per_block else ""
    help_ = f"Blocks that do more work each (more elements per thread{threads}) would help"
    if starting >= MEMORY_FULL and have < MEMORY_FULL * places:
        return Verdict("blocks", f"The start of blocks binds: one each {interval:g} cycles on the whole chip, so {few}. {help_}.")
    if overhead >= SHORT * stay:
        return Verdict(
            "blocks", f"Blocks are short: of the {number(stay)} cycles that each takes, {overhead} go to starting and retiring it. {help_}."
        )
    return None


def queue(result: Result, cause: str) -> Verdict | None:
    """Return the verdict when warps wait for a place in the queue of the load/store unit, None when ports alone are taken in turns."""
    counters, use, slots = result.counters, uses(result), result.counters["issue_slots"]
    waited = result.stalls_by_instruction[:, CAUSE_NAMES.index(cause)]
    port = "The load/store port" if cause == "lg_throttle" else "The port of shared memory"
    share = f"{result.issue_slots[cause] / slots:.0%} of the issue slots idle for {cause}"
    if counters["shared_bank_conflicts"] >= CONFLICTS * max(counters["shared_wavefronts"], 1):
        return _conflicts(result, f"{port} is taken ({share})")
    busiest = max(use, key=lambda name: use[name])
    if busiest == "shared" and use["shared"] >= 0.5:
        return _shared(result, use["shared"])
    if counters["l2_queue_full"] >= QUEUED * max(counters["l2_sectors_read"] + counters["l2_sectors_written"], 1):
        return _l2_queue(result)
    memory = sum(counters[f"{kind}_requests"] for kind in ACCESSES)
    if not memory:
        return None
    return Verdict(
        "queue",
        f"{port} is taken ({share}; {place(result, waited, cause)}), as its queue of {result.gpu.lsu.depth} instructions is full: "
        f"fewer memory instructions (wider ones, 64 or 128 bits), or more arithmetic between them, would help.{_wasted(result)}",
    )


def _idle_sms(result: Result) -> str:
    """Return how many SMs have a block, as a clause; "" when all have."""
    used, sms = int(result.counters["sms_used"]), result.gpu.sms
    return "" if used == sms else f" ({used} of {sms} SMs {'has' if used == 1 else 'have'} a block)"


def _l2_queue(result: Result) -> Verdict:
    counters = result.counters
    full = f"{int(counters['l2_queue_full']):,} requests found the queue of their L2 slice full"
    if counters["bulk_reduction_requests"]:
        each = number(counters["bulk_reduction_sectors"] / counters["bulk_reduction_requests"])
        help_ = f"lines that are reduced ({each} sectors each) take their turns there: combine them in shared memory first"
    elif counters["global_atomic_requests"]:
        each = number(counters["global_atomic_sectors"] / counters["global_atomic_requests"])
        help_ = f"atomics ({each} sectors each) take their turns there: combine them in a warp or in shared memory first"
    else:
        help_ = "spread the addresses over more slices, or reuse data in L1, shared memory or registers"
    return Verdict("l2_queue", f"Warps wait for L2: {full}; {help_}.")


def _waited_at_phases(result: Result) -> float:
    """Return the share of the cycles of long_scoreboard that warps spent at `mbarrier`s: before what reads the answer to a look at one."""
    waited = result.stalls_by_instruction[:, StallCause.LONG_SCOREBOARD]
    if result.phases is None or not waited.any():
        return 0.0
    return float(waited[after_looks(result.program)].sum() / waited.sum())


def _phases(result: Result, share: float) -> Verdict:
    assert result.phases is not None
    _, barrier, begun, over = result.phases
    addresses, which = np.unique(barrier, return_inverse=True)
    each = np.bincount(which, over - begun) / np.bincount(which)
    slowest = int(np.argmax(each))
    return Verdict(
        "phases",
        f"Warps wait at mbarriers ({share:.0%} of long_scoreboard): a phase of the one at {addresses[slowest]:#x} of shared memory takes "
        f"{number(each[slowest])} cycles on average from its first arrival to the last arrival or byte{_idle_sms(result)}. DRAM's pins are "
        f"{result.counters['dram_throughput']:.0%} used, L2 is {uses(result)['l2']:.0%} used: bulk copies that are asked for earlier (more "
        f"stages){', or more blocks per SM,' if has_places(result) else ''} would help; {room(result)}.",
    )


def waiting(result: Result) -> Verdict:
    """Return the verdict when warps wait for global or local memory and no resource is full: too few bytes in flight, or wasted ones."""
    counters, gpu = result.counters, result.gpu
    if counters["l2_queue_full"] >= QUEUED * max(counters["l2_sectors_read"] + counters["l2_sectors_written"], 1):
        return _l2_queue(result)
    if (at_phases := _waited_at_phases(result)) >= AT_PHASES:
        return _phases(result, at_phases)
    latency = f"Warps wait for memory ({counters['load_latency']:,.0f} cycles per load on average)"
    if waste(result) >= WASTE:
        return Verdict("uncoalesced", f"{latency}, and uncoalesced accesses make it worse.{_wasted(result)}")
    more = holdable(result) > resident_warps(result) or counters["sms_used"] < gpu.sms
    warps = ", or more warps," if more else ""
    loaded = SECTOR * (counters["global_load_sectors"] + counters["local_sectors"])
    if counters["dram_bytes_read"] < FROM_DRAM * loaded:
        return Verdict(
            "latency",
            f"{latency}. Caches bring most of it ({ratio(counters['dram_bytes_read'], loaded):.0%} of the bytes loaded come from DRAM, its "
            f"pins are {counters['dram_throughput']:.0%} used), so latency binds: more independent loads per thread{warps} would help; "
            f"{room(result, of_chip=True)}.",
        )
    need = little.streams(gpu)
    have, pins = counters["bytes_in_flight"], counters["dram_throughput"]
    law = f"{need.latency} cycles x {need.bandwidth:,.0f} GB/s = {size(need.bytes)}"
    if have < need.bytes:
        sentence = (
            f"{latency} with too few bytes in flight: {size(have)} on the chip{_idle_sms(result)}, where Little's law asks for "
            f"{law} to keep DRAM busy ({pins:.0%} of the pins is used). More independent loads per thread, wider loads (64 or 128 "
            f"bits){warps} would help; {room(result, of_chip=True)}."
        )
        return Verdict("bytes", sentence)
    return Verdict(
        "memory",
        f"{latency}, though {size(have)} are in flight (Little's law asks for {law}) and DRAM reaches {pins:.0%} of the pin "
        "bandwidth: the run is too short to stay at its peak, or its warps load and compute in step. A larger grid would show which.",
    )
