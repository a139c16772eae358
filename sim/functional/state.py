"""What the executor's kernels read and write: the resolved code, the machine of one block, memory, and the log of a block.

Lane masks are int64 with bit k for lane k, so that no unsigned arithmetic is mixed in. A *row* is 32 words, one per lane:
operands, results and registers are rows of one array, `Machine.rows`, seen as uint32 and as float32.
"""

from typing import NamedTuple

import numpy as np

from sim.functional.columns import Cluster, Fault, Report, Spin, Status, TileFault, Turn  # noqa: F401  what the columns and the answers of kernels mean

LANES, FULL = 32, 0xFFFFFFFF  # of a warp, and their mask
FIRST, SECOND, THIRD = np.int64(0), np.int64(1), np.int64(2)  # slots; not literals, for which Numba compiles a kernel each
SCRATCH = np.int64(0)  # rows 0..7: operands with a sign, magnitude, inversion or part applied, two rows per slot
OUT = np.int64(8)  # rows 8 and 9: results before they are written to the lanes that take part
ZERO, ZEROS = np.int64(10), 16  # rows 10..25: zero, for RZ, alone or where up to 16 registers are read; immediates and constants follow
STACK_DEPTH = 160  # waiting lane groups of one warp, and SSY levels
RUNNABLE = np.int64(-1)  # stack_wait of a lane group that may run
AT_WARPSYNC, AT_BARRIER = np.int64(16), np.int64(17)  # stack_wait of a lane group that waits for others at a WARPSYNC or BAR
BRANCHED, LOOP, CALL = np.int64(0), np.int64(1), np.int64(2)  # stack_members of a runnable group: pushed by a branch or SSY, PBK, CAL
NO_INDEX = np.int64(-(2**31))
SPINS, NOBODY = np.int64(-1), np.int64(-1)  # in Machine.waiting: a warp that spins; in Machine.expected: no warp came since it opened last
AT_PHASE = np.int64(-2)  # in Machine.waiting: a warp that waits for a phase of a barrier in shared memory
AT_WARPGROUP = np.int64(-3)  # a warp that waits for the other warps of its group to begin the products that it has begun
AT_CLUSTER = np.int64(-5)  # a warp that waits for the others of its cluster
AT_REGISTERS = np.int64(-4)  # a warp that waits for registers that others of its block give back
LOCAL_BYTES, WINDOW_BITS = 4096, 32  # local memory per thread; the high word of a generic address says of which memory it is
NOWHERE = np.int64(1 << 62)  # set in an address of a launch with memory at its addresses: no allocation has it
RANK_BITS, IN_BLOCK = np.int64(24), np.int64(0xFFFFFF)  # of an address of shared memory of a cluster: from where on it has the rank
SHARED_WINDOW, LOCAL_WINDOW, CONSTANT_WINDOW, DRIVER_WINDOW = np.int64(1), np.int64(2), np.int64(3), np.int64(4)
PARAMETER_WINDOW = np.int64(5)  # where parameters lie, at the offsets that they have in constant bank 0


