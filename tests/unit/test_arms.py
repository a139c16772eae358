"""Nothing is executed in silence by another's arm: taking any row, arm, kernel, function or policy away is noticed, for all of them."""

import inspect
import itertools
import re
from collections.abc import Callable
from importlib import resources
from typing import Any

import numpy as np
import pytest

import isa
from isa.opcodes import BY_ERA, ERAS, SpellingError, decode, load_eras
from isa.operations import BY_KERNELS, BY_LANES, OPERATIONS, Form, load, semantic_functions
from isa.semantics.atomics import atomic
from isa.semantics.bits import prmt
from isa.semantics.crosslane import shuffle_source
from isa.semantics.floats import fadd_rounded, frelation
from isa.semantics.integers import logic
from isa.semantics.mufu import mufu
from isa.vocabulary import AtomicFunction, Combine, Compare, Mufu, Operation, Permute, Rounding, Shuffle
from sim.functional import (
    crosslane,
    doubles,
    families,
    flow,
    halves,
    lanes,
    matrices,
    predicates,
    products,
    uncommon,
    warp,
    warpgroups,
    windows,
)
from sim.functional.arms import by_kernels, check_forms, kernels
from sim.functional.families import Family
from sim.policies import Policy
from sim.policies.builtin import FUNCTIONS, chooser
from tests.unit.isa_examples import EXAMPLES, OF_ERAS

TABLE = resources.files("isa").joinpath("operations.toml").read_text("utf-8")
OPCODES = resources.files("isa").joinpath("opcodes.toml").read_text("utf-8")
KERNELS = {
    Form.SUM: (lanes.summed, lanes.SUMMED, lanes.SUMS),
    Form.COMPARISON: (lanes.compared, lanes.COMPARED, lanes.COMPARISONS),
    Form.CONTROL: (flow.controlled, flow.GIVEN, flow.KNOWN),
    Form.JUMP: (flow.jumped, flow.GIVEN, flow.KNOWN),
    Form.KERNEL: (None, uncommon.GIVEN, kernels([crosslane, doubles, halves, matrices, predicates, products, windows])),
    Form.PRODUCT_OF_WARPGROUP: (warpgroups.multiplied_of_warpgroup, warpgroups.GIVEN, warpgroups.KNOWN),
    Form.PRODUCT_OF_MATRICES: (matrices.multiplied, matrices.GIVEN, matrices.KNOWN),
}


def without(text: str, name: str) -> str:
    """Return a table without one row."""
    changed, count = re.subn(rf"(?m)^{re.escape(name)} = .*\n", "", text)
    assert count == 1, name
    return changed


@pytest.mark.parametrize("operation", Operation, ids=lambda operation: operation.name)
def test_an_operation_without_its_row_or_its_function_is_refused_by_name(operation: Operation) -> None:
    with pytest.raises(ValueError, match=rf"without a row: {operation.name}$"):
        load(without(TABLE, operation.name))
    fewer = {one.name: one for one in Operation if one != operation}
    with pytest.raises(ValueError, match=rf"without an operation: {operation.name}$"):
        load(TABLE, fewer)
    row = OPERATIONS[operation]
    if row.call is None:
        return
    if row.form in BY_LANES:
        functions = semantic_functions()
        del functions[row.call.name]
        with pytest.raises(ValueError, match=rf"isa.semantics has no function {row.call.name}$"):
            load(TABLE, functions=functions)
    else:
        _, given, known = KERNELS[row.form]
        with pytest.raises(ValueError, match=rf"has no kernel {row.call.name}$"):
            by_kernels("mutant", row.form, given, {name: kernel for name, kernel in known.items() if name != row.call.name}, "0")


