"""What `Encoded.function` holds, family by family: the enumerations of functions, modes and types."""

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
