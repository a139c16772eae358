"""`schedule`: control words for a listing that has none, as a compiler would lay them down. The order of instructions stays.

Starts with the least of everything and repairs what `hazards` finds, until it finds nothing: so what comes out is clean by the rules of
lint, and no better than these.
"""

import dataclasses
import heapq

import numpy as np

from isa.dependences import word_slots
from isa.errors import UserError
from isa.program import Control, Encoded, Program
from isa.vocabulary import RZ, Kind, Unit
from sim.control_words import counters, latency
from sim.control_words.change import UNCHANGED, Change
from sim.control_words.flow import Block, blocks
from sim.control_words.hazards import Analysis, Hazard, State

RACES = ("RAW", "WAW", "WAR")
YIELD_FROM = 3  # stall counts from which on compilers mostly offer the turn to another warp; from 12 on they must


def schedule(program: Program, architecture: str = "", change: Change = UNCHANGED) -> Program:
    """Return a program with control words for an architecture such as "sm_90", by default its own; those that it has are not read.

    change: by how much the machine differs from those of that architecture; then stall counts may be longer than a word can hold, and
    instructions may issue together where no word can say so.
    Raises UserError for an architecture whose latencies are not known (Kepler and older do without).
    """
    architecture = architecture or program.architecture
    found = latency.of(architecture)
    readers: set[int] = set()
    while True:
        bare = dataclasses.replace(program, architecture=architecture, control=_least(program, found, change))
        repair = _Repair(bare, readers, change)
        repair.run()
        if repair.readers <= readers:
            return _finished(bare, repair)
        readers |= repair.readers


def check_sayable(program: Program) -> None:
    """Raise UserError when a stall count of a program is more than a control word can say: results of matrix products take so long."""
    assert program.control is not None
    for instruction, stall in zip(program.instructions, program.control.stall.tolist(), strict=True):
        if stall > latency.MOST_STALL:
            message = f"{instruction.opcode} must stall {stall} cycles; a control word says {latency.MOST_STALL}"
            raise UserError(message, path=program.path, line=instruction.line, hint="put an independent instruction, or NOP, behind it")


def _least(program: Program, latencies: latency.Latencies, change: Change) -> Control:
    """Return control words that wait for nothing; an instruction that may issue together with the next one stalls 0 cycles."""
    n = len(program)
    least = [max(latencies.least.get(instruction.opcode.split(".")[0], 1), change.least) for instruction in program.instructions]
    none, zeros = np.full(n, -1, np.int8), np.zeros(n, np.uint8)
    dual = _together(program, least, change)
    stall = np.where(dual, 0, least).astype(np.int8 if change == UNCHANGED else np.int32)
    return Control(stall, zeros, none, none.copy(), zeros.copy(), zeros.copy(), dual)


def _together(program: Program, least: list[int], change: Change) -> np.ndarray:
    """Return uint8 [n]: 1 = may issue together with the next instruction, as far as units say and the issue width lets."""
    dual = np.zeros(len(program), np.uint8)
    units = [Unit(int(unit)) for unit in program.encoded.unit]
    for block in blocks(program) if change.pairs else ():
        together = 1  # instructions so far, of those that issue with instruction i
        for i in range(block.start, block.end - 1):
            dual[i] = least[i] == 1 and together < change.width and (units[i], units[i + 1]) in change.pairs
            together = together + 1 if dual[i] else 1
    return dual


