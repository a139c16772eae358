"""What the lab saves: a notebook that runs and gives the same cycles, and pictures of the timeline."""

import base64
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sim.cli.lab import EXAMPLE
from sim.lab import notebook, state, work
from tests.unit.test_lab import EXERCISES, GPUS, TestClient, application, setting


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Return a client of a server with one worker."""
    with TestClient(application(setting(seconds=120.0)), base_url="http://127.0.0.1") as opened:
        yield opened


@pytest.mark.slow
def test_the_notebook_of_a_state_runs_and_gives_the_same_cycles(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # no start-up files of whoever runs the tests
    one = EXERCISES["04_bytes_in_flight"].state({"blocks": 7, "dram.latency": 900})
    one.machines.append(state.Machine(gpu="h100", set={"core.policy": "lrr"}))
    asked = {"state": one.model_dump(), "window": [100, 1400]}
    found = nbformat.reads(client.post("/notebook", json=asked).json()["result"]["exercise.ipynb"], as_version=4)
    nbformat.validate(found)
    nbclient.NotebookClient(found, kernel_name="python3", timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in found.cells if cell.cell_type == "code" for output in cell.outputs]
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    assert re.findall(r": ([\d,]+) cycles$", printed, re.MULTILINE) == [f"{cycles:,}" for cycles in work.run(one, GPUS)["cycles"]]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2


@pytest.mark.parametrize(
    "text",
    [
        "a\nb",
        "\\n",
        "'''",
        "a'",
        "'''+str(1)+'''",
        "' ' ' '''\n''' '''",
        "'''\nimport os\n'''",
        "a\r\nb",
        "\0",
        "\ud800",
        "# \\",
        "",
        "%%sh\n!ls",
    ],
)
def test_a_text_in_a_notebook_is_that_text_and_no_code(text: str) -> None:
    cell: dict[str, object] = {"__builtins__": {}}
    exec(compile(f"LISTING = {notebook.literal(text)}", "cell", "exec"), cell)  # ast.parse fails while another thread parses (CPython 3.11)
    assert cell == {"__builtins__": {}, "LISTING": text}


def test_a_listing_in_a_notebook_reads_as_it_was_written() -> None:
    assert notebook.literal(EXAMPLE) == f"r'''{EXAMPLE}'''"


def test_pictures_show_the_cycles_and_the_sm_that_the_page_shows(client: Any) -> None:
    asked = {"state": {"listing": EXAMPLE, "blocks": 4, "machines": [{}, {"gpu": "h100"}]}, "window": [0, 2000], "sm": 1}
    found = client.post("/pictures", json=asked).json()["result"]
    assert list(found) == ["kernel_a.png", "kernel_b.png"]
    pictures = {sm: client.post("/pictures", json=asked | {"sm": sm}).json()["result"]["kernel_a.png"] for sm in (-1, 0, 1)}
    heights = {sm: struct.unpack(">II", base64.b64decode(data)[16:24])[1] for sm, data in pictures.items()}
    assert heights[-1] - heights[0] == 3 * 42  # pixels: three warps more, 0.28 inches each
    assert heights[0] == heights[1]
    late = client.post("/pictures", json=asked | {"window": [100_000, 100_500]}).json()["error"]["text"]
    assert "nothing issued in these cycles; the run ends at cycle 180" in late
    other = client.post("/pictures", json=asked | {"sm": 14}).json()["error"]["text"]
    assert "nothing issued on SM 14 in these cycles" in other
    for window in ([3, 1], [-1, 5], [0], "x", [0, 1 << 60], [0, True]):
        assert "window is a first and a last cycle" in client.post("/pictures", json=asked | {"window": window}).json()["error"]["text"]
    assert "sm is a number" in client.post("/pictures", json=asked | {"sm": "all"}).json()["error"]["text"]
