"""The mutable state of the memory hierarchy: arrays of records. m = SM, k = place in a queue or table; cycles and ticks are int64."""

from typing import Any, NamedTuple

import numpy as np

from sim.lowering.memory import JOINED, MOST_REQUESTS, ROWS, SECTORS
from sim.result.causes import TALLIES
from sim.timing import records

NONE = -1
# In place of an MSHR, what a line of a bulk copy counts for: less twice a phase, and 1 of a tile; above all phases the row.
FIRST_COPY = np.int64(-2)
RING = 1 << 12  # cycles for which what DRAM sends is kept apart
COPIES = 1 << 14  # bulk copies that an SM keeps: more than its shared memory has room for, of 16 bytes each

Unit = records.kind(  # the load/store unit of one SM, its MSHRs and its ports
    ("next", "i8"),  # next cycle in which it could take an instruction
    ("free", "i8"),  # first cycle it can take the next instruction
    ("found", "i8"),  # cycle in which the last store's lines have been looked up
    ("written", "i8"),  # in which its lines have been written: the next may be taken
    ("leaving", "i8"),  # cycle in which the last line of stores leaves
    ("first_leaving", "i8"),  # in which the first did of those that leave one after another
    ("pressed", "i8"),  # lines that leave by this cycle take no store in: there were too many
    ("arrival", "i8"),  # next cycle in which a request of its enters a queue of L2
    ("blocked", "i8"),  # not before this one: the request before waits for room
    ("response", "i8"),  # next cycle in which a response could start its transfer
    ("request_free", "i8"),  # ticks: its port towards L2
    ("response_free", "i8"),  # ticks: its port from L2
    ("first", "i8"),  # oldest request in `requests` that L2 has not admitted
    ("requests", "i8"),  # how many
    ("served", "i8"),  # of those before it, how many the SM has not been told of since
    ("oldest", "i8"),  # oldest request that keeps a place of the port, as far as the unit knows
    ("in_port", "i8"),  # how many places they take
    ("responses", "i8"),  # in the heap
    ("landed", "i8"),  # behind it, of which the SM has not been told yet
    ("free_mshrs", "i8"),  # that are free
    ("mshr", "i4"),  # first of the MSHRs that were given back, NONE = take a new one
    ("access", "i4"),  # the same of accesses
    ("mshrs", "u4"),  # that were ever taken
    ("accesses", "u4"),
    ("turn", "u4"),  # queue that was served last
    ("kept", "i8"),  # lines of stores in `kept`
    ("banks", "i8"),  # first cycle in which another load may read data from the banks of L1
    ("uses", "i8"),  # of lines of L1 so far
    ("l1_taken", "i8"),  # lines of L1 that are taken
    ("l1_hand", "i8"),  # set from which the next is sought whose data go to another
    ("replaced", "i8"),  # line of L1 that the last look-up replaced, NONE = none; this and the next two for policies that are told
    ("replaced_of", "u2"),  # warp slot that brought it
    ("asks", "u2"),  # warp slot whose access is looked up
    ("copy_next", "i8"),  # next cycle in which a line of a bulk copy can be asked for
    ("copy_free", "i8"),  # ticks: when the unit of bulk copies may ask for the next line
    ("oldest_copy", "i8"),  # oldest bulk copy in `copies`
    ("copies", "i8"),  # how many
    ("arrives", "i8"),  # first cycle in which another warp may arrive at the barrier of its cluster
    ("far_free", "i8"),  # ticks: its port towards the other SMs of a cluster
)
Queue = records.kind(("first", "i8"), ("count", "i8"), ("spaced", "i8"), ("written", "i8"))  # address unit free, lines written then
Entry = records.kind(  # an instruction that waits for the load/store unit
    ("issued", "i8"),
    ("ticket", "i8"),  # which increment of its write counter it holds
    ("read_ticket", "i8"),  # and of its read counter
    ("log", "i8"),  # its row of the timeline, NONE = no row
    ("further", "u4"),  # ranks further on in the cluster, of an instruction that counts for a phase
    ("packets", "u4"),  # of 32 bytes that go to other SMs
    ("phase", "i8"),  # of a barrier in shared memory, that it counts or waits for; 0 = none
    ("slot", "u4"),  # warp slot
    ("instruction", "u4"),
    ("requests", "u4"),  # lines that it touches
    ("passes", "u4"),  # over the banks of shared memory or, for a load, of L1
    ("needed", "u4"),  # passes that its width alone needs; of a store all of them, over L1's banks
    ("weight", "u4"),  # places of the port that all its requests take
    ("lookups", "u4"),  # cycles in which its lines are looked up
    ("reading", "u4"),  # cycles in which a load that had to wait looks them up again and reads them, 0 = not over L1's banks
)
Access = records.kind(  # a load under way
    ("issued", "i8"),
    ("ticket", "i8"),
    ("ready", "i8"),  # when what has come so far may be read
    ("log", "i8"),
    ("slot", "u4"),
    ("instruction", "u4"),
    ("sectors", "u4"),
    ("reading", "u4"),  # cycles that it looks up lines of L1 and passes over its banks; 0 = not modelled
    ("missing", "i4"),  # MSHRs that have not come
    ("next", "i4"),  # free list
)
Mshr = records.kind(("access", "i4"), ("next", "i4"), ("need", "u4"))  # one line that a load waits for
Line = records.kind(  # of an L1 cache
    ("tag", "i8"),  # number of the line, plus one; 0 = none
    ("used", "i8"),
    ("there", "u4"),  # words
    ("pending", "u4"),  # sectors on their way
    ("waiting", "i4"),  # first MSHR that waits for it
    ("latest", "i4"),  # last one, if there is a first
)
Departure = records.kind(  # of what stores wrote of a line of L1, from the SM
    ("closes", "i8"),  # cycle from which it takes no other store in
    ("leaves", "i8"),  # in which it leaves
)
Request = records.kind(
    ("arrival", "i8"),  # cycle at L2
    ("left", "i8"),  # cycle in which L2 admitted it; NEVER = not yet
    ("answer", "i8"),  # cycle in which the answer reaches the SM
    ("sequence", "i8"),  # of answers that come together
    ("line", "i8"),
    ("set", "u4"),  # first place of its set in L2
    ("sectors", "u4"),  # mask
    ("words", "u4"),  # mask of 32 words that a store writes
    ("mshr", "i4"),
    ("place", "i4"),  # L1 line that it fills, NONE = none; of a store, the place of its block
    ("slice", "u2"),
    ("kind", "u1"),  # LOAD, STORE, ATOMIC, REDUCTION, BULK_REDUCTION
    ("packets", "u1"),  # of an atomic
    ("weight", "u1"),  # places of the port that it takes
)
Kept = records.kind(  # a line that stores have written, and that has not left the SM
    ("line", "i8"),
    ("until", "i8"),  # last cycle in which a store that the unit takes joins it
    ("sectors", "u4"),
    ("words", "u4"),
    ("block", "i8"),  # place of that of the first of them
)
Response = records.kind(("time", "i8"), ("sequence", "i8"), ("sectors", "u4"), ("mshr", "i4"), ("place", "i4"))
Fill = records.kind(  # a load whose sectors DRAM has still to send
    ("time", "i8"),  # cycle in which they come
    ("done", "i8"),  # cycle in which its slice has served it
    ("sequence", "i8"),
    ("sectors", "u4"),
    ("mshr", "i4"),
    ("place", "i4"),
    ("next", "i4"),  # in the list of its cycle, or in the free list
    ("far", "i4"),  # cycles that its data take from the other part of L2
    ("sm", "u2"),
    ("slice", "u2"),
    ("fetched", "u1"),  # sectors that are sent for it
    ("moved", "u1"),  # to be copied from the other part
)
Ring = records.kind(  # of fills
    ("now", "i8"),  # next cycle
    ("count", "i8"),  # that are kept
    ("used", "i8"),  # records that were ever taken
    ("free", "i8"),  # first of those that were given back, NONE = none
)
Copy = records.kind(  # a bulk copy whose lines have not all been asked for
    ("sector", "i8"),  # next to ask for, of global memory
    ("end", "i8"),  # one past the last of the row
    ("row", "i8"),  # of the trace's `scattered`, which describes it
    ("begun", "i8"),  # rows of the tile
    ("rows", "i8"),
    ("tiled", "i8"),  # 1 of a tile
    ("ranks", "i8"),  # blocks of a cluster that get it, 0 = the own alone
    ("ready", "i8"),  # cycle before which it does not begin
    ("phase", "i8"),  # of a barrier in shared memory that it counts for
    ("ticket", "i8"),  # of one from shared memory: which increment of its counter it holds
    ("kind", "u4"),  # COPY_IN or COPY_OUT
    ("reduces", "u4"),  # 1 = what it sends is reduced into what L2 has
    ("slot", "u4"),  # warp slot
    ("instruction", "u4"),
    ("block", "u4"),  # place of its block
)
Bank = records.kind(("free", "i8"), ("written", "i8"), ("served", "i8"))  # an L2 slice: ticks of its ports, and how many requests so far
Channel = records.kind(  # of DRAM
    ("free", "i8"),  # ticks
    ("served", "i8"),  # requests so far
    ("writing", "i8"),  # 1: what it did last was writing
    ("waiting", "i8"),  # sectors to be written
    ("since", "i8"),  # ticks: when they became a batch
    ("batches", "i8"),  # written so far
    ("rows", "i8"),  # to be written
    ("activates", "i8"),  # tick from which it can activate another row
)
Row = records.kind(  # of DRAM, to be read or written
    ("number", "i8"),  # of its even line, halved
    ("since", "i8"),  # tick of its activation
    ("until", "i8"),  # to be read: tick to which it is open; to be written: one more than the batches that its channel has written
)
L2Line = records.kind(
    ("valid", "u4"),
    ("words", "u4"),  # not written back
    ("copied", "u4"),  # sectors that the other part has
    ("changed", "i8"),  # requests served when it was put in, or last stored to
)
Joined = records.kind(  # the latest read of a line for a GPC
    ("line", "i8"),
    ("gpc", "i8"),
    ("until", "i8"),  # cycle before which others join it
    ("there", "i8"),  # cycle in which its data are there
    ("far", "i8"),  # cycles that they take from the other part of L2
    ("sequence", "i8"),  # requests served before it
    ("loads", "u4"),  # that it serves
)


