"""Launches that cannot end, in words: each warp that waits, where, and for what."""

from typing import TYPE_CHECKING

from isa.errors import UserError
from isa.operations import Form
from isa.vocabulary import Space
from sim.functional.checks import lanes
from sim.functional.code import FORMS as BY_OPERATION
from sim.functional.state import AT_CLUSTER, AT_PHASE, AT_REGISTERS, AT_WARPGROUP, SPINS, Spin
from sim.launch.launch import Launch
from sim.launch.placement import Places
from sim.traces.trace import ADDRESS, SCATTERED

if TYPE_CHECKING:
    from sim.functional.making import Place

SHOWN = 12  # warps
FORMS = (Form.LOAD, Form.ATOM)
WAITS = {  # Machine.waiting -> what a warp waits for at its instruction; at a barrier it is past that
    AT_PHASE: "waits at the mbarrier at {phase:#x} of shared memory ({lanes})",
    AT_CLUSTER: "waits for the other warps of its cluster",
    AT_WARPGROUP: "waits for products that other warps of its group have not begun",
    AT_REGISTERS: "waits for registers, of which its block has too few left",
}


def no_progress(launch: Launch, places: Places, waiting: "list[Place]", executed: int, blocks: int) -> UserError:
    """Return the error of blocks that wait for each other. executed: instructions without an end; 0 = nothing can change any more.

    blocks: of the launch that are executed; where these are not all, what is waited for may be left out.
    """
    rows = [(place, w) for place in waiting for w in range(launch.warps_per_block) if not place.machine.ended[w]]
    spins = [(place, w) for place, w in rows if place.machine.waiting[w] == SPINS]
    started = int(waiting[0].progress.next[0])
    message = f"no progress: {len(rows)} warps of {len(waiting)} blocks wait, and none does what another waits for"
    if executed:
        message = f"no end: {len(rows)} warps of {len(waiting)} blocks wait; after {executed:,} instructions none has made progress"
    shown = [f"block {index(place)}, warp {w}: {_what(launch, places, place, w)}" for place, w in rows[:SHOWN]]
    more = [f"and {len(rows) - SHOWN:,} more warps"] if len(rows) > SHOWN else []
    phases = [(place, w) for place, w in rows if place.machine.waiting[w] == AT_PHASE]
    hint = "a wait ends when another warp stores what is waited for: look for the store, and for what keeps it from being executed"
    if phases and not spins:
        hint = "a phase ends when all arrivals and bytes have come: compare mbarrier.init and expect_tx with who arrives and what is copied"
    if any(place.machine.waiting[w] == AT_WARPGROUP for place, w in rows):
        hint = "the four warps of a warpgroup execute the same products: what keeps one from a wgmma that the others execute?"
    if any(place.machine.waiting[w] == AT_CLUSTER for place, w in rows):
        hint = "all threads of a cluster arrive at barrier.cluster, or end: what keeps some from it?"
    if any(place.machine.waiting[w] == AT_REGISTERS for place, w in rows):
        begun = launch.registers_per_thread
        hint = f"a block has what its warps begin with, {begun} registers per thread: take fewer, or give more back"
    if started < blocks:
        hint += f"; {blocks - started:,} blocks have not started, as not all fit: a wait for a later block needs a smaller grid"
    if blocks < launch.blocks:
        hint = "only a sample of the blocks is executed, and what is waited for may be in another one: leave the sample out"
    program = launch.program
    first = min(_loop(*spins[0])) if spins else int(phases[0][0].machine.pc[phases[0][1]]) if phases else 0
    line = program.instructions[first].line
    return UserError("\n  ".join([message, f"kernel {program.name}", *shown, *more]), path=program.path, line=line, hint=hint)


def index(place: "Place") -> tuple[int, ...]:
    """Return blockIdx."""
    return tuple(int(x) for x in place.machine.block)


def _loop(place: "Place", w: int) -> list[int]:
    """Return the instructions of the round that a warp repeats."""
    length, period = int(place.log.length[w]), max(int(place.machine.spin[w, Spin.PERIOD]), 1)
    return [int(i) for i in place.log.instruction[place.log.row[w], length - period : length]]


def _what(launch: Launch, places: Places, place: "Place", w: int) -> str:
    instructions, waiting = launch.program.instructions, place.machine.waiting[w]
    if waiting != SPINS:
        at = instructions[int(place.machine.pc[w]) - (waiting not in WAITS)]
        what = WAITS.get(waiting, f"waits at barrier {int(waiting) - 1}").format(
            lanes=lanes(int(place.machine.active[w])), phase=place.machine.spin[w, Spin.PHASE_OF]
        )
        return f"{what}, line {at.line}: {at.text}"
    loop, e = _loop(place, w), launch.program.encoded
    named = [instructions[i].line for i in loop]
    text = f"{lanes(int(place.machine.active[w]))} repeat lines {min(named)} to {max(named)}"
    form = BY_OPERATION[e.operation]
    loads = [i for i in loop if form[i] in FORMS]
    if not loads:
        return text
    base, stride = (int(part[place.log.row[w], place.log.accesses[w] - 1]) for part in (place.log.access_base, place.log.access_stride))
    base &= ADDRESS
    text += f", which read {instructions[loads[-1]].text}"
    if stride == SCATTERED or [i for i in loop if form[i] in (*FORMS, Form.STORE)][-1] != loads[-1]:
        return text
    if e.space[loads[-1]] == Space.SHARED:
        return f"{text} (shared memory + {base:#x})"
    item = next((item for item in places.allocations if item.address <= base < item.end), None)
    return f"{text} (array {item.name} + {base - item.address:#x})" if item else text
