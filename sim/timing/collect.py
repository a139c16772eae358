"""Turn the engine's final state into a `Result`: close the account of issue slots, derive the counters."""

import numpy as np

from isa.vocabulary import Operation, Space
from sim.gpus.model import Gpu
from sim.gpus.occupancy import Occupancy
from sim.lowering.core import Hardware
from sim.lowering.phases import phases_of
from sim.result.causes import SLOT_CAUSE_NAMES, SlotCause, StallCause
from sim.result.memory_counters import memory_counters
from sim.result.result import Result, Timeline, named
from sim.timing.dispatcher import last_retired
from sim.timing.state import Machine
from sim.traces.trace import Trace


def close_slots(hw: Hardware, sm: Machine, cycles: int) -> int:
    """Charge the slots after each scheduler's last issue; return how many slots the used SMs had."""
    used = sm.cores.busy_until >= 0
    end, width = sm.schedulers.slot_end[used], int(hw.issue_width)
    sm.slots[SlotCause.TAIL] += width * int(np.maximum(cycles - end, 0).sum())
    over = np.maximum(end - cycles, 0)  # an issue interval that reaches past the run's end
    further = sm.schedulers.further[used].astype(np.int64)
    sm.slots[StallCause.SELECTED] -= int((over * (1 + further)).sum())
    np.subtract.at(sm.slots, sm.schedulers.further_cause[used].ravel(), (over * (width - 1 - further)).ravel())
    return int(used.sum()) * int(hw.schedulers) * width * cycles


def memory_requests(trace: Trace, operation: Operation, spaces: tuple[Space, ...]) -> int:
    """Return how many warp-level accesses of that kind were executed with at least one lane."""
    encoded, arrays = trace.program.encoded, trace.arrays
    wanted = (encoded.operation == operation) & np.isin(encoded.space, spaces)
    if not wanted.any():
        return 0
    hit = wanted[arrays.instruction] & (arrays.mask != 0)
    per_path = np.add.reduceat(np.append(hit, False).astype(np.int64), arrays.path_start[:-1]) if len(hit) else np.zeros(0, np.int64)
    return int(per_path[arrays.warp_path].sum())


def counters(trace: Trace, gpu: Gpu, occupancy: Occupancy, sm: Machine, cycles: int, slots: int) -> dict[str, float]:
    """Return the counters by name; meanings as Nsight Compute's (README of `sim`)."""
    used = sm.cores.busy_until >= 0
    active = int((sm.cores.busy_until - sm.cores.idle)[used].sum())
    instructions, warp_cycles = int(sm.issues.sum()), int(sm.chip.warp_cycles[0])
    if gpu.memory.kind == "hierarchy":
        requests = memory_counters(sm.memory.tallies.tolist(), gpu, cycles)
    else:
        everywhere = (Space.GLOBAL, Space.GENERIC)
        requests = {
            "global_load_requests": memory_requests(trace, Operation.LOAD, everywhere),
            "global_store_requests": memory_requests(trace, Operation.STORE, everywhere),
        }
    return {
        "cycles": cycles,
        "sm_active_cycles": active,
        "sm_active_cycles_max": int((sm.cores.busy_until - sm.cores.idle)[used].max(initial=0)),
        "sms_used": int(used.sum()),
        "warps": len(trace.arrays.warp_path),
        "warp_cycles": warp_cycles,
        "issue_slots": slots,
        "warp_instructions": instructions,
        "thread_instructions": trace.thread_instructions,
        "thread_instructions_predicated_on": trace.predicated_on_thread_instructions,
        "fp32_flops": trace.fp32_flops,
        "ipc": instructions / active if active else 0.0,
        "issue_active": int(sm.chip.issue_cycles[0]),
        **requests,
        "theoretical_occupancy": occupancy.fraction,
        "achieved_occupancy": warp_cycles / (active * gpu.limits.warps) if active else 0.0,
    }


def result(trace: Trace, gpu: Gpu, occupancy: Occupancy, hw: Hardware, sm: Machine, clocks: np.ndarray, rows: np.ndarray | None) -> Result:
    """Return the Result of a finished machine; `rows` is the whole timeline, if one was asked for; `clocks` the clock reads."""
    cycles = int(sm.chip.end[0])
    slots = close_slots(hw, sm, cycles)
    launch = trace.launch
    return Result(
        program=trace.program,
        gpu=gpu,
        occupancy=occupancy,
        name=launch.name or trace.program.name,
        grid=tuple(launch.grid),
        block=tuple(launch.block),
        engine="numba",
        cycles=cycles,
        elapsed_cycles=max(cycles, last_retired(hw, sm), int(sm.cores.drained.max())) + gpu.launch_cycles,
        counters=counters(trace, gpu, occupancy, sm, cycles, slots),
        stalls=named(sm.stalls.sum(axis=0)),
        issue_slots=named(sm.slots, SLOT_CAUSE_NAMES),
        stalls_by_instruction=sm.stalls.copy(),
        issues_by_instruction=sm.issues.copy(),
        clock_reads=clocks,
        block_starts=sm.starts,
        block_ends=sm.ends,
        timeline=None if rows is None else Timeline(*np.ascontiguousarray(rows.T)),
        phases=phases_of(trace, sm.phase_left, sm.phase_from, sm.phase_at),
    )