@pytest.mark.parametrize("form", Form, ids=lambda form: form.name)
def test_a_form_without_its_arm_is_refused_by_name(form: Form) -> None:
    tables: list[Any] = [warp.ARMS, warp.MEMORY, warp.FLOW, lanes.ARMS, dict.fromkeys(families.APART)]
    check_forms(*tables)
    with pytest.raises(ValueError, match=rf"without exactly one arm: {form.name}$"):
        check_forms(*[{one: arm for one, arm in table.items() if one != form} for table in tables])
    with pytest.raises(ValueError, match=rf"without exactly one arm: {form.name}$"):
        check_forms(*tables, {form: None})
    text = "\n".join(line for line in TABLE.splitlines() if f'form = "{form.name}"' not in line)
    operations = {name: one for name, one in Operation.__members__.items() if OPERATIONS[one].form != form}
    with pytest.raises(ValueError, match=rf"forms without an operation: {form.name}$"):
        load(text, operations)


def cases_of(function: Any) -> list[int]:
    """Return the operations that have a case in a generated function."""
    return [int(number) for number in re.findall(r"operation == (\d+)", inspect.getsource(getattr(function, "py_func", function)))]


def operations_of(form: Form) -> set[int]:
    return {int(operation) for operation, row in OPERATIONS.items() if row.form == form}


def test_every_operation_has_a_case_in_the_source_made_from_its_form() -> None:
    """The generated functions are what is executed: each operation of their form has a case in them, and no other has."""
    sources: dict[Form, list[Any]] = {form: [kernel] for form, (kernel, _, _) in KERNELS.items() if kernel}
    sources |= {Form.ARITHMETIC: [lanes.plain, lanes.flushed, lanes.rounded], Form.WORD: [lanes.words], Form.SINGLE: [lanes.singles]}
    sources |= {Form.RARE_WORD: [uncommon.word_of], Form.PAIR: [uncommon.pair_of], Form.DOUBLE: [uncommon.double_of]}
    sources |= {Form.HALVES: [halves.value_of]}
    assert set(sources) == (set(BY_LANES) | set(BY_KERNELS)) - {Form.KERNEL}
    for form, made in sources.items():
        for function in made:
            assert set(cases_of(function)) == operations_of(form), form.name
    apart = [number for function in uncommon.BY_ITSELF for number in cases_of(function)]
    assert sorted(apart) == sorted(operations_of(Form.KERNEL))  # each in one family
    forms = {
        int(number) for number in re.findall(r"form == (\d+)", inspect.getsource(getattr(warp.execute_form, "py_func", warp.execute_form)))
    }
    assert forms == set(Form)


@pytest.mark.parametrize("family", families.COMPUTING, ids=lambda family: family.name)
def test_a_kernel_in_no_family_or_in_two_is_refused_by_name(family: Family) -> None:
    forms, modules = families.COMPUTING[family]
    names = [Operation(operation).name for operation in uncommon.kernels_of(modules)]
    if not names:
        assert family == Family.PAIRS
        return
    with pytest.raises(ValueError, match=rf"in no family: {', '.join(names)}$"):
        families.family_of_operations({**families.COMPUTING, family: (forms, ())})
    twice = {**families.COMPUTING, Family.PAIRS: (forms, modules)}
    with pytest.raises(ValueError, match=rf"operation ({'|'.join(names)}) is in two families"):
        families.family_of_operations(twice)


@pytest.mark.parametrize("era", ["", *ERAS], ids=lambda era: era or "all")
def test_an_opcode_without_its_row_is_noticed_by_its_example(era: str) -> None:
    examples = OF_ERAS[era] if era else EXAMPLES
    assert list(examples) == list(BY_ERA[era])
    for name in BY_ERA[era]:
        head, _, tail = OPCODES.partition(f"\n[{era or 'opcodes'}]\n")
        section, *others = re.split(r"(?m)(?=^\[)", tail, maxsplit=1)
        try:
            mutant = load_eras(f"{head}\n[{era or 'opcodes'}]\n{without(section, name)}{''.join(others)}")
        except (KeyError, ValueError):
            continue  # the table says so itself: another row is like this one, or a modifier is its alone
        spelling = next(word for word in examples[name][0].split() if not word.startswith("@"))
        assert name not in mutant[era]
        with pytest.raises(SpellingError):
            decode_in(mutant, spelling, era)