class Code(NamedTuple):
    """The program with operands resolved to rows; n instructions. Operand row r >= 0: register r; r < 0: row ~r."""

    operation: np.ndarray  # int64 [n]
    form: np.ndarray  # int64 [n] isa.operations.Form
    family: np.ndarray  # int64 [n] sim.functional.families.Family
    guard: np.ndarray  # int64 [n] predicate
    guard_flip: np.ndarray  # int64 [n] 0, or FULL for @!P
    destination: np.ndarray  # int64 [n] register, -1 = none
    predicate_destination: np.ndarray  # int64 [n, 2] 7 = discarded
    operand: np.ndarray  # int64 [n, 4] operand row
    modify: np.ndarray  # int64 [n, 4] SourceFlag still to apply
    numbers: np.ndarray  # int64 [n] Numbers
    predicate_source: np.ndarray  # int64 [n, 3]
    predicate_flip: np.ndarray  # int64 [n, 3] 0, or FULL for !P
    carry_from: np.ndarray  # int64 [n] 0 = no carry in, 1 = the CC register, 2 = the source predicates
    addend: np.ndarray  # int64 [n] subtrahends, each read inverted, of an addition: -x = ~x + 1
    flags: np.ndarray  # int64 [n] Flag
    compare: np.ndarray  # int64 [n]
    combine: np.ndarray  # int64 [n]
    rounding: np.ndarray  # int64 [n]
    function: np.ndarray  # int64 [n]
    space: np.ndarray  # int64 [n]
    width: np.ndarray  # int64 [n] bytes per lane
    address: np.ndarray  # int64 [n] operand row of the address
    scale: np.ndarray  # int64 [n] its factor
    index: np.ndarray  # int64 [n] operand row of the second register of the address, NO_INDEX = none
    offset: np.ndarray  # int64 [n] bytes added to the address
    bank: np.ndarray  # int64 [n] constant bank of LDC
    target: np.ndarray  # int64 [n]
    places: np.ndarray  # int64 [bytes of code / 8] instruction at each address, -1 = none
    spread: np.ndarray  # int64 [n] FULL when it writes uniform registers or predicates, which are the same in every lane; else 0
    reconverge: np.ndarray  # int64 [n] -1 = the listing has markers
    limit: np.ndarray  # int64 [n] column of Machine.iterations that a branch counts in, -1 = none
    iterations: np.ndarray  # int64 [limits] how often each may be executed
    registers: int  # rows per warp
    held: int  # registers per thread that a block begins with, a multiple of 8
    turns: int  # 1 = MUFU.SIN and COS take turns, not radians
    apart: int  # 1 = lanes of a warp may arrive at a barrier apart (from Volta on)
    converges: int  # 1 = lanes meet by convergence registers, and nowhere else
    calls: int  # 1 = it calls functions, or saves convergence registers
    adder: tuple[int, int, int]  # of HMMA: isa.matrices.Adder


class Machine(NamedTuple):
    """The block being executed; warps = warps per block."""

    lanes: np.ndarray  # int64 [1] threads of a warp; a length known only at run time makes lane loops vectorise
    rows: np.ndarray  # uint32 [literals + warps * registers, 32]
    floats: np.ndarray  # float32, the same memory
    base: int  # first register row
    initial: np.ndarray  # uint32 [registers, 32] what each warp starts with
    thread: np.ndarray  # uint32 [3, warps, 32] threadIdx
    block: np.ndarray  # int64 [3] blockIdx
    grid_shape: np.ndarray  # int64 [3]
    chosen: np.ndarray  # int64 [blocks] which of the grid are executed, in this order; [0] = all
    block_shape: np.ndarray  # int64 [3]
    cluster_shape: np.ndarray  # int64 [3] blocks
    rank: np.ndarray  # int64 [1] of the block in its cluster
    came: np.ndarray  # int64 [warps] number of the phase of the cluster's barrier at which each arrived last
    shared_bytes: int
    existing: np.ndarray  # int64 [warps] lanes that are threads of the block
    predicates: np.ndarray  # int64 [warps, 8] lane masks; column 7 is PT
    carry: np.ndarray  # int64 [warps] the CC register's carry
    pc: np.ndarray  # int64 [warps]
    active: np.ndarray  # int64 [warps] lanes at pc
    alive: np.ndarray  # int64 [warps] lanes that have not exited
    reconverge: np.ndarray  # int64 [warps] where the active lanes stop; n = the end
    votes: np.ndarray  # int64 [warps] of the lanes at a BAR.RED: those of OR and POPC that are true, of AND those that are not
    reduced: np.ndarray  # int64 [warps] what each one's last BAR.RED found
    waiting: np.ndarray  # int64 [warps] 1 + the number of the barrier at which the warp waits, 0 = none, SPINS
    passed: np.ndarray  # int64 [barriers] warps that a BAR.ARV has counted there since it opened last
    expected: np.ndarray  # int64 [barriers] for how many threads those say that have come since then: 0 = all of the block, or NOBODY
    ended: np.ndarray  # int64 [warps]
    iterations: np.ndarray  # int64 [warps, limits]
    barrier: np.ndarray  # int64 [warps, 16] convergence registers: the lanes that a BSYNC waits for
    blocked: np.ndarray  # int64 [warps, 16] lanes that wait there
    lane_pc: np.ndarray  # int64 [warps, 32] where lanes that wait there, or that yielded, go on
    turn: np.ndarray  # int64 [warps, len(Turn)] what decides which group of lanes is next
    again: np.ndarray  # int64 [warps, 32] lanes that execute once more what has just been executed: as many columns as Turn.REPEATS says
    depth: np.ndarray  # int64 [warps] stack entries
    stack_pc: np.ndarray  # int64 [warps, STACK_DEPTH + 32]
    stack_mask: np.ndarray  # int64 [warps, STACK_DEPTH + 32]
    stack_reconverge: np.ndarray  # int64 [warps, STACK_DEPTH + 32]
    stack_wait: np.ndarray  # int64 [warps, STACK_DEPTH + 32] RUNNABLE, or what the lanes wait for
    stack_members: np.ndarray  # int64 [warps, STACK_DEPTH + 32] lanes that are waited for
    target: np.ndarray  # int64 [32] byte address of each lane's access
    index: np.ndarray  # int64 [32] its word in the memory array
    bits: np.ndarray  # int64 [3, 512] matrices that are being multiplied (`sim.functional.matrices`)
    parts: np.ndarray  # int32 [6, 512] their numbers taken apart
    products: np.ndarray  # int64 [warps] products of its group that the warp has begun
    held: np.ndarray  # int64 [warps] registers per thread
    window: np.ndarray  # int64 [2] Space of the lanes whose generic addresses are being carried out; of shared memory, the rank
    spin: np.ndarray  # int64 [warps, len(Spin)]
    tallies: np.ndarray  # int64 [4, n] the Store's tallies before a round
    length: np.ndarray  # int64 [warps] the memory of Log.length
    clock: np.ndarray  # int64 [1] that of Progress.clock
    families: np.ndarray  # int64 [len(Family)] where the machine code lies of those that the program needs


