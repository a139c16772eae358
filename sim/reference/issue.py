"""Scheduler: each cycle it asks its warps, issues at most one of them (up to core.issue_width instructions of it), and writes
down where the cycle of every warp and of every issue slot went.

Peak rate: issue_width / issue_interval warp instructions per cycle.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from sim.lowering.phases import CLUSTER_WAITS, COPY_IN, COPY_NEAR, COPY_OUT
from sim.policies import Policy
from sim.policies.builtin import choose
from sim.policies.stateful import Failure, Hook, HookedPolicy, signed
from sim.policies.supplied import stateful
from sim.policies.user import ScoredPolicy
from sim.reference.account import IssueSlots
from sim.reference.banks import ProductPorts, RegisterBanks, Standstill
from sim.reference.moments import ISSUE_SLOT, Moment, latest
from sim.reference.pipes import Ports
from sim.result.causes import StallCause

if TYPE_CHECKING:
    from sim.reference.decode import Instruction
    from sim.reference.sm import SM
    from sim.reference.wakeup import Warp

COPIES = (COPY_IN, COPY_OUT)


class Scheduler:
    """One warp scheduler of one SM."""

    def __init__(self, sm: SM, number: int) -> None:
        self.sm, self.number, self.machine, self.core = sm, number, sm.machine, sm.machine.gpu.core
        self.warps: dict[int, Warp] = {}  # by slot within the scheduler, in the order of the slots
        self.able: set[Warp] = set()  # those that can issue in this cycle: ready, with a port that is free
        self.age = np.zeros(64, np.int64)  # launch order of the warp in each slot
        self.last = ~63  # slot that issued last; ~slot once that warp has ended
        self.interval = Ports(self.machine.env)  # held for the issue interval of the last issue
        self.dispatch = Ports(self.machine.env)  # held that long, or until the lanes are in (core.dispatch = "scheduler")
        self.banks = RegisterBanks(self.core) if self.machine.control and self.core.register_banks else None
        group = self.machine.gpu.warpgroup
        self.beside = ProductPorts(group) if self.banks and group else None
        self.holds: list[tuple[int, str]] = []  # cycles for which those issued together hold the scheduler, with what says so
        self.product_free: Moment | None = None  # when the tensor core may begin another product of a warpgroup
        self.delay = 0  # cycles until the instruction issued last begins to read its registers
        self.standstill, self.yielded = Standstill(), False  # yielded: the instruction issued last yields
        self.fetching = 0  # cycles until the code is there that the warp issued last goes on with
        self.slots = IssueSlots(self.core.issue_width)
        self.policy = stateful(self.core.policy)  # None: it has no state
        self.own, self.rows = (np.zeros(shape, np.int64) for shape in (self.policy.shapes if self.policy else (0, 0)))
        self.held = 0  # cycles in which it has issued nothing, since the last issue, although it could
        if self.policy:
            self.policy.begin(sm.number * self.core.schedulers + number, self.core, self.own, self.rows)

    def admit(self, warp: Warp) -> None:
        """Take in a warp of a block that starts."""
        self.warps = dict(sorted({**self.warps, self._slot(warp): warp}.items()))
        self.age[self._slot(warp)] = warp.age
        self.tell(Hook.START, warp, warp.block.number, len(warp.path))

    def tell(self, hook: Hook, warp: Warp, *told: int) -> None:
        """Tell the policy something of a warp, if it has that hook."""
        self.tell_slot(hook, self._slot(warp), *told)

    def tell_slot(self, hook: Hook, slot: int, *told: int) -> None:
        """The same, of the warp that is or was in a slot."""
        if self.policy and hook in self.policy.functions:
            self.policy.tell(hook, (slot, *told), int(self.machine.env.now), self.own, self.rows, self.age)

    def dismiss(self, warp: Warp) -> None:
        """Forget a warp that has ended."""
        del self.warps[self._slot(warp)]

    def _slot(self, warp: Warp) -> int:
        return self.sm.slot_of(warp) // self.core.schedulers

    def step(self) -> None:
        """Take this cycle's turn. Schedulers before this one have taken theirs, and their ports."""
        # A policy is told in the order of the slots who woke.
        awake = [warp for warp in self.warps.values() if warp.ready or warp.draining or warp.ask()]
        self.machine.account.warp_cycles += len(self.warps)
        if not awake:
            self._account_slots(None)
            return
        self.able = {warp for warp in awake if warp.ready and self.sm.pipes.accept(warp.instruction, self.number)}
        chosen = self._choose()
        for warp in awake:
            self._account_warp(warp, chosen)
        self._account_slots(chosen)
        if chosen is not None:
            self._issue(chosen)

    def _choose(self) -> Warp | None:
        """Return the warp that the policy picks among those that can issue now."""
        if not self.able or not self.dispatch.free:
            return None
        slot = self._pick(sum(1 << slot for slot, warp in self.warps.items() if warp in self.able))
        if slot < 0:
            self._withhold()
            return None
        self.last, self.held = slot, 0
        return self.warps[slot]

    def _pick(self, able: int) -> int:
        """Return the slot that the policy chooses, -1 for none. able: mask of those that can issue now."""
        policy: object = self.core.policy
        if self.policy:
            return self._ask_policy(self.policy, able)
        if isinstance(policy, ScoredPolicy):
            return policy.choose(able, self.last, self.age)
        number = int(Policy[self.core.policy.upper()])
        in_turn = number == Policy.GTYR and (self.yielded or self.sm.pipes.taken_until_now(self.warps.values(), self.number))
        return int(choose(number, np.uint64(able), self.last, self.age, self.core.group_size, in_turn))  # type: ignore[arg-type]

    def _ask_policy(self, policy: HookedPolicy, able: int) -> int:
        """Return what a policy with state chooses."""
        loads = sum(1 << slot for slot, warp in self.warps.items() if able >> slot & 1 and warp.instruction.loads)
        told = signed(able), signed(loads), self.last
        slot = policy.tell(Hook.CHOOSE, told, int(self.machine.env.now), self.own, self.rows, self.age)
        if slot >= 0 and not able >> slot & 1:
            raise policy.failure(Failure.NOT_ELIGIBLE)
        return slot

    def _withhold(self) -> None:
        """Issue nothing: the policy wants it so."""
        self.held += 1
        idle = int(self.machine.env.now) - self.sm.issued
        if self.policy and min(self.held, idle) > self.policy.patience:
            raise self.policy.failure(Failure.HELD)

    def _account_warp(self, warp: Warp, chosen: Warp | None) -> None:
        """Charge the warp's cycle; cycles of a wait are charged when it ends and its cause is known."""
        account = self.machine.account
        if warp.draining:
            account.charge(warp.instruction, warp.leaving)
        elif warp is chosen:
            account.charge(warp.instruction, StallCause.SELECTED)
        elif warp.ready:
            cause, ports = self._kept_back_by(warp, chosen)
            warp.keep(cause, ports)
            account.charge(warp.instruction, cause)

    def _kept_back_by(self, warp: Warp, chosen: Warp | None) -> tuple[StallCause, Ports | None]:
        """Return what a ready warp that was not chosen waited for: the cause, and the ports that were taken; None: the policy."""
        if warp not in self.able:
            return warp.instruction.port_cause, self.sm.pipes.of(warp.instruction, self.number)
        if self.interval.free and not self.dispatch.free:
            return StallCause.DISPATCH_STALL, self.dispatch
        return StallCause.NOT_SELECTED, self.interval if chosen or not self.interval.free else None

    def _held_by(self, warp: Warp) -> StallCause:
        """Return to what an idle slot is charged that a ready warp could have had."""
        if not self.dispatch.free:
            return StallCause.DISPATCH_STALL
        return StallCause.NOT_SELECTED if warp in self.able else warp.instruction.port_cause

    def _account_slots(self, chosen: Warp | None) -> None:
        """Charge the cycle's issue slots; which warp an idle slot waits for is known at the next issue, so every warp makes a note."""
        if not self.interval.free:
            self.slots.charge_issue_interval()
        elif chosen is not None:
            self.slots.charge_idle(chosen)
        else:
            self.slots.note_idle(self.warps.values(), self._held_by)

    def _issue(self, warp: Warp) -> None:
        """Issue the warp's instruction, and its next ones too as far as the machine can and nothing forbids."""
        self.holds.clear()
        issued, empty = [warp.instruction], StallCause.WAIT  # WAIT: the warp has ended, or arrived at a barrier
        self.machine.account.issue_cycles += 1
        self.sm.issued = int(self.machine.env.now)
        goes_on = self._send(warp)
        while goes_on and len(issued) < self.core.issue_width:
            forbids = self._forbids(warp, issued[-1])
            if forbids is not StallCause.SELECTED:
                empty = forbids
                break
            warp.pair()
            issued.append(warp.instruction)
            goes_on = self._send(warp)
        self._hold_dispatch(warp, issued)
        self.slots.charge_issue(len(issued) - 1, empty)
        if goes_on:
            warp.tell_stall()
            self._hold(warp, issued[-1])

    def _send(self, warp: Warp) -> bool:
        """Send the warp's instruction to its pipe and move the warp past it; return whether the warp goes on at once."""
        instruction, issued = warp.instruction, warp.issue()
        self.tell(Hook.ISSUE, warp, instruction.number)
        self.yielded = instruction.yields
        self.delay, late, dispatched = self._read(warp, instruction)
        ports = issued.then(issued.cycle + late, "warpgroup.port_cycles") if late else issued
        self.sm.pipes.hold(instruction, self.number, ports.then(ports.cycle + dispatched, "core.register_banks") if dispatched else ports)
        pending, there = warp.scoreboard.record(instruction), ports
        if warp.lanes and instruction.constant and instruction.constant.late:
            late = self.sm.constants.load(warp)
            there = self.sm.constants.told(issued, issued.cycle + late, None) if late else issued
        if instruction.logged and not (self.sm.lsu and instruction.access):
            warp.next_access += 1  # no load/store unit takes its addresses
        copied = instruction.copies in COPIES and bool(warp.lanes and self.machine.trace.bytes_of_copy(warp.next_access - 1))
        if self.sm.lsu and instruction.copies >= COPY_NEAR and warp.lanes:
            self.sm.lsu.far.use(warp, warp.next_access - 1)
        elif copied and self.sm.lsu:
            self.sm.lsu.copies.start(warp, warp.next_access - 1, pending if instruction.stores_bulk else None)
        if instruction.turn:
            there = self._begin_product(instruction, issued)
            late = there.cycle - issued.cycle
        row = self.machine.account.issue(warp, self, late)
        if pending and self.sm.lsu and instruction.access:
            self.sm.lsu.put(warp, self.number, pending, row)
        elif pending and instruction.stores_bulk and copied:
            if pending.reading:
                warp.scoreboard.settle(pending.reading, issued.then(issued.cycle + instruction.source_read, instruction.source_field))
        elif pending:
            warp.scoreboard.settle(pending, there.then(there.cycle + instruction.latency, instruction.latency_field))
            if pending.reading:
                read = issued.then(issued.cycle + instruction.source_read, instruction.source_field)
                warp.scoreboard.settle(pending.reading, self.product_free if instruction.turn and self.product_free else read)
        self.machine.seen("issue")
        lanes = warp.lanes
        if warp.position + 1 == len(warp.path):
            self.tell(Hook.END, warp)
            warp.block.leave(warp)
            self.last = ~self.last  # whoever gets the slot next is another warp
            return False
        warp.move_to(warp.position + 1)
        self.fetching = self.sm.code.wait(instruction, warp.instruction)
        if instruction.barrier is not None and lanes:  # a BAR that no lane executes holds nobody
            warp.block.barrier(*instruction.barrier).arrive(warp, waits=not instruction.passes)
            return instruction.passes
        if instruction.copies == CLUSTER_WAITS and lanes and self.machine.memory:
            phase = self.machine.memory.phase_of(warp.next_access - 1)
            self.machine.memory.barriers.wait_for_cluster(warp, phase, self.delay + instruction.distance, self.fetching)
            return False
        return True

    def _begin_product(self, instruction: Instruction, issued: Moment) -> Moment:
        """Queue a product of a warpgroup that issues now; return the moment in which the tensor core begins it."""
        ready = issued.then(issued.cycle + instruction.source_read, instruction.source_field)
        begins = latest(ready, self.product_free) if self.product_free else ready
        begins = begins.then(begins.cycle, work=issued.work)
        self.product_free = begins.then(begins.cycle + instruction.turn, "warpgroup.column_cycles")
        if self.beside:
            self.beside.multiply(begins.cycle, begins.cycle + instruction.latency)
        return begins

    def _read(self, warp: Warp, instruction: Instruction) -> tuple[int, int, int]:
        """Let it read its registers; return cycles until it begins, those of them that a product costs, and until its pipe takes it."""
        now, slot, delay, late, dispatched = int(self.machine.env.now), self.sm.slot_of(warp), 0, 0, 0
        if self.banks and instruction.reads:
            delay, dispatched = self.banks.take(instruction, slot, now)
        self.holds += self.standstill.add(delay, instruction.further, warp.work)
        if self.beside and instruction.ported:
            late = self.beside.wait(slot, now + delay)
        return delay + late, late, dispatched

    def _forbids(self, warp: Warp, before: Instruction) -> StallCause:
        """Return SELECTED if the warp's next instruction may issue together with the one before, else what forbids it."""
        constant = self.sm.constants.operand(warp)  # asked for as soon as it is next
        if before.is_branch and (self.core.branch_latency or before.sync or before.indirect):
            return StallCause.BRANCH_RESOLVING
        if not before.pairs:
            return StallCause.WAIT
        if self.fetching or constant:
            return StallCause.NO_INSTRUCTION if self.fetching >= constant else StallCause.IMC_MISS
        missing = warp.scoreboard.last_missing(warp.instruction)
        if missing is not None:
            return missing[0]
        return StallCause.SELECTED if self.sm.pipes.accept(warp.instruction, self.number) else warp.instruction.port_cause

    def _hold_dispatch(self, warp: Warp, issued: list[Instruction]) -> None:
        """Hold the dispatch port for the issue interval, or until the lanes are in where a narrow pipe holds the scheduler."""
        interval = self.core.issue_interval
        holds = [(interval, "core.issue_interval" if interval > 1 else ISSUE_SLOT)]
        if self.core.dispatch == "scheduler":
            holds += [(instruction.port_cycles, f"pipes.{instruction.pipe}.lanes") for instruction in issued]
        holds += self.holds
        cycles, resource = max(holds, key=itemgetter(0))  # max: the first of those as long
        self.interval.hold(warp.issued.then(warp.issued.cycle + interval, holds[0][1]))
        self.dispatch.hold(warp.issued.then(warp.issued.cycle + cycles, resource))

    def _hold(self, warp: Warp, issued: Instruction) -> None:
        """Keep the warp from issuing until the distance between two issues of a warp, or the branch, allows."""
        resolves = issued.is_branch and (not self.machine.control or warp.instruction.number != issued.number + 1)
        constant = self.sm.constants.operand(warp)
        holds = [(self.delay + issued.distance, StallCause.WAIT), (self.core.branch_latency * resolves, StallCause.BRANCH_RESOLVING)]
        longer = issued.sync or issued.indirect * resolves
        if longer:
            holds = [(max(holds, key=itemgetter(0))[0] + longer, StallCause.BRANCH_RESOLVING)]
        if issued.pause[0] and warp.path[warp.position - 1][1]:
            holds.append(issued.pause)
        holds += [(self.fetching, StallCause.NO_INSTRUCTION), (constant, StallCause.IMC_MISS)]
        resource = "core.sync_latency" if issued.sync else "core.indirect_latency" if longer else None
        warp.hold(*max(holds, key=itemgetter(0)), resource)  # max: the first of those that hold it as long
