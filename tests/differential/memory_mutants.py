"""Bugs seeded in the memory hierarchy of either engine.

REFERENCE: as `reference_mutants.MUTANTS`. TABLES: what is changed in the numbers that `sim.lowering.core` gives the Numba engine.
CODE: as `numba_mutants.CODE`, for the uncompiled Numba engine.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sim.gpus.path import TICKS, cycles
from sim.lowering.memory import Hierarchy, joined_place
from sim.reference.dispatcher import BlockScheduler
from sim.reference.memory import banks, coalescer, l2
from sim.reference.memory.access import Access
from sim.reference.memory.fills import Fills
from sim.reference.memory.issue_queue import Queue
from sim.reference.memory.l1 import L1, Line
from sim.reference.memory.l2 import Slice
from sim.reference.memory.leaving import Leaving
from sim.reference.memory.network import RequestPort
from sim.reference.memory.request_coalescer import Read, RequestCoalescer
from sim.reference.memory.system import MemorySystem
from sim.reference.memory.write_combining import WriteCombiningBuffer
from sim.reference.moments import Moment
from sim.timing.memory import write_combining
from sim.timing.memory.banks import fewest

Right = Callable[..., Any]


def with_number(name: str, value: int) -> Callable[[Right], Right]:
    """Change a number that the load/store units read."""

    def mutate(right: Right) -> Right:
        def init(self: MemorySystem, *arguments: Any) -> None:
            right(self, *arguments)
            self.numbers = self.numbers._replace(**{name: np.int64(value)})

        return init

    return mutate


def youngest_goes(right: Right) -> Right:
    def allocate(self: L1, number: int) -> Any:
        lines = self._set_of(number)
        for other in reversed(list(lines)):
            lines.move_to_end(other)
        return right(self, number)

    return allocate


def copied_at_once(right: Right) -> Right:
    def copied(self: Slice, packet: Any, line: l2.Line, there: Moment) -> tuple[Moment, int]:
        found, moved = right(self, packet, line, there)
        return (found if moved else there), moved

    return copied


def copied_alone(right: Right) -> Right:
    def copied(self: Slice, packet: Any, line: l2.Line, there: Moment) -> tuple[Moment, int]:
        before = line.copied.keys() | packet.sectors
        found = right(self, packet, line, there)
        line.copied = {sector: moment for sector, moment in line.copied.items() if sector in before}
        return found

    return copied


def no_rotation(right: Right) -> Right:
    def step(self: MemorySystem) -> None:
        for sm in self.machine.sms:
            if sm.lsu:
                sm.lsu.requests.enter_l2()

    return step


def never_blocked(right: Right) -> Right:
    def enter_l2(self: RequestPort) -> None:
        right(self)
        self.blocked = False

    return enter_l2


def joins_nobody(right: Right) -> Right:
    def find(self: L1, number: int) -> Any:
        line = right(self, number)
        return None if line and line.pending else line

    return find


def whole_cycles_between_blocks(right: Right) -> Right:
    def keep_interval(self: BlockScheduler, now: int) -> None:
        right(self, now)
        self.due = cycles(self.due) * TICKS

    return keep_interval


def newest_line_leaves(right: Right) -> Right:
    def put(self: WriteCombiningBuffer, packet: Any, cycle: int) -> None:
        if len(self.lines) == self.places and packet.line not in self.lines:
            self.lines = dict(reversed(self.lines.items()))
        right(self, packet, cycle)

    return put


def answers_later(right: Right) -> Right:
    def serve(self: Slice, packet: Any, leave: Callable[[Moment], None]) -> Any:
        return right(self, packet, lambda leaves: leave(leaves.then(leaves.cycle + 1)))

    return serve


def joins_any_gpc(right: Right) -> Right:
    def join(self: RequestCoalescer, packet: Any, line: Any) -> Read | None:
        gpcs, own = self.memory.gpcs, self.memory.gpcs[packet.sm]
        joined = None
        for gpc in set(gpcs):
            gpcs[packet.sm] = gpc
            joined = joined or right(self, packet, line)
        gpcs[packet.sm] = own
        return joined

    return join


def never_over(right: Right) -> Right:
    def note(self: RequestCoalescer, packet: Any, line: Any, *rest: Any) -> None:
        right(self, packet, line, *rest)
        self.reads[joined_place(packet.line, self.memory.gpcs[packet.sm])].until += 1 << 40

    return note


def without(name: str) -> Callable[[Right], Right]:
    """Expect fills of which a number of sectors is none."""

    def mutate(right: Right) -> Right:
        return lambda self, fill: right(self, replace(fill, **{name: 0}))

    return mutate


def any_lines(right: Right) -> Right:
    """Return a rule without banks of tags."""
    return lambda self, lines: [k // self.tag_banks for k in range(len(lines))]


REFERENCE: dict[str, tuple[Any, str, Callable[[Right], Right]]] = {
    "a load does not join the fetch of another": (L1, "find", joins_nobody),
    "L1 evicts first in, first out": (L1, "find", lambda right: lambda self, number: self._set_of(number).get(number)),
    "L1 evicts the line used last": (L1, "allocate", youngest_goes),
    "a load of a sector written in part keeps its line": (Line, "has_part_of", lambda right: lambda self, sector: False),
    "an L2 hit takes one cycle more": (Slice, "serve", answers_later),
    "bank conflicts missed": (banks, "passes", lambda right: lambda rule, at, width, atomic: min(right(rule, at, width, atomic), 1)),
    "lanes of an atomic share a row": (banks, "passes", lambda right: lambda rule, at, width, atomic: right(rule, at, width, False)),
    "queues of the load/store unit one deeper": (Queue, "__init__", lambda right: lambda self, sm, depth: right(self, sm, depth + 1)),
    "L1 has room for the data of all its tags": (L1, "_take_room", lambda right: lambda self: True),
    "any lines of L1 are looked up at once": (L1, "turns", any_lines),
    "loads that waited read all lines at once": (Access, "_passes_of_turns", lambda right: lambda self, addresses: 0),
    "write-back lost": (Slice, "_write_back", lambda right: lambda self, line, queue: None),
    "loads of all GPCs join": (RequestCoalescer, "join", joins_any_gpc),
    "a read may be joined for ever": (RequestCoalescer, "note", never_over),
    "a copy of the other part's is there at once": (Slice, "_copied", copied_at_once),
    "the other part sends sectors one by one": (Slice, "_copied", copied_alone),
    "loads go to the slice that keeps their line": (Slice, "other", lambda right: property(lambda self: self)),
    "what DRAM sends takes no port of L2": (Fills, "expect", without("fetched")),
    "a sector written in part counts as written whole": (l2, "whole_sectors", lambda right: lambda words: {word // 8 for word in words}),
    "the first SM always goes first": (MemorySystem, "step", no_rotation),
    "answers of one cycle in reverse": (MemorySystem, "next_answer", lambda right: lambda self: -right(self)),
    "a full L2 queue holds nobody back": (RequestPort, "enter_l2", never_blocked),
    "replay ignored": (MemorySystem, "__init__", with_number("replay", 1)),
    "word_cycles ignored": (MemorySystem, "__init__", with_number("word_cycles", 0)),
    "the shared unit takes one instruction per cycle": (MemorySystem, "__init__", with_number("interval", 1)),
    "an atomic is a packet for each of its sectors": (
        coalescer,
        "packets",
        lambda right: lambda at, requests: [len(request.sectors) for request in requests],
    ),
    "segments do not shrink": (coalescer, "shrink", lambda right: lambda segment, used: set(segment)),
    "half-warps never in order": (coalescer, "by_order", lambda right: lambda at, width: right({**at, min(at): at[min(at)] ^ 64}, width)),
    "a store is over when it is taken": (Access, "stored_at", lambda right: lambda self, at: right(self, at.then(self.taken.cycle + 1))),
    "the newest of the lines kept of stores leaves": (WriteCombiningBuffer, "put", newest_line_leaves),
    "lines that leave L1 take stores in": (Leaving, "write", lambda right: lambda self, line, words, access, k: None),
    "lines kept of stores outlive their block": (WriteCombiningBuffer, "release", lambda right: lambda self, block, moment: None),
    "start interval rounded up": (BlockScheduler, "_keep_interval", whole_cycles_between_blocks),
}

TABLES: dict[str, Callable[[Hierarchy], dict[str, Any]]] = {
    "L2 latency one cycle shorter": lambda mh: {"l2_latency": mh.l2_latency - 1},
    "all slices are equally far": lambda mh: {"across": np.int64(0)},
    "DRAM latency one cycle longer": lambda mh: {"dram_latency": mh.dram_latency + 1},
    "L1 latency one cycle longer": lambda mh: {"l1_latency": mh.l1_latency + 1},
    "queues of the load/store unit one shallower": lambda mh: {"depth": max(mh.depth - 1, np.int64(1))},
    "queues of L2 and DRAM one deeper": lambda mh: {"slice_depth": mh.slice_depth + 1},
    "word_cycles ignored": lambda mh: {"word_cycles": np.int64(0)},
    "replay ignored": lambda mh: {"replay": np.int64(1)},
    "loads from L1 never pass over banks": lambda mh: {"tags": np.int64(0)},
    "further passes over shared memory take no longer": lambda mh: {"shared_pass_latency": np.int64(0)},
    "further passes over L1 take no longer": lambda mh: {"pass_latency": np.int64(0)},
    "L1 always fetches sectors": lambda mh: {"l1_fetch": np.int64(32)},
    "stores always allocate in L1": lambda mh: {"l1_stores": np.int64(0)},
    "atomics on one word cost no more": lambda mh: {"atomic_ticks": np.int64(0)},
    "DRAM fetches single sectors": lambda mh: {"access_sectors": np.int64(1)},
    "requests have no header": lambda mh: {"request_ticks": np.int64(0)},
    "L2 always cold": lambda mh: {"l2_start": np.int64(0)},
}


def first_place(first: int, mh: Any, memory: Any) -> int:
    """Evict whatever is in the first place of the set."""
    return int(first)


def later_first(m: int, a: int, b: int, memory: Any) -> bool:
    """Take the answers that reach an SM together in the wrong order."""
    one, other = memory.responses[m, a], memory.responses[m, b]
    return bool(one.time < other.time or (one.time == other.time and one.sequence > other.sequence))


def no_conflicts(access: int, mask: int, width: int, atomic: bool, mh: Any, rows: Any, count: Any, trace: Any) -> int:
    return int(fewest(mask, width, mh))


def newest_leaves(m: int, k: int, start: int, mh: Any, memory: Any) -> None:
    """Let the newest line go where the oldest has to."""
    LEAVE(m, memory.units[m].kept - 1 if memory.units[m].kept == mh.store_lines else k, start, mh, memory)


def newest_gives_up(m: int, mh: Any, memory: Any) -> int:
    """Let the line used last give its data up."""
    taken = [place for place, line in enumerate(memory.lines[m]) if line.tag]
    return max(taken, key=lambda place: memory.lines[m, place].used)


LEAVE = write_combining.leave
CODE: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "the newest of the lines kept of stores leaves": ("sim.timing.memory.write_combining", "leave", newest_leaves),
    "lines kept of stores outlive their block": ("sim.timing.memory.lsu", "release", lambda m, block, start, mh, memory: None),
    "a line that is invalidated is still found": ("sim.timing.memory.l1", "invalidate", lambda m, place, memory: None),
    "the line of L1 used last gives its data up": ("sim.timing.memory.l1", "give_up", newest_gives_up),
    "write-back lost": ("sim.timing.memory.l2", "write_back", lambda number, tag, words, valid, done, mh, memory: done),
    "L2 evicts the first place": ("sim.timing.memory.l2", "victim", first_place),
    "answers of one cycle in reverse": ("sim.timing.memory.responses", "earlier", later_first),
    "bank conflicts missed": ("sim.timing.memory.access", "wavefronts", no_conflicts),
}
