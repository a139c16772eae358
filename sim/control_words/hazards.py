"""Follows every path through a program and finds where its control words let an instruction issue too early.

At each point is known, for every result still on its way, the least number of cycles since its producer issued on any path (fixed latency),
and which dependence counters tell of its arrival on every path (variable latency). Paths that meet keep the least cycles and the counters
common to all. A warp may wait longer than its stall counts say; the hazard is that it need not.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from isa.dependences import depbar
from isa.program import Program
from isa.vocabulary import COUNTERS, PREDICATE_BASE, PT, Operation, Unit
from sim.control_words import latency
from sim.control_words.change import UNCHANGED, Change
from sim.control_words.flow import Block, blocks
from sim.control_words.latency import Classes, Latencies

COUNTED_AFTER = 2  # cycles until a counter shows what an instruction adds to it; paper cited in latencies.toml
DEPBAR = "DEPBAR"  # looks at counters later than a wait mask does: listings leave one cycle before it
# With a stall count of 0 these end late: ERRBAR when earlier stores have, in listings the next instruction reads what was just computed;
# USETMAXREG 88 cycles after its issue on an H100, in listings the next instruction waits for its counter.
LATE = ("ERRBAR", "USETMAXREG")


class Hazard(NamedTuple):
    """One dependence that the control words do not keep."""

    kind: str  # "stall", "order", "RAW", "WAW", "WAR", "early"
    producer: int
    consumer: int
    dependence: int  # -1 for "early"
    found: int  # stall, order, early: cycles between them; else -1
    needed: int  # stall, order, early: cycles; else the counter to wait on, -1 when none is set


Tellers = dict[int, int]  # counters that tell of the end of an access -> least number of later uses of each


class State(NamedTuple):
    """What may be under way at one point of a program; keys are (dependence, instruction)."""

    fixed: dict[tuple[int, int], int]  # least cycles since the producer issued
    writes: dict[tuple[int, int], Tellers]
    reads: dict[tuple[int, int], Tellers]
    counted: dict[tuple[int, int], int]  # (counter, instruction that adds to it) -> least cycles since

    def copy(self) -> "State":
        return State(dict(self.fixed), dict(self.writes), dict(self.reads), dict(self.counted))

    def meet(self, other: "State") -> "State":
        """Return what may be under way where two paths meet."""
        fixed, writes, reads, counted = self.copy()
        for ages, others in ((fixed, other.fixed), (counted, other.counted)):
            for key, age in others.items():
                ages[key] = min(age, ages.get(key, age))
        for waiting, there in ((writes, other.writes), (reads, other.reads)):
            for key, theirs in there.items():
                mine = waiting.get(key, theirs)
                waiting[key] = {counter: min(mine[counter], theirs[counter]) for counter in mine.keys() & theirs.keys()}
        return State(fixed, writes, reads, counted)


class Analysis:
    """The states of a program at the start of each block, and the hazards on the way, on a machine of its architecture or a changed one."""

    def __init__(self, program: Program, change: Change = UNCHANGED) -> None:
        if program.control is None:
            raise ValueError("a program without control words")
        self.program, self.control, self.encoded = program, program.control, program.encoded
        self.latencies: Latencies = latency.of(program.architecture)
        self.classes = Classes(program)
        later = dict(change.later)
        self.later = [later.get(Unit(int(unit)), 0) for unit in self.encoded.unit]  # cycles that a result comes later than the tables say
        self.most = self.latencies.longest + max(self.later, default=0)  # cycles after which nothing needs a result of fixed latency
        self.blocks = blocks(program)
        self.reads = [[int(d) for d in row if d >= 0] for row in self.encoded.reads]
        self.writes = [[int(d) for d in row if d >= 0] for row in self.encoded.writes]
        self.never = frozenset(np.flatnonzero((self.encoded.guard == PT) & (self.encoded.guard_not == 1)).tolist())  # @!PT
        self.names = [instruction.opcode.split(".")[0] for instruction in program.instructions]
        self.bars = frozenset(np.flatnonzero(self.encoded.operation == Operation.BAR).tolist())
        self.depbars = [
            depbar(one.text) if name == DEPBAR else (set(), None) for one, name in zip(program.instructions, self.names, strict=True)
        ]
        self.cycles = [self._cycles(i) for i in range(len(program))]
        self.queues = [self.classes.queue(i) for i in range(len(program))]
        self.ports = [self.classes.port(i) for i in range(len(program))]
        self.variable = frozenset(i for i in range(len(program)) if self._is_variable(i))
        self.found: dict[Hazard, None] = {}
        self.states = self.solve()

    def solve(self) -> list[State | None]:
        """Return the state at the start of each block; None where no path leads."""
        states: list[State | None] = [None] * len(self.blocks)
        states[0] = State({}, {}, {}, {})
        waiting = [0]
        while waiting:
            number = waiting.pop(0)
            entry = states[number]
            assert entry is not None
            after = self._through(self.blocks[number], entry)
            for following in self.blocks[number].following:
                old = states[following]
                new = after if old is None else old.meet(after)
                if new != old:
                    states[following] = new
                    if following not in waiting:
                        waiting.append(following)
        return states

    def hazards(self) -> list[Hazard]:
        """Return what goes wrong, in the order of the listing, each once."""
        self.found = {}
        for block, entry in zip(self.blocks, self.states, strict=True):
            if entry is not None:
                self._through(block, entry, is_noting=True)
        return sorted(self.found, key=lambda hazard: (hazard.consumer, hazard.producer, hazard.dependence))

    def _through(self, block: Block, entry: State, is_noting: bool = False) -> State:
        """Return the state at the end of a block."""
        state = entry.copy()
        for i in range(block.start, block.end):
            if i not in self.never:
                early = self.wait(state, i)
                if is_noting:
                    self.found |= dict.fromkeys([*early, *self.hazards_at(state, i)])
                self.issue(state, i)
            self.advance(state, i)
        return state

    def advance(self, state: State, i: int) -> None:
        """Let the stall count of instruction i pass."""
        for ages, longest in ((state.fixed, self.most), (state.counted, COUNTED_AFTER)):
            for key, age in list(ages.items()):
                if age + self.cycles[i] >= longest:
                    del ages[key]
                else:
                    ages[key] = age + self.cycles[i]

    def wait(self, state: State, i: int) -> list[Hazard]:
        """Forget what the counters that instruction i waits on announce; return those that do not yet count what they should."""
        drained, partial = self._waits(i)
        if not drained and not partial:
            return []
        for waiting in (state.writes, state.reads):
            for key, tellers in list(waiting.items()):
                if tellers.keys() & drained or (partial and tellers.get(partial[0], -1) >= partial[1]):
                    del waiting[key]
        late = set() if self.names[i] == DEPBAR else drained
        return [
            Hazard("early", producer, i, -1, age, COUNTED_AFTER) for (counter, producer), age in state.counted.items() if counter in late
        ]

    def waits(self, i: int) -> bool:
        """Return True for an instruction that waits on a counter."""
        drained, partial = self._waits(i)
        return bool(drained or partial)

    def _waits(self, i: int) -> tuple[set[int], tuple[int, int] | None]:
        """Return the counters that are zero when instruction i issues, and (counter, most) of DEPBAR.LE."""
        mask = int(self.control.wait_mask[i])
        drained = {counter for counter in range(COUNTERS) if mask >> counter & 1} if mask else set()
        if self.encoded.guard[i] != PT:  # a DEPBAR that may not be executed
            return drained, None
        named, partial = self.depbars[i]
        return drained | named, partial

    def hazards_at(self, state: State, i: int) -> Iterator[Hazard]:
        """Yield what instruction i would get wrong if it issued now."""
        reads, writes = frozenset(self.reads[i]), frozenset(self.writes[i])
        for (dependence, producer), age in state.fixed.items():
            if dependence not in reads | writes or self._exclude_each_other(producer, i):
                continue
            needed = self.needed(producer, i, dependence) if dependence in reads else None
            if needed is not None and age < needed:
                yield Hazard("stall", producer, i, dependence, age, needed)
            elif dependence in writes and age < self.needed_between(producer, i, dependence):
                yield Hazard("order", producer, i, dependence, age, self.needed_between(producer, i, dependence))
        for kind, waiting, touching in (("RAW", state.writes, reads), ("WAW", state.writes, writes), ("WAR", state.reads, writes)):
            for (dependence, producer), tellers in waiting.items():
                if dependence not in touching or (kind != "RAW" and self._same_port(producer, i)) or self._exclude_each_other(producer, i):
                    continue
                yield Hazard(kind, producer, i, dependence, -1, min(tellers, default=-1))

    def needed(self, producer: int, consumer: int, dependence: int) -> int | None:
        """Return how many cycles must pass between two instructions, None where nothing is known."""
        row = self.latencies.tables.get(latency.file_of(dependence), {}).get(self.classes.produced(producer, dependence), {})
        cycles = row.get(self.classes.consumed(consumer, dependence))
        return None if cycles is None else max(cycles + self.later[producer], 1)

    def needed_between(self, first: int, second: int, dependence: int) -> int:
        """Return how many cycles must pass between two writes of one register for the second to stay."""
        row = self.latencies.tables["overwrite"].get(self.classes.produced(first, dependence), {})
        apart = row.get(self.classes.produced(second, dependence), 0) + self.later[first]
        return max(apart - (0 if second in self.variable else self.later[second]), 0)

    def longest(self, producer: int, dependence: int) -> int:
        """Return the most cycles that any consumer of a result needs."""
        row = self.latencies.tables.get(latency.file_of(dependence), {}).get(self.classes.produced(producer, dependence), {})
        return max((max(cycles + self.later[producer], 1) for cycles in row.values()), default=0)

    def _same_port(self, first: int, second: int) -> bool:
        """Return True when both take their sources at one port, in order, so before a result of the second is written."""
        is_queued = {first, second} <= self.variable or self.classes.names[first] == self.classes.names[second]
        return is_queued and self.ports[first] == self.ports[second]

    def _exclude_each_other(self, first: int, second: int) -> bool:
        """Return True for the guards @P and @!P of one value of P: no lane executes both."""
        guard, inverted = self.encoded.guard, self.encoded.guard_not
        if guard[first] == PT or guard[first] != guard[second] or inverted[first] == inverted[second]:
            return False
        low, high = sorted((first, second))
        predicate = latency.guard(guard[first])
        return not any(predicate in self.writes[i] for i in range(low, high))

    def issue(self, state: State, i: int) -> None:
        """Add what instruction i sets going."""
        if i in self.bars:  # reached when earlier accesses to shared memory have taken their sources
            for key in [key for key in state.reads if self.queues[key[1]] == "shared"]:
                del state.reads[key]
        is_variable = i in self.variable
        write, read = int(self.control.write_barrier[i]), int(self.control.read_barrier[i])
        own = {counter for counter in (write, read) if counter >= 0}
        self._tell_of_earlier(state, i, write, own)
        if self.encoded.guard[i] == PT:
            for parts in (state.fixed, state.writes):
                for key in [key for key in parts if key[0] in self.writes[i]]:
                    del parts[key]
        for dependence in self.writes[i]:
            if not latency.file_of(dependence):  # a convergence barrier
                continue
            if is_variable and not (write < 0 and self._is_coupled(i, dependence)):
                teller = read if write < 0 and self._says_where(i, dependence) else write
                state.writes[dependence, i] = {teller: 0} if teller >= 0 else {}
            else:
                state.fixed[dependence, i] = 0
        if is_variable:
            for dependence in self.reads[i]:
                if dependence < PREDICATE_BASE:
                    state.reads[dependence, i] = dict.fromkeys(own, 0)
        for counter in own:
            state.counted[counter, i] = 0

    def _tell_of_earlier(self, state: State, i: int, write: int, own: set[int]) -> None:
        """Note that the end of instruction i tells of the end of what went before it in the same queue."""
        if not own:
            return
        queue, port = self.queues[i], self.ports[i]
        for key, tellers in state.writes.items():
            more = {counter: younger + (counter in own) for counter, younger in tellers.items()}
            if write >= 0 and queue in self.latencies.in_order and self.queues[key[1]] == queue:
                more.setdefault(write, 0)
            state.writes[key] = more
        for key, tellers in state.reads.items():
            more = {counter: younger + (counter in own) for counter, younger in tellers.items()}
            if self.ports[key[1]] == port:
                more = dict.fromkeys(own, 0) | more
            state.reads[key] = more

    def _cycles(self, i: int) -> int:
        """Return how many cycles at least pass from instruction i to the next."""
        stall = int(self.control.stall[i])
        if self.names[i] in LATE and not stall:
            return self.most
        return stall if self.control.dual[i] else max(stall, 1)

    def _says_where(self, i: int, dependence: int) -> bool:
        """Return True for the predicate of a generic atomic: whether its address is global is known when its sources are taken."""
        return bool(self.encoded.operation[i] == Operation.ATOM and dependence >= PREDICATE_BASE)

    def _is_coupled(self, i: int, dependence: int) -> bool:
        """Return True for a register whose result stall counts can wait for: Turing's products have a counter or do without."""
        return dependence < PREDICATE_BASE and self.classes.names[i] not in self.latencies.variable | {"none"}

    def _is_variable(self, i: int) -> bool:
        """Return True for an instruction whose end a dependence counter announces."""
        if self.control.write_barrier[i] >= 0 or self.control.read_barrier[i] >= 0:
            return True
        return self.classes.names[i] in self.latencies.variable and self.encoded.operation[i] not in (Operation.BAR, Operation.BRX)
