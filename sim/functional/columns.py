"""What kernels of the executor answer, and the columns of its small tables."""

from enum import IntEnum


class Status(IntEnum):
    """What a kernel reports to its caller."""

    RUNNING = 0
    ENDED = 1  # the warp's lanes have all exited
    DONE = 2  # the grid is finished
    LOG_FULL = 3  # these need room: the caller enlarges an array and calls again
    ROWS_FULL = 4
    WARP_ACCESSES_FULL = 5
    SCATTERED_FULL = 6
    PATHS_FULL = 7
    ENTRIES_FULL = 8
    ACCESSES_FULL = 9
    ERROR = 10  # Progress.report says which
    WAITS = 11  # every living warp of the block spins, or waits at a barrier for one that does
    BLOCK_ENDED = 12  # but a block before it has not: its paths must wait
    BLOCKED = 14  # the warp cannot do its instruction yet: nothing has been done
    CALLS = 13  # a warp stands at a call of a function that the driver brings; the next call goes on behind it


class Fault(IntEnum):
    """Mistakes of a program, found while it runs."""

    OUT_OF_RANGE = 0
    MISALIGNED = 1
    DIVERGENT_BARRIER = 2
    NO_PROGRESS = 3  # lanes wait for lanes that never come
    BARRIER_MISMATCH = 4  # warps of a block wait at different barriers
    SYNC_WITHOUT_SSY = 5
    STACK_OVERFLOW = 6
    READ_ONLY = 7
    NOWHERE = 8  # an indirect jump to what is no instruction
    BREAK_WITHOUT_PBK = 9
    RET_WITHOUT_CAL = 10
    MATRIX_IN_PART = 11  # lanes that must act together
    TRAP = 12
    UNKNOWN_CONSTANT = 13
    ATOMIC_ON_LOCAL = 14
    BARRIER_INCOMPLETE = 15  # all wait at a barrier that is for more
    BARRIER_COUNTS = 16  # warps come to one barrier for different numbers of threads
    BARRIER_PART = 17  # a barrier for a part of a warp
    SEVERAL_BARRIERS = 18  # lanes of one SYNCS name several
    TOO_MANY_ARRIVALS = 19
    WARPGROUP_IN_PART = 20  # a product of four warps of which the block lacks some
    NO_BLOCK = 22  # an address of a block that the cluster has not, or of another's where it must be the own
    TILE = 21  # a map, coordinates or a place that no tile may have: which, TileFault says


class Cluster(IntEnum):
    """The barrier of a cluster."""

    ARRIVED = 0  # warps, in the present phase
    LIVING = 1  # warps that have not ended
    PHASE = 2  # number of the present phase; 0 = nobody has arrived yet


class TileFault(IntEnum):
    """What is wrong with a tile (Report.EXPECTED; Report.ADDRESS has the value)."""

    NO_MAP = 0
    RANK = 1  # the map's dimensions - 1
    INTERLEAVE = 2
    NEGATIVE = 3  # coordinate of a store
    COORDINATE = 4  # bytes, no multiple of 16
    MAP_ADDRESS = 5
    SHARED_ADDRESS = 6
    REDUCTION = 7  # word 2 of a map whose type this reduction does not take


class Report(IntEnum):
    """Columns of Progress.report."""

    FAULT = 0
    WARP = 1
    LANE = 2
    INSTRUCTION = 3
    ADDRESS = 4
    EXPECTED = 5  # a lane mask: who should have come; of a faulty access the Space


class Turn(IntEnum):
    """Columns of Machine.turn; lane masks but for the last five."""

    YIELDED = 0  # wait after a YIELD
    EXCUSED = 1  # of these: no BSYNC waits for them, until one has let lanes go that they belong to
    AWAITED = 2  # of these: a BSYNC waits for them that was the first at its register
    OVER = 3  # runnable groups that a BSYNC passed over when it chose another
    PASSED = 4  # lanes of the running group that were
    LATE = 5  # lanes at a BSYNC that came there when another group had stopped, not from their branch
    MET = 6  # lanes that a WARPSYNC has released and that have not run since: they go on by themselves
    FREED = 7  # lanes that waited at a BSYNC, have been released and have not run since
    COUNTED = 8  # lanes that wait at a BSYNC and came there as a group passed over: all that waited then counted with them
    ALONG = 9  # lanes that count with the BSYNC just executed, besides those that execute it
    INSTEAD = 10  # lanes that count with the BSYNC just executed in place of those that execute it
    SENT_FIRST = 11  # lanes that a jump sent on while others waited to go elsewhere; until they go on from a BSYNC with lanes that are not
    SENT_SECOND = 12  # the lanes that the last jump to two places sent second, but for those that have run since
    RESTORED = 13  # registers, a bit each, that a BMOV has written since a BSSY did
    REPEATS = 14  # how many entries of Machine.again are still to be counted
    REPEATED = 15  # the instruction that they belong to
    CHOSEN_AT = 16  # the instruction at which the running group was chosen, -1 once it has executed a BSYNC
    BY_BSYNC = 17  # 1 = the group that ran before stopped at a BSYNC


class Spin(IntEnum):
    """Columns of Machine.spin: what is known of a warp whose path may go round (`sim.functional.spins`)."""

    PERIOD = 0  # entries of a round; 0 = none is known
    START = 1  # the path's length where the round that is compared began, -1 = it begins with the warp's next turn
    ACCESSES = 2  # its accesses then
    SCATTERED = 3  # rows of Store.scattered then
    DIGEST = 4  # of registers and predicates then
    MARK = 5  # a length of the path that stays
    MARK_HASH = 6  # and the path's hash there
    STATE = 7  # the digest when it last gave way
    OFFERED = 8  # 1 = lanes of the warp gave way to others of it
    STEP = 9  # entries until the path is looked at again
    SINCE = 10  # the path's length when the warp last gave way
    SEARCHED = 11  # the path's length when a long round was last looked for
    TIMED_OUT = 12  # 1 = it looks at a phase next, and goes on whether that is over or not
    PHASE_OF = 13  # where in shared memory the barrier is whose phase it waited for last
    LOOK = 14  # the path's length at which it is looked at next, or gets room before