class Watch(NamedTuple):
    """What checks look at (`sim.functional.watch`); empty arrays where nothing is asked."""

    asked: np.ndarray  # int64 [1] bits RACE and INIT
    shadow: np.ndarray  # int64 [bytes of shared memory, 6] who last wrote it, when; who read it, when; of another warp who read it, when
    value: np.ndarray  # int64 [bytes of shared memory] the byte last stored, -1 = not known
    now: np.ndarray  # int64 [warps] instructions executed
    known: np.ndarray  # int64 [warps, warps] what warp w's next access comes after: all that warp v did before this time
    group: np.ndarray  # int64 [warps] lanes of the latest instruction
    together: np.ndarray  # int64 [warps, 32, 32] when two lanes last executed an instruction together, before `group` did; -1 = never
    defined: np.ndarray  # uint8 [bytes of the arrays] 1 = has a value
    found: np.ndarray  # int64 [MOST_FOUND, len(Found)]
    count: np.ndarray  # int64 [1] rows of `found`


class Memory(NamedTuple):
    """Every memory as 32-bit words."""

    base: int  # address of the first word of `words`
    words: np.ndarray  # uint32: the global arrays
    start: np.ndarray  # int64 [arrays] first byte address, ascending
    end: np.ndarray  # int64 [arrays] one past the last
    writable: np.ndarray  # uint8 [arrays]
    written: np.ndarray  # uint8 [arrays] 1 = stored to
    seen: np.ndarray  # int64 [arrays] first address as the program has it, ascending; none: the same as start
    latest: np.ndarray  # int64 [1] array of the latest access, tried first
    marks: np.ndarray  # uint8 [words, in groups of 8]: LOADED, STORED by this thread (`sim.functional.marks`); empty where one executes all
    touched: np.ndarray  # uint8 [1] 1 = this block has used local memory, which is zeroed before the next
    shared: np.ndarray  # uint32: of the block
    shared_bytes: int
    ranks: int  # blocks of a cluster
    cluster: np.ndarray  # uint32 [ranks, words of `shared`] of all its blocks; `shared` is a row
    cluster_phases: np.ndarray  # int64 [ranks, words of `shared` / 2, 2]; `phases` is a row
    cluster_barrier: np.ndarray  # int64 [len(Cluster)]
    phases: np.ndarray  # int64 [words of `shared` / 2, 2] of a barrier there the numbers of its phase and of the one before; 0 = none
    begun: np.ndarray  # int64 [1] phases of the launch so far
    local: np.ndarray  # uint32 [warps, LOCAL_BYTES / 4, 32], flat
    constants: np.ndarray  # uint32: the banks, one after another
    bank_start: np.ndarray  # int64 [banks] first word
    bank_bytes: np.ndarray  # int64 [banks]
    known: np.ndarray  # uint8 [words of `constants`] 0 = of bank 0, and nobody says what a driver writes there
    watch: Watch


