"""What a `Program` is made of: encoded instructions, control words, parameters, variables, and instructions as people read them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

SOURCES = 4  # operand slots
READS = 34  # dependences read, at most: of DMMA 33
WRITES = 8  # dependences written, at most


class Encoded(NamedTuple):
    """One row per instruction; n = number of instructions. Enumerations are those of `isa.vocabulary`."""

    operation: np.ndarray  # int16 [n] Operation
    unit: np.ndarray  # int8 [n] Unit
    guard: np.ndarray  # int8 [n] predicate 0..6, 7 = PT, 8..14 = UP0..UP6
    guard_not: np.ndarray  # uint8 [n] 1 = @!P
    destination: np.ndarray  # int16 [n] first register written; 255 = RZ, from UNIFORM_BASE on UR0.., -1 = none
    destination_count: np.ndarray  # int8 [n] consecutive registers written (1, 2, 4)
    predicate_destination: np.ndarray  # int8 [n, 2] predicates written; 7 = PT, discarded
    source_kind: np.ndarray  # uint8 [n, SOURCES] Kind
    source_value: np.ndarray  # int64 [n, SOURCES] register, 32-bit pattern, or byte offset in the bank
    source_bank: np.ndarray  # int8 [n, SOURCES] constant bank
    source_flags: np.ndarray  # uint8 [n, SOURCES] SourceFlag
    predicate_source: np.ndarray  # int8 [n, 3] predicates read as operands; 7 = PT when absent
    predicate_source_not: np.ndarray  # uint8 [n, 3] 1 = !P
    flags: np.ndarray  # int32 [n] Flag
    compare: np.ndarray  # int8 [n] Compare
    combine: np.ndarray  # int8 [n] Combine, BarrierReduction of a BAR, BulkReduction of a BULK_COPY
    rounding: np.ndarray  # int8 [n] Rounding
    function: np.ndarray  # int32 [n] what Operation says; Mufu, Special, AtomicFunction, LOP3 table, LEA shift, BAR number, B of BSSY/BSYNC
    space: np.ndarray  # int8 [n] Space of a LOAD, STORE or ATOM
    width: np.ndarray  # int8 [n] bytes per lane moved by a LOAD, STORE, ATOM or LDC (1, 2, 4, 8, 16)
    cache: np.ndarray  # uint8 [n] Cache that a LOAD, STORE or ATOM asks for
    address_register: np.ndarray  # int16 [n] base register of the address; 255 = RZ, -1 = none
    address_index: np.ndarray  # int16 [n] second, uniform register of the address; -1 = none
    address_scale: np.ndarray  # int8 [n] factor of the base register: 1, 4, 8, 16
    address_offset: np.ndarray  # int64 [n] bytes; of BRX, from the register's value to an address of code
    target: np.ndarray  # int32 [n] instruction index of BRA, SSY, BSSY, PBK, CAL; -1 = none
    reconverge: np.ndarray  # int32 [n] BRA in a listing without markers: immediate post-dominator; n = the exit; -1 = none
    reads: np.ndarray  # int16 [n, READS] dependences read (registers, predicates, CC), -1 padded
    writes: np.ndarray  # int16 [n, WRITES] dependences written, -1 padded


class Control(NamedTuple):
    """What the compiler wrote into the control words: when each instruction may issue. n = number of instructions."""

    stall: np.ndarray  # int8 [n] cycles before this warp may issue its next instruction, 0 to 15 (Kepler: to 31)
    yield_: np.ndarray  # uint8 [n] 1 = the scheduler may turn to another warp
    write_barrier: np.ndarray  # int8 [n] dependence counter 0..5 released when the result is written; -1 = none
    read_barrier: np.ndarray  # int8 [n] dependence counter 0..5 released when the sources have been read; -1 = none
    wait_mask: np.ndarray  # uint8 [n] bit i: issue only when dependence counter i is zero
    reuse: np.ndarray  # uint8 [n] bit i: keep source slot i in the operand cache
    dual: np.ndarray  # uint8 [n] 1 = issued together with the next instruction


class Parameter(NamedTuple):
    """One kernel parameter: where it lies in its constant bank."""

    name: str
    type: str  # "ptr", "u32", "s32", "f32", "u64", "s64", "f64"
    offset: int  # bytes in bank 0
    size: int  # bytes


class Variables(NamedTuple):
    """The `__device__` variables of compiled code: one piece of memory, made anew for every launch."""

    image: bytes  # what they hold at launch
    banks: tuple[tuple[int, int, int], ...]  # constant bank, byte offset in it: the address of this byte of `image`, 64 bits
    pointers: tuple[tuple[int, int], ...]  # byte offset in `image`: the address of that byte of it


class Variable(NamedTuple):
    """A variable of compiled code by name: `__constant__` where it has a bank, `__device__` where it has none."""

    name: str
    bank: int | None
    offset: int  # bytes in the bank, or in `Variables.image`
    size: int  # bytes


@dataclass(frozen=True)
class Instruction:
    """One instruction as a person reads it."""

    index: int
    line: int  # 1-based line of the listing
    opcode: str  # as written, with modifiers: "LDG.E.128"
    text: str  # canonical text: "@!P0 FFMA R0, R1, R2, R3;"
