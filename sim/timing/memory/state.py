"""The mutable state of the memory hierarchy: arrays of records. m = SM, k = place in a queue or table; cycles and ticks are int64."""

from typing import Any, NamedTuple

import numpy as np

from sim.hierarchy import MOST_REQUESTS, SECTORS
from sim.vocabulary import TALLIES

NONE = -1

Unit = np.dtype(  # the load/store unit of one SM, its pending request table and its ports
    [
        ("next", "i8"),  # next cycle in which it could take an instruction
        ("free", "i8"),  # first cycle it can take the next instruction
        ("arrival", "i8"),  # next cycle in which a request of its enters a queue of L2
        ("blocked", "i8"),  # not before this one: the request before waits for room
        ("response", "i8"),  # next cycle in which a response could start its transfer
        ("request_free", "i8"),  # ticks: its port towards L2
        ("response_free", "i8"),  # ticks: its port from L2
        ("first", "i8"),  # oldest request in `requests`
        ("requests", "i8"),  # how many
        ("responses", "i8"),  # in the heap
        ("free_pieces", "i8"),  # entries of the pending request table that are free
        ("piece", "i4"),  # first free piece
        ("access", "i4"),  # first free access
        ("turn", "u4"),  # queue that was served last
        ("kept", "i8"),  # lines of stores in `kept`
    ],
    align=True,
)
Queue = np.dtype([("first", "i8"), ("count", "i8"), ("spaced", "i8")], align=True)  # spaced: its address unit is free
Entry = np.dtype(  # an instruction that waits for the load/store unit
    [
        ("issued", "i8"),
        ("ticket", "i8"),  # which increment of its write counter it holds
        ("read_ticket", "i8"),  # and of its read counter
        ("log", "i8"),  # its row of the timeline, NONE = no row
        ("slot", "u4"),  # warp slot
        ("instruction", "u4"),
        ("requests", "u4"),  # lines that it touches
        ("passes", "u4"),  # over the banks of shared memory
        ("needed", "u4"),  # passes that its width alone needs
        ("alike", "u4"),  # most lanes that update the same word (atomics)
    ],
    align=True,
)
Access = np.dtype(  # a load under way
    [
        ("issued", "i8"),
        ("ticket", "i8"),
        ("ready", "i8"),  # when what has come so far may be read
        ("log", "i8"),
        ("slot", "u4"),
        ("instruction", "u4"),
        ("sectors", "u4"),
        ("missing", "i4"),  # pieces that have not come
        ("next", "i4"),  # free list
    ],
    align=True,
)
Piece = np.dtype([("access", "i4"), ("next", "i4"), ("need", "u4")], align=True)  # one line that a load waits for
Line = np.dtype(  # of an L1 cache
    [("tag", "i8"), ("used", "i8"), ("valid", "u4"), ("pending", "u4"), ("waiting", "i4")],
    align=True,
)
Request = np.dtype(
    [
        ("arrival", "i8"),  # cycle at L2
        ("line", "i8"),
        ("sectors", "u4"),  # mask
        ("words", "u4"),  # mask of 32 words that a store writes
        ("kind", "u4"),  # LOAD, STORE, ATOMIC, REDUCTION
        ("alike", "u4"),
        ("piece", "i4"),
        ("place", "i4"),  # L1 line that it fills, NONE = none
    ],
    align=True,
)
Kept = np.dtype(  # a line that stores have written, and that has not left the SM
    [
        ("line", "i8"),
        ("until", "i8"),  # last cycle in which a store that the unit takes joins it
        ("sectors", "u4"),
        ("words", "u4"),
        ("block", "i8"),  # place of that of the first of them
    ],
    align=True,
)
Response = np.dtype([("time", "i8"), ("sequence", "i8"), ("sectors", "u4"), ("piece", "i4"), ("place", "i4")], align=True)
Bank = np.dtype([("free", "i8"), ("served", "i8")], align=True)  # an L2 slice: ticks, and how many requests so far
Channel = np.dtype(  # of DRAM
    [
        ("free", "i8"),  # ticks
        ("served", "i8"),  # requests so far
        ("writing", "i8"),  # 1: what it did last was writing
        ("waiting", "i8"),  # sectors to be written
        ("since", "i8"),  # ticks: when they became a batch
    ],
    align=True,
)
L2Line = np.dtype(
    [("valid", "u4"), ("words", "u4"), ("copied", "u4")], align=True
)  # words: not written back; copied: sectors that the other part has


