"""The words that the instruction set shares with every room: operations, units, flags, special registers.

Kernels compare plain integers: each enumeration is an IntEnum, its members fill `isa.program.Encoded`. Cycles live in the GPU presets.
"""

from enum import IntEnum, IntFlag

from isa.functions import (  # noqa: F401  the vocabulary's other half
    AtomicFunction,
    BarrierReduction,
    BulkReduction,
    Combine,
    Compare,
    Dot,
    MatrixShape,
    MatrixType,
    Mbarrier,
    Mufu,
    NumberType,
    Permute,
    Reduction,
    Rounding,
    Shuffle,
    Special,
    Vote,
    XmadAddend,
)
from isa.units import MATRIX_UNITS, Unit  # noqa: F401


class Operation(IntEnum):
    """What an instruction computes, as `operations.toml` says. Several opcodes share one (IADD, IADD32I, ... are IADD)."""

    NOP = 0
    FADD = 1
    FMUL = 2
    FFMA = 3
    FMNMX = 4
    FSETP = 5
    FSEL = 6
    MUFU = 7
    MOV = 8
    IADD = 9  # a + b (+ CC with .X; writes CC with .CC)
    IADD3 = 10  # a + b + c (+ carry-in predicates with .X; carry-out predicates)
    IMAD = 11  # low, HIGH or WIDE part of a * b, plus c
    IMNMX = 12
    ISETP = 13
    SEL = 14
    SHL = 15
    SHR = 16
    SHF = 17
    LOP = 18  # two-input AND, OR, XOR, PASS_B
    LOP3 = 19
    LEA = 20  # (a << shift) + b
    PSETP = 21
    POPC = 22
    S2R = 25
    LOAD = 26  # space in Encoded.space; LOAD, STORE and ATOM are the accesses that a trace logs
    STORE = 27
    ATOM = 28  # read, modify and write memory in one step; function in Encoded.function; without a destination: RED
    LDC = 29
    BRA = 30
    SSY = 31  # push the reconvergence point (before Volta)
    SYNC = 32  # go to it
    BSSY = 33  # set convergence barrier B (from Volta)
    BSYNC = 34  # wait at it
    BAR = 35
    EXIT = 36
    BRX = 37  # go where a register says: BRX, RET through a register
    PBK = 38  # push where a loop is left (before Volta)
    BRK = 39  # leave it
    CAL = 40  # push the next instruction and go (before Volta)
    RET = 41  # return there
    WARPSYNC = 42  # wait for the lanes of a mask (from Volta)
    BREAK = 43  # take lanes out of convergence barrier B
    BMOV = 44  # move convergence barrier B to a register, or back
    BRA_DIVERGENT = 45  # .DIV: go when not all living lanes of a mask are here (from Volta)
    BRA_CONVERGENT = 46  # .CONV: go when they are
    B2R = 47  # what the block's last BAR.RED found
    TRAP = 48  # end the run with a message
    YIELD = 49  # let other lanes go first
    DRIVER_CALL = 50  # call a function that the driver brings: vprintf, malloc, free, __assertfail
    # lanes of a warp together
    SHFL = 64  # function: Shuffle
    VOTE = 65  # function: Vote
    MATCH = 66  # function: Vote
    REDUX = 67  # function: Reduction
    # bits and predicates
    FLO = 70  # find the leading one
    BREV = 71
    BFE = 72  # extract and insert bit fields; their place is position | length << 8
    BFI = 73
    BMSK = 74
    SGXT = 75  # extend the sign of the low bits
    PRMT = 76  # function: Permute
    P2R = 77  # predicates to a byte of a register, and back; function: the byte
    R2P = 78
    PLOP3 = 79  # function: truth tables of the two results, a byte each
    # integers
    ISET = 80  # compare into a register; FLOAT: 1.0 instead of -1
    ICMP = 81  # select by comparing with zero
    IABS = 82
    XMAD = 83  # function: see isa.opcodes
    LEA_HI = 84
    IADD3_SHIFTED = 85  # .RS, .LS: the first sum shifted by 16 bits
    IDP = 86  # dot products of bytes and halves
    VABSDIFF = 87
    VIADDMNMX = 88  # a + b, then with c
    IADD64 = 89
    MOV64 = 90
    ISETP64 = 91
    # conversions; function: NumberType of the source | of the result << 4
    I2F = 92
    F2I = 93
    F2F = 94
    I2I = 95
    F2FP = 96  # two float32 to two halves
    # float32
    FSET = 97
    FCMP = 98
    FCHK = 99  # true where a division needs its slow path
    FMUL_SCALED = 100  # .D2 to .M8; function: the power of two
    # binary64
    DADD = 104
    DMUL = 105
    DFMA = 106
    DMNMX = 107
    DSETP = 108
    MUFU64 = 109  # MUFU.RCP64H, .RSQ64H: high words
    # two halves at once
    HADD2 = 112
    HMUL2 = 113
    HFMA2 = 114
    HMNMX2 = 115
    HSETP2 = 116
    HSET2 = 117
    IMAD_CARRY = 120  # IMAD whose sum carries out to a predicate, or of 64 bits with a carry in
    VABSDIFF4 = 121  # of four bytes; EVERY: their sum
    IMNMX2 = 122  # of two halves
    R2UR = 123  # MOV; the predicate: whose word is not the one moved
    IADD2 = 124  # two halves, each by itself
    QSPC = 126  # whether a generic address is one of a space; function: Space
    IMNMX_RELU = 127
    IMNMX3 = 128
    IMNMX3_2 = 129  # of three times two halves
    IADDMNMX2 = 130  # VIADDMNMX of two halves
    FMNMX3 = 131
    PACK = 132  # I2IP: two integers, saturated, into a word; function as of conversions
    F8_TO_F16 = 133  # F2FP.UNPACK_B: two small floats to two halves; function as of conversions
    PACK_F8 = 134  # F2FP of two floats to small ones, above the low half of a third; function as of conversions
    F16_TO_F8 = 135
    SEL64 = 136
    MERGE_HALF = 141  # F2FP.MERGE_C: a float to the low half
    FADD_PAIR = 137  # of two float32
    FMUL_PAIR = 138
    FFMA_PAIR = 139
    ELECT = 140  # the first lane
    FMNMX_XORSIGN = 142  # of magnitudes, with the product of the signs
    HMNMX2_XORSIGN = 143
    MUFU_HALF = 144
    PLOP3_SIGNS = 145  # of the signs of three words
    HMNMX3 = 146  # VHMNMX
    IADD4 = 148  # four bytes, each by itself
    IMNMX4 = 149
    IMNMX64 = 150
    PACK_ROUNDED = 147  # F2IP: two floats, rounded and saturated, above the low half of a third; function as of conversions
    HMMA = 151  # products of matrices; function: see isa.matrices
    IMMA = 152
    DMMA = 153
    MOVM = 154  # transpose an 8-by-8 matrix of halves
    IADD_SATURATED = 155  # two signed words
    MBARRIER = 170  # a barrier in shared memory; function: Mbarrier; EVERY: takes part no more
    BULK_COPY = 171  # by a unit of its own; function 0: from global to shared memory, completes bytes at a barrier there; 1: back;
    # of tiles, above that bit, the dimensions that a map and coordinates name; combine: BulkReduction
    HGMMA = 172  # products of a warpgroup with matrices in shared memory; function: see isa.matrices
    IGMMA = 173
    SETMAXREG = 175  # the warp has `function` registers per lane from now on, when its block has them
    CLUSTER_BARRIER = 176  # all warps of the blocks of a cluster; function 0: arrives, 1: waits until all have
    WARPGROUP_WAIT = 174  # WARPGROUP.DEPBAR: until all but the last `function` groups of products are done
    VMNMX = 125  # of three; function: Reduction of the first two | of that and the third << 3


