"""The kinds of records of the Numba engine's state: chip, SM, place of a block, warp slot, scheduler, lines of its small caches."""

from sim.timing import records

Chip = records.kind(
    ("now", "i8"),  # in which the SM at work is
    ("end", "i8"),  # last cycle of any block so far
    ("next_block", "i8"),  # in the order in which they start
    ("last_sm", "i8"),  # that took a block
    ("group", "i8"),  # of SMs, of the cluster that starts
    ("next_start", "i8"),  # next cycle in which a block may start
    ("next_step", "i8"),  # next cycle in which an SM, or a request of one at L2, has something to do
    ("start_tick", "i8"),  # when the start interval allows the next one, 256 to a cycle
    ("retire_tick", "i8"),  # when the dispatcher has done with the blocks that have ended so far, 256 to a cycle
    ("warp_cycles", "i8"),
    ("issue_cycles", "i8"),  # scheduler-cycles with an issue
    ("log_rows", "i8"),
    ("log_from", "i8"),
    ("log_to", "i8"),
    ("clock_rows", "i8"),
    ("failed", "i8"),  # 1 + the hook of the policy that failed, or 1 + a Failure; BY_BLOCKS = the policy of blocks; 0 = none
    ("failed_at", "i8"),  # the cycle in which
)
Core = records.kind(
    ("next", "i8"),  # next cycle in which anything can happen on the SM
    ("resident", "i8"),  # blocks
    ("busy_until", "i8"),  # end of the last finished block; -1 = never used
    ("idle", "i8"),  # cycles without a resident block between blocks
    ("open", "i8"),  # places that can take a block
    ("emptied", "i8"),  # next cycle in which one more can; NEVER = no place is emptying
    ("starts", "i8"),  # first cycle in which the dispatcher may start another
    ("leaves", "i8"),  # next cycle in which it is told of the end of a block; NEVER = none is leaving
    ("drained", "i8"),  # cycle in which its stores so far are answered
    ("begins", "i8"),  # next cycle in which a block begins on it
    ("fetched", "i8"),  # cycle in which the first instruction has come; NEVER = nobody has asked for it
    ("issued", "i8"),  # cycle of its last issue so far, where the policy has state
)
GpcPort = records.kind(
    ("ticks", "i8"),  # between two lines, 256 to a cycle
    ("free", "i8"),  # tick from which it takes another line
    ("before", "i8"),  # ticks for which it serves other SMs first, until the SM has asked once
)
CacheLine = records.kind(
    ("line", "i8"),  # of the program's code, or of its constants; -1 = none
    ("there", "i8"),  # cycle from which it is there
    ("used", "i8"),  # when it was asked for last, in turns of its cache
    ("asked", "i8"),  # cycle of the earliest turn in which it was asked for (constants only)
)
Place = records.kind(
    ("free", "i8"),  # first cycle in which the place can take a block; NEVER while it holds one
    ("leaves", "i8"),  # cycle in which the dispatcher is told of its end; NEVER before that is known, and after
    ("begins", "i8"),  # cycle in which its block begins; NEVER once it has begun
    ("block", "i8"),  # in launch order
    ("turn", "i8"),  # in the order in which they start
    ("alive", "i8"),  # warps that have not issued their last instruction
    ("unfinished", "i8"),  # warps that have not ended
    ("end", "i8"),  # last cycle of its finished warps
    ("stores", "i8"),  # requests of its stores that have not reached L2
    ("stored", "i8"),  # cycle in which the answers to the others have come
    ("to_take", "i8"),  # its stores that wait for the load/store unit
)
PhaseWait = records.kind(  # an instruction that waits for a phase of a barrier in shared memory
    ("phase", "i8"),
    ("ready", "i8"),  # cycle before which it has no result
    ("ticket", "i8"),
    ("log", "i8"),
    ("slot", "u4"),
    ("instruction", "u4"),
)
MOST_WAITS = 7  # of one warp: each has a predicate to write
Warp = records.kind(
    ("position", "i8"),  # next entry of its path
    ("path_end", "i8"),
    ("wake", "i8"),  # first cycle in which only the scheduler's choice or a port keeps it back
    ("since", "i8"),  # first cycle of its present wait
    ("throttle_mark", "i8"),  # Machine.throttle when it became ready
    ("dispatch_mark", "i8"),  # Machine.dispatch when it became ready
    ("instruction", "u4"),  # the static instruction at `position`
    ("pending", "u4"),  # loads whose end is not known yet, and stores that the load/store unit has not taken
    ("cause", "u1"),  # StallCause until `wake`
    ("parked", "u1"),  # 1: waits for one of them
    ("sm", "u2"),
    ("slot", "u2"),  # s
    ("scheduler", "u1"),  # q
    ("bit", "u1"),  # its bit in the scheduler's masks
    ("place", "u2"),
    ("outstanding", "i8"),  # cycle in which its last result of arithmetic is back
    ("done", "i8"),  # cycle in which all its results are back and its stores over, as far as it is known
    ("standstill", "i8"),  # its scheduler's, up to which its stall count is worked out
    ("earliest", "i8"),  # first cycle that the last instruction allows the next
    ("code_from", "i8"),  # first cycle in which the code is there that the warp goes on with
    ("constant", "i8"),  # line of the constant that the issue of its next instruction waits for, -1 = none
    ("access", "i8"),  # its next memory access in the trace
    ("started", "i8"),  # first cycle it was resident
    ("exited", "i8"),  # cycle of its last issue, once it drains
    ("flight_free", "i8"),  # first cycle in which one more instruction of arithmetic may be in flight, under a cap
    ("flight_place", "u2"),  # its place in Machine.in_flight
    ("outstanding_cause", "u1"),  # StallCause of waiting for its last result
    ("earliest_cause", "u1"),
    ("draining", "u1"),  # 1: has issued its last instruction
    ("barrier", "i1"),  # barrier it waits at, -1 = none
    ("number", "u1"),  # warp within its block
    ("withheld_mark", "i8"),  # Machine.withheld when it became ready
)
Scheduler = records.kind(
    ("visit", "i8"),  # next cycle in which it has something to do
    ("free", "i8"),  # first cycle its dispatch port is free
    ("issued", "i8"),  # cycle after the issue interval of its last issue
    ("begins", "i8"),  # when the instruction issued last begins to read its registers
    ("reads", "i8"),  # first cycle in which another instruction may begin to read its registers
    ("standstill", "i8"),  # cycles in which it has stood still so far, the stall counts of its warps with it
    ("yielded", "i8"),  # 1 = the instruction issued last yields
    ("last", "i8"),  # bit that issued last; ~bit once that warp has ended
    ("classes", "u8"),  # bit p: warps are ready for pipe p
    ("buckets", "u8"),  # bit b: the wheel's bucket b is not empty
    ("far", "u8"),  # warps that wake later than the wheel reaches
    ("far_next", "i8"),  # earliest of them
    ("accounted", "i8"),  # first cycle not yet in `throttle` and `dispatch`
    ("slot_end", "i8"),  # first cycle whose issue slots are not accounted
    ("held", "i8"),  # cycles in which its policy has issued nothing, since its last issue, although it could
    ("further", "u4"),  # instructions issued together with the last issue's first (issue width over 1)
    ("further_cause", "u4"),  # what kept its other slots empty
    ("sm", "u4"),
    ("number", "u4"),  # q
)