class _Repair(Analysis):
    """An analysis that mends what it finds."""

    def __init__(self, program: Program, readers: set[int], change: Change) -> None:
        self.readers = set(readers)  # accesses that need a read counter
        self.slower = dict(change.slower)
        super().__init__(program, change)

    def run(self) -> None:
        """Assign counters, then waits and stall counts until no hazard is left."""
        counters.assign(self, self.readers)
        self.ends = counters.Ends(self)
        for block in self.blocks:
            self._pace(block)
        self.is_changed = True
        while self.is_changed:
            self.is_changed = False
            self._mend()

    def _mend(self) -> None:
        """Mend each block with what is known to come into it, the earlier of the listing first, until nothing more comes into any."""
        self.states = [None] * len(self.blocks)
        self.states[0] = State({}, {}, {}, {})
        waiting = [0]
        while waiting:
            number = heapq.heappop(waiting)
            after = self._mend_block(number)
            for following in self.blocks[number].following:
                old = self.states[following]
                new = after if old is None else old.meet(after)
                if new != old:
                    self.states[following] = new
                    if following not in waiting:
                        heapq.heappush(waiting, following)

    def _pace(self, block: Block) -> None:
        """Keep the instructions of one pipe as far apart as the pipe takes."""
        free: dict[str, int] = {}
        now = 0
        for i in range(block.start, block.end):
            pipe = self.classes.pipe(i)
            late = free.get(pipe, 0) - now
            if late > 0:
                self._stall(i - 1, late)
                now += late
            free[pipe] = now + max(self.latencies.pace.get(pipe, 1) + self.slower.get(Unit(int(self.encoded.unit[i])), 0), 1)
            now += self.cycles[i]

    def _stall(self, i: int, cycles: int) -> None:
        """Let instruction i stall so many cycles more."""
        self.control.stall[i] += cycles
        self.cycles[i] += cycles
        if self.cycles[i]:
            self.control.dual[i] = 0

    def _mend_block(self, number: int) -> State:
        """Mend one block; return the state behind it."""
        block, entry = self.blocks[number], self.states[number]
        assert entry is not None
        state = entry.copy()
        for i in range(block.start, block.end):
            if i not in self.never:
                missing = [*self.wait(state, i), *self.hazards_at(state, i)]
                while waits := [hazard for hazard in missing if hazard.kind in RACES]:
                    if not self._wait_for(i, waits):
                        break
                    missing = [hazard for hazard in missing if hazard.kind not in RACES]
                    missing += [*self.wait(state, i), *self.hazards_at(state, i)]
                late = [hazard for hazard in missing if hazard.kind not in RACES and hazard.needed > hazard.found]
                if late:
                    worst = max(late, key=lambda hazard: hazard.needed - hazard.found)
                    self._delay(number, i, worst.needed - worst.found, worst.producer, state)
                self.issue(state, i)
            self.advance(state, i)
        return state

    def needed(self, producer: int, consumer: int, dependence: int) -> int:
        """Return how many cycles must pass between two instructions: where nothing is known, the most that one stall count says."""
        known = super().needed(producer, consumer, dependence)
        return self.most - self.latencies.longest + self.latencies.careful if known is None else known

    def _wait_for(self, i: int, waits: list[Hazard]) -> bool:
        """Let instruction i wait for accesses; return False when none of them has a counter yet."""
        mask = int(self.control.wait_mask[i])
        for hazard in waits:
            producer = hazard.producer
            if hazard.kind == "WAR" and self._is_read_first(producer, i):
                self.readers.add(producer)
            if hazard.needed >= 0:
                own = self.control.read_barrier if hazard.kind == "WAR" else self.control.write_barrier
                mask |= 1 << (int(own[producer]) if own[producer] >= 0 else hazard.needed)
        is_new = mask != self.control.wait_mask[i]
        self.control.wait_mask[i] = mask
        self.is_changed |= is_new
        return is_new

    def _is_read_first(self, producer: int, i: int) -> bool:
        """Return True when a source is overwritten before the result is needed, or there is no result."""
        return not self.writes[producer] or (producer < i < self.ends.of_writes(producer))

    def _delay(self, number: int, i: int, cycles: int, producer: int, state: State) -> None:
        """Let so many more cycles pass between a producer and instruction i: just before i, as far as a stall count can say.

        A block that is its own loop comes back later than from outside: its end is delayed only for what it makes itself.
        """
        self.is_changed = True
        first, end = self.blocks[number].start, self.blocks[number].end
        before = [i - 1] if i > first else [block.end - 1 for block in self.blocks if number in block.following]
        if i == first and len(before) > 1 and not first <= producer < end:
            before = [j for j in before if j != end - 1]
        left = cycles
        for j in range(i - 1, producer - 1, -1) if first <= producer < i else ():
            more = min(left, max(latency.MOST_STALL - self.cycles[j], 0))
            self._stall(j, more)
            left -= more
        for j in before:  # of several, some may stall long enough already
            self._stall(j, min(left, max(self.most - self.cycles[j], 0)))
        entry = self.states[number]
        assert entry is not None
        late = (state, entry) if i == first else (state,)
        for ages in (ages for each in late for ages in (each.fixed, each.counted)):
            for key in ages:
                ages[key] += cycles


def _finished(program: Program, repair: _Repair) -> Program:
    """Return the program with what follows from its stall counts and operands: yield and reuse."""
    stall = repair.control.stall
    control = repair.control._replace(yield_=(stall >= YIELD_FROM).astype(np.uint8), reuse=_reuse(repair))
    return dataclasses.replace(program, control=control)


def _reuse(analysis: Analysis) -> np.ndarray:
    """Return uint8 [n]: the source slots whose register the next instruction of the block reads in the same slot."""
    encoded, names = analysis.encoded, analysis.classes.names
    reuse = np.zeros(len(names), np.uint8)
    for block in analysis.blocks:
        for i in range(block.start, block.end - 1):
            if not {names[i], names[i + 1]} <= {"alu", "fma"}:
                continue
            here, there = _slots(encoded, i), _slots(encoded, i + 1)
            kept = [slot for slot, register in here.items() if there.get(slot) == register and register not in analysis.writes[i]]
            reuse[i] = sum(1 << slot for slot in kept)
    return reuse


def _slots(encoded: Encoded, i: int) -> dict[int, int]:
    """Return the register in each slot of the operand cache."""
    kinds, values = encoded.source_kind[i].tolist(), encoded.source_value[i]
    fields = word_slots(int(encoded.operation[i]), kinds)
    return {fields[slot]: int(values[slot]) for slot in range(3) if kinds[slot] == Kind.REGISTER and values[slot] < RZ}
