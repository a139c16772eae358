"""Bugs seeded in the SimPy engine: name -> (class or module, attribute, wrong version made from the right one)."""

from collections.abc import Callable
from typing import Any

from sim.reference import issue, machine
from sim.reference.account import IssueSlots
from sim.reference.barriers import Barrier
from sim.reference.counters import DependenceCounters
from sim.reference.decode import Instruction
from sim.reference.dispatcher import BlockScheduler
from sim.reference.fetch import Port
from sim.reference.issue import Scheduler
from sim.reference.pipes import Pipes
from sim.reference.scoreboard import Scoreboard
from sim.reference.sm import SM
from sim.reference.wakeup import Warp
from sim.result.causes import SlotCause, StallCause

Right = Callable[..., Any]


def latency_off_by_one(right: Right) -> Right:
    return lambda *a: [i._replace(latency=i.latency + (i.result_cause is StallCause.WAIT)) for i in right(*a)]


def no_waw(right: Right) -> Right:
    return lambda *a: [i._replace(needs=tuple(name for name in i.needs if name not in i.writes)) for i in right(*a)]


def wrong_tie_break(right: Right) -> Right:
    """Round robin counts from the slot before the last one."""
    return lambda policy, mask, last, age, size, in_turn: right(policy, mask, max(last - 1, -1), age, size, in_turn)


def opens_one_early(right: Right) -> Right:
    def open_if_complete(self: Barrier, last: Warp) -> None:
        self.block.alive -= 1
        right(self, last)
        self.block.alive += 1

    return open_if_complete


def cap_off_by_one(right: Right) -> Right:
    return lambda self, i: bool(self.cap and i.writes and len(self.results) > self.cap)


def wrong_wake_rule(right: Right) -> Right:
    def blocked_by(self: Warp) -> StallCause | None:
        cause = right(self)
        self.found_waiting = False
        return cause

    return blocked_by


def no_branch_latency(right: Right) -> Right:
    return lambda self, warp, i: warp.hold(self.core.reissue_distance, StallCause.WAIT)


def idle_slots_to_nobody(right: Right) -> Right:
    def charge_idle(self: IssueSlots, chosen: Warp) -> None:
        self.counts[SlotCause.NO_WARP] += self.idle * self.width
        self.idle = 0
        self.notes.clear()

    return charge_idle


def no_retire_latency(right: Right) -> Right:
    def step(self: BlockScheduler) -> None:
        self.leaving[:] = sorted((int(self.machine.env.now), *block[1:]) for block in self.leaving)
        right(self)

    return step


def no_retire_interval(right: Right) -> Right:
    def step(self: BlockScheduler) -> None:
        self.retire_ticks = 0
        right(self)

    return step


def no_sm_interval(right: Right) -> Right:
    return lambda self, sm, started: None


def no_start_interval(right: Right) -> Right:
    def step(self: BlockScheduler) -> None:
        self.may_start = True
        right(self)

    return step


def second_ignores_results(right: Right) -> Right:
    return lambda self, warp, first: StallCause.BRANCH_RESOLVING if first.is_branch else StallCause.SELECTED


def dispatch_not_held(right: Right) -> Right:
    def hold(self: Scheduler, warp: Warp, issued: list[Instruction]) -> None:
        until = warp.issued.then(warp.issued.cycle + self.core.issue_interval)
        self.interval.hold(until)
        self.dispatch.hold(until)

    return hold


def stores_forgotten(right: Right) -> Right:
    return lambda *a: [i._replace(latency=1) if i.is_store else i for i in right(*a)]


def schedulers_backwards(right: Right) -> Right:
    def step(self: SM) -> None:
        self.active_cycles += bool(self.blocks)
        for scheduler in reversed(self.schedulers):
            scheduler.step()

    return step


def always_free(right: Right) -> Right:
    def accept(self: Pipes, instruction: Instruction, q: int) -> bool:
        return True

    return accept


