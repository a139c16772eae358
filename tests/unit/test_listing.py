"""What is kept of a program: kinds of instructions that no GPU tells apart, made once, and of a program that cannot change."""

from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from sim.lowering.control_words import obeys_control_words
from sim.lowering.core import _of_program, _op
from sim.lowering.listing import PerProgram, listing

CUDA = Path(__file__).parents[2] / "programs" / "cuda"
# Copies of bytes and tiles with their reductions, BAR with and without a number of warps, ULDC beside LDC, CLUSTER, wide products.
MIXED = """.target sm_90
UBLKCP.G.S [UR6], [UR8], UR10
UBLKRED.G.S.ADD [UR6], [UR8], UR10
BAR.SYNC 0x1, 0x40
BAR.SYNC 0x1
BAR.ARV 0x1, 0x40
ULDC UR4, c[0x0][0x28]
LDC R4, c[0x0][0x28]
LDC R4, c[0x3][R5]
LDS R6, [R7]
LDG.E R6, [R8]
LDG.E.STRONG.GPU R6, [R8]
IMAD R1, R2, R3, R4
IMAD.WIDE R10, R2, R3, R4
RED.E.ADD [R8], R6
EXIT"""
PROGRAMS = ("attention_wgmma.sm_90", "hgemm_packed.sm_90", "histogram_cluster.sm_90", "reduce.sm_75", "dgemm.sm_80", "n_body.sm_52")


@pytest.mark.parametrize("name", ["", *PROGRAMS])
@pytest.mark.parametrize("machine", ["h100", "t4", "gtx480"])
def test_instructions_of_a_kind_are_the_same_to_a_gpu(name: str, machine: str) -> None:
    program, gpu = isa.load(CUDA / f"{name}.sass") if name else isa.parse(MIXED), sim.gpu(machine)
    known, obeyed = listing(program), obeys_control_words(gpu, program)
    try:
        ops = [_op(gpu, program, i, _of_program(program, i, int(known.results[i])), obeyed) for i in range(len(program))]
    except isa.errors.UserError:
        pytest.skip("this GPU lacks what the program needs")
    assert ops == [ops[known.first[kind]] for kind in known.kind.tolist()]
    assert len(known.first) < len(program) or not name


def test_what_is_made_of_a_program_is_made_once_and_the_one_asked_for_longest_ago_goes() -> None:
    kept, made = PerProgram[int](2), []
    one, two, three = (isa.parse(f"MOV R0, {number}\nEXIT") for number in range(3))

    def ask(program: isa.Program, more: int = 0) -> int:
        return kept.get(program, more, lambda: made.append((program, more)) or len(made))

    assert [ask(one), ask(two), ask(one)] == [1, 2, 1]
    assert [ask(three), ask(one), ask(two)] == [3, 1, 4]  # `two` went, not `one`, which was asked for after it
    assert ask(two, more=1) == 5
    assert len(kept.found) == 2


def test_a_program_of_which_tables_are_kept_cannot_change() -> None:
    listing(program := isa.load(CUDA / "copy.sm_90.sass"))
    assert program.control is not None
    for array in (*program.encoded, *program.control):
        with pytest.raises(ValueError, match="read-only"):
            np.copyto(array, 0)
