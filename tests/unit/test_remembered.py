"""While kernels compile, Numba is asked once for what it was asked before."""

import gc
import operator
from typing import Any

import numba
import pytest
from numba import types
from numba.core import itanium_mangler, postproc
from numba.core.registry import cpu_target

from sim.compiled.remembered import SELDOM, remembered, seldom_collected


def test_calls_of_built_in_functions_are_answered_once_and_forgotten_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    context: Any = type(cpu_target.typing_context)()
    context.refresh()
    row, asked = types.Array(types.int64, 2, "C"), []
    given = operator.getitem, (row, types.int64), {}
    expected = context.resolve_function_type(*given)
    plain = type(context).resolve_function_type
    monkeypatch.setattr(type(context), "resolve_function_type", lambda *all_: asked.append(all_) or plain(*all_))
    with remembered(context), remembered(context):
        answers = [context.resolve_function_type(*given) for _ in range(3)]
        other = context.resolve_function_type(operator.getitem, (row, types.UniTuple(types.int64, 2)), {})
        with pytest.raises(Exception, match=r"No match|No implementation"):
            context.resolve_function_type(operator.getitem, (types.int64, types.int64), {})
    assert [answer.return_type for answer in answers] == [expected.return_type] * 3
    assert (other.return_type, len(asked)) == (types.int64, 3)
    assert "resolve_function_type" not in vars(context)


def test_the_collector_comes_seldom_while_kernels_compile_and_afterwards_as_the_user_wants() -> None:
    before = gc.get_threshold()
    with seldom_collected():
        assert gc.get_threshold()[0] == SELDOM[0]
    assert gc.get_threshold() == before


def test_numbas_insides_are_as_before_afterwards_and_types_hash_alike() -> None:
    context: Any = type(cpu_target.typing_context)()
    row = types.Array(types.int64, 2, "C")
    before = types.Type.__hash__, itanium_mangler._escape_string, postproc.PostProcessor.run
    expected = hash(row), itanium_mangler.mangle_identifier("a.b"), hash(types.Tuple((row, types.int64)))
    with remembered(context):
        assert postproc.PostProcessor.run is not before[2]
        found = [(hash(row), itanium_mangler.mangle_identifier("a.b"), hash(types.Tuple((row, types.int64)))) for _ in range(2)]
    assert found == [expected] * 2
    assert (types.Type.__hash__, itanium_mangler._escape_string, postproc.PostProcessor.run) == before


def test_a_generator_compiles_meanwhile() -> None:
    @numba.njit
    def numbers(last):  # type: ignore[no-untyped-def]
        for number in range(last):
            yield number * number

    @numba.njit
    def total(last):  # type: ignore[no-untyped-def]
        found = 0
        for number in numbers(last):
            found += number
        return found

    with remembered(cpu_target.typing_context):
        assert total(4) == 14