def no_distance(right: Right) -> Right:
    return lambda *a: [i._replace(distance=1) for i in right(*a)]


def read_at_once(right: Right) -> Right:
    return lambda *a: [i._replace(source_read=1) for i in right(*a)]


def nothing_kept(right: Right) -> Right:
    return lambda *a: [i._replace(reuse=0) for i in right(*a)]


def one_reuse_cache(right: Right) -> Right:
    return lambda *a: [i._replace(collector=0) for i in right(*a)]


def counts_from_the_issue(right: Right) -> Right:
    """A stall count does not wait for the ports of the register banks."""

    def hold(self: Scheduler, warp: Warp, issued: Instruction) -> None:
        self.delay = 0
        right(self, warp, issued)

    return hold


def counts_on(right: Right) -> Right:
    """A stall count goes on while the scheduler stands still for another warp."""
    return lambda self: False


def never_in_turn(right: Right) -> Right:
    return lambda self, warps, q: False


def no_sync_latency(right: Right) -> Right:
    return lambda *a: [i._replace(sync=0) for i in right(*a)]


def no_indirect_latency(right: Right) -> Right:
    return lambda *a: [i._replace(indirect=0) for i in right(*a)]


def first_holder_opens(right: Right) -> Right:
    """A counter is zero as soon as one of its holders releases it."""

    def missing(self: DependenceCounters, instruction: Instruction) -> Any:
        for holders in self.holders.values():
            del holders[1:]
        return right(self, instruction)

    return missing


MUTANTS: dict[str, tuple[Any, str, Callable[[Right], Right]]] = {
    "fixed latencies one cycle longer": (machine, "decode", latency_off_by_one),
    "a pending write does not hold back the next one": (machine, "decode", no_waw),
    "wrong tie-break of the policies": (issue, "choose", wrong_tie_break),
    "port conflicts missed": (Pipes, "accept", always_free),
    "barrier opens one warp early": (Barrier, "open_if_complete", opens_one_early),
    "cap on results in flight off by one": (Scoreboard, "full", cap_off_by_one),
    "all_outstanding wakes per register": (Warp, "blocked_by", wrong_wake_rule),
    "branch latency dropped": (Scheduler, "_hold", no_branch_latency),
    "idle slots charged to nobody": (IssueSlots, "charge_idle", idle_slots_to_nobody),
    "retire latency ignored": (BlockScheduler, "step", no_retire_latency),
    "retire interval ignored": (BlockScheduler, "step", no_retire_interval),
    "an SM's start interval ignored": (BlockScheduler, "_keep_sm_interval", no_sm_interval),
    "start interval ignored": (BlockScheduler, "step", no_start_interval),
    "second instruction ignores pending results": (Scheduler, "_forbids", second_ignores_results),
    "narrow pipe does not hold the scheduler": (Scheduler, "_hold_dispatch", dispatch_not_held),
    "a warp ends before its stores": (machine, "decode", stores_forgotten),
    "schedulers take their turns backwards": (SM, "step", schedulers_backwards),
    "distance between issues of a warp ignored": (machine, "decode", no_distance),
    "sources read in the next cycle": (machine, "decode", read_at_once),
    "the reuse cache keeps nothing": (machine, "decode", nothing_kept),
    "FP64 shares the reuse cache of the others": (machine, "decode", one_reuse_cache),
    "a stall count counts from the issue": (Scheduler, "_hold", counts_from_the_issue),
    "stall counts go on while the scheduler stands still": (Warp, "_extend_stall_count", counts_on),
    "who waited for a pipe is not served in turn": (Pipes, "taken_until_now", never_in_turn),
    "a BSYNC costs nothing": (machine, "decode", no_sync_latency),
    "a branch by a register takes no longer": (machine, "decode", no_indirect_latency),
    "a GPC's port takes any number of lines": (Port, "turn", lambda right: lambda self, now, ahead: now),
    "a counter opens with the first of its holders": (DependenceCounters, "missing", first_holder_opens),
}
