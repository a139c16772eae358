"""Every notebook runs from its first cell to its last in a fresh kernel, and prints what is stored in it, which its text speaks of."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
FAST = NOTEBOOKS[6]  # one of the shortest that draw
SECONDS = 300  # per cell: the first one that executes a program may compile the kernels
SHOWN = re.compile(r"plt\.show\(\)|display\(")
MOST_BYTES = 400_000  # of a file: figures are stored in it


def read(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell: Any) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def draws(cell: Any) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


def tidy(notebook: Any) -> None:
    """Leave of the outputs what a reader wants: one text per cell, then figures; no times, no warnings of the kernel."""
    for cell in code_cells(notebook):
        cell.metadata = {}
        text = printed(cell)
        figures = [output for output in cell.outputs if "image/png" in output.get("data", {})]
        cell.outputs = [*([nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []), *figures]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name == FAST else pytest.mark.slow) for name in NOTEBOOKS])
def test_a_notebook_runs(name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # no start-up files of whoever runs the tests
    notebook = read(name)
    # In the notebook's own folder, as Jupyter runs it. "python3" is the interpreter of the tests.
    client = NotebookClient(notebook, kernel_name="python3", timeout=SECONDS, resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    tidy(notebook)
    if request.config.getoption("--update-golden"):
        nbformat.write(notebook, FOLDER / f"{name}.ipynb")
    for stored, cell in zip(code_cells(read(name)), code_cells(notebook), strict=True):
        assert printed(cell) == printed(stored), f"not what is stored; if it should be: pytest --update-golden\n{cell.source}"
        assert draws(cell) or not SHOWN.search(cell.source), f"no figure from:\n{cell.source}"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_stored_with_its_outputs(name: str) -> None:
    """It can be read without being run."""
    notebook = read(name)
    nbformat.validate(notebook)
    for cell in code_cells(notebook):
        assert cell.execution_count, "run all cells, then save; or pytest --update-golden"
        assert draws(cell) or not SHOWN.search(cell.source), f"no figure from:\n{cell.source}"
        assert printed(cell) or not re.search(r"^print\(", cell.source, re.MULTILINE), cell.source
        assert "Traceback" not in str(cell.outputs)
    assert (FOLDER / f"{name}.ipynb").stat().st_size < MOST_BYTES
