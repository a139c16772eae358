"""Families of arms that few programs need: each is compiled and kept by itself (`sim.compiled.apart`), and called by its address."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from isa.operations import OPERATIONS, Form
from isa.vocabulary import PT, Operation
from sim.compiled.apart import Apart
from sim.compiled.generated import generated
from sim.functional import crosslane, doubles, halves, matrices, predicates, products, windows
from sim.functional.accesses import access_anything
from sim.functional.arms import by_forms
from sim.functional.bulk_copies import copy_bulk
from sim.functional.clusters import use_cluster_barrier
from sim.functional.flags import ASYNC, MATRIX
from sim.functional.flow import jump
from sim.functional.mbarriers import use_barrier
from sim.functional.registers import set_registers
from sim.functional.state import Code, Machine
from sim.functional.uncommon import computing, kernels_of
from sim.functional.warpgroups import multiply_of_warpgroup, wait_for_warpgroup
from sim.launch.launch import Launch

NO_PREDICATE = -1  # in Encoded.predicate_destination
GIVEN = "i, w, mask, code, machine, memory, log, store, progress"
# What functions called by address are given: those that compute, and others. Arguments that do not fit in registers take time.
TO_COMPUTE, GIVEN_APART = "i, w, mask, code, machine", "mask, code, machine, memory, log, store, progress"
FIND = ["w = progress.warp[0]", "i = machine.pc[w]"]


class Family(IntEnum):
    """Which machine code executes an instruction: the loop, or one of these; places in Machine.families."""

    LOOP = 0
    WORDS = 1  # seldom used integers; predicates and words made of each other
    PAIRS = 2  # 64 bits, and conversions
    DOUBLES = 3
    HALVES = 4
    LANES = 5  # shuffles, votes, reductions: what lanes tell each other
    MATRICES = 6
    WARPGROUPS = 7
    BARRIERS = 8  # mbarriers, those of clusters, registers that a block shares: what warps wait for
    COPIES = 9  # in bulk, and tiles
    ACCESSES = 10  # atomics, LDGSTS, LDSM, STSM; all accesses of a cluster, or of a launch that is checked
    JUMPS = 11  # beyond branches: to registers, calls, convergence registers


COMPUTING: dict[Family, tuple[tuple[Form, ...], tuple[Any, ...]]] = {
    Family.WORDS: ((Form.RARE_WORD,), (predicates, products)),
    Family.PAIRS: ((Form.PAIR,), ()),
    Family.DOUBLES: ((Form.DOUBLE,), (doubles,)),
    Family.HALVES: ((Form.HALVES,), (halves,)),
    Family.LANES: ((), (crosslane, windows, matrices)),
}
ARMS: dict[Family, Mapping[Form, Any]] = {
    family: computing(family.name.lower(), forms, modules) for family, (forms, modules) in COMPUTING.items()
}
ARMS |= {
    Family.MATRICES: {Form.PRODUCT_OF_MATRICES: matrices.multiply_matrices},
    Family.WARPGROUPS: {Form.PRODUCT_OF_WARPGROUP: multiply_of_warpgroup, Form.WARPGROUP_WAIT: wait_for_warpgroup},
    Family.BARRIERS: {Form.MBARRIER: use_barrier, Form.CLUSTER_BARRIER: use_cluster_barrier, Form.REGISTERS: set_registers},
    Family.COPIES: {Form.BULK_COPY: copy_bulk},
    Family.JUMPS: {Form.JUMP: jump},
    Family.ACCESSES: dict.fromkeys((Form.LOAD, Form.STORE, Form.ATOM), access_anything),
}
PLAIN = {Form.LOAD, Form.STORE}  # forms of which the loop executes most by itself
APART = {form for arms in ARMS.values() for form in arms if form not in PLAIN}  # those of which it executes none
COMPUTED = {form for family in COMPUTING for form in ARMS[family]}  # of these, what only computes
EVEN_WITHOUT_LANES = {Form.ATOM, Form.MBARRIER, Form.BULK_COPY, Form.CLUSTER_BARRIER, Form.JUMP}  # of them, those for no lanes, too


def executing(family: Family) -> Any:
    """Return the function that executes an instruction of a family, not compiled yet."""
    name, computes = family.name.lower(), family in COMPUTING
    called, given = f"{name}_by_form", TO_COMPUTE if computes else GIVEN
    names = {called: by_forms(called, ARMS[family], given, {})}
    lines = [*([] if computes else FIND), f"return {called}(code.form[i], {given})"]
    return generated(name, TO_COMPUTE if computes else GIVEN_APART, lines, names, lambda function: function)


PARTS = {family: Apart(f"functional.{family.name.lower()}", executing(family)) for family in ARMS}


def family_of_operations(computing: Mapping[Family, tuple[Any, tuple[Any, ...]]] = COMPUTING) -> np.ndarray:
    """Return int64 [operations] the family of each, LOOP where that depends on the instruction.

    Raises ValueError naming an operation out of the loop that is in no family, or in two.
    """
    found = np.zeros(max(Operation) + 1, np.int64)
    for family, arms in ARMS.items():
        modules = computing[family][1] if family in computing else ()
        mine = [one for one, row in OPERATIONS.items() if row.form in arms and row.form not in (Form.KERNEL, *PLAIN)]
        for operation in [*mine, *kernels_of(modules)]:
            if found[operation]:
                raise ValueError(f"operation {Operation(operation).name} is in two families")
            found[operation] = family
    if missing := [Operation(one).name for one, row in OPERATIONS.items() if row.form in APART and not found[one]]:
        raise ValueError(f"operations in no family: {', '.join(missing)}")
    return found


OF_OPERATIONS = family_of_operations()
LOADS_AND_STORES = [operation for operation, row in OPERATIONS.items() if row.form in PLAIN]


def families_of(launch: Launch, is_checked: bool) -> np.ndarray:
    """Return int64 [n] the family of each instruction. is_checked: accesses are looked at (`watch`)."""
    e = launch.program.encoded
    rare = e.flags & (ASYNC | MATRIX) != 0
    rare |= ~np.isin(e.predicate_destination[:, 0], (NO_PREDICATE, PT))
    rare |= is_checked or launch.ranks > 1
    return np.where(np.isin(e.operation, LOADS_AND_STORES) & rare, np.int64(Family.ACCESSES), OF_OPERATIONS[e.operation])


def needed(families: np.ndarray) -> list[Family]:
    """Return the families among those of instructions that have machine code of their own."""
    return [Family(one) for one in np.unique(families) if one != Family.LOOP]


def link(families: Iterable[Family], code: Code, machine: Machine, *others: Any) -> None:
    """Write the addresses of families to the machine. others: what their functions are given beside, for its types."""
    for family in families:
        given = (0, 0, 0, code, machine) if family in COMPUTING else (0, code, machine, *others)
        machine.families[family] = PARTS[family].address(*given)
