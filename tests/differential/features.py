"""Which rules a case exercised: the random tests must reach every one of them, or they prove nothing about it."""

import numpy as np

from isa.vocabulary import Operation, Space
from sim.lowering.constant_lines import constant_lines
from sim.lowering.control_words import obeys_control_words
from sim.policies import Policy
from sim.policies.supplied import SUPPLIED
from sim.result.causes import CAUSE_NAMES, SLOT_CAUSE_NAMES, StallCause, WakeRule
from sim.result.result import Result, Timeline
from sim.timing.state import WHEEL
from sim.traces.trace import Trace
from tests.differential.policies import Witness

NEVER_OF_A_SLOT = {"drain"}  # a warp past its end: no slot waits for it
ACCESSES = (Operation.LOAD, Operation.STORE, Operation.ATOM)
CONTROL = (
    "obeyed",
    "write counters",
    "read counters",
    "a counter with two holders",
    "wait masks",
    "yields",
    "ports of register banks hold the scheduler",
    "kept registers",
    "two instructions paired",
)
MEMORY_COUNTERS = (
    "global_load_sectors",
    "global_store_sectors",
    "global_atomic_sectors",
    "local_sectors",
    "shared_wavefronts",
    "l1_sectors",
    "l1_merged_sectors",
    "l1_load_sectors",
    "l1_passed_sectors",
    "stores_joined",
    "l2_sectors_read",
    "l2_sectors_written",
    "l2_joined_sectors",
    "dram_bytes_read",
    "dram_bytes_written",
    "load_latency",
    "l2_queue_full",
    "dram_queue_full",
)
SECOND_SLOT = [
    StallCause.SELECTED,
    StallCause.WAIT,
    StallCause.LONG_SCOREBOARD,
    StallCause.SHORT_SCOREBOARD,
    StallCause.MATH_PIPE_THROTTLE,
    StallCause.MIO_THROTTLE,
    StallCause.LG_THROTTLE,
    StallCause.BRANCH_RESOLVING,
    StallCause.NO_INSTRUCTION,
    StallCause.IMC_MISS,
    StallCause.DISPATCH_STALL,
]


def most_together(rows: Timeline) -> int:
    """Return how many instructions one scheduler issued in one cycle at most."""
    issues = np.column_stack((rows.cycle, rows.sm, rows.scheduler))
    return int(np.unique(issues, axis=0, return_counts=True)[1].max(initial=0))


