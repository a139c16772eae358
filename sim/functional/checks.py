"""Mistakes in words: arguments that do not fit, and what went wrong while a program ran."""

import math

import numpy as np

from isa import matrices
from isa.disassembly import registers_needed, takes_registers
from isa.errors import UserError
from isa.vocabulary import BulkReduction, Flag, Operation, Space
from sim.functional.cluster_checks import check_cluster
from sim.functional.constants import unknown
from sim.functional.reductions import OF_TILES
from sim.functional.state import LANES, LOCAL_BYTES, Fault, Log, Machine, Memory, Progress, Report, TileFault
from sim.functional.translation import as_seen
from sim.functional.warp_size import check_warp_size
from sim.launch.launch import Launch
from sim.launch.parameters import STRUCTURE
from sim.launch.placement import Placed, Places
from sim.launch.pointers import Pointer, is_structure
from sim.launch.tensor_maps import UNIT, type_of

MOST_WARPS = 100_000_000  # 16 bytes each
MOST_THREADS = 1024  # of a block, on every GPU from Fermi on
MOST_BLOCKS = 65_535  # along y and z of a grid, on every GPU
SIZES = (1, 2, 3)
SYSTEM_BYTES = 1024  # of a block's shared memory, before the program's
BARRIER_FAULTS = (Fault.BARRIER_MISMATCH, Fault.BARRIER_INCOMPLETE, Fault.BARRIER_COUNTS, Fault.BARRIER_PART)
SAID = {
    Fault.SEVERAL_BARRIERS: (
        "lanes of a warp name different barriers in one instruction",
        "that is not modelled: let one lane arrive, or wait, for each barrier",
    ),
    Fault.TOO_MANY_ARRIVALS: (
        "more arrivals than the barrier's phase is for",
        "mbarrier.init says for how many arrivals a phase is; count the threads that arrive, and begin with mbarrier.init",
    ),
    Fault.NO_BLOCK: (
        "an address of shared memory of a block that is not in the cluster, or of another block where only the own will do",
        "ranks lie below the cluster's size, which a listing does not say: cluster = N in the launch file, or --cluster-size N",
    ),
    Fault.WARPGROUP_IN_PART: (
        "a product of four warps, of which the block does not have all",
        "warps 4 n to 4 n + 3 multiply together: give the block a multiple of 128 threads",
    ),
}  # faults that need no more words
TILES = {
    TileFault.NO_MAP: ("there is no tensor map of a known type at {value:#x}", "pass sim.tensor_map(array, box=...) for the parameter"),
    TileFault.RANK: (
        "the tensor map has {dimensions} dimensions, the instruction names others",
        "as many as the array that it was made of",
    ),
    TileFault.INTERLEAVE: ("the tensor map interleaves channels, which is not modelled", "take CU_TENSOR_MAP_INTERLEAVE_NONE"),
    TileFault.NEGATIVE: ("a tile is stored at coordinate {value}", "a GPU refuses stores at negative coordinates (H100): clip the tile"),
    TileFault.COORDINATE: (
        "a tile begins {value} bytes into its rows, no multiple of 16",
        "a GPU refuses that (H100): let the coordinate of the fastest dimension be a multiple of 16 bytes",
    ),
    TileFault.MAP_ADDRESS: ("the tensor map's address {value:#x} is no multiple of 64", "let a map in memory be aligned to 64 bytes"),
    TileFault.SHARED_ADDRESS: ("the tile's place {value:#x} in shared memory is no multiple of 128", "let tiles be aligned to 128 bytes"),
}
VERBS = {Operation.STORE: "store", Operation.ATOM: "atomic", Operation.MBARRIER: "barrier access", Operation.BULK_COPY: "bulk copy"}
VERBS |= dict.fromkeys(matrices.OF_WARPGROUP, "matrix")


