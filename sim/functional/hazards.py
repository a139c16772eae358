"""What `check=` found, in words."""

from collections.abc import Iterable

import numpy as np

from isa.dependences import name
from isa.errors import UserError
from sim.compiled.kernel import first_bit
from sim.functional.definedness import unset_registers
from sim.functional.device import BASE
from sim.functional.state import Memory, Watch
from sim.functional.watch import ATOMIC, INIT, MOST_FOUND, RACE, READ, WRITE, Found, Kind
from sim.launch.launch import Launch
from sim.launch.placement import Placed, Places
from sim.traces.hazard import CHECKS, Hazard
from sim.traces.trace import Trace

MOST_WARPS = 32  # of a block that is checked
VERBS = {int(READ): "read", int(WRITE): "write", int(ATOMIC): "update"}
BITS = {"race": RACE, "init": INIT}
BARRIER = "put __syncthreads() (BAR.SYNC) between them"
TOGETHER = "put __syncwarp() (BSYNC or WARPSYNC) between them, where all these lanes come"


def asked(check: Iterable[str]) -> tuple[str, ...]:
    """Return the checks asked for, in order. Raises UserError for one that does not exist."""
    names = (check,) if isinstance(check, str) else tuple(check)
    if unknown := [one for one in names if one not in CHECKS]:
        raise UserError(f"no check is called {unknown[0]!r}", hint=f"checks: {', '.join(CHECKS)}")
    return tuple(one for one in CHECKS if one in names)


def allocate_watch(launch: Launch, places: Places, words: np.ndarray, checks: tuple[str, ...]) -> Watch:
    """Return what the kernels note for these checks; nothing takes room that is not asked for."""
    warps = launch.warps_per_block if checks else 0
    if warps > MOST_WARPS:
        message = f"{warps} warps in a block cannot be checked: a word of 32 bits says which of them a barrier orders"
        raise UserError(message, path=launch.program.path, hint=f"give blocks of at most {MOST_WARPS * launch.warp_size} threads")
    size = launch.shared_per_block if checks else 0
    return Watch(
        asked=np.array([sum(int(BITS[one]) for one in checks)], np.int64),
        shadow=np.full((size, 6), -1, np.int64),
        value=np.full(size, -1, np.int64),
        now=np.zeros(warps, np.int64),
        known=np.zeros((warps, warps), np.int64),
        group=np.zeros(warps, np.int64),
        together=np.full((warps, 32, 32), -1, np.int64),
        defined=initialised(launch, places, 4 * words.size) if "init" in checks else np.zeros(0, np.uint8),
        found=np.zeros((MOST_FOUND, len(Found)), np.int64),
        count=np.zeros(1, np.int64),
    )


def initialised(launch: Launch, places: Places, size: int) -> np.ndarray:
    """Return uint8 [bytes of device memory]: 0 in the arrays that the launch says are not initialised. Raises UserError for no array."""
    found = np.ones(size, np.uint8)
    for one in launch.uninitialised:
        items = [item for item in places.items if item.name == one]
        if not items:
            names = ", ".join(item.name for item in places.items)
            raise UserError(
                f"uninitialised: the launch has no array {one}", path=launch.program.path, hint=f"its arrays: {names or 'none'}"
            )
        found[items[0].address - BASE : items[0].end - BASE] = 0
    return found


def hazards(trace: Trace, places: Places, memory: Memory) -> tuple[Hazard, ...]:
    """Return everything that was found, races first."""
    checks = int(memory.watch.asked[0])
    found = of_memory(trace.launch, places, memory)
    return tuple(found + (of_registers(trace) if checks & INIT else []))


def of_memory(launch: Launch, places: Places, memory: Memory) -> list[Hazard]:
    """Return what was found in shared memory and in arrays."""
    rows = memory.watch.found[: int(memory.watch.count[0])].tolist()
    return [_of_row(row, launch, places.allocations) for row in sorted(rows, key=lambda row: row[Found.KIND] >= Kind.UNSET_SHARED)]


def _of_row(row: list[int], launch: Launch, placed: list[Placed]) -> Hazard:
    kind, last, first = Kind(row[Found.KIND]), row[Found.INSTRUCTION], row[Found.FIRST_INSTRUCTION]
    pairs = [(row[Found.WARP], row[Found.LANE], last)]
    if first >= 0:
        pairs.insert(0, (row[Found.FIRST_WARP], row[Found.FIRST_LANE], first))
    address, where = row[Found.ADDRESS], f"shared memory + {row[Found.ADDRESS]:#x}"
    if kind == Kind.UNSET_SHARED:
        message, remedy = (
            "shared memory is read before anything of the block wrote it",
            "store to it first: blocks find arbitrary words there",
        )
    elif kind == Kind.UNSET_GLOBAL:
        item = next(item for item in placed if item.address <= address < item.end)
        where = f"array {item.name} + {address - item.address:#x} (address {address:#x})"
        message, remedy = "a word of an array is read that nothing wrote", "store to it first, or copy or set the array before the launch"
    elif kind == Kind.RACE_AT_ONCE:
        message, remedy = "lanes of one instruction store different values to one byte: which stays is undefined", "let one lane store"
    else:
        same = pairs[0][0] == pairs[-1][0]
        who = "two lanes of a warp" if same else "two warps"
        message = f"{who} {'write' if kind == Kind.RACE_AFTER_WRITE else 'read'} and {VERBS[row[Found.HOW]]} shared memory with no "
        message += "instruction between that both execute together" if same else "barrier between"
        remedy = TOGETHER if same else BARRIER
    check = "race" if kind < Kind.UNSET_SHARED else "init"
    return _hazard(launch, check, message, remedy, row[Found.BLOCK], pairs, where, row[Found.COUNT])


def of_registers(trace: Trace) -> list[Hazard]:
    """Return registers and predicates that are read before anything wrote them."""
    launch, found = trace.launch, []
    for i, register, mask, warp in unset_registers(trace):
        block, w = divmod(warp, launch.warps_per_block)
        pairs = [(w, first_bit(mask), i)]
        message = f"{name(register)} is read before anything wrote it"
        found.append(_hazard(launch, "init", message, f"write {name(register)} on every path to here", block, pairs, name(register), 1))
    return found


def _hazard(
    launch: Launch, check: str, message: str, remedy: str, block: int, pairs: list[tuple[int, int, int]], where: str, count: int
) -> Hazard:
    instructions = [launch.program.instructions[i] for _, _, i in pairs]
    return Hazard(
        check=check,
        message=message,
        remedy=remedy,
        kernel=launch.program.name,
        path=launch.program.path,
        block=block,
        warps=tuple(w for w, _, _ in pairs),
        lanes=tuple(lane for _, lane, _ in pairs),
        lines=tuple(instruction.line for instruction in instructions),
        instructions=tuple(instruction.text for instruction in instructions),
        where=where,
        count=count,
    )


def with_found(error: UserError, launch: Launch, places: Places, memory: Memory) -> UserError:
    """Return a mistake that ended a run with what the checks had found before."""
    if memory.watch.count[0]:
        first = str(of_memory(launch, places, memory)[0])
        error.hint = "\n  ".join([error.hint, "found before:", first.replace("\n", "\n  ")])
    return error
