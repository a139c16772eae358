"""What the digest of a kept policy follows: whatever a file of the user's can say that reaches machine code. An edit is told by it."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest

from sim.compiled.digest import dependences
from sim.compiled.kernel import is_compiled

pytestmark = pytest.mark.skipif(not is_compiled(), reason="Numba is switched off")
PAIR = """
from typing import NamedTuple

class Pair(NamedTuple):
    {fields}

PAIR = Pair(1, 2)

def score(slot, age):
    return PAIR.a * age
"""
HELPER = "def helper(age):\n    return {factor} * age\n\ndef score(slot, age):\n    return helper(age)"
OVERLOAD = """
from numba.extending import overload

def helper(age):
    return age

@overload(helper{options})
def _helper(age):
    def made(age):
        return {factor} * age
    return made

def score(slot, age):
    return helper(age)
"""
OF_LIBRARY = """
import math
from numba.extending import overload

@overload(math.{name})
def _helper(age):
    return lambda age: {factor} * age

def score(slot, age):
    return math.{name}(age)
"""
JITABLE = """
from numba.extending import register_jitable

@register_jitable({options})
def helper(age):
    return 1 // age

def score(slot, age):
    return helper(age)
"""
INTRINSIC = """
from numba.extending import intrinsic

@intrinsic
def helper(typingctx, age):
    return age(age), lambda context, builder, signature, args: args[0]

def score(slot, age):
    return helper(age)
"""


def digest(folder: Path, text: str, file: str = "policy.py") -> str:
    """Return the digest of `score` in a file of that text and name, loaded as a policy is."""
    path = folder / file
    path.write_text(text)
    module: Any = ModuleType(path.stem)
    exec(compile(text, path, "exec"), vars(module))
    return dependences(numba.njit(module.score)).digest


def test_the_order_of_fields_counts_of_a_constant_too(tmp_path: Path) -> None:
    """`PAIR.a` is the first number or the second: the class had moved a field, the constant was still (1, 2)."""
    first, second = (digest(tmp_path, PAIR.format(fields=fields)) for fields in ("a: int; b: int", "b: int; a: int"))
    assert first != second
    assert digest(tmp_path, PAIR.format(fields="a: int; b: int")) == first


@pytest.mark.parametrize("file", ["policy.py", "math.py", "typing.py", "numpy.py", "numba.py"])
def test_a_helper_counts_whatever_its_file_is_called(tmp_path: Path, file: str) -> None:
    """Functions of a file called as a library is were taken for the library's, of which only names and versions count."""
    first, second = (digest(tmp_path, HELPER.format(factor=factor), file) for factor in (2, 3))
    assert first != second


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"factor": 2, "options": ""}, {"factor": 3, "options": ""}),
        ({"factor": 2, "options": ""}, {"factor": 2, "options": ", jit_options={'error_model': 'numpy'}"}),
    ],
    ids=["body", "options"],
)
def test_what_is_overloaded_counts_as_it_is_compiled(tmp_path: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    first, second = (digest(tmp_path, OVERLOAD.format(**one)) for one in (before, after))
    assert first != second
    assert digest(tmp_path, OVERLOAD.format(**before)) == first


def test_an_overload_of_a_function_of_a_library_counts(tmp_path: Path) -> None:
    plain = "import math\n\ndef score(slot, age):\n    return math.dist(age)"
    assert digest(tmp_path, plain) != digest(tmp_path, OF_LIBRARY.format(name="dist", factor=2))


def test_options_of_functions_that_are_registered_count(tmp_path: Path) -> None:
    first, second = (digest(tmp_path, JITABLE.format(options=options)) for options in ("error_model='python'", "error_model='numpy'"))
    assert first != second


def test_an_intrinsic_of_the_users_is_not_followed_but_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"policy\.helper is an intrinsic"):
        digest(tmp_path, INTRINSIC)


def test_a_helper_that_two_policies_register_counts_once(tmp_path: Path) -> None:
    text = JITABLE.format(options="error_model='python'")
    again = text + "\nregister_jitable(error_model='python')(helper)\n"
    assert digest(tmp_path, again) == digest(tmp_path, text)