class Memory(NamedTuple):
    """What changes in the memory hierarchy. Arrays of records are np.recarray, typed Any so that their fields can be named."""

    units: Any  # Unit [m]
    queues: Any  # Queue [m, queue]
    entries: Any  # Entry [m, queue, depth]
    entry_line: np.ndarray  # int64 [m, queue, depth, MOST_REQUESTS] 128-byte lines of its requests
    entry_sectors: np.ndarray  # uint32 [m, queue, depth, MOST_REQUESTS] masks
    entry_words: np.ndarray  # uint32 [m, queue, depth, MOST_REQUESTS] masks
    accesses: Any  # Access [m, pending + 1]: one more, for a load that needs no piece while all others wait
    pieces: Any  # Piece [m, pending]
    lines: Any  # Line [m, sets * ways]
    kept: Any  # Kept [m, store lines], the oldest first
    requests: Any  # Request [m, request depth]
    responses: Any  # Response [m, pending] a heap by time, then sequence
    slices: Any  # Bank [channels]
    channels: Any  # Channel [channels]
    slice_done: np.ndarray  # int64 [channels, depth] ticks: when each of its last requests was served
    channel_done: np.ndarray  # int64 [channels, channel depth]
    l2_tag: np.ndarray  # int64 [channels * sets * ways] 128-byte line, NONE = empty
    l2_used: np.ndarray  # int64 [channels * sets * ways] when it was used last
    l2: Any  # L2Line [channels * sets * ways]
    l2_fill: np.ndarray  # int64 [channels * sets * ways, SECTORS] cycle in which each sector is there
    bank_rows: np.ndarray  # int64 [128] scratch of one access: distinct rows
    bank_count: np.ndarray  # int64 [32] scratch: of them, per bank
    clock: np.ndarray  # int64 [3] responses so far, uses of L1 lines, uses of L2 lines
    tallies: np.ndarray  # int64 [TALLIES]


def _records(kind: np.dtype, *shape: int) -> Any:
    return np.zeros(shape, kind).view(np.recarray)


def allocate(mh: np.record, sms: int, never: int) -> Memory:
    """Return empty queues and caches."""
    used = sms if mh.modelled else 1
    queues, depth, pending = int(mh.queues), int(mh.depth), int(mh.pending)
    banks, lines = int(mh.channels), int(mh.channels * mh.l2_sets * mh.l2_ways)
    memory = Memory(
        units=_records(Unit, used),
        queues=_records(Queue, used, queues),
        entries=_records(Entry, used, queues, depth),
        entry_line=np.zeros((used, queues, depth, MOST_REQUESTS), np.int64),
        entry_sectors=np.zeros((used, queues, depth, MOST_REQUESTS), np.uint32),
        entry_words=np.zeros((used, queues, depth, MOST_REQUESTS), np.uint32),
        accesses=_records(Access, used, pending + 1),
        pieces=_records(Piece, used, pending),
        lines=_records(Line, used, int(mh.l1_sets * mh.l1_ways)),
        kept=_records(Kept, used, max(int(mh.store_lines), 1)),
        requests=_records(Request, used, int(mh.request_ring)),
        responses=_records(Response, used, pending),
        slices=_records(Bank, banks),
        channels=_records(Channel, banks),
        slice_done=np.zeros((banks, int(mh.slice_depth)), np.int64),
        channel_done=np.zeros((banks, int(mh.channel_depth)), np.int64),
        l2_tag=np.full(lines, NONE, np.int64),
        l2_used=np.zeros(lines, np.int64),
        l2=_records(L2Line, lines),
        l2_fill=np.zeros((lines, SECTORS), np.int64),
        bank_rows=np.zeros(128, np.int64),
        bank_count=np.zeros(32, np.int64),
        clock=np.zeros(3, np.int64),
        tallies=np.zeros(TALLIES, np.int64),
    )
    for field in ("next", "arrival", "response"):
        memory.units[field] = never
    memory.units.free_pieces = pending
    memory.pieces["next"] = np.append(np.arange(1, pending), NONE)
    memory.accesses["next"] = np.append(np.arange(1, pending + 1), NONE)
    memory.lines["tag"] = NONE
    memory.lines["waiting"] = NONE
    return memory