class Memory(NamedTuple):
    """What changes in the memory hierarchy. Arrays of records are np.recarray, typed Any so that their fields can be named."""

    units: Any  # Unit [m]
    queues: Any  # Queue [m, queue]
    entries: Any  # Entry [m, queue, depth]
    entry_line: np.ndarray  # int64 [m, queue, depth, MOST_REQUESTS] 128-byte lines of its requests
    entry_set: np.ndarray  # int64 [m, queue, depth, MOST_REQUESTS] first places of their sets in L1, if that is asked
    entry_sectors: np.ndarray  # uint32 [m, queue, depth, MOST_REQUESTS] masks
    entry_words: np.ndarray  # uint32 [m, queue, depth, MOST_REQUESTS] masks
    entry_packets: np.ndarray  # uint8 [m, queue, depth, MOST_REQUESTS] of atomics
    entry_turn: np.ndarray  # uint8 [same] of a load with passes and several lookups: how many cycles after the first each line is looked up
    accesses: Any  # Access [m, pending + 1]: one more, for a load that needs no MSHR while all others wait
    mshrs: Any  # Mshr [m, pending]
    lines: Any  # Line [m, sets * ways]
    departures: Any  # Departure [m, sets * ways], where lsu.leaving_lines
    owners: np.ndarray  # uint16 [m, sets * ways] warp slot that brought each line; no rows where no policy is told
    l1_state: np.ndarray  # int64 [m, sets * ways] what another replacement policy than LRU keeps; no rows with LRU
    l1_may_go: np.ndarray  # uint8 [m, ways] scratch
    l2_state: np.ndarray  # int64 [channels * sets * ways] the same of L2
    l2_may_go: np.ndarray  # uint8 [ways] all 1: any line of L2 may go
    kept: Any  # Kept [m, store lines], the oldest first
    requests: Any  # Request [m, request ring]
    responses: Any  # Response [m, pending] a heap by time, then sequence; room for lines of bulk copies where there are any
    fills: Any  # Fill [m * those responses], where what DRAM sends waits for a port
    ring: Any  # Ring [1]
    first_fill: np.ndarray  # int32 [RING] of those that come in a cycle modulo RING; NONE = none
    last_fill: np.ndarray  # int32 [RING]
    copies: Any  # Copy [m, COPIES], where there are any
    joined: Any  # Joined [JOINED], one where no load joins another
    gpc: np.ndarray  # uint8 [m] of each SM (lowering.slices.gpcs_of)
    side: np.ndarray  # uint8 [m] the part of L2 that it is near
    slices: Any  # Bank [channels]
    channels: Any  # Channel [channels]
    reading: Any  # Row [ROWS], one where rows are not modelled
    writing: Any  # Row [ROWS], likewise
    slice_done: np.ndarray  # int64 [channels, depth] ticks: when each of its last requests was served
    channel_done: np.ndarray  # int64 [channels, channel depth]
    l2_tag: np.ndarray  # uint32 [channels * sets * ways] of the 128-byte line there (l2.tag_of), 0 = none
    l2_order: np.ndarray  # uint16 [channels * sets * ways] ways of each set, the one used last first
    l2: Any  # L2Line [channels * sets * ways]
    l2_fill: np.ndarray  # int64 [channels * sets * ways * SECTORS] cycle in which each sector is there
    l2_copy: np.ndarray  # int64 [same] cycle in which the other part of L2 has it, of those `copied`
    bank_rows: np.ndarray  # int64 [128] scratch of one access: distinct rows
    bank_count: np.ndarray  # int64 [32] scratch: of them, per bank
    lane_turn: np.ndarray  # uint8 [32] scratch: `entry_turn` of each lane's line
    clock: np.ndarray  # int64 [1] requests served
    tallies: np.ndarray  # int64 [TALLIES]


