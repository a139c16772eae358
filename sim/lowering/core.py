"""`lower`: Gpu + Program -> integer tables. Names, units and expressions end here; the engines see only these numbers."""

from typing import Any, NamedTuple

import numpy as np

from isa.cfg import BRANCHES
from isa.program import Program
from isa.vocabulary import COUNTERS, Operation, Special
from sim.compiled.plain import records
from sim.gpus.model import Gpu
from sim.gpus.occupancy import Occupancy
from sim.gpus.path import TICKS
from sim.launch.launch import Launch
from sim.lowering.accesses import ACCESS, NOWHERE, access_kind, is_cached, memory_place, pauses, source_read
from sim.lowering.barriers import barrier
from sim.lowering.clusters import cluster_groups, cluster_numbers, may_leave
from sim.lowering.constant_lines import constant_tables, cycles_of_group
from sim.lowering.control_words import (
    collectors,
    control_fields,
    distances,
    groups,
    landing,
    last_pass,
    obeys_control_words,
    port_cycles,
    read_cycles,
)
from sim.lowering.fetch import (
    InDram,
    Sharing,
    code_in_dram,
    code_sharing,
    constants_in_dram,
    cycles_behind,
    fetch_numbers,
    first_cycles,
    sm_interval,
    start_latency,
)
from sim.lowering.listing import MOST, PerProgram, listing
from sim.lowering.memory import Hierarchy, hierarchy
from sim.lowering.ops import Op
from sim.lowering.phases import CLUSTER_WAITS, answers_nothing, copies, phase_use, result_cause
from sim.lowering.policy import policy_numbers
from sim.lowering.ports import ports_of, unit_of, unit_timing
from sim.lowering.slices import chip_sides_of
from sim.lowering.warpgroups import ported, turn
from sim.result.causes import PORT_CAUSE, StallCause, WakeRule

# What an issued instruction does to the flow of its warp (Op.flow).
PLAIN, BRANCH, BARRIER, CLOCK, CLUSTER_WAIT = range(5)
NO_QUEUE = -1
FIELDS = np.dtype([(name, "i8") for name in Hierarchy._fields])
BSYNC = int(Operation.BSYNC)  # a plain integer: members take long to name

_FLOW = dict.fromkeys(BRANCHES, BRANCH) | {Operation.BAR: BARRIER}


