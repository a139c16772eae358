"""A warp: where it stands in its path, and why it may not issue yet. Its scheduler asks it every cycle.

Conditions for its next instruction, in this order:
  1. nothing holds the warp: its start, the distance to its last issue, a branch, a barrier
  2. no dependence that the instruction reads or writes is busy
  3. under the wake rule all_outstanding, a warp once found waiting for a result has all its results of arithmetic back
  4. under a cap, there is a place for the result of arithmetic among those on their way
A wait has one cause: the condition that was fulfilled last, and the first in this order of those fulfilled together. That is
the first condition still open in the wait's last cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.policies.stateful import LOAD, RESULT, Hook
from sim.reference.clock import Process, after
from sim.reference.counters import DependenceCounters
from sim.reference.moments import ISSUE_SLOT, Moment, Work, latest
from sim.reference.scoreboard import Pending, Scoreboard
from sim.result.causes import StallCause

if TYPE_CHECKING:
    from sim.reference.blocks import Block
    from sim.reference.decode import Instruction
    from sim.reference.issue import Scheduler
    from sim.reference.pipes import Ports

WITHHELD = "core.policy"  # has issued nothing although the warp could
HOLDERS = {
    StallCause.BRANCH_RESOLVING: "core.branch_latency",
    StallCause.NO_INSTRUCTION: "fetch.jump",
    StallCause.MEMBAR: "lsu.fence_latency",
    StallCause.SLEEPING: "the time of a NANOSLEEP",
    StallCause.BARRIER: "clusters.barrier_latency",
}


class Warp:
    """One resident warp."""

    def __init__(self, block: Block, number: int) -> None:
        machine = block.machine
        self.machine, self.env, self.core = machine, machine.env, machine.gpu.core
        self.block, self.number = block, number
        self.index = block.number * machine.trace.launch.warps_per_block + number  # in launch order
        self.age = block.turn * machine.trace.launch.warps_per_block + number  # in the order in which blocks start
        self.standstill = 0  # cycles of its scheduler's standstill up to which its stall count is worked out
        self.path = machine.paths[machine.trace.arrays.warp_path[self.index]]  # (instruction, mask) of each step
        self.move_to(0)
        self.next_access = int(machine.trace.arrays.access_start[self.index])  # of the trace
        self.scoreboard = DependenceCounters(self.env) if machine.control else Scoreboard(self.env, self.core)
        self.ended = self.env.event()  # its last instruction has issued and its results are back
        self.draining = False  # its last instruction has issued
        self.gone = 0  # cycle from which only results and stores keep it then
        self.issued: Moment = block.started  # of its last issue
        self.allowed: Moment = block.started  # from which nothing holds it
        self._wait(StallCause.NO_INSTRUCTION, int(self.env.now))

    def move_to(self, position: int) -> None:
        """Stand before a step of its path."""
        self.position = position
        number, self.mask = self.path[position]  # the lanes that execute it, as a mask of 32 bits
        self.instruction: Instruction = self.machine.program[number]  # the next one to issue; of a draining warp the last one
        self.lanes = self.mask.bit_count()  # how many execute it

    def _wait(self, cause: StallCause, since: int) -> None:
        """Begin a wait that something will have to end (`allow`)."""
        self.held: StallCause | None = cause  # condition 1
        self.held_until: int | None = None  # for views of the machine; None: not yet known
        self.found_waiting = False  # condition 3
        self.blocker: Pending | None = None  # conditions 2 to 4: what it was found waiting for last
        self.kept_by: tuple[StallCause, Ports | None] | None = None  # what kept it back last after it had become ready; None: its policy
        self.ready = False  # only a port or the scheduler's choice keeps it back
        self.cause = cause  # of the present wait, as it looks now
        self.since = since  # first cycle of the wait
        self.eligible = since  # first cycle after it
        self.waited = 0  # cycles of it so far

    def hold(self, cycles: int, cause: StallCause, branch: str | None = None) -> None:
        """Do not issue for so many cycles from now. branch: what makes the last instruction, a branch, take longer than others."""
        now = int(self.env.now)
        self._wait(cause, now + 1)
        self.standstill = self.scheduler.standstill.cycles
        self.held_until = now + cycles
        if cause is StallCause.IMC_MISS:  # the next instruction reads it
            self.allowed = self.block.sm.constants.told(self.issued, now + cycles, self.work)
        else:
            self.allowed = self.issued.then(now + cycles, self._holder(cycles, cause, branch))
        after(self.env, cycles, self.allow)

    def hold_on(self, cycles: int, cause: StallCause) -> None:
        """Hold the warp for so many cycles from now for another cause: its wait goes on."""
        self.held = cause
        after(self.env, cycles, self.allow)

    def _holder(self, cycles: int, cause: StallCause, branch: str | None) -> str:
        """Return what tells for how long the warp is held."""
        if branch and cause is StallCause.BRANCH_RESOLVING:
            return branch
        if cause in HOLDERS:
            return HOLDERS[cause]
        distance = "the stall count of the control word" if self.machine.control else "core.reissue_distance"
        return ISSUE_SLOT if cycles == 1 else distance

    def hold_at_barrier(self) -> None:
        """Do not issue until the barrier opens."""
        self._wait(StallCause.BARRIER, int(self.env.now) + 1)

    def issue(self) -> Moment:
        """Issue the instruction now; return the moment."""
        cause, over = self.why()
        self.kept_by = None
        self.issued = over.then(int(self.env.now), work=self.work)
        self.issued.cause = cause
        self.machine.record.issue(self.issued)
        return self.issued

    def pair(self) -> None:
        """Issue as the second instruction of a pair: there was no wait."""
        self.since = self.eligible = int(self.env.now)
        self.cause = StallCause.WAIT
        self.allowed, self.blocker = self.issued, None

    def allow(self) -> None:
        """Hold the warp no longer."""
        self.held = None

    def blocked_by(self) -> StallCause | None:
        """Return the cause of the first condition still open, None when the warp is ready."""
        if self.held is not None:
            return self.held
        if self.blocker and not self.blocker.is_back:
            return self.cause  # as before: it has issued nothing since that it could wait for
        missing = self.scoreboard.missing(self.instruction)
        if missing is None and self.found_waiting:
            missing = self.scoreboard.last_under_way()
        if missing is not None:
            self.found_waiting, self.blocker = True, missing
            return missing.cause
        if first := self.scoreboard.no_place(self.instruction):
            self.blocker = first
            return StallCause.DISPATCH_STALL
        return None

    def why(self) -> tuple[StallCause, Moment]:
        """Return what the wait before the present issue was for, last of all, and the moment in which that was over."""
        if self.kept_by:
            cause, ports = self.kept_by
            return cause, ports.released if ports else self._withheld()
        return self.cause, self._became_ready()

    def _became_ready(self) -> Moment:
        return self.blocker.at if self.blocker and self.blocker.at else self.allowed

    def _withheld(self) -> Moment:
        """Return the moment `now`, up to which its policy kept it from issuing."""
        freed, now = self.scheduler.interval.freed, int(self.env.now)
        since = latest(self._became_ready(), freed) if freed else self._became_ready()
        return since.then(now, WITHHELD, self.work) if since.cycle < now else since

    def ask(self) -> bool:
        """Find out whether a warp that was not ready is so in this cycle; when it is, its wait has ended and is charged."""
        cause = self.held if self.held is not None else self.blocked_by()
        if cause is not None:
            self.cause = cause
            self.waited += 1
            return False
        if self.cause is StallCause.WAIT and not self.blocker and self._extend_stall_count():
            return False
        self.ready, self.eligible = True, int(self.env.now)
        self.tell(Hook.WAKE, int(self.cause is StallCause.LONG_SCOREBOARD))
        self.machine.account.charge(self.instruction, self.cause, self.waited)
        if self.waited:
            self._waited()
        return True

    def _extend_stall_count(self) -> bool:
        """Return whether its stall count is not over yet: cycles in which its scheduler has stood still do not count."""
        still, now = self.scheduler.standstill, int(self.env.now)
        late = still.cycles - self.standstill
        if not late:
            return False
        self.standstill += late
        self.waited += 1
        self.held_until = now + late
        self.allowed = self.allowed.then(self.held_until, still.why, still.work)
        self.hold_on(late, StallCause.WAIT)
        return True

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler that it belongs to."""
        return self.block.sm.scheduler_of(self)

    def tell(self, hook: Hook, *told: int) -> None:
        """Tell the policy of its scheduler something of it."""
        self.scheduler.tell(hook, self, *told)

    def tell_stall(self) -> None:
        """Tell it that the next instruction needs a result that is not there yet, if it does."""
        if self.scoreboard.missing(self.instruction) is not None:
            self.tell(Hook.STALL, LOAD if self.scoreboard.missing_loads(self.instruction) else RESULT)

    def keep(self, cause: StallCause, ports: Ports | None) -> None:
        """It is ready, but these ports were taken in this cycle. None: its policy let nobody issue."""
        if self.kept_by and self.kept_by[0] is not cause:
            self._waited()
        self.kept_by = cause, ports

    def _waited(self) -> None:
        """Note that the wait for one cause is over, though there is another."""
        now, record = int(self.env.now), self.machine.record
        if record.recording:
            cause, ports = self.kept_by or (self.cause, None)
            over = ports.over(now) if ports else self.why()[1]
            record.wait(over.then(now, work=self.work), cause)

    @property
    def leaving(self) -> StallCause:
        """What it waits for after its last instruction."""
        return StallCause.BRANCH_RESOLVING if int(self.env.now) < self.gone else StallCause.DRAIN

    @property
    def work(self) -> Work:
        """Its next instruction, as somebody's work."""
        return Work(self.block.number, self.number, self.position)

    def drain(self) -> Process:
        """After its last instruction, wait for its results and stores; then it has ended (a SimPy process)."""
        left = list(self.scoreboard.outstanding)
        for pending in left:
            pending.back = self.env.event()
        latency = self.machine.gpu.core.exit_latency
        self.gone = self.issued.cycle + 1 + latency
        yield self.env.all_of([self.env.timeout(1 + latency), *(pending.back for pending in left if pending.back)])
        issued = self.issued.then(self.issued.cycle + 1, ISSUE_SLOT)
        gone = issued.then(self.gone, "core.exit_latency", work=self.issued.work)
        over = latest(gone, *(pending.at for pending in left if pending.at))
        self.end = over.then(over.cycle, work=self.issued.work)
        self.end.cause = StallCause.BRANCH_RESOLVING if latency and over.cycle == self.gone else StallCause.DRAIN
        if latency and over.cycle > self.gone and self.machine.record.recording:
            self.machine.record.wait(gone, StallCause.BRANCH_RESOLVING)
        self.machine.record.finish(self.end)
        self.scheduler.dismiss(self)
        self.ended.succeed()