def check_launch(launch: Launch, is_sample: bool = False) -> None:
    """Raise UserError when the grid, the block or the arguments cannot be. is_sample: not all blocks are executed."""
    program = launch.program
    for name, sizes in (("grid", launch.grid), ("block", launch.block)):
        if len(sizes) not in SIZES or any(not isinstance(size, int | np.integer) or size < 1 for size in sizes):
            raise UserError(f"{name} {tuple(sizes)}: one to three whole numbers of at least 1 are needed", path=program.path)
    for axis, size in zip("yz", launch.grid[1:], strict=False):
        if size > MOST_BLOCKS:
            hint = "only the grid's x may be larger: swap the axes, or give a block more to do"
            raise UserError(
                f"grid {tuple(launch.grid)}: {size:,} blocks along {axis}; a GPU takes at most {MOST_BLOCKS:,}",
                path=program.path,
                hint=hint,
            )
    check_cluster(launch, is_sample)
    check_warp_size(program, launch.warp_size)
    if launch.threads_per_block > MOST_THREADS:
        raise UserError(f"{launch.threads_per_block} threads per block; a block has at most {MOST_THREADS}", path=program.path)
    if launch.shared_per_block < 0 or launch.shared_dynamic < 0:
        raise UserError(f"shared memory of {min(launch.shared_per_block, launch.shared_dynamic)} bytes", path=program.path)
    if launch.blocks * launch.warps_per_block > MOST_WARPS:
        message = f"grid {launch.grid} x block {launch.block}: {launch.blocks * launch.warps_per_block:,} warps"
        raise UserError(message, path=program.path, hint=f"a trace holds at most {MOST_WARPS:,}: simulate a smaller grid of the same shape")
    used = registers_needed(program.encoded)
    if launch.registers_per_thread < used and not takes_registers(program.encoded):
        message = f"registers per thread: {launch.registers_per_thread}; the program uses R{used - 1}"
        raise UserError(message, path=program.path, hint=f"give at least {used}")
    if len(launch.args) != len(program.parameters):
        declared = ", ".join(f"{p.type} {p.name}" for p in program.parameters) or "none"
        message = f"kernel {program.name}: arguments needed: {len(program.parameters)}; given: {len(launch.args)}"
        raise UserError(message, path=program.path, hint=f"its parameters: {declared}")
    for parameter, value in zip(program.parameters, launch.args, strict=True):
        if is_structure(value) != (parameter.type == STRUCTURE) or (is_structure(value) and value.dtype.itemsize != parameter.size):
            message = (
                f"parameter {parameter.name} has {parameter.size} bytes and is {parameter.type}; {type(value).__name__} {value} was given"
            )
            raise UserError(message, path=program.path, hint="a structure is a scalar of a structured NumPy dtype of the same size")
        if parameter.type == "ptr" and value is not None and not isinstance(value, np.ndarray | Pointer):
            raise UserError(
                f"parameter {parameter.name} is ptr, a NumPy array or sim.Pointer; {type(value).__name__} {value} was given",
                path=program.path,
            )


def initial_registers(launch: Launch, registers: int, places: Places) -> np.ndarray:
    """Return uint32 [registers, 32]: the launch's presets, everything else zero."""
    rows = np.zeros((registers, LANES), np.uint32)
    arguments = zip(launch.program.parameters, launch.args, strict=True)
    addresses = {parameter.name: places.address(value) for parameter, value in arguments if parameter.type == "ptr"}
    for register, value in launch.preset.items():
        if not 0 <= register < 255:
            raise UserError(f"preset R{register}: registers are R0 to R254", path=launch.program.path)
        if isinstance(value, str):
            if value not in addresses:
                names = ", ".join(addresses) or "none; declare them with .param ptr NAME"
                raise UserError(
                    f"preset R{register} = {value!r}: no array parameter has that name", path=launch.program.path, hint=f"arrays: {names}"
                )
            rows[register : register + 2] = np.array([addresses[value] & 0xFFFFFFFF, addresses[value] >> 32], np.uint32)[:, None]
        elif isinstance(value, float | np.floating):
            rows[register] = np.float32(value).view(np.uint32)
        elif -(2**31) <= value < 2**32:
            rows[register] = int(value) & 0xFFFFFFFF
        else:
            raise UserError(f"preset R{register} = {value}: a register has 32 bits", path=launch.program.path)
    return rows