def decode_in(table: dict[str, dict[str, isa.opcodes.Opcode]], spelling: str, era: str) -> None:
    """Decode as with another table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(isa.opcodes, "BY_ERA", table)
        patch.setattr(isa.opcodes, "OPCODES", {} if era else table[""])
        decode.__wrapped__(spelling, era)


@pytest.mark.parametrize("policy", Policy, ids=lambda policy: policy.name)
def test_a_policy_without_its_function_is_refused_by_name(policy: Policy) -> None:
    with pytest.raises(ValueError, match=rf"policies without a function: {policy.name}$"):
        chooser({one: function for one, function in FUNCTIONS.items() if one != policy})


def test_a_kernel_that_asks_for_what_its_form_does_not_give_is_refused() -> None:
    with pytest.raises(ValueError, match="wants rows, which its form does not give"):
        by_kernels("mutant", Form.KERNEL, "i, w, mask, code, machine", KERNELS[Form.KERNEL][2], "0")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"iabs a"', '"iabs a b"', "IABS: iabs does not take 2 arguments"),
        ('"iabs a"', '"iabs q"', "IABS: the form RARE_WORD gives no q"),
        ('form = "RARE_WORD", function = "iabs a"', 'form = "WORDY"', "IABS: no form WORDY"),
        ('form = "RARE_WORD", function = "iabs a"', 'form = "RARE_WORD"', "IABS: the form RARE_WORD takes a function"),
        ('form = "RARE_WORD", function = "iabs a"', 'form = "MOVE"', "the form MOVE is one operation, not MOV, IABS"),
        ('function = "iabs a"', 'function = "iabs a", numbers = "ROMAN"', "IABS: no numbers ROMAN"),
        ('function = "iabs a"', 'function = "iabs a", cycles = 4', "IABS: unknown keys"),
    ],
)
def test_a_wrong_row_is_refused_by_name(old: str, new: str, message: str) -> None:
    assert TABLE.count(old) == 1
    with pytest.raises(ValueError, match=re.escape(message)):
        load(TABLE.replace(old, new))


def distinct(members: Any, result: Callable[[int], tuple[Any, ...]]) -> None:
    """Fail unless each member of an enumeration gives results of its own: one without its arm would give another's."""
    found = {member.name: tuple(str(value) for value in result(int(member))) for member in members}
    for (one, mine), (other, others) in itertools.combinations(found.items(), 2):
        assert mine != others, f"{one} computes what {other} does"


def test_each_function_of_an_operation_computes_something_of_its_own() -> None:
    numbers = [(3, 9, 5), (-7, 2, 2), (0, 1, 4), (9, 3, 9), (12, 10, 0), (5, 5, 6)]
    with np.errstate(all="ignore"):
        distinct(set(AtomicFunction) - {AtomicFunction.CAST}, lambda f: tuple(atomic(f, *map(np.int64, n), np.int64(0)) for n in numbers))
        distinct(Mufu, lambda f: tuple(mufu(f, np.float32(x), 0) for x in (0.3, 2.0, 5.5)))
        distinct(Shuffle, lambda f: tuple(shuffle_source(lane, 3, 0x1F, f) for lane in range(32)))
        distinct(Permute, lambda f: tuple(prmt(np.uint32(0x33221100), np.uint32(s), np.uint32(0x77665544), f) for s in range(4)))
        distinct(Combine, lambda f: tuple(logic(np.uint32(a), np.uint32(b), f) for a, b in ((12, 10), (3, 5))))
        distinct(Rounding, lambda f: tuple(fadd_rounded(np.float32(a), np.float32(b), f) for a, b in ((1, 3e-8), (-1, -3e-8), (1, 9e-8))))
    relations = [(np.float32(a), np.float32(b)) for a, b in ((1, 2), (2, 1), (1, 1), (1, np.nan))]
    distinct(Compare, lambda f: tuple(frelation(a, b) & f != 0 for a, b in relations))