def machine_features(result: Result) -> dict[str, bool]:
    """Return what of the machine the run exercised."""
    core, blocks, rows, named = result.gpu.core, result.gpu.blocks, result.timeline, constant_lines(result.program)
    assert rows is not None
    counters, places, pipes = result.counters, result.occupancy.blocks, result.gpu.pipes.values()
    return {
        "two instructions issued together": counters["warp_instructions"] > counters["issue_active"],
        "three instructions issued together": most_together(rows) > 2,
        "issue interval over 1": core.issue_interval > 1,
        "reissue distance over 1": core.reissue_distance > 1,
        "narrow pipe holds the scheduler": core.dispatch == "scheduler",
        "pipe shared by schedulers": core.schedulers > 1 and any(pipe.owner == "sm" for pipe in pipes),
        "several ports of one pipe": any(pipe.count > 1 for pipe in pipes),
        "all units on one pipe": len({unit.pipe for unit in result.gpu.units.values()}) == 1,
        "cap on results in flight was the cause": core.kind == "scoreboard"
        and core.dispatch == "pipe"
        and "dispatch_stall" in result.stalls,
        "start interval": blocks.start_interval > 0,
        "start latency": blocks.start_latency > 0,
        "retire latency": blocks.retire_latency > 0,
        "a place used again": int(np.prod(result.grid)) > places * result.gpu.sms,
        "several SMs used": counters["sms_used"] > 1,
        "an SM not used": counters["sms_used"] < result.gpu.sms,
        "a scheduler without warps": places * -(-int(np.prod(result.block)) // 32) < core.schedulers,
        "sleep beyond the wheel": bool((rows.eligible - rows.since >= WHEEL).any()),
        "a pipe within another": any(pipe.within for pipe in pipes),
        "a constant that an instruction waits for": result.gpu.constants.near > 0 and "imc_miss" in result.stalls,
        "constants of the far level": result.gpu.constants.far > 0 and bool((named.line >= named.present).any()),
        "a jump to code not fetched": result.gpu.fetch.jump > 1 and bool((rows.cause == StallCause.NO_INSTRUCTION)[rows.since > 0].any()),
        "a first fetch": result.gpu.fetch.first > 0,
    }


def program_features(result: Result, trace: Trace) -> dict[str, bool]:
    """Return what the program exercised."""
    encoded, arrays = trace.program.encoded, trace.arrays
    executed = trace.executed > 0
    operations = {Operation(operation) for operation in encoded.operation[executed]}
    idle = encoded.operation[arrays.instruction[arrays.mask == 0]]
    ends = arrays.instruction[arrays.path_start[1:] - 1]
    backward = (encoded.target >= 0) & (encoded.target <= np.arange(len(encoded.target)))
    partial = trace.launch.threads_per_block % 32 > 0
    return {
        "SSY/SYNC": Operation.SYNC in operations,
        "BSSY/BSYNC": Operation.BSYNC in operations,
        "a BSYNC that takes time": Operation.BSYNC in operations and result.gpu.core.sync_latency > 0,
        "loop": bool((executed & backward).any()),
        "divergence": not partial and int(trace.active_lanes.sum()) < 32 * int(trace.executed.sum()),
        "instruction with no lane": len(idle) > 0,
        "BAR with no lane": Operation.BAR in idle,
        "early exit of a warp": bool((ends != len(trace.program) - 1).any()),
        "warps on different paths": len(ends) > 1,
        "partial last warp": partial,
        "clock read": len(result.clock_reads) > 0,
        "NOP": Operation.NOP in operations,
        "load without a destination": bool((executed & (encoded.operation == Operation.LOAD) & (encoded.destination == 255)).any()),
    }


def memory_features(result: Result, trace: Trace) -> dict[str, bool]:
    """Return what of the memory hierarchy the run exercised; everything is False with fixed latencies."""
    gpu, count, causes = result.gpu, result.counters, result.stalls
    modelled = gpu.memory.kind == "hierarchy"
    lsu, l1, l2 = gpu.lsu, gpu.l1, gpu.l2
    accesses = modelled and count["global_load_requests"] + count["global_store_requests"] > 0
    encoded, executed = trace.program.encoded, trace.executed > 0
    idle = trace.program.encoded.operation[trace.arrays.instruction[trace.arrays.mask == 0]]
    found_in_l1 = bool(modelled and count["l1_hit_rate"] * count["l1_sectors"] > count["l1_merged_sectors"] + 0.5)
    return {
        **{f"counter {name}": modelled and count[name] > 0 for name in MEMORY_COUNTERS},
        "a full queue stops the port: global": modelled and "lg_throttle" in causes,
        "a full queue stops the port: shared": modelled and "mio_throttle" in causes,
        "MSHRs at their limit": bool(modelled and l1 and l1.pending and count["pending_requests_peak"] == l1.pending),
        "requests of an SM at their limit": modelled and count["sm_requests_peak"] == gpu.interconnect.depth,
        "hits in L1": found_in_l1,
        "loads that pass over the banks of L1": bool(found_in_l1 and l1 and l1.tags_per_cycle and not count["global_store_sectors"]),
        "loads that wait for one another's data": bool(modelled and l1 and l1.tags_per_cycle and count["l1_merged_sectors"]),
        "L1 fetches whole lines": bool(modelled and l1 and l1.sector == 128 and count["l1_sectors"]),
        "L1 fetches half lines": bool(modelled and l1 and l1.sector == 64 and count["l1_sectors"]),
        "L2 fetches more than an access of DRAM": bool(modelled and l2 and l2.sector > gpu.dram.access_bytes and count["dram_bytes_read"]),
        "hits in L2": modelled and count["l2_hit_rate"] > 0,
        "no L1": modelled and l1 is None,
        "no L2": modelled and l2 is None,
        "L2 of two parts": bool(modelled and l2 and l2.far and count["l2_sectors_read"]),
        "slices on both sides of the chip": bool(modelled and l2 and l2.across and gpu.dram.channels % 2 == 0 and count["l2_sectors_read"]),
        "sectors stored at a cost of their own": bool(modelled and l2 and l2.partial_cost > 1 and count["l2_sectors_written"]),
        "turnarounds of DRAM": bool(modelled and gpu.dram.turnaround and count["dram_bytes_read"] and count["dram_bytes_written"]),
        "refresh of DRAM": bool(modelled and gpu.dram.refresh and count["dram_bytes_read"]),
        "more requests of an instruction than the port has room for": modelled and count["sm_requests_peak"] > gpu.interconnect.depth,
        "written back beyond what stood in L2 before": bool(modelled and l2 and l2.start != "dirty" and count["dram_bytes_written"]),
        **{
            f"stores in L1: {rule}": bool(modelled and l1 and l1.stores == rule and count["l1_sectors"])
            for rule in ("allocate", "update", "evict")
        },
        **{f"L2 before cycle 0: {state}": bool(modelled and l2 and l2.start == state) for state in ("cold", "warm", "dirty")},
        **{f"coalescing: {rule}": accesses and lsu.coalescing == rule for rule in ("sectors", "cc12", "cc10")},
        **{
            f"bank conflicts: {rule}": modelled and gpu.shared.rule == rule and count["shared_bank_conflicts"] > 0
            for rule in ("fermi", "kepler4", "kepler8", "cc1")
        },
        "atomics on shared memory": modelled
        and bool((executed & (encoded.operation == Operation.ATOM) & (encoded.space == Space.SHARED)).any()),
        "reductions": modelled and bool((executed & (encoded.operation == Operation.ATOM) & (encoded.writes < 0).all(axis=1)).any()),
        "scattered addresses": modelled and len(trace.arrays.scattered) > 0,
        "access with no lane": modelled and bool(np.isin(idle, ACCESSES).any()),
        "start interval that is not whole": gpu.blocks.start_interval % 1 > 0,
    }


def control_features(result: Result, trace: Trace) -> dict[str, bool]:
    """Return what of the control-code core the run exercised; everything is False when the scoreboard finds dependences."""
    obeyed, control, executed, core = (
        obeys_control_words(result.gpu, trace.program),
        trace.program.control,
        trace.executed > 0,
        result.gpu.core,
    )
    if not obeyed or control is None:
        return dict.fromkeys(CONTROL, False)
    shared = len({(kind, int(number)) for kind in ("read_barrier", "write_barrier") for number in getattr(control, kind)[executed]})
    return {
        "obeyed": True,
        "write counters": bool((control.write_barrier[executed] >= 0).any()),
        "read counters": bool((control.read_barrier[executed] >= 0).any()),
        "a counter with two holders": shared < int((control.write_barrier >= 0).sum() + (control.read_barrier >= 0).sum()),
        "wait masks": bool(control.wait_mask[executed].any()),
        "yields": bool(control.yield_[executed].any()),
        "ports of register banks hold the scheduler": core.register_banks > 0
        and core.dispatch == "pipe"
        and "dispatch_stall" in result.stalls,
        "kept registers": core.register_banks > 0 and bool(control.reuse[executed].any()),
        "two instructions paired": result.counters["warp_instructions"] > result.counters["issue_active"],
    }


def features(result: Result, trace: Trace, second_slots: set[StallCause]) -> dict[str, bool]:
    """Return, for every rule, whether a run exercised it. result: with its whole timeline. second_slots: what became of them."""
    core = result.gpu.core
    return {
        **{f"warp-cycles: {name}": name in result.stalls for name in CAUSE_NAMES},
        **{f"issue slots: {name}": name in result.issue_slots for name in SLOT_CAUSE_NAMES if name not in NEVER_OF_A_SLOT},
        **{f"second slot: {cause.name.lower()}": cause in second_slots for cause in SECOND_SLOT},
        **{f"policy: {policy.name.lower()}": core.policy == policy.name.lower() and "not_selected" in result.stalls for policy in Policy},
        **{f"policy: {name}": str(core.policy) == name and "not_selected" in result.stalls for name in (*SUPPLIED, Witness.__name__)},
        **{f"wake rule: {rule.name.lower()}": core.wake_rule == rule.name.lower() for rule in WakeRule},
        **{f"cap: {cap}": core.in_flight_cap == cap for cap in range(6)},
        **{f"machine: {name}": found for name, found in machine_features(result).items()},
        **{f"memory: {name}": found for name, found in memory_features(result, trace).items()},
        **{f"control words: {name}": found for name, found in control_features(result, trace).items()},
        **{f"program: {name}": found for name, found in program_features(result, trace).items()},
    }
