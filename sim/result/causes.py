"""The words both engines and every report share: stall causes, wake rules, what the memory system counts."""

from enum import IntEnum

from isa.vocabulary import Unit


class StallCause(IntEnum):
    """Where a warp-cycle went. Each warp-cycle between start and exit has exactly one; names are Nsight Compute's."""

    SELECTED = 0  # the warp issued in this cycle
    NOT_SELECTED = 1  # ready, but its scheduler chose another warp
    WAIT = 2  # a fixed-latency result, or the smallest distance between two issues
    LONG_SCOREBOARD = 3  # a result of global or local memory
    SHORT_SCOREBOARD = 4  # a result of shared memory, the multi-function unit or LDC
    MATH_PIPE_THROTTLE = 5  # its arithmetic pipe's port is held
    MIO_THROTTLE = 6  # the shared-memory, special or branch port is held
    LG_THROTTLE = 7  # the global-memory port is held
    BARRIER = 8  # of its block, or products of its warpgroup, as Nsight Compute counts them (h100/warpgroup_stalls.csv)
    BRANCH_RESOLVING = 9
    NO_INSTRUCTION = 10  # instruction fetch
    IMC_MISS = 11  # an operand from the constant cache
    DISPATCH_STALL = 12  # the scheduler's dispatch port is held, or the cap on instructions in flight is reached
    DRAIN = 13  # after EXIT, until the warp's results are back
    MEMBAR = 14  # a fence of the whole GPU
    SLEEPING = 15  # NANOSLEEP


class SlotCause(IntEnum):
    """Where a scheduler-cycle went when it was not spent issuing: the StallCause of the warp that issues next, or one of these."""

    NO_WARP = len(StallCause)  # the warp that issues next was not resident yet
    TAIL = len(StallCause) + 1  # after the scheduler's last issue, to the end of the run


CAUSES = len(StallCause)
SLOT_CAUSES = CAUSES + len(SlotCause)
CAUSE_NAMES = tuple(cause.name.lower() for cause in StallCause)
SLOT_CAUSE_NAMES = CAUSE_NAMES + tuple(cause.name.lower() for cause in SlotCause)


class WakeRule(IntEnum):
    """When a warp that waits for a result may go on.

    ALL_OUTSTANDING comes from Volkov's FFMA chains on Fermi, as does the cap on instructions in flight. Loads count in neither: his
    copies on the same GPU keep 14 float4 per thread in flight while their addresses are computed one by one.
    """

    PER_REGISTER = 0  # when the registers it needs are written
    ALL_OUTSTANDING = 1  # when all its outstanding results of arithmetic are back; see below


# The cause of waiting for a result, by the unit that makes it.
RESULT_CAUSE = dict.fromkeys(Unit, StallCause.WAIT) | {
    Unit.MUFU: StallCause.SHORT_SCOREBOARD,
    Unit.SPECIAL: StallCause.SHORT_SCOREBOARD,
    Unit.SHARED: StallCause.SHORT_SCOREBOARD,
    Unit.GLOBAL: StallCause.LONG_SCOREBOARD,
    Unit.LOCAL: StallCause.LONG_SCOREBOARD,
    Unit.CONSTANT: StallCause.SHORT_SCOREBOARD,
    Unit.WGMMA: StallCause.BARRIER,
}

# The cause of waiting for a port, by the unit asked for.
PORT_CAUSE = dict.fromkeys(Unit, StallCause.MATH_PIPE_THROTTLE) | {
    Unit.SPECIAL: StallCause.MIO_THROTTLE,
    Unit.BRANCH: StallCause.MIO_THROTTLE,
    Unit.BARRIER: StallCause.MIO_THROTTLE,
    Unit.SHARED: StallCause.MIO_THROTTLE,
    Unit.CONSTANT: StallCause.MIO_THROTTLE,
    Unit.WGMMA: StallCause.MIO_THROTTLE,
    Unit.GLOBAL: StallCause.LG_THROTTLE,
    Unit.LOCAL: StallCause.LG_THROTTLE,
}


class Tally(IntEnum):
    """What the memory system counts. Sectors are 32 bytes; the counters of a Result are made of these."""

    LOAD_REQUESTS = 0  # warp instructions with at least one lane, global and generic memory
    LOAD_SECTORS = 1
    STORE_REQUESTS = 2
    STORE_SECTORS = 3
    ATOMIC_REQUESTS = 4  # atomics and reductions on global memory
    ATOMIC_SECTORS = 5
    LOCAL_REQUESTS = 6
    LOCAL_SECTORS = 7
    L1_SECTORS = 8  # looked up in L1 by loads and stores
    L1_HITS = 9
    L1_MERGED = 10  # not in L1_HITS: joined to a fetch already under way
    SHARED_REQUESTS = 11
    SHARED_WAVEFRONTS = 12  # passes over the banks
    SHARED_CONFLICTS = 13  # passes beyond those that the width alone needs
    L2_READS = 14  # sectors that SMs read
    L2_WRITES = 15  # sectors that SMs wrote, atomics included
    L2_HITS = 16  # sectors of both that were there; a write always finds room
    DRAM_READ = 17  # sectors
    DRAM_WRITTEN = 18  # sectors
    SLICE_FULL = 19  # requests that found an L2 slice's queue full
    CHANNEL_FULL = 20  # requests that found a DRAM channel's queue full
    LOADS = 21  # loads and atomics with data from beyond shared memory
    LOAD_CYCLES = 22  # cycles from their issue to their data
    LOAD_SECTOR_CYCLES = 23  # the same, times the sectors of each
    MSHR_PEAK = 24  # most MSHRs of an L1 in use
    PORT_PEAK = 25  # most requests of one SM on their way to L2
    STORES_JOINED = 26  # lines of stores that a write-combining buffer joined
    BULK_LOADS = 27  # lines that bulk copies and tiles asked for
    BULK_LOAD_SECTORS = 28
    BULK_STORES = 29  # lines that they sent
    BULK_STORE_SECTORS = 30
    BULK_REDUCTIONS = 31  # lines that they sent to be reduced
    BULK_REDUCTION_SECTORS = 32
    L1_LOAD_SECTORS = 33  # of L1_SECTORS those of loads
    L1_LOAD_HITS = 34  # of L1_HITS those of loads
    L1_PASSED = 35  # sectors of loads that go past L1
    L2_JOINED = 36  # sectors of loads that join a read of another SM before L2: not in L2_READS


TALLIES = len(Tally)
