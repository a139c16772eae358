"""Files, functions and lists of parameters stay small (`tests/sizes.py`), without exception."""

import pytest

from tests import sizes


@pytest.mark.parametrize("name", sizes.LIMITS)
def test_nothing_is_beyond_the_limit(name: str) -> None:
    found, limit = sizes.measure()[name], sizes.LIMITS[name]
    assert found, f"{name}: nothing was measured"
    assert not {what: size for what, size in found.items() if size > limit}, f"{name}: at most {limit}"


def test_methods_and_inner_functions_are_measured(tmp_path: sizes.Path) -> None:
    file = tmp_path / "some.py"
    file.write_text("class A:\n    def b(self, c, *, d):\n        def e():\n            pass\n")
    assert [name for name, _ in sizes.functions(file)] == ["A.b", "A.b.e"]


def test_the_report_names_the_largest() -> None:
    text = sizes.report()
    assert "lines of a file: at most 300" in text
    assert max(sizes.measure()["lines of a file"].items(), key=lambda item: item[1])[0] in text
