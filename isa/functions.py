"""What `function`, `compare`, `combine` and `rounding` of `Encoded` hold: the enumerations of functions, modes and types."""

from enum import IntEnum


class Mufu(IntEnum):
    """Functions of the multi-function unit (Encoded.function)."""

    RCP = 0
    RSQ = 1
    SQRT = 2
    EX2 = 3
    LG2 = 4
    SIN = 5
    COS = 6
    TANH = 7


class Shuffle(IntEnum):
    """Where SHFL reads (Encoded.function); PTX ISA, `shfl`."""

    IDX = 0
    UP = 1
    DOWN = 2
    BFLY = 3


class Vote(IntEnum):
    """What VOTE and MATCH ask of the lanes that take part (Encoded.function)."""

    ALL = 0
    ANY = 1
    EQ = 2


class Reduction(IntEnum):
    """How REDUX joins the words of the lanes (Encoded.function); AND is written without a name."""

    AND = 0
    OR = 1
    XOR = 2
    SUM = 3
    MIN = 4
    MAX = 5


class Permute(IntEnum):
    """How PRMT reads its selector (Encoded.function); PTX ISA, `prmt`."""

    INDEX = 0
    F4E = 1
    B4E = 2
    RC8 = 3
    ECL = 4
    ECR = 5
    RC16 = 6


class NumberType(IntEnum):
    """Types of conversions (Encoded.function): floats, then integers; below U8 a float, odd integers signed."""

    F16 = 0
    BF16 = 1
    F32 = 2
    F64 = 3
    U8 = 4
    S8 = 5
    U16 = 6
    S16 = 7
    U32 = 8
    S32 = 9
    U64 = 10
    S64 = 11
    E4M3 = 12  # floats of 8 bits: F2FP only
    E5M2 = 13


class XmadAddend(IntEnum):
    """What XMAD adds (Encoded.function)."""

    WHOLE = 0
    CLO = 1  # the low half
    CHI = 2  # the high half
    CSFU = 3  # less what signed factors read as unsigned add too much
    CBCC = 4  # plus the second factor's register << 16


class Dot(IntEnum):
    """Which bytes and halves IDP multiplies (Encoded.function)."""

    FOUR = 0  # four bytes by four bytes
    TWO_LOW = 1  # two halves by the low two bytes
    TWO_HIGH = 2


class AtomicFunction(IntEnum):
    """What an ATOM makes of the word in memory and its operand (Encoded.function); PTX ISA, `atom`."""

    ADD = 0
    MIN = 1
    MAX = 2
    INC = 3  # old >= operand ? 0 : old + 1
    DEC = 4  # old == 0 or old > operand ? operand : old - 1
    AND = 5
    OR = 6
    XOR = 7
    EXCH = 8
    CAS = 9  # old == operand ? second operand : old
    CAST = 10  # the same, and returns whether it was done


class BulkReduction(IntEnum):
    """What a bulk copy makes of each element that is there and the one that comes, one more than AtomicFunction (Encoded.combine)."""

    NONE = 0  # what comes replaces it
    ADD = 1
    MIN = 2
    MAX = 3
    INC = 4
    DEC = 5
    AND = 6
    OR = 7
    XOR = 8


class Mbarrier(IntEnum):
    """What SYNCS does to a barrier in shared memory (Encoded.function); PTX ISA, `mbarrier`."""

    SET = 0  # .EXCH: write all of it
    ARRIVE_EXPECT = 1  # arrive once, and expect as many bytes more as the operand says
    ARRIVE = 2  # .A1T0
    ARRIVE_COUNT = 3  # .ART0: as often as the operand says
    EXPECT = 4  # .A0TR: only expect
    COMPLETE = 5  # .A0TX: so many bytes have come
    CHECK = 6  # .PHASECHK: whether the phase is over whose parity is the operand's top bit
    STORE = 7  # STAS: store to a block of the cluster, and complete as many bytes at a barrier there


class BarrierReduction(IntEnum):
    """What BAR.RED makes of the block's predicates, for B2R (Encoded.combine of a BAR)."""

    NONE = 0
    AND = 1
    OR = 2
    POPC = 3


class MatrixShape(IntEnum):
    """Rows and columns of the sums and terms of each, of a product of matrices, as SASS spells them (Encoded.function)."""

    S884 = 0
    S8816 = 1
    S1684 = 2
    S1688 = 3
    S16816 = 4
    S16832 = 5


class MatrixType(IntEnum):
    """Types of the elements of a product of matrices (Encoded.function)."""

    F16 = 0
    BF16 = 1
    TF32 = 2
    S8 = 3
    U8 = 4
    F64 = 5
    F32 = 6
    S32 = 7
    E4M3 = 8
    E5M2 = 9


class Compare(IntEnum):
    """Comparison of xSETP. U forms are true when an operand is NaN."""

    F = 0
    LT = 1
    EQ = 2
    LE = 3
    GT = 4
    NE = 5
    GE = 6
    NUM = 7
    NAN = 8
    LTU = 9
    EQU = 10
    LEU = 11
    GTU = 12
    NEU = 13
    GEU = 14
    T = 15


class Combine(IntEnum):
    """How xSETP, PSETP and LOP combine two truth values or words."""

    AND = 0
    OR = 1
    XOR = 2
    PASS_B = 3


class Rounding(IntEnum):
    """IEEE rounding of FP32 arithmetic and conversions."""

    NEAREST = 0
    DOWN = 1  # .RM, .FLOOR
    UP = 2  # .RP, .CEIL
    ZERO = 3  # .RZ, .TRUNC


class Special(IntEnum):
    """Special registers that S2R reads (Encoded.function)."""

    TID_X = 0
    TID_Y = 1
    TID_Z = 2
    CTAID_X = 3
    CTAID_Y = 4
    CTAID_Z = 5
    NTID_X = 6
    NTID_Y = 7
    NTID_Z = 8
    NCTAID_X = 9
    NCTAID_Y = 10
    NCTAID_Z = 11
    LANEID = 12
    WARPID = 13
    NWARPID = 14
    SMID = 15  # 0: placement belongs to the timing engine
    CLOCKLO = 16  # gives the program the warp instructions executed so far; the timing engine reports when each was issued
    CLOCKHI = 17
    EQMASK = 18
    LTMASK = 19
    LEMASK = 20
    GTMASK = 21
    GEMASK = 22
    ZERO = 23  # SRZ
    CGA_CTAID = 24  # SR_CgaCtaId, the block's rank in its cluster
    VIRTID = 25  # from bit 8 on the warp's number, PTX's %warpid
    VIRTUALSMID = 26  # PTX's %smid: 0, as SMID
    GLOBALTIMERLO = 27  # nanoseconds: as the clock
    GLOBALTIMERHI = 28
    SMEMSZ = 29  # bytes of shared memory per block
    CGA_SIZE = 31  # 0
    SWINHI = 30  # the high word of generic addresses of shared memory
