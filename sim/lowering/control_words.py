"""Control words: whether a launch is timed by them, and what their dependence counters are called.

Rules of Volta and later: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025, sections 4 to 6.
"""

from typing import Any, NamedTuple

import numpy as np

from isa import matrices
from isa.architecture import KEPLER, family
from isa.dependences import depbar
from isa.program import Program
from isa.vocabulary import COUNTERS, MATRIX_UNITS, Flag, Operation, Unit
from sim.gpus.model import Gpu
from sim.lowering.ports import unit_timing
from sim.lowering.warpgroups import PRODUCTS, QUEUED

COLLECTORS = 2  # reuse caches of a scheduler: of FP64 and the tensor cores, and of all else
# Units whose instructions read their registers through the banks' ports in a fixed number of cycles.
PORTED = (Unit.FP32, Unit.INT32, Unit.IMAD, Unit.SHIFT, Unit.FP64)
# Those whose instructions wait until a product has read its registers, and then take one cycle, too: memory instructions and shuffles.
ADDRESSED = (Unit.GLOBAL, Unit.SHARED, Unit.LOCAL)
IMADS, WIDE = (int(Operation.IMAD), int(Operation.IMAD_CARRY)), int(Flag.WIDE | Flag.HIGH)  # plain integers: members take long to name


def obeys_control_words(gpu: Gpu, program: Program) -> bool:
    """Return whether `program` on `gpu` is timed by its control words; else the scoreboard finds dependences.

    Not for a listing without control words, nor for another kind of GPU, whose latencies its stall counts do not know, nor for Kepler,
    whose control words name no dependences; not on a GPU whose core.kind is "scoreboard".
    """
    if gpu.core.kind != "control" or program.control is None:
        return False
    written, own = family(program.architecture), family(gpu.architecture)
    return not (written is KEPLER or (written and own and written is not own))


FLUSH = "UTMACMDFLUSH"  # commits a group of bulk stores


class Groups(NamedTuple):
    """What waits for a part of a counter: DEPBAR.LE SB0, 2 until all increments of SB0 but the last two are undone. n instructions.

    Results of one counter return in order there: an increment counts as undone only when all before it are. LDGSTS joins the increment
    of the LDGDEPBAR that follows it in the listing; this one is undone when its copies are in shared memory. Products of warpgroups
    have counters of their own in every machine: gsb0, where those without it join the increment of the next one that has it, and one of
    the places in their queue.
    """

    counter: np.ndarray  # int [n] counter of LDGSTS, LDGDEPBAR and products of warpgroups, -1 = another instruction
    joins: np.ndarray  # bool [n] LDGSTS, product without gsb0: no increment of its own
    waits: np.ndarray  # int [n] counter of a DEPBAR that waits in part, -1 = none
    most: np.ndarray  # int [n] increments that it leaves
    kept: int  # increments, the one that is open included, that must be told apart; 0 = none


def groups(gpu: Gpu, program: Program, obeyed: bool) -> Groups:
    """Return who waits for parts of counters. obeyed: by the control words; else it is about LDGSTS, bulk stores and products only."""
    n, copies = len(program), program.encoded.flags & int(Flag.ASYNC) != 0
    products = np.isin(program.encoded.operation, matrices.OF_WARPGROUP)
    joins = copies | (products & (program.encoded.function & int(matrices.WarpgroupFlag.COMMITS) == 0))
    is_wait = program.encoded.operation == Operation.WARPGROUP_WAIT
    waits = np.where(is_wait, PRODUCTS, np.where(products, QUEUED, -1))
    others = gpu.warpgroup.queue - 1 if gpu.warpgroup else 0
    most = np.where(is_wait, program.encoded.function, others * products).astype(np.int64)
    found = Groups(np.where(products, PRODUCTS, -1), joins, waits, most, 0)
    if not obeyed and not (copies | products).any():
        return found
    counter = 0
    for i in reversed(range(n)):
        opcode = program.instructions[i].opcode
        if opcode == "LDGDEPBAR":
            counter = max(int(program.control.write_barrier[i]), 0) if program.control else 0
            found.counter[i] = counter
        elif opcode == FLUSH:
            counter = max(int(program.control.read_barrier[i]), 0) if program.control else 0
            found.counter[i] = counter
        elif copies[i]:
            found.counter[i] = counter
        elif opcode.startswith("DEPBAR"):
            partial = depbar(program.instructions[i].text)[1]
            if partial and (partial[1] or copies.any()):
                found.waits[i], found.most[i] = partial
    return found._replace(kept=int(found.most.max()) + 1 if joins.any() or (found.waits >= 0).any() else 0)


def waited_counters(program: Program, i: int) -> tuple[int, ...]:
    """Return the dependence counters that must be zero before instruction i may issue: its wait mask, what a DEPBAR names whole."""
    assert program.control is not None
    mask, instruction = int(program.control.wait_mask[i]), program.instructions[i]
    if instruction.opcode.startswith("DEPBAR"):
        named, partial = depbar(instruction.text)
        is_whole = partial and not partial[1] and not (program.encoded.flags & int(Flag.ASYNC)).any()
        mask |= sum(1 << number for number in named | ({partial[0]} if partial and is_whole else set()))
    return tuple(number for number in range(COUNTERS) if mask >> number & 1)


