"""The closed account: every warp-cycle and every issue slot is charged to exactly one cause, in the cycle it happens.

Two causes are known only later, and are noted until then: that of a wait (when it ends), and that of an idle issue slot, which
is charged to the wait of the warp that issues next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from sim.result.causes import CAUSES, SLOT_CAUSES, SlotCause, StallCause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sim.reference.decode import Instruction
    from sim.reference.issue import Scheduler
    from sim.reference.wakeup import Warp


class Account:
    """Where the warp-cycles went, what was issued, and the timeline."""

    def __init__(self, instructions: int, timeline: tuple[int, int] | None) -> None:
        self.stalls = [[0] * CAUSES for _ in range(instructions)]
        self.issues = [0] * instructions
        self.requests: Counter[str] = Counter()  # global loads and stores executed by at least one lane
        self.warp_cycles = 0
        self.issue_cycles = 0  # scheduler-cycles with an issue
        self.window = timeline  # first and last cycle of the timeline
        self.rows: list[list[int]] = []  # the columns of Timeline
        self.clock_reads: list[tuple[int, ...]] = []  # cycle, block, warp, instruction

    def charge(self, instruction: Instruction, cause: StallCause, cycles: int = 1) -> None:
        """Charge warp-cycles to the instruction that waits or issues."""
        self.stalls[instruction.number][cause] += cycles

    def issue(self, warp: Warp, scheduler: Scheduler, late: int) -> list[int] | None:
        """Note that the warp issues its instruction now; return its row of the timeline, if it has one. late: cycles until its constant."""
        instruction, now = warp.instruction, int(warp.env.now)
        self.issues[instruction.number] += 1
        if instruction.request and warp.lanes:
            self.requests[instruction.request] += 1
        if instruction.is_clock:
            self.clock_reads.append((now, warp.block.number, warp.number, instruction.number))
        if self.window and self.window[0] <= now <= self.window[1]:
            place = (now, scheduler.sm.number, scheduler.number, warp.block.number, warp.number, instruction.number, warp.lanes)
            dispatched = now + max(instruction.port_cycles, 1)
            ready = (
                now + late + instruction.latency if instruction.writes or instruction.turn else dispatched
            )  # of a load: until it is known
            self.rows.append([*place, dispatched, ready, warp.since, warp.eligible, warp.cause])
            return self.rows[-1]
        return None


class IssueSlots:
    """Where the issue slots of one scheduler went."""

    def __init__(self, width: int) -> None:
        self.width = width  # slots per cycle
        self.counts = [0] * SLOT_CAUSES
        self.further = 0  # instructions issued together with the last issue's first
        self.empty = StallCause.WAIT  # what kept its other slots empty
        self.idle = 0  # cycles without an issue since then
        self.notes: dict[Warp, Counter[StallCause | None]] = defaultdict(Counter)  # what each warp did in them; None: it waited

    def charge_issue(self, further: int, empty: StallCause) -> None:
        """Charge the slots of a cycle with an issue. further: instructions beside the first; empty: what kept other slots empty."""
        self.further, self.empty = further, empty
        self.charge_issue_interval()

    def charge_issue_interval(self) -> None:
        """Charge the slots of a cycle within the issue interval as those of the issue."""
        self.counts[StallCause.SELECTED] += 1 + self.further
        self.counts[self.empty] += self.width - 1 - self.further

    def note_idle(self, warps: Iterable[Warp], held_by: Callable[[Warp], StallCause]) -> None:
        """Note for every warp what it did in an idle cycle. held_by: what kept a ready one."""
        self.idle += 1
        for warp in warps:
            self.notes[warp][held_by(warp) if warp.ready else None] += 1

    def charge_idle(self, chosen: Warp) -> None:
        """Charge the idle cycles before this issue to what the chosen warp did in them."""
        notes = self.notes.pop(chosen, Counter())
        for cause, cycles in notes.items():
            self.counts[chosen.cause if cause is None else cause] += cycles * self.width
        self.counts[SlotCause.NO_WARP] += (self.idle - notes.total()) * self.width
        self.idle = 0
        self.notes.clear()

    def close(self) -> list[int]:
        """Charge the cycles after the last issue; return the counts per cause."""
        self.counts[SlotCause.TAIL] += self.idle * self.width
        self.idle = 0
        return self.counts