OF_REQUESTS = {"line": "i8", "set": "i8", "sectors": "u4", "words": "u4", "packets": "u1", "turn": "u1"}  # of an entry of a queue


def allocate(mh: np.record, sms: int, never: int, room: records.Room, owned: bool, copies: bool) -> Memory:
    """Return empty queues and caches. owned: L1 has to know which warp brought each line. copies: the program has bulk copies."""
    used = sms if mh.modelled else 1
    queues, depth, pending = int(mh.queues), int(mh.depth), int(mh.pending)
    banks, lines = int(mh.channels), int(mh.channels * mh.l2_sets * mh.l2_ways)
    memory = Memory(
        units=room.records(Unit, used),
        queues=room.records(Queue, used, queues),
        entries=room.records(Entry, used, queues, depth),
        **{f"entry_{name}": room.zeros((used, queues, depth, MOST_REQUESTS), kind) for name, kind in OF_REQUESTS.items()},
        accesses=room.records(Access, used, pending + 1),
        mshrs=room.records(Mshr, used, pending),
        lines=room.records(Line, used, int(mh.l1_sets * mh.l1_ways)),
        departures=room.records(Departure, used, int(mh.l1_sets * mh.l1_ways) if mh.leaving_lines else 0),
        owners=room.zeros((used if owned else 0, int(mh.l1_sets * mh.l1_ways)), np.uint16),
        l1_state=room.zeros((used if mh.l1_replacement else 0, int(mh.l1_sets * mh.l1_ways)), np.int64),
        l1_may_go=room.zeros((used if mh.l1_replacement else 0, int(mh.l1_ways)), np.uint8),
        l2_state=room.zeros(lines if mh.l2_replacement else 0, np.int64),
        l2_may_go=room.full(int(mh.l2_ways) if mh.l2_replacement else 0, 1, np.uint8),
        kept=room.records(Kept, used, max(int(mh.store_lines), 1)),
        requests=room.records(Request, used, int(mh.request_ring)),
        responses=room.records(Response, used, pending + copies * COPIES),
        fills=room.records(Fill, used * (pending + copies * COPIES) if mh.write_port or mh.far else 1),
        ring=room.records(Ring, 1),
        first_fill=room.full(RING, NONE, np.int32),
        last_fill=room.full(RING, NONE, np.int32),
        copies=room.records(Copy, used, COPIES if copies else 1),
        joined=room.records(Joined, JOINED if mh.coalesced > 1 else 1),
        gpc=room.zeros(used, np.uint8),
        side=room.zeros(used, np.uint8),
        slices=room.records(Bank, banks),
        channels=room.records(Channel, banks),
        reading=room.records(Row, ROWS if mh.activate_ticks else 1),
        writing=room.records(Row, ROWS if mh.activate_ticks else 1),
        slice_done=room.zeros((banks, int(mh.slice_depth)), np.int64),
        channel_done=room.zeros((banks, int(mh.channel_depth)), np.int64),
        l2_tag=room.zeros(lines, np.uint32),
        l2_order=room.zeros(lines, np.uint16),
        l2=room.records(L2Line, lines),
        l2_fill=room.zeros(lines * SECTORS, np.int64),
        l2_copy=room.zeros(lines * SECTORS if mh.far else 1, np.int64),
        bank_rows=room.zeros(128, np.int64),
        bank_count=room.zeros(32, np.int64),
        lane_turn=room.zeros(32, np.uint8),
        clock=room.zeros(1, np.int64),
        tallies=room.zeros(TALLIES, np.int64),
    )
    memory.units["next"] = memory.units["arrival"] = memory.units["response"] = memory.units["copy_next"] = never
    memory.units.free_mshrs = pending
    memory.ring["free"] = memory.units["replaced"] = memory.units["mshr"] = memory.units["access"] = NONE
    if lines:
        memory.l2_order.reshape(-1, int(mh.l2_ways))[:] = np.arange(int(mh.l2_ways), dtype=np.uint16)[::-1].copy()
    return memory