class Space(IntEnum):
    """Memory space of a LOAD, STORE or ATOM."""

    NONE = 0
    GENERIC = 1  # LD, ST: global, or shared through its window
    GLOBAL = 2
    SHARED = 3
    LOCAL = 4
    CONSTANT = 5


class Kind(IntEnum):
    """What a source slot holds."""

    NONE = 0
    REGISTER = 1  # value = register number; 255 = RZ, from UNIFORM_BASE on UR0 to UR254
    IMMEDIATE = 2  # value = the 32 bits, zero-extended (floats already encoded)
    CONSTANT = 3  # value = byte offset, bank = bank; c[b][R + offset] also has Encoded.address_register


class Flag(IntFlag):
    """Modifier bits of one instruction (Encoded.flags)."""

    NONE = 0
    X = 1  # .X: add the carry
    CC = 2  # .CC: write the carry
    FTZ = 4  # flush subnormal inputs and results to zero
    SATURATE = 8  # .SAT: clamp a float result to [0, 1]
    SIGNED = 16  # integer operands are signed (default of ISETP, IMNMX, SHR, I2F, F2I; .U32 clears it)
    HIGH = 32  # .HI: high 32 bits (IMAD, IMUL, SHF)
    WIDE = 64  # .WIDE: 64-bit result (IMAD), destination and addend are pairs
    LEFT = 128  # SHF.L
    WRAP = 256  # .W: shift count modulo the width; else clamped
    ADDRESS64 = 512  # .E: the address register is the low half of a 64-bit pair
    EXTENDED = 1024  # ISETP.EX / compare continues a wider one (source predicate 1 is the low result)
    HALF64 = 2048  # SHF.*64: funnel operands form a 64-bit value
    FLOAT = 4096  # .F32 of an ATOM, HADD2, HMUL2, HFMA2: float32 in memory, or as result; .BF of ISET, FSET, HSET2: 1.0 for true
    VECTOR = 8192  # .F32x2, .F32x4 of an ATOM: float32 side by side
    INDEX64 = 16384  # the second register of an address is the low half of a pair
    JOIN = 32768  # .S of Kepler: afterwards SYNC
    CLEAR = 65536  # .CLEAR of BMOV: the source becomes empty
    ZFILL = 1 << 17  # of LDGSTS: the address's bits below the width say how many of the last bytes become zero, and are not its own
    CARRY_PREDICATE = 1 << 18  # of .X: the carry comes from the source predicates, not from CC
    DEVICE = 1 << 19  # of MEMBAR: a fence of the whole GPU, not of a block
    PAIRS = 1 << 20  # every register source is a pair
    BF16 = 1 << 21  # the halves are bfloat16
    INTEGRAL = 1 << 22  # F2F, FRND: round to a whole number
    NAN_TO_ZERO = 1 << 23  # .NTZ of F2I
    REVERSE = 1 << 24  # BFE.BREV; FLO.SH: count from the other end
    EVERY = 1 << 25  # .H_AND of HSETP2: both halves; .NAN of FMNMX, HMNMX2; .F16x2 of an ATOM; .ACC of VABSDIFF4; .ANY of BRA
    ASYNC = 1 << 26  # LDGSTS: to shared memory, at source 0 + function; BAR.ARV: goes on at once; UBLKCP.G.S
    MATRIX = 1 << 27  # LDSM, STSM: rows of 16 bytes, dealt to the lanes; REVERSE: transposed
    RELU = 1 << 28  # of halves: negative results become zero
    CLUSTER = 1 << 30  # of shared memory: that of any block of the cluster, its rank above the address; UBLKCP.S.S
    EXCLUSIVE = 1 << 29  # .EXCLUSIVE, .COLLECTIVE of WARPSYNC: lanes with another mask come after, not together with these


