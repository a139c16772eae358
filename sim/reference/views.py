"""What a person sees of a machine that stands still: records, copied out of its warps, scoreboards and schedulers."""

from dataclasses import dataclass

from isa.dependences import name as dependence_name
from sim.gpus.path import SECTOR, TICKS
from sim.reference.issue import Scheduler
from sim.reference.memory.l2 import Slice
from sim.reference.memory.lsu import LoadStoreUnit
from sim.reference.scoreboard import UNKNOWN
from sim.reference.wakeup import Warp


@dataclass(frozen=True)
class WarpView:
    """One resident warp, as its scheduler found it in the last cycle."""

    sm: int
    scheduler: int
    block: int  # in launch order
    warp: int  # within the block
    state: str  # "waiting", "ready" (only a port or the scheduler keeps it back) or "draining"
    pc: int  # the static instruction it will issue next; of a draining warp its last
    text: str
    why: str  # the cause of its wait as it looks now; "" when it is ready
    until: int | None  # the cycle in which that ends; None when not yet known


@dataclass(frozen=True)
class PendingView:
    """A register, predicate or barrier that awaits a result."""

    name: str
    why: str
    until: int | None  # the cycle in which it is back; None when not yet known


@dataclass(frozen=True)
class SchedulerView:
    """One scheduler after its last turn."""

    sm: int
    scheduler: int
    free: bool  # its dispatch port
    last: int  # the slot that issued last; ~slot once that warp has ended, ~63 at the start
    warps: int  # resident
    ready: int  # of these, ready


@dataclass(frozen=True)
class LoadStoreView:
    """The load/store unit of one SM, its MSHRs and its port towards L2."""

    sm: int
    queues: tuple[int, ...]  # instructions that wait behind each issue port
    busy: bool  # the shared unit
    pending: int  # lines that loads wait for: entries of the table in use
    requests: int  # on their way to L2
    bytes_in_flight: int  # that loads and atomics have asked for and not got


@dataclass(frozen=True)
class SliceView:
    """One L2 slice and the DRAM channel behind it: requests in each queue, that being served among them."""

    number: int
    requests: int
    transfers: int


@dataclass(frozen=True)
class MemoryView:
    """The memory hierarchy."""

    sms: tuple[LoadStoreView, ...]
    slices: tuple[SliceView, ...]

    @property
    def bytes_in_flight(self) -> int:
        """Of all SMs."""
        return sum(sm.bytes_in_flight for sm in self.sms)


def view_warp(warp: Warp) -> WarpView:
    """Return what is to be seen of a warp."""
    instruction, block = warp.instruction, warp.block
    state = "draining" if warp.draining else "ready" if warp.ready else "waiting"
    why = {"draining": "drain", "ready": ""}.get(state, warp.cause.name.lower())
    q = block.sm.scheduler_of(warp).number
    return WarpView(block.sm.number, q, block.number, warp.number, state, instruction.number, instruction.text, why, _until(warp))


def _until(warp: Warp) -> int | None:
    """Return the cycle in which the present wait ends, as far as it can be known."""
    if warp.draining:
        return known(max((pending.due for pending in warp.scoreboard.outstanding), default=warp.scoreboard.all_back))
    if warp.held is not None:
        return warp.held_until
    last = warp.scoreboard.last_missing(warp.instruction)
    return warp.eligible if warp.ready else known(last[1]) if last else warp.scoreboard.all_back


def known(cycle: int) -> int | None:
    """Return a cycle if it is one."""
    return None if cycle == UNKNOWN else cycle


def view_scoreboard(warp: Warp) -> list[PendingView]:
    """Return what the warp awaits, what is back first at the top."""
    busy = sorted(warp.scoreboard.busy.items(), key=lambda item: item[1].due)
    call = "SB{}".format if warp.machine.control else dependence_name
    return [PendingView(call(name), pending.cause.name.lower(), known(pending.due)) for name, pending in busy]


def view_scheduler(scheduler: Scheduler) -> SchedulerView:
    """Return what is to be seen of a scheduler."""
    ready = sum(warp.ready and not warp.draining for warp in scheduler.warps.values())
    free = scheduler.dispatch.free
    return SchedulerView(scheduler.sm.number, scheduler.number, free, scheduler.last, len(scheduler.warps), ready)


def view_lsu(lsu: LoadStoreUnit) -> LoadStoreView:
    """Return what is to be seen of a load/store unit."""
    queues = tuple(len(queue.accesses) for queue in lsu.queues)
    flying = SECTOR * lsu.sectors_in_flight
    return LoadStoreView(lsu.sm.number, queues, not lsu.unit.free, lsu.table.used, len(lsu.requests.packets), flying)


def view_slice(one: Slice, number: int, cycle: int) -> SliceView:
    """Return what is to be seen of a slice at the beginning of a cycle."""
    return SliceView(number, one.queue.length(cycle * TICKS), one.channel.queue.length(cycle * TICKS))
