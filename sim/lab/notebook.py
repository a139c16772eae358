"""A state as a notebook that needs no other file: listing and launch file in it, the machines, their cycles, account and timeline."""

import ast
import json
from typing import Any

from sim.lab import export
from sim.lab.state import State

BEGIN = """import tempfile
from pathlib import Path

import sim
from sim.launch.file import check, load_launch
from sim.report import figures, text

%matplotlib inline"""
EXECUTE = """folder = Path(tempfile.mkdtemp())
(folder / "{name}.sass").write_text(LISTING, encoding="utf-8")
(folder / "{name}.toml").write_text(LAUNCH, encoding="utf-8")
launch, expectation = load_launch(folder / "{name}.sass")
trace = sim.execute(launch)
print(f"{{trace.warp_instructions:,}} warp instructions")
for wrong in check(launch, expectation):
    print("wrong:", wrong)"""
SIMULATE = """gpus = [
    {gpus},
]
results = [sim.simulate(trace, gpu, timeline=({first}, {last})) for gpu in gpus]  # first and last cycle of the timeline
for result in results:
    print(f"{{result.gpu.name}}: {{result.cycles:,}} cycles")"""
DRAW = """for result in results:
    display(figures.figure(result, show=tuple(range(8))))  # which warps"""
REPORT = """for result in results:
    print(text.report(result), end="\\n\\n")"""


def notebook(state: State, window: tuple[int, int]) -> str:
    """Return the notebook as the text of an .ipynb file. window: first and last cycle that its timeline shows."""
    gpus = ",\n    ".join(_gpu(one.gpu, one.set) for one in state.machines)
    said = (
        f"# {state.name}\n\nSaved by `simtlab lab`; runs where `simtlab[notebooks]` is installed. The first run may compile for a minute."
    )
    files = [one.gpu for one in state.machines if one.gpu.endswith(".toml")]
    if files:
        said += f" The GPU file {', '.join(dict.fromkeys(files))} has to lie beside the notebook."
    code = {
        "begin": BEGIN,
        "listing": f"LISTING = {literal(state.listing)}",
        "launch": f"LAUNCH = {literal(export.launch(state))}",
        "execute": EXECUTE.format(name=state.name),
        "simulate": SIMULATE.format(gpus=gpus, first=window[0], last=window[1]),
        "draw": DRAW,
        "report": REPORT,
    }
    cells = [_cell("title", "markdown", said), *(_cell(name, "code", source) for name, source in code.items())]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    table = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(table, indent=1) + "\n"


def literal(text: str) -> str:
    """Return a text as a Python literal: as it reads where that is the same text and nothing else, escaped otherwise."""
    plain = f"r'''{text}'''"
    try:
        if "\r" not in text and ast.literal_eval(plain) == text:
            return plain
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    return repr(text)


def _gpu(name: str, changes: dict[str, Any]) -> str:
    return f"sim.gpu({name!r}).replace({changes!r})" if changes else f"sim.gpu({name!r})"


def _cell(name: str, kind: str, source: str) -> dict[str, Any]:
    more: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, **more, "source": source}