class Hardware(NamedTuple):
    """One GPU as numbers. Cycles are ALU-clock cycles; scalars are int64."""

    sms: np.int64
    schedulers: np.int64
    issue_width: np.int64
    issue_interval: np.int64
    dispatch_holds: np.int64  # 1: a narrow pipe holds the scheduler, 0: only its own port
    policy: np.int64
    hooks: np.int64  # bit h: the policy has hook h (sim.policies.stateful); 0 = it has no state
    patience: np.int64  # cycles without an issue on the SM in which it may issue nothing although warps are eligible
    group_size: np.int64
    wake_all: np.int64  # 1: a stalled warp wakes when all its results are back
    in_flight_cap: np.int64  # 0 = none
    read_window: np.int64  # cycles in which an instruction reads all its registers
    banks: np.int64  # register banks per scheduler; 0 = reads never conflict, as without control words
    product_ports: np.int64  # cycles in a row that a product of a warpgroup takes the ports of the banks
    product_backlog: np.int64  # such cycles, at most, that it makes up for afterwards
    branch_latency: np.int64
    exit_latency: np.int64  # from the issue of a warp's last instruction to its end
    barrier_latency: np.int64
    store_latency: np.int64
    block_policy: np.int64  # its number, or the address of a user's
    block_group: np.int64  # blocks in a row that share an SM
    start_ticks: np.int64  # between two block starts, 256 to a cycle; 0 = no limit
    sm_interval: np.int64  # between two block starts on one SM
    retire_ticks: np.int64  # of the dispatcher for each finished block, 256 to a cycle
    start_latency: np.int64
    first_fetch: np.ndarray  # int64 [sms] of each one's first instruction
    jump: np.int64  # to code that the TPC's cache has not
    code_lines: np.int64  # of the program
    code_ahead: np.int64  # lines that are asked for ahead
    code_far_ahead: np.int64
    code_sets: np.int64
    code_ways: np.int64
    far_code_sets: np.int64
    far_code_ways: np.int64
    code_far: np.int64  # latency of L2
    code_cold: np.int64  # latency of code that the GPC has not had
    prefetched_lines: np.int64
    prefetch_ticks: np.int64  # per line
    code_burst: np.int64  # lines more than one that an SM's part of a port takes at once after a pause
    code_in_dram: InDram
    constants_in_dram: InDram
    chip_sides: np.ndarray  # int64 [sms] side of the chip on which it lies
    code_sharing: Sharing
    constant_near: np.ndarray  # int64 [2] cycles until a line comes to the cache of operands, to that of LDC
    constant_far: np.int64
    constant_entries: np.int64  # LDC of an SM that ask L2 at a time; 0 = any number
    address_latency: np.int64  # of LDC, for each distinct address of its lanes beyond the first
    address_cycles: np.int64  # that each takes of the SM
    constant_cycles: np.ndarray  # int64 [sms] that 256 bytes take of it of which LDC's cache lacks lines
    retire_latency: np.int64
    ranks: np.int64  # blocks of a cluster
    groups: np.ndarray  # int64 [groups + 1] first SM of each group that a cluster may have, and the end; [1]: blocks go anywhere
    cluster_latency: np.int64  # of the barrier of a cluster
    arrival_cycles: np.int64  # between two arrivals there of one SM
    awaits_stores: np.int64  # 1: a block's place is not free before L2 has answered its stores
    places: np.int64  # resident blocks per SM
    warps: np.int64  # warps per block
    ports: np.int64  # issue ports per SM, all pipes and schedulers
    rows: np.int64  # pipes as the schedulers see them: one row per pipe and owner
    row: np.ndarray  # uint32 [pipes, schedulers] row of the pipe that serves this scheduler
    row_port: np.ndarray  # uint32 [rows] first port
    row_ports: np.ndarray  # int64 [rows] identical ports
    row_twin: np.ndarray  # int64 [rows] the row that has the last of them too, -1 = none
    queue: np.ndarray  # int64 [rows] queue of memory instructions behind the pipe, NO_QUEUE = none
    queue_row: np.ndarray  # int64 [queues]
    queue_pipe: np.ndarray  # int64 [queues]
    memory: Any  # one record of the fields of Hierarchy: it travels as a pointer


class Code(NamedTuple):
    """One program on one GPU; n instructions. Dependences are renumbered 0..columns-1; under control words they are the counters."""

    control: np.int64  # 1: control words say when an instruction may issue, 0: the scoreboard finds out
    kept: np.int64  # increments of a counter that are told apart; 0 = nothing waits for a part of them
    ops: np.ndarray  # Op [n]
    needs: np.ndarray  # int16 [n, *] dependences that must be ready: those read (RAW), then those written (WAW); -1 padded
    writes: np.ndarray  # int16 [n, *]; the first `results` entries count
    sources: np.ndarray  # int16 [n, SOURCES, 2] registers of the word's fields that go through the ports of the banks; -1 = none
    constant_present: np.int64  # the level behind the constant caches has the lines of constants before this one
    constant_lines: np.int64
    constant_sets: np.ndarray  # int64 [2] of the cache of operands, of that of LDC
    constant_ways: np.ndarray  # int64 [2]