def explain(launch: Launch, placed: list[Placed], memory: Memory, machine: Machine, progress: Progress) -> UserError:
    """Return the error that a kernel reported."""
    report = progress.report
    fault, i = Fault(int(report[Report.FAULT])), int(report[Report.INSTRUCTION])
    here = where(launch, machine, progress)
    message, hint = SAID.get(fault, ("", ""))
    if fault in (Fault.OUT_OF_RANGE, Fault.MISALIGNED, Fault.READ_ONLY):
        message, hint = access_message(launch, placed, memory, fault, i, int(report[Report.ADDRESS]), int(report[Report.EXPECTED]))
    elif fault == Fault.TILE:
        message, hint = tile_message(launch, TileFault(int(report[Report.EXPECTED])), i, int(report[Report.ADDRESS]))
    elif fault == Fault.UNKNOWN_CONSTANT:
        message, hint = unknown(launch.program, int(report[Report.ADDRESS]))
    elif fault == Fault.DIVERGENT_BARRIER:
        message = f"barrier in divergent code: {lanes(int(report[Report.EXPECTED]))} of the warp did not arrive with the others"
        hint = "move BAR.SYNC to where all threads come together, or let threads that skip it EXIT"
    elif fault == Fault.NO_PROGRESS:
        message = f"no progress: lanes wait here for {lanes(int(report[Report.EXPECTED]))}, which wait elsewhere"
        hint = "nest BSSY and BSYNC so that every lane in BSSY reaches its BSYNC or exits"
    elif fault in BARRIER_FAULTS:
        message, hint = barrier_message(launch, machine, fault, i, int(report[Report.EXPECTED]))
    elif fault == Fault.MATRIX_IN_PART:
        message, hint = "lanes of the warp are missing: a matrix needs all 32", "move it out of divergent code"
    elif fault == Fault.ATOMIC_ON_LOCAL:
        message, hint = "atomic on local memory", "atomics are of global and of shared memory (PTX ISA, atom): give it the address of such"
    elif fault == Fault.TRAP and launch.program.instructions[i].opcode.startswith("CALL"):
        message, hint = "call of a function that the listing does not hold", "give the cubin, or the .cu file: relocations name it"
    elif fault == Fault.TRAP:
        message, hint = "trap: the program ends itself here", "BPT.TRAP is __trap() or a check that failed: see what leads to it"
    elif fault == Fault.NOWHERE:
        message = f"jump to {int(report[Report.ADDRESS]):#x}, where no instruction stands"
        hint = "a jump table lies in a constant bank: give the cubin that the listing is of"
    elif fault in (Fault.BREAK_WITHOUT_PBK, Fault.RET_WITHOUT_CAL):
        message = "BRK without PBK" if fault == Fault.BREAK_WITHOUT_PBK else "RET without CAL"
        message, hint = f"{message}: nothing says where these lanes go on", "the listing must be whole"
    elif fault == Fault.SYNC_WITHOUT_SSY:
        message, hint = "SYNC without SSY: nothing says where these lanes go on", "put SSY LABEL before the branch that splits the warp"
    elif not message:
        message, hint = "more than 160 groups of lanes wait in one warp", "an SSY in a loop needs a SYNC in the same loop"
    return UserError(f"{message}\n  {here}", path=launch.program.path, line=launch.program.instructions[i].line, hint=hint)


def tile_message(launch: Launch, problem: TileFault, i: int, value: int) -> tuple[str, str]:
    """Return what is wrong with the tile of instruction i, and a hint. value: as TileFault says."""
    if problem == TileFault.REDUCTION:
        reduction = BulkReduction(int(launch.program.encoded.combine[i]))
        return f"a tile of {type_of(value)} has no .{reduction.name}", f".{reduction.name} takes tiles of {', '.join(OF_TILES[reduction])}"
    message, hint = TILES[problem]
    return message.format(value=value, dimensions=value + 1), hint


def barrier_message(launch: Launch, machine: Machine, fault: Fault, i: int, expected: int) -> tuple[str, str]:
    """Return what is wrong where warps meet at BAR i, and a hint. expected: another barrier's number, or how many threads others said."""
    threads = int(launch.program.encoded.address_offset[i])
    if fault == Fault.BARRIER_PART:
        return f"barrier for {expected} threads, no multiple of {launch.warp_size}", "PTX ISA, bar: a barrier is for whole warps"
    if fault == Fault.BARRIER_COUNTS:
        said, others = (f"{number} threads" if number else "all of the block" for number in (threads, expected))
        return f"this barrier is for {said}, the warps before it came for {others}", "let all that meet there name the same number"
    hint = "; ".join(waiting(launch, machine))
    if fault == Fault.BARRIER_INCOMPLETE:
        return f"no progress: this barrier is for {threads} threads, and no more come", hint
    return f"no progress: this warp waits at another barrier than barrier {expected}, where the warps before it wait", hint


def where(launch: Launch, machine: Machine, progress: Progress) -> str:
    """Return `kernel saxpy, block (3, 0, 0), warp 1, lane 5 (thread (37, 0, 0)): LDG.E R0, [R2];`."""
    report = progress.report
    w, lane, i = (int(report[column]) for column in (Report.WARP, Report.LANE, Report.INSTRUCTION))
    block = tuple(int(x) for x in machine.block)
    thread = tuple(int(x) for x in machine.thread[:, w, lane])
    text = launch.program.instructions[i].text
    return f"kernel {launch.program.name}, block {block}, warp {w}, lane {lane} (thread {thread}), instruction {i}: {text}"


