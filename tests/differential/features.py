"""Which rules a case exercised: the random tests must reach every one of them, or they prove nothing about it."""

import numpy as np

from isa.vocabulary import Operation
from sim.result import Result
from sim.timing.state import WHEEL
from sim.trace import Trace
from sim.vocabulary import CAUSE_NAMES, SLOT_CAUSE_NAMES, Policy, StallCause, WakeRule

NOT_MODELLED = {"membar", "sleeping"}
NEVER_OF_A_SLOT = {"not_selected", "drain"}  # a ready warp that another one displaced, a warp past its end: no slot waits for these
SECOND_SLOT = [
    StallCause.SELECTED,
    StallCause.WAIT,
    StallCause.LONG_SCOREBOARD,
    StallCause.SHORT_SCOREBOARD,
    StallCause.MATH_PIPE_THROTTLE,
    StallCause.MIO_THROTTLE,
    StallCause.LG_THROTTLE,
    StallCause.BRANCH_RESOLVING,
    StallCause.IMC_MISS,
    StallCause.DISPATCH_STALL,
]


def machine_features(result: Result) -> dict[str, bool]:
    """Return what of the machine the run exercised."""
    core, blocks, rows = result.gpu.core, result.gpu.blocks, result.timeline
    assert rows is not None
    counters, places, pipes = result.counters, result.occupancy.blocks, result.gpu.pipes.values()
    return {
        "two instructions issued together": counters["warp_instructions"] > counters["issue_active"],
        "issue interval over 1": core.issue_interval > 1,
        "reissue distance over 1": core.reissue_distance > 1,
        "narrow pipe holds the scheduler": core.dispatch == "scheduler",
        "pipe shared by schedulers": core.schedulers > 1 and any(pipe.owner == "sm" for pipe in pipes),
        "several ports of one pipe": any(pipe.count > 1 for pipe in pipes),
        "all units on one pipe": len({unit.pipe for unit in result.gpu.units.values()}) == 1,
        "cap on results in flight was the cause": core.dispatch == "pipe" and "dispatch_stall" in result.stalls,
        "start interval": blocks.start_interval > 0,
        "start latency": blocks.start_latency > 0,
        "retire latency": blocks.retire_latency > 0,
        "a place used again": int(np.prod(result.grid)) > places * result.gpu.sms,
        "several SMs used": counters["sms_used"] > 1,
        "an SM not used": counters["sms_used"] < result.gpu.sms,
        "a scheduler without warps": places * -(-int(np.prod(result.block)) // 32) < core.schedulers,
        "sleep beyond the wheel": bool((rows.eligible - rows.since >= WHEEL).any()),
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


def features(result: Result, trace: Trace, second_slots: set[StallCause]) -> dict[str, bool]:
    """Return, for every rule, whether a run exercised it. result: with its whole timeline. second_slots: what became of them."""
    core = result.gpu.core
    return {
        **{f"warp-cycles: {name}": name in result.stalls for name in CAUSE_NAMES if name not in NOT_MODELLED},
        **{f"issue slots: {name}": name in result.issue_slots for name in SLOT_CAUSE_NAMES if name not in NOT_MODELLED | NEVER_OF_A_SLOT},
        **{f"second slot: {cause.name.lower()}": cause in second_slots for cause in SECOND_SLOT},
        **{f"policy: {policy.name.lower()}": core.policy == policy.name.lower() and "not_selected" in result.stalls for policy in Policy},
        **{f"wake rule: {rule.name.lower()}": core.wake_rule == rule.name.lower() for rule in WakeRule},
        **{f"cap: {cap}": core.in_flight_cap == cap for cap in range(6)},
        **{f"machine: {name}": found for name, found in machine_features(result).items()},
        **{f"program: {name}": found for name, found in program_features(result, trace).items()},
    }
