"""What a state is as files, for the command line: the listing, its launch file with the sliders in it, the GPU, and the command."""

import json
import re
from typing import Any

from sim.gpus.occupancy import WARP
from sim.lab.state import State

EXPECT = re.compile(r"^[ \t]*\[expect[\].].*?(?=^[ \t]*\[|\Z)", re.MULTILINE | re.DOTALL)
KEYS = {"warps": "block", "blocks": "grid", "registers": "registers", "shared": "shared_dynamic"}


def files(state: State) -> dict[str, str]:
    """Return the files by name."""
    one, name = state.machines[0], state.name
    found = {f"{name}.sass": state.listing, f"{name}.toml": launch(state)}
    gpu = one.gpu
    if one.set:
        gpu = f"{name}_gpu.toml"
        found[gpu] = "\n".join([f'extends = "{one.gpu}"', *(f"{field} = {_value(value)}" for field, value in one.set.items())]) + "\n"
    found["README.txt"] = f"simtlab run {name}.sass --gpu {gpu}\n"
    return found


def launch(state: State) -> str:
    """Return the launch file with the sizes that sliders have set in place of its own, for which its [expect] holds no more."""
    text = state.launch
    for slider, key in KEYS.items():
        value: int | None = getattr(state, slider)
        if value is None:
            continue
        line = f"{key} = {value * WARP if slider == 'warps' else value}"
        head, tables = _parts(text)
        head = re.sub(rf"^[ \t]*{key}[ \t]*=[ \t]*(\[[^\]]*\])?.*\n?", "", head, flags=re.MULTILINE)
        text = f"{line}\n{head}{tables}"
    return text if state.warps is None and state.blocks is None else EXPECT.sub("", text)


def _parts(text: str) -> tuple[str, str]:
    """Return what stands before the first table, and the rest."""
    found = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    return (text, "") if found is None else (text[: found.start()], text[found.start() :])


def _value(value: Any) -> str:
    return json.dumps(value) if isinstance(value, str) else str(value)