def access_message(launch: Launch, placed: list[Placed], memory: Memory, fault: Fault, i: int, address: int, space: int) -> tuple[str, str]:
    """Return what is wrong with an access, and how far it missed. space: of the lane's address."""
    e = launch.program.encoded
    is_bulk = bool(e.operation[i] == Operation.BULK_COPY)
    width = UNIT if is_bulk else int(e.width[i])
    verb = "bulk reduction" if is_bulk and e.combine[i] else VERBS.get(e.operation[i], "load")
    if memory.seen.size and space not in (Space.SHARED, Space.LOCAL):
        address = as_seen(address, memory)
        placed = [item._replace(address=int(seen)) for item, seen in zip(placed, memory.seen, strict=True)]
    amount = f" of {width} bytes" if width and not is_bulk else ""  # only a register says how many
    shown = f"{verb}{amount} at {address & 0xFFFFFFFFFFFFFFFF:#x}"
    if fault == Fault.MISALIGNED:
        return f"misaligned {shown}", f"the address must be a multiple of {width}"
    if fault == Fault.READ_ONLY:
        return f"{shown}: the array {nearest(placed, address).name} is read-only", "pass a writable array"
    if e.operation[i] == Operation.LDC:
        bank = int(e.source_bank[i, 0])
        size = memory.bank_bytes[bank] if bank < len(memory.bank_bytes) else 0
        given = f" and ends with the arguments, of which {len(launch.args)} were given: give one for each parameter" if bank == 0 else ""
        return f"{shown} is outside constant bank {bank}", f"the bank has {size} bytes{given}"
    if space in (Space.SHARED, Space.LOCAL):
        size, name, remedy = (
            (memory.shared_bytes, "shared memory", ": .shared BYTES in the listing, or shared_dynamic of the launch")
            if space == Space.SHARED
            else (LOCAL_BYTES, "local memory", " per thread")
        )
        if space == Space.SHARED and launch.program.architecture and address >= SYSTEM_BYTES:
            remedy += f"; in code for sm_90 and later the first {SYSTEM_BYTES:,} bytes are the system's, and count"
        return f"{shown} is outside {name}: {distance(0, size, address, width)}", f"there are {size} bytes{remedy}"
    if not placed:
        return f"{shown}: the launch has no arrays", "pass an array for each ptr parameter"
    array = nearest(placed, address)
    place = f"array {array.name} ({array.array.nbytes} bytes, {array.array.dtype}, at {array.address:#x})"
    hint = "compare the index with the array's size, and guard the access"
    if not e.flags[i] & Flag.ADDRESS64 and address < min(item.address for item in placed):
        hint = "is the address register set? Kernel parameters are read with c[0x0][NAME] or MOV"
    return f"{shown} is outside every array: {distance(array.address, array.end, address, width)} of {place}", hint


def nearest(placed: list[Placed], address: int) -> Placed:
    """Return the array closest to an address."""
    return min(placed, key=lambda item: max(item.address - address, address - item.end + 1, 0))


def distance(start: int, end: int, address: int, width: int) -> str:
    """Return how far an access of `width` bytes misses [start, end)."""
    if address < start:
        return f"{start - address} bytes before the start"
    if address >= end:
        return f"{address - end} bytes past the end"
    return f"its last {address + width - end} bytes are past the end"


def lanes(mask: int) -> str:
    """Return `lane 3` or `lanes 0-15, 20`."""
    present = [lane for lane in range(LANES) if mask >> lane & 1]
    runs: list[list[int]] = []
    for lane in present:
        if runs and lane == runs[-1][-1] + 1:
            runs[-1].append(lane)
        else:
            runs.append([lane])
    text = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"lane{'s' if len(present) > 1 else ''} {text}" if present else "no lane"


def waiting(launch: Launch, machine: Machine) -> list[str]:
    """Return `warp 0 waits at barrier 1` for each warp that waits."""
    return [f"warp {w} waits at barrier {int(number) - 1}" for w, number in enumerate(machine.waiting) if number]


def no_end(launch: Launch, machine: Machine, log: Log, progress: Progress, limit: int) -> UserError:
    """Return the error of a warp that executed `limit` instructions and has not ended."""
    w = next(w for w in range(len(log.length)) if log.row[w] >= 0 and log.length[w] >= limit)
    i = int(machine.pc[w])
    mask = int(machine.active[w])
    progress.report[Report.WARP], progress.report[Report.INSTRUCTION] = w, i
    progress.report[Report.LANE] = int(math.log2(mask & -mask)) if mask else 0
    message = f"no end: the warp has executed {limit:,} instructions and {lanes(mask)} still run"
    hint = (
        "check the loop's exit condition; a wait for another block's store has no end here\n"
        "  for a loop that is meant to be longer: simtlab run --limit N, sim.execute(launch, limit=N)"
    )
    here = where(launch, machine, progress)
    return UserError(f"{message}\n  {here}", path=launch.program.path, line=launch.program.instructions[i].line, hint=hint)
