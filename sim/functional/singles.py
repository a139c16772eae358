"""Float32 operations out of the hot loop: FCMP, FCHK, FMUL with a scale."""

import numpy as np

from isa.semantics.floats import division_is_slow, flush, fmul_scaled, frelation, saturate
from isa.semantics.words import as_word
from isa.vocabulary import Operation
from sim.functional.flags import FTZ, SATURATE
from sim.functional.operands import write_predicate
from sim.functional.state import FIRST, OUT, Code, Machine
from sim.kernel import inner


@inner
def single(i: int, w: int, mask: int, rows: tuple[int, int, int], code: Code, machine: Machine) -> None:
    """Execute FCMP (the first source where the third compares so with zero, else the second), FCHK, or FMUL.D2 to .M8."""
    operation, ftz, out, truth = code.operation[i], code.flags[i] & FTZ, machine.rows[OUT], np.int64(0)
    first, second = rows[0], rows[1]
    a, b, x, y = machine.rows[first], machine.rows[second], machine.floats[first], machine.floats[second]
    z = machine.floats[rows[2]]
    for k in range(machine.lanes[0]):
        if operation == Operation.FCMP:
            value = flush(z[k]) if ftz else z[k]
            out[k] = a[k] if frelation(value, np.float32(0.0)) & code.compare[i] else b[k]
        elif operation == Operation.FCHK:
            truth |= np.int64(division_is_slow(a[k], b[k])) << k
        else:
            p, q = (flush(x[k]), flush(y[k])) if ftz else (x[k], y[k])
            result = fmul_scaled(p, q, code.function[i], code.rounding[i])
            result = flush(result) if ftz else result
            out[k] = as_word(saturate(result) if code.flags[i] & SATURATE else result)
    if operation == Operation.FCHK:
        write_predicate(i, FIRST, w, truth, mask, code, machine)
