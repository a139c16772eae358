"""Products of warpgroups (wgmma) before cycle 0: how long each takes its tensor core, and what counts those under way.

A warp's products are counted like results under control words, whatever the machine: a DEPBAR waits for all increments but the last.
"""

import math
from typing import NamedTuple

import numpy as np

from isa import matrices
from isa.program import Program
from isa.vocabulary import COUNTERS, RZ, UNIFORM_BASE, Kind
from sim.gpus.model import Gpu
from sim.gpus.path import LINE
from sim.traces.trace import ACCESSES

PRODUCTS, QUEUED = COUNTERS, COUNTERS + 1  # beside SB0 to SB5: gsb0, of groups of products; the places of a warp's queue
ROWS, ROW_BYTES = 64, 32  # of the left factor and, as the right one's columns, of both (PTX ISA, wgmma)


class Turn(NamedTuple):
    """How long a product of a warpgroup takes, cycles; zeros of another instruction."""

    start: int  # from its issue until it may begin
    cycles: int  # from its begin until the next one may begin
    columns: int  # from its begin until its last column is made


def turn(gpu: Gpu, program: Program, i: int) -> Turn:
    """Return how long instruction i takes of its tensor core, a product of a warpgroup.

    The next one may not begin before its matrices are out of shared memory, a line of 128 bytes a pass: 64 rows of 32 bytes, and as many
    for each column; nor before a left factor is out of registers.
    """
    function = int(program.encoded.function[i])
    if int(program.encoded.operation[i]) not in matrices.OF_WARPGROUP or not gpu.warpgroup:
        return Turn(0, 0, 0)
    group, columns = gpu.warpgroup, matrices.columns_of_warpgroup(function)
    made = math.ceil(columns * group.column_cycles)
    in_registers = bool(function & matrices.WarpgroupFlag.REGISTERS)
    passes = (columns if in_registers else columns + ROWS) * ROW_BYTES / LINE
    cycles = max(made, math.ceil(passes * gpu.shared.pass_cycles), group.register_cycles if in_registers else 1)
    return Turn(group.start_registers if in_registers else group.start_shared, cycles, made)


def ported(program: Program) -> np.ndarray:
    """Return which instructions read a vector register as arithmetic does, bool [n]: no accesses, no products."""
    encoded = program.encoded
    reads = ((encoded.source_kind == Kind.REGISTER) & (encoded.source_value < RZ)).any(axis=1)
    return reads & ~np.isin(encoded.operation, (*ACCESSES, *matrices.OF_WARPGROUP)) & (encoded.destination < UNIFORM_BASE)