def hardware(gpu: Gpu, launch: Launch, occupancy: Occupancy) -> Hardware:
    """Return the tables of `gpu` for a launch that is resident as `occupancy` says."""
    core, obeyed = gpu.core, obeys_control_words(gpu, launch.program)
    ports, row = ports_of(gpu)
    memory_pipes = sorted({list(gpu.pipes).index(gpu.units[unit].pipe) for unit in ("global", "local", "shared")})
    queues = [(pipe, number) for pipe in memory_pipes for number in sorted(set(row[pipe]))]
    queue = np.full(len(ports.first), NO_QUEUE, np.int64)
    queue[[number for _, number in queues]] = np.arange(len(queues))
    shared_bytes = (launch.shared_per_block + gpu.limits.shared_reserved) * occupancy.blocks
    return Hardware(
        sms=np.int64(gpu.sms),
        schedulers=np.int64(core.schedulers),
        issue_width=np.int64(core.issue_width),
        issue_interval=np.int64(core.issue_interval),
        dispatch_holds=np.int64(core.dispatch == "scheduler"),
        **policy_numbers(gpu),
        wake_all=np.int64(WakeRule[core.wake_rule.upper()] == WakeRule.ALL_OUTSTANDING and not obeyed),
        in_flight_cap=np.int64(0 if obeyed else core.in_flight_cap),
        read_window=np.int64(core.read_window),
        banks=np.int64(core.register_banks if obeyed else 0),
        product_ports=np.int64(gpu.warpgroup.port_cycles if gpu.warpgroup else 0),
        product_backlog=np.int64(gpu.warpgroup.port_backlog if gpu.warpgroup else 0),
        branch_latency=np.int64(core.branch_latency),
        exit_latency=np.int64(core.exit_latency),
        barrier_latency=np.int64(core.barrier_latency),
        store_latency=np.int64(gpu.memory.global_store),
        start_ticks=np.int64(round(TICKS * gpu.blocks.start_interval)),
        sm_interval=np.int64(sm_interval(gpu, launch)),
        retire_ticks=np.int64(round(TICKS * gpu.blocks.retire_interval)),
        start_latency=np.int64(start_latency(gpu, launch)),
        first_fetch=first_cycles(gpu, launch),
        **fetch_numbers(gpu, launch),
        code_in_dram=code_in_dram(gpu, launch),
        constants_in_dram=constants_in_dram(gpu, launch),
        chip_sides=chip_sides_of(gpu, launch),
        code_sharing=code_sharing(gpu, launch),
        constant_near=np.array([gpu.constants.near, gpu.constants.load_near], np.int64),
        constant_far=np.int64(cycles_behind(gpu)),
        constant_entries=np.int64(gpu.constants.load_entries),
        address_latency=np.int64(gpu.constants.address_latency),
        address_cycles=np.int64(gpu.constants.address_cycles),
        constant_cycles=cycles_of_group(gpu, launch),
        retire_latency=np.int64(gpu.blocks.retire_latency),
        groups=cluster_groups(gpu, launch, occupancy),
        **cluster_numbers(gpu, launch),
        awaits_stores=np.int64(gpu.blocks.awaits_stores),
        places=np.int64(occupancy.blocks),
        warps=np.int64(launch.warps_per_block),
        ports=np.int64(ports.all),
        rows=np.int64(len(ports.first)),
        row=np.array(row, np.uint32),
        row_port=np.array(ports.first, np.uint32),
        row_ports=np.array(ports.width, np.int64),
        row_twin=np.array(ports.twin, np.int64),
        queue=queue,
        queue_row=np.array([number for _, number in queues], np.int64),
        queue_pipe=np.array([pipe for pipe, _ in queues], np.int64),
        memory=_record(hierarchy(gpu, len(queues), shared_bytes)),
    )


def _record(tables: Hierarchy) -> Any:
    """Return the tables as an array of one record."""
    return records(np.array([tuple(tables)], FIELDS))


_of_programs = PerProgram[list[dict[str, int]]](MOST)


