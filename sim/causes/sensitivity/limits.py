"""The limits of a machine, each with what a machine without it is: changes of the GPU, of the trace, or of both.

In the order of their names' precision: where the removal of two gains the same, the first one is named. What the model cannot make
infinite is made as large as it goes: a load/store unit takes one instruction per cycle, schedulers are doubled.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from isa.program import Control
from isa.vocabulary import Operation, Space
from sim.analysis import banks
from sim.causes.sensitivity import ideal
from sim.gpus.fields import ContradictionError
from sim.gpus.model import Gpu
from sim.gpus.path import path
from sim.lowering.control_words import obeys_control_words
from sim.lowering.listing import listing
from sim.result.result import Result
from sim.traces.trace import Trace

HUGE = 1e6  # bytes per cycle, GB/s times as many
MOST_SCHEDULERS = 8
MEMORY_UNITS = ("global", "local", "shared", "constant")

Machine = tuple[Trace, Gpu]


class Limit(NamedTuple):
    """One limit. remove: (trace, gpu, result of the run) -> both without it, None when the run does not meet it.

    binds: False for a bundle of others, and for what is a remedy rather than a limit: it is shown, and never named as what binds.
    """

    name: str
    words: str  # what the machine without it is
    remove: Callable[[Trace, Gpu, Result], Machine | None]
    binds: bool = True


def changed(gpu: Gpu, changes: Mapping[str, Any]) -> Gpu:
    """Return the GPU with those of the changes whose section it has."""
    return gpu.replace({name: value for name, value in changes.items() if getattr(gpu, name.split(".")[0]) is not None})


def _coalescing(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    if not _modelled(gpu) or not ideal.touches(trace.program, ideal.GLOBAL).any():
        return None
    better = ideal.coalesced(trace)
    same = np.array_equal(better.arrays.access_base, trace.arrays.access_base)
    same &= np.array_equal(better.arrays.access_stride, trace.arrays.access_stride)
    return None if same else (better, gpu)


def _conflicts(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    if not _modelled(gpu) or not result.counters["shared_bank_conflicts"]:
        return None
    return ideal.without_conflicts(trace, banks.rule_of(gpu)), gpu


def _shared(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    chosen = ideal.touches(trace.program, (Space.SHARED,))
    return (ideal.free(trace, chosen), gpu) if chosen.any() else None


def _barriers(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    chosen = trace.program.encoded.operation == Operation.BAR
    return (ideal.free(trace, chosen), gpu) if chosen.any() else None


def _pipes(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    memory = {gpu.units[unit].pipe for unit in MEMORY_UNITS}
    names = [name for name in gpu.pipes if name not in memory]
    widest = (("lanes", 32), ("count", 8), ("within", None))
    return trace, gpu.replace({f"pipes.{name}.{field}": most for name in names for field, most in widest})


def _dram(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    costs = {"dram.efficiency": 1.0, "dram.write_cost": 1.0, "dram.turnaround": 0, "dram.activate_cycles": 0}
    changes = costs | {"dram.bandwidth": HUGE * gpu.dram.bandwidth, "dram.depth": 4096, "dram.channel_depth": 0}
    return (trace, gpu.replace(changes)) if _beyond_l1(gpu, result) else None


def _l2(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    costs = {"l2.partial_cost": 1.0, "l2.lookup_cycles": 0}
    changes = costs | {"l2.bytes_per_cycle": HUGE, "l2.atomic_cycles": 1, "dram.depth": 4096}
    return (trace, gpu.replace(changes)) if gpu.l2 and _beyond_l1(gpu, result) else None


def _network(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    rates = {"interconnect.request_bytes_per_cycle": HUGE, "interconnect.response_bytes_per_cycle": HUGE}
    return (trace, gpu.replace(rates | {"interconnect.depth": 65536})) if _beyond_l1(gpu, result) else None


def _unit(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    if not _modelled(gpu) or not ideal.touches(trace.program, tuple(Space)).any():
        return None
    ports = {f"pipes.{gpu.units[unit].pipe}.lanes": 32 for unit in ("global", "local", "shared")}
    queue = {"lsu.depth": 64, "lsu.interval": 1, "lsu.replay": 1, "lsu.word_cycles": 0, "lsu.store_line_cycles": 0.0}
    l1 = {"l1.line_cycles": 1, "l1.bytes_per_cycle": HUGE, "l1.pending": 65536, "l1.pass_latency": 0}
    if gpu.l1 and gpu.l1.tags_per_cycle:
        l1["l1.tags_per_cycle"] = 128
    return trace, changed(gpu, ports | queue | l1)


def _arithmetic(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    faster = gpu.replace({f"units.{name}.latency": 1 for name, unit in gpu.units.items() if unit.latency is not None})
    faster = faster.replace({"core.reissue_distance": 1, "core.source_read": 1})
    return _stalls_of_one(trace, gpu), faster


def _stalls_of_one(trace: Trace, gpu: Gpu) -> Trace:
    """Return the trace with control words that keep no warp from its next instruction: they hold the latencies of arithmetic."""
    control = trace.program.control
    if control is None or not obeys_control_words(gpu, trace.program):
        return trace
    eager: Control = control._replace(stall=np.minimum(control.stall, 1), yield_=np.zeros_like(control.yield_))
    launch = dataclasses.replace(trace.launch, program=dataclasses.replace(trace.program, control=eager))
    return dataclasses.replace(trace, launch=launch)


def _scoreboard(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    perfect = {"core.wake_rule": "per_register", "core.in_flight_cap": 0}
    if obeys_control_words(gpu, trace.program) or all(getattr(gpu.core, k.split(".")[1]) == v for k, v in perfect.items()):
        return None
    return trace, gpu.replace(perfect)


def _memory_latency(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    if not ideal.touches(trace.program, (*ideal.GLOBAL, Space.LOCAL)).any():
        return None
    if not _modelled(gpu):
        return trace, gpu.replace({"memory.global_load": 1})
    return trace, least_latencies(changed(gpu, {"interconnect.latency": 1}))


def least_latencies(gpu: Gpu, least: int = 1) -> Gpu:
    """Return the GPU with caches and DRAM as near as the stages before them allow; least: cycles that a load takes all the same."""
    arrays = path(gpu)
    l2 = max(gpu.l2.latency - arrays.l2 + 1, least) if gpu.l2 else 0
    dram = max(gpu.dram.latency - (arrays.l2 - 1 if gpu.l2 else 0) - arrays.dram + 1, l2 + 1, least)
    near = {
        "l1.latency": max(gpu.lsu.latency + 1, least),
        "l2.latency": l2,
        "l2.core_cycles": 0,
        "l2.far": min(gpu.l2.far, 1) if gpu.l2 else 0,
        "l2.across": 0,
        "dram.refresh": 0,
    }
    try:
        return changed(gpu, near | {"dram.latency": dram})
    except ContradictionError:  # the time of a transfer is rounded to whole cycles: one more may be needed
        return changed(gpu, near | {"dram.latency": dram + 1})


def _constants(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    named = bool((listing(trace.program).constants.line >= 0).any()) and gpu.constants.near > 0
    used = named or (trace.program.encoded.operation == Operation.LDC).any()
    times = ("near", "load_near", "far", "cold", "address_latency", "address_cycles", "group_cycles", "port_cycles")
    return (trace, gpu.replace({"memory.constant_load": 1} | {f"constants.{name}": 0 for name in times})) if used else None


def _branches(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    none = {"core.branch_latency": 1, "core.indirect_latency": 0, "core.sync_latency": 0, "fetch.jump": 0}
    waits = gpu.core.branch_latency > 1 or gpu.core.indirect_latency or gpu.core.sync_latency or gpu.fetch.jump
    return (trace, gpu.replace(none)) if waits else None


def _issue(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    schedulers = max(min(2 * gpu.core.schedulers, MOST_SCHEDULERS, gpu.limits.warps), gpu.core.schedulers)
    faster = gpu.replace({"core.schedulers": schedulers, "core.issue_interval": 1})
    return None if faster.core == gpu.core else (trace, faster)


def _one_more(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    more = gpu.core.schedulers + 1
    return (trace, gpu.replace({"core.schedulers": more})) if more <= min(MOST_SCHEDULERS, gpu.limits.warps) else None


def _blocks(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    intervals = dict.fromkeys(("blocks.start_interval", "blocks.sm_interval", "blocks.retire_interval"), 0)
    free = intervals | {"blocks.start_latency": 0, "blocks.retire_latency": 0, "blocks.awaits_stores": False}
    overheads = any(getattr(gpu.blocks, name.split(".")[1]) for name in free) or gpu.fetch.first or gpu.fetch.far
    return (trace, gpu.replace(free | {"fetch.first": 0, "fetch.far": 0})) if overheads else None


def _room(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    roomy = gpu.replace({"limits.blocks": 64, "limits.warps": max(64, gpu.limits.warps)})
    launch = dataclasses.replace(trace.launch, registers=1, shared_static=0, shared_dynamic=0)
    return dataclasses.replace(trace, launch=launch), roomy


def _perfect_l1(trace: Trace, gpu: Gpu, result: Result) -> Machine | None:
    if gpu.l1 is None or not _beyond_l1(gpu, result):
        return None
    for remove in (_dram, _l2, _network):
        found = remove(trace, gpu, result)
        gpu = found[1] if found else gpu
    assert gpu.l1
    return trace, least_latencies(gpu.replace({"interconnect.latency": 1, "l1.pending": 65536}), gpu.l1.latency)


def _modelled(gpu: Gpu) -> bool:
    return gpu.memory.kind == "hierarchy"


def _beyond_l1(gpu: Gpu, result: Result) -> bool:
    """Return whether the run asked L2 or DRAM for anything."""
    return _modelled(gpu) and result.counters["l2_sectors_read"] + result.counters["l2_sectors_written"] > 0


LIMITS = (
    Limit("sectors", "each warp's access to global memory by neighbouring lanes, aligned", _coalescing),
    Limit("bank conflicts", "no bank conflicts", _conflicts),
    Limit("DRAM bandwidth", "DRAM without a limit to its bandwidth", _dram),
    Limit("L2 bandwidth", "L2 without a limit to its bandwidth", _l2),
    Limit("network bandwidth", "a network between SMs and L2 without a limit to its bandwidth", _network),
    Limit("shared memory", "accesses to shared memory that cost only their issue", _shared),
    Limit("load/store unit", "a load/store unit that takes an instruction per cycle, with deep queues", _unit),
    Limit("barriers", "barriers that nobody waits at", _barriers),
    Limit("scoreboard", "a scoreboard that knows every register, without a cap on instructions in flight", _scoreboard),
    Limit("arithmetic latency", "results of arithmetic in the next cycle", _arithmetic),
    Limit(
        "bytes in flight",
        "memory of the least latency, its bandwidths as they are",
        _memory_latency,
    ),
    Limit("constant loads", "constants in the next cycle", _constants),
    Limit("branches", "branches decided in the next cycle", _branches),
    Limit("pipes", "arithmetic pipes 32 lanes wide, eight of each", _pipes),
    Limit("issue", "twice the schedulers, each with its own pipes, issuing every cycle", _issue),
    Limit("block starts", "blocks that start and retire at once", _blocks),
    Limit("one more scheduler", "one more scheduler, with its own pipes", _one_more, binds=False),
    Limit("perfect L1", "every load as if it hit in L1", _perfect_l1, binds=False),
    Limit("occupancy", "room for all the blocks that 64 warps make", _room, binds=False),
)
