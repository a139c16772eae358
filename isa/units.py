"""The kinds of hardware that instructions need."""

from enum import IntEnum


class Unit(IntEnum):
    """The kind of hardware that an opcode needs, true on every GPU; presets say which pipe serves it and how fast."""

    NONE = 0  # NOP: issues, uses no pipe
    FP32 = 1
    INT32 = 2  # add, logic, compare, select, move
    IMAD = 3  # integer multiply
    SHIFT = 4
    FP64 = 5
    MUFU = 6
    CONVERT = 7
    SPECIAL = 8  # S2R, MATCH
    BRANCH = 9  # BRA, SSY, SYNC, BSSY, BSYNC, EXIT and the like
    BARRIER = 10
    GLOBAL = 11  # global and generic memory
    LOCAL = 12
    SHARED = 13  # and SHFL, which goes through the same crossbar
    CONSTANT = 14  # LDC; c[b][o] as an operand is free once cached
    # tensor cores: opcode, shape as it is spelled, type of the sums, or TF32 (`isa.matrices.unit_of`)
    HMMA_1688_F16 = 15
    HMMA_1688_F32 = 16
    HMMA_16816_F16 = 17
    HMMA_16816_F32 = 18
    HMMA_1684_TF32 = 19
    HMMA_1688_TF32 = 20
    IMMA_8816 = 21
    IMMA_16816 = 22
    IMMA_16832 = 23
    DMMA_884 = 24
    DMMA_1684 = 25
    DMMA_1688 = 26
    DMMA_16816 = 27
    WGMMA = 28  # products of a warpgroup (wgmma): the tensor cores of all schedulers together
    UNIFORM = 29  # no opcode's own: INT32's and SHIFT's of uniform registers, where a GPU has a pipe for them


MATRIX_UNITS = tuple(unit for unit in Unit if Unit.HMMA_1688_F16 <= unit <= Unit.WGMMA)  # a GPU may lack them