def _of_program(program: Program, i: int, results: int) -> dict[str, int]:
    """Return those fields of instruction i's Op that are the same on all GPUs."""
    encoded = program.encoded
    operation, copied = Operation(encoded.operation[i]), copies(program, i)
    clock = operation == Operation.S2R and encoded.function[i] in (Special.CLOCKLO, Special.CLOCKHI)
    return {
        "result_cause": result_cause(program, i),
        "flow": CLOCK if clock else CLUSTER_WAIT if copied == CLUSTER_WAITS else _FLOW.get(operation, PLAIN),
        "store": operation == Operation.STORE or (operation == Operation.ATOM and results == 0) or answers_nothing(program, i),
        "arithmetic": results > 0 and operation not in ACCESS,
        "access": access_kind(program, i),
        "width": encoded.width[i],
        "phase": phase_use(program, i),
        "copies": copied,
        "far": may_leave(program, i),
    }


def _op(gpu: Gpu, program: Program, i: int, same: dict[str, int], obeyed: bool) -> dict[str, int]:
    """Return the fields of instruction i's Op, which are those of its kind, but those that `code` has for all instructions at once.

    same: those that are the same on all GPUs.
    """
    pipes, unit = list(gpu.pipes), unit_of(gpu, program, i)
    name = served.pipe if (served := unit_timing(gpu, program, i)) else None
    memory, hold, product = memory_place(gpu, program, i), port_cycles(gpu, program, i), turn(gpu, program, i)
    column, expected, passes = barrier(gpu, program, i)
    return same | {
        "latency": gpu.latency(unit) + product.columns,
        "distance": last_pass(gpu, program, i) if obeyed else gpu.core.reissue_distance,
        "sync": gpu.core.sync_latency if program.encoded.operation[i] == BSYNC else 0,
        "indirect": gpu.core.indirect_latency if program.encoded.operation[i] == Operation.BRX else 0,
        "source_read": product.start if product.cycles else source_read(gpu, program, i, memory),
        "hold": 1 if memory else hold,  # a memory instruction goes to its queue in one cycle; its addresses follow from there
        "pipe": pipes.index(name) if name else len(pipes),
        "shared": bool(name and gpu.pipes[name].owner == "sm"),
        "port_cause": PORT_CAUSE[unit],
        "barrier": column,
        "expected": expected,
        "passes": passes,
        "memory": memory,
        "cached": bool(memory and is_cached(gpu, program, i)),
        "address": hold,
        "landing": landing(gpu, program, i),
        "reads": read_cycles(gpu, program, i) if obeyed else 0,
        "further": last_pass(gpu, program, i) if obeyed else 0,
        "turn": product.cycles,
    }


def code(gpu: Gpu, program: Program) -> tuple[Code, int]:
    """Return the tables of `program` on `gpu`, and how many dependences it uses."""
    known, obeyed = listing(program), obeys_control_words(gpu, program)
    parts, (held, cause) = groups(gpu, program, obeyed), pauses(gpu, program)
    kinds = known.first.tolist()  # an unrolled loop has few
    same = _of_programs.get(program, None, lambda: [_of_program(program, i, int(known.results[i])) for i in kinds])
    ops = [_op(gpu, program, i, one, obeyed) for i, one in zip(kinds, same, strict=True)]
    fields: dict[str, Any] = {name: np.array([op[name] for op in ops])[known.kind] for name in ops[0]}
    fields |= control_fields(program, obeyed, parts) | {"results": known.results, "pause": held, "pause_cause": cause}
    constants = known.constants
    fields |= {"constant": constants.line, "late": constants.late, "lanes": constants.lanes}
    fields["skips"] = known.logged & (fields["memory"] == NOWHERE)
    fields["loads"] = (fields["result_cause"] == StallCause.LONG_SCOREBOARD) & ((known.results > 0) | parts.joins)
    fields["ported"], fields["collector"] = ported(program), collectors(program)
    fields["distance"] += distances(program) if obeyed else 0
    table = np.zeros(len(program), Op)
    for name in Op.names or ():
        table[name] = fields[name]
    tables = known.counters if obeyed else known.needs, known.writes, known.sources, *constant_tables(gpu, constants)
    dependences = COUNTERS if obeyed else known.dependences
    return Code(np.int64(obeyed), np.int64(parts.kept), records(table), *tables), dependences
