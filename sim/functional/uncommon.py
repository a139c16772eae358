"""Operations out of the hot loop, compiled once: the loop calls them, so that they neither slow it down nor are inlined into it."""

from isa.vocabulary import Operation
from sim.functional.bitfields import bit_field, compare_into_register, move_predicates
from sim.functional.convert import convert
from sim.functional.crosslane import across_lanes
from sim.functional.doubles import double
from sim.functional.flags import HIGH, PAIRS, WIDE
from sim.functional.halves import halves
from sim.functional.operands import operand, wide_operand, write
from sim.functional.products import integer
from sim.functional.singles import single
from sim.functional.state import FIRST, OUT, SECOND, THIRD, Code, Machine
from sim.kernel import outlined


@outlined
def compute_uncommon(i: int, w: int, mask: int, code: Code, machine: Machine) -> None:
    """Execute instruction i, an operation from SHFL on, for the lanes of `mask`: each family leaves its result in row OUT, pairs in two."""
    operation, flags = code.operation[i], code.flags[i]
    if flags & PAIRS:
        rows = wide_operand(i, FIRST, w, code, machine), wide_operand(i, SECOND, w, code, machine), wide_operand(i, THIRD, w, code, machine)
    else:
        rows = operand(i, FIRST, w, code, machine), operand(i, SECOND, w, code, machine), operand(i, THIRD, w, code, machine)
    if operation <= Operation.REDUX:
        across_lanes(i, w, mask, rows, code, machine)
    elif operation <= Operation.PRMT:
        bit_field(i, w, mask, rows, code, machine)
    elif operation <= Operation.PLOP3:
        move_predicates(i, w, mask, rows, code, machine)
    elif operation in (Operation.ISET, Operation.FSET):
        compare_into_register(i, w, mask, rows, code, machine)
    elif operation <= Operation.ISETP64:
        integer(i, w, mask, rows, code, machine)
    elif operation <= Operation.F2FP:
        convert(i, w, mask, rows, code, machine)
    elif operation <= Operation.FMUL_SCALED:
        single(i, w, mask, rows, code, machine)
    elif operation <= Operation.MUFU64:
        double(i, w, mask, rows, code, machine)
    elif operation >= Operation.IMAD_CARRY:
        integer(i, w, mask, rows, code, machine)
    else:
        halves(i, w, mask, rows, code, machine)
    write(OUT, i, FIRST, w, mask, code, machine)
    if flags & WIDE and not flags & HIGH:
        write(OUT + 1, i, SECOND, w, mask, code, machine)
