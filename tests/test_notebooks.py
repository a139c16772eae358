"""Every notebook runs from its first cell to its last in a fresh kernel, prints what its text speaks of, and is stored without outputs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
SECONDS = 300  # per cell: the first one that executes a program may compile the kernels


def read(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell: Any) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def test_there_are_notebooks() -> None:
    assert "01_latency_hiding" in NOTEBOOKS


@pytest.mark.parametrize("name", [NOTEBOOKS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NOTEBOOKS[1:])])
def test_a_notebook_runs(name: str, golden: Callable[[str, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # no start-up files of whoever runs the tests
    notebook = read(name)
    # In the notebook's own folder, as Jupyter runs it. "python3" is the interpreter of the tests.
    client = NotebookClient(notebook, kernel_name="python3", timeout=SECONDS, resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    for cell in code_cells(notebook):
        draws = "plt.show()" in cell.source or "display(" in cell.source
        assert not draws or any("image/png" in output.get("data", {}) for output in cell.outputs), f"no figure from:\n{cell.source}"
    golden(f"notebook_{name}", "\n".join(filter(None, map(printed, code_cells(notebook)))).rstrip())


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_stored_without_outputs(name: str) -> None:
    notebook = read(name)
    nbformat.validate(notebook)
    kept = [cell.source for cell in code_cells(notebook) if cell.outputs or cell.execution_count is not None]
    assert not kept, "clear all outputs, then save"
