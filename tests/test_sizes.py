"""Files, functions and lists of parameters stay small (`tests/sizes.py`). What is larger stands here and may only shrink."""

import pytest

from tests import sizes

LARGER = {
    "lines of a file": {},
    "lines of a function": {},
    "parameters": {
        "sim/functional/atomics.py::modify_pair": 9,
        "sim/functional/atomics.py::modify_word": 9,
        "sim/functional/constant_loads.py::load_constant": 9,
        "sim/functional/bulk_copies.py::copy_bulk": 9,
        "sim/functional/mbarriers.py::use_barrier": 9,
        "sim/functional/memory.py::access": 9,
        "sim/functional/memory.py::perform": 11,
        "sim/functional/sums.py::add_three": 10,
        "sim/timing/issue.py::issue_further": 9,
        "sim/timing/memory/write_combining.py::put": 9,
        "sim/timing/memory/access.py::describe": 9,
        "sim/timing/memory/lsu.py::go_past": 9,
        "sim/timing/memory/lsu.py::look_up": 9,
        "sim/timing/memory/requests.py::send": 11,
        "sim/timing/memory/results.py::resolve": 9,
    },
}


@pytest.mark.parametrize("name", sizes.LIMITS)
def test_nothing_grows_beyond_the_limit(name: str) -> None:
    found, limit = sizes.measure()[name], sizes.LIMITS[name]
    grown = {what: size for what, size in found.items() if size > LARGER[name].get(what, limit)}
    assert not grown, f"{name}: at most {limit}"


@pytest.mark.parametrize("name", sizes.LIMITS)
def test_what_has_shrunk_is_an_exception_no_more(name: str) -> None:
    found, limit = sizes.measure()[name], sizes.LIMITS[name]
    assert not [what for what in LARGER[name] if found[what] <= limit]


def test_methods_and_inner_functions_are_measured(tmp_path: sizes.Path) -> None:
    file = tmp_path / "some.py"
    file.write_text("class A:\n    def b(self, c, *, d):\n        def e():\n            pass\n")
    assert [name for name, _ in sizes.functions(file)] == ["A.b", "A.b.e"]


def test_the_report_names_the_largest() -> None:
    text = sizes.report()
    assert "lines of a file: at most 300" in text
    assert max(sizes.measure()["lines of a file"].items(), key=lambda item: item[1])[0] in text
