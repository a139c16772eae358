"""The words both engines and every report share: stall causes, policies, wake rules, the timeline's columns."""

from enum import IntEnum

from isa.vocabulary import Unit


class StallCause(IntEnum):
    """Where a warp-cycle went. Each warp-cycle between start and exit has exactly one; names are Nsight Compute's."""

    SELECTED = 0  # the warp issued in this cycle
    NOT_SELECTED = 1  # ready, but its scheduler chose another warp
    WAIT = 2  # a fixed-latency result, or the smallest distance between two issues
    LONG_SCOREBOARD = 3  # a result of global or local memory
    SHORT_SCOREBOARD = 4  # a result of shared memory or the multi-function unit
    MATH_PIPE_THROTTLE = 5  # its arithmetic pipe's port is held
    MIO_THROTTLE = 6  # the shared-memory, special or branch port is held
    LG_THROTTLE = 7  # the global-memory port is held
    BARRIER = 8
    BRANCH_RESOLVING = 9
    NO_INSTRUCTION = 10  # instruction fetch
    IMC_MISS = 11  # constant cache
    DISPATCH_STALL = 12  # the scheduler's dispatch port is held, or the cap on instructions in flight is reached
    DRAIN = 13  # after EXIT, until the warp's results are back
    MEMBAR = 14
    SLEEPING = 15


class SlotCause(IntEnum):
    """Where a scheduler-cycle went when it was not spent issuing: the StallCause of the warp that issues next, or one of these."""

    NO_WARP = 16  # the warp that issues next was not resident yet
    TAIL = 17  # after the scheduler's last issue, to the end of the run


CAUSES = len(StallCause)
SLOT_CAUSES = 18
CAUSE_NAMES = tuple(cause.name.lower() for cause in StallCause)
SLOT_CAUSE_NAMES = CAUSE_NAMES + tuple(cause.name.lower() for cause in SlotCause)


class Policy(IntEnum):
    """How a scheduler chooses among ready warps; each is a function of the same name in `sim/policies.py`."""

    LRR = 0  # loose round robin
    GTO = 1  # greedy then oldest
    GTY = 2  # greedy then youngest
    GTR = 3  # greedy then rotate
    OLDEST = 4
    TWO_LEVEL = 5


class WakeRule(IntEnum):
    """When a warp that waits for a result may go on."""

    PER_REGISTER = 0  # when the registers it needs are written
    ALL_OUTSTANDING = 1  # when all its outstanding results are back


# The cause of waiting for a result, by the unit that makes it.
RESULT_CAUSE = dict.fromkeys(Unit, StallCause.WAIT) | {
    Unit.MUFU: StallCause.SHORT_SCOREBOARD,
    Unit.SPECIAL: StallCause.SHORT_SCOREBOARD,
    Unit.SHARED: StallCause.SHORT_SCOREBOARD,
    Unit.GLOBAL: StallCause.LONG_SCOREBOARD,
    Unit.LOCAL: StallCause.LONG_SCOREBOARD,
    Unit.CONSTANT: StallCause.IMC_MISS,
}

# The cause of waiting for a port, by the unit asked for.
PORT_CAUSE = dict.fromkeys(Unit, StallCause.MATH_PIPE_THROTTLE) | {
    Unit.SPECIAL: StallCause.MIO_THROTTLE,
    Unit.BRANCH: StallCause.MIO_THROTTLE,
    Unit.BARRIER: StallCause.MIO_THROTTLE,
    Unit.SHARED: StallCause.MIO_THROTTLE,
    Unit.CONSTANT: StallCause.MIO_THROTTLE,
    Unit.GLOBAL: StallCause.LG_THROTTLE,
    Unit.LOCAL: StallCause.LG_THROTTLE,
}