class Log(NamedTuple):
    """Paths and accesses of warps that have not been committed to the trace; a row is lent to a warp while it needs one."""

    row: np.ndarray  # int64 [warps] -1 = none
    free: np.ndarray  # int64 [rows] rows not lent, `free_rows` of them
    free_rows: np.ndarray  # int64 [1]
    length: np.ndarray  # int64 [warps] entries
    pause: np.ndarray  # int64 [warps] at which length the warp's path is looked at, or needs room
    hash: np.ndarray  # int64 [warps]
    accesses: np.ndarray  # int64 [warps]
    instruction: np.ndarray  # int32 [rows, capacity]
    mask: np.ndarray  # uint32 [rows, capacity]
    access_base: np.ndarray  # int64 [rows, access capacity]
    access_stride: np.ndarray  # int64 [rows, access capacity]


class Store(NamedTuple):
    """The trace as it grows (see sim.traces.trace.TraceArrays), and the tallies."""

    paths: np.ndarray  # int64 [1]
    path_start: np.ndarray  # int64 [path capacity + 1]
    path_hash: np.ndarray  # int64 [path capacity]
    path_next: np.ndarray  # int64 [path capacity] next path of the same bucket, -1 = none
    bucket: np.ndarray  # int64 [power of two] first path, -1 = none
    instruction: np.ndarray  # int32 [entry capacity]
    mask: np.ndarray  # uint32 [entry capacity]
    warp_path: np.ndarray  # int32 [all warps]
    access_start: np.ndarray  # int64 [all warps + 1]
    access_base: np.ndarray  # int64 [access capacity]
    access_stride: np.ndarray  # int64 [access capacity]
    scattered_rows: np.ndarray  # int64 [1]
    scattered: np.ndarray  # uint32 [row capacity, 32]
    executed: np.ndarray  # int64 [n]
    active_lanes: np.ndarray  # int64 [n]
    true_lanes: np.ndarray  # int64 [n]
    parted: np.ndarray  # int64 [n]
    blocks: np.ndarray  # int64 [1] blocks whose warps are all in the trace
    found: np.ndarray  # int64 [n, 2] what only registers say: bits of the Spaces of generic addresses; the barrier of a BAR (`resolved`)


class Progress(NamedTuple):
    """Where the execution stands, so that a kernel that returned for room continues where it stopped."""

    block: np.ndarray  # int64 [1] block being executed, in launch order of those that are executed; -1 = none yet
    warp: np.ndarray  # int64 [1] its warp that runs, -1 = none
    committed: np.ndarray  # int64 [1] its warps whose path and accesses are in the Store
    report: np.ndarray  # int64 [len(Report)] of an ERROR
    next: np.ndarray  # int64 [1] the block that starts next
    clock: np.ndarray  # int64 [1] warp instructions executed before, in all, less the path of the warp that runs
    moves: np.ndarray  # int64 [1] how often a warp of the block ended, came to a barrier or stopped to spin, and a phase was over
    seen: np.ndarray  # int64 [1] `moves` when those that spin last got a turn
    timed_out: np.ndarray  # int64 [1] 1 + `moves` when those that wait for a phase last looked in vain
    changes: np.ndarray  # int64 [1] how often a warp gave way with registers other than the last time
    patient: np.ndarray  # int64 [1] 1 = others of the cluster may make progress: no test of a phase fails
    called: np.ndarray  # int64 [1] 1 = the call at which the warp stands has been made