class SourceFlag(IntFlag):
    """Modifier bits of one source operand (Encoded.source_flags)."""

    NONE = 0
    NEGATE = 1  # -x (arithmetic)
    ABSOLUTE = 2  # |x|, applied before NEGATE
    INVERT = 4  # ~x (bitwise)
    PART = 56  # Part << PART_SHIFT, applied before the others


class Part(IntEnum):
    """Which half or byte of a word an operand takes, repeated in all of the word's (SourceFlag.PART)."""

    NONE = 0
    H0 = 1  # .H0, .H0_H0
    H1 = 2  # .H1, .H1_H1
    B0 = 3
    B1 = 4
    B2 = 5
    B3 = 6
    H0_NH1 = 7  # .H0_NH1: the halves swapped, the second one negated


PART_SHIFT = 3


class Cache(IntEnum):
    """Which caches a LOAD, STORE or ATOM asks for (Encoded.cache); a preset says what its GPU makes of it. PTX ISA, cache operators."""

    DEFAULT = 0
    ALL = 1  # .CA: every level
    GLOBAL = 2  # .CG: L2 only
    STREAMING = 3  # .CS, and hints of the same kind: used once, the first to be evicted
    VOLATILE = 4  # .CV, .WT, and .STRONG of a scope wider than an SM from Volta on: not from L1
    READ_ONLY = 5  # .CI, .CONSTANT, .NC: the read-only path, cached in L1


RZ = 255  # register that reads zero; URZ too
BARRIERS, COUNTERS, CONVERGENCE_REGISTERS = 16, 6, 16  # named barriers of a block; of a warp SB0 to SB5, which count, and B0 to B15
PT = 7  # predicate that is true; UPT too
UP0, CC_ZERO = 8, 15  # predicates 8..14: UP0..UP6; 15: the CC register says that a result was zero, CC.EQ before Volta

# Names of dependences (Encoded.reads, Encoded.writes): what a scoreboard tracks.
PREDICATE_BASE = 256  # 256..262: P0..P6
CARRY = 263  # the CC register
BARRIER_BASE = 264  # 264..279: convergence barriers B0..B15
UNIFORM_BASE = 280  # 280..534: UR0..UR254; also their register numbers
UNIFORM_REGISTERS = 255  # 63 before Blackwell
UNIFORM_PREDICATE_BASE = 535  # 535..541: UP0..UP6
