"""Turn a finished machine into a `Result`: close the accounts, derive the counters."""

import numpy as np

from sim.reference.machine import Machine
from sim.reference.sm import SM
from sim.result.causes import SLOT_CAUSE_NAMES, Tally
from sim.result.memory_counters import memory_counters
from sim.result.result import Result, Timeline, named


def result(machine: Machine) -> Result:
    """Return what the run found."""
    trace, account, launch, cycles = machine.trace, machine.account, machine.trace.launch, machine.cycle
    used = [sm for sm in machine.sms if sm.active_cycles]
    slots = np.sum([scheduler.slots.close() for sm in used for scheduler in sm.schedulers], axis=0)
    stalls = np.array(account.stalls, np.int64)
    return Result(
        program=trace.program,
        gpu=machine.gpu,
        occupancy=machine.occupancy,
        name=launch.name or trace.program.name,
        grid=tuple(launch.grid),
        block=tuple(launch.block),
        engine="simpy",
        cycles=cycles,
        elapsed_cycles=max(cycles, machine.blocks.last_retired(), machine.drained) + machine.gpu.launch_cycles,
        counters=counters(machine, used, cycles),
        stalls=named(stalls.sum(axis=0)),
        issue_slots=named(slots, SLOT_CAUSE_NAMES),
        stalls_by_instruction=stalls,
        issues_by_instruction=np.array(account.issues, np.int64),
        clock_reads=np.array(account.clock_reads, np.int64).reshape(-1, 4),
        block_starts=machine.blocks.starts,
        block_ends=machine.blocks.ends,
        timeline=timeline(account.rows) if account.window else None,
        phases=machine.memory.barriers.phases(trace) if machine.memory else None,
    )


def counters(machine: Machine, used: list[SM], cycles: int) -> dict[str, float]:
    """Return the counters by name; meanings as Nsight Compute's (README of `sim`)."""
    account, core = machine.account, machine.gpu.core
    active, instructions = sum(sm.active_cycles for sm in used), sum(account.issues)
    fixed = {name: account.requests[name] for name in ("global_load_requests", "global_store_requests")}
    return {
        "cycles": cycles,
        "sm_active_cycles": active,
        "sm_active_cycles_max": max((sm.active_cycles for sm in used), default=0),
        "sms_used": len(used),
        "warps": len(machine.trace.arrays.warp_path),
        "warp_cycles": account.warp_cycles,
        "issue_slots": len(used) * core.schedulers * core.issue_width * cycles,
        "warp_instructions": instructions,
        "thread_instructions": machine.trace.thread_instructions,
        "thread_instructions_predicated_on": machine.trace.predicated_on_thread_instructions,
        "fp32_flops": machine.trace.fp32_flops,
        "ipc": instructions / active if active else 0.0,
        "issue_active": account.issue_cycles,
        **(memory_counters([machine.memory.tallies[tally] for tally in Tally], machine.gpu, cycles) if machine.memory else fixed),
        "theoretical_occupancy": machine.occupancy.fraction,
        "achieved_occupancy": account.warp_cycles / (active * machine.gpu.limits.warps) if active else 0.0,
    }


def timeline(rows: list[list[int]]) -> Timeline:
    """Return the rows as columns."""
    table = np.array(rows, np.int64).reshape(-1, len(Timeline._fields))
    return Timeline(*np.ascontiguousarray(table.T))