def counter_table(program: Program) -> np.ndarray:
    """Return int16 [n, COUNTERS]: the dependence counters that each instruction waits for, -1 padded."""
    rows = [waited_counters(program, i) for i in range(len(program))]
    return np.array([[*row, *[-1] * (COUNTERS - len(row))] for row in rows], np.int16).reshape(len(rows), COUNTERS)


def passes(gpu: Gpu, program: Program, i: int) -> int:
    """Return how often instruction i goes through its pipe: products of more than 32 bits more than once."""
    is_wide = program.encoded.operation[i] in IMADS and program.encoded.flags[i] & WIDE
    return gpu.units["imad"].wide_passes if is_wide and "imad" in gpu.units else 1


def read_cycles(gpu: Gpu, program: Program, i: int) -> int:
    """Return for how many cycles no other instruction begins to read registers: 0 of one that does not go through the banks' ports."""
    unit = unit_timing(gpu, program, i)
    return max(int(Unit(program.encoded.unit[i]) in (*PORTED, *ADDRESSED)), unit.reads if unit and unit.reads > 1 else 0)


def port_cycles(gpu: Gpu, program: Program, i: int) -> int:
    """Return how long instruction i holds a port of its pipe, cycles."""
    unit = unit_timing(gpu, program, i)
    return gpu.hold(unit.pipe) * unit.passes * passes(gpu, program, i) if unit else 0


def collectors(program: Program) -> np.ndarray:
    """Return uint8 [n]: which reuse cache serves each instruction, 1 = that of FP64 and the tensor cores, which executes HFMA2.MMA, too."""
    is_matrix = np.array([one.opcode.startswith("HFMA2.MMA") for one in program.instructions], bool)
    return (is_matrix | np.isin(program.encoded.unit, [Unit.FP64, *MATRIX_UNITS])).astype(np.uint8)


def last_pass(gpu: Gpu, program: Program, i: int) -> int:
    """Return how long after its first pass through its pipe instruction i has its last one, cycles."""
    times = passes(gpu, program, i)
    return port_cycles(gpu, program, i) // times * (times - 1)


def distances(program: Program) -> np.ndarray:
    """Return int64 [n]: the smallest distance from each instruction's last pass to the warp's next issue, cycles: its stall count.

    A yield keeps the warp from the very next cycle. Before Volta, 0 without a yield pairs the instruction with the next one.
    """
    assert program.control is not None
    return np.maximum(program.control.stall.astype(np.int64), np.where(program.control.yield_, 2, 1))


def landing(gpu: Gpu, program: Program, i: int) -> int:
    """Return how long the data of LDGSTS i take from where a load's would be ready into shared memory, cycles: passes without conflicts."""
    if not program.encoded.flags[i] & int(Flag.ASYNC):
        return 0
    return gpu.shared.pass_cycles * max(int(program.encoded.width[i]) // 4, 1)


def counters_of(program: Program, parts: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Return int [n] twice: the dependence counter that each instruction holds until its result is there, and until its sources have
    been read; -1 = none.

    LDGSTS, UBLKCP.G.S and products of warpgroups join an increment; UTMACMDFLUSH makes one with its read counter, until what joined has
    been read.
    """
    assert program.control is not None
    write, read = program.control.write_barrier, program.control.read_barrier
    joins = parts.joins | (parts.counter == PRODUCTS)
    flushes = np.array([one.opcode == FLUSH for one in program.instructions], bool) & ~joins
    return np.where(joins, parts.counter, np.where(flushes, read, write)), np.where(flushes, -1, read)


def control_fields(program: Program, obeyed: bool, parts: Groups) -> dict[str, Any]:
    """Return the fields of Op that come from control words, or wait for parts of counters."""
    control = program.control
    part: dict[str, Any] = {"joins": parts.joins, "waits": parts.waits, "most": parts.most}
    if control is None or not obeyed:
        return part | {"write_counter": parts.counter, "read_counter": -1, "pairs": 1, "reuse": 0, "yields": 1}
    write, read = counters_of(program, parts)
    return part | {"write_counter": write, "read_counter": read, "pairs": control.dual, "reuse": control.reuse, "yields": control.yield_}


def dense_columns(dependences: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Renumber dependences densely, each once per row and ahead of the padding."""
    named = np.where(dependences >= 0, number[dependences], -1)[:, (dependences >= 0).any(axis=0)]
    for column in range(1, named.shape[1]):
        named[(named[:, :column] == named[:, column : column + 1]).any(axis=1), column] = -1
    width = max(1, int((named >= 0).sum(axis=1).max(initial=0)))
    rows = np.take_along_axis(named, np.argsort(named < 0, axis=1, kind="stable")[:, :width], axis=1)
    return np.ascontiguousarray(rows) if rows.shape[1] else np.full((len(dependences), 1), -1, np.int16)
