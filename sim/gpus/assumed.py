"""Which presets are of an architecture, and which stands for the machine that its compilers write control words for."""

import functools
import re

from sim.gpus.loader import FOLDER, load, names
from sim.gpus.model import Gpu

COUNTED_ON = {"sm_75": "t4"}  # nvcc leaves 8 cycles between products with float sums: a GeForce takes 16


@functools.cache
def presets_of(architecture: str) -> tuple[str, ...]:
    """Return the names of the presets of an architecture such as "sm_90" or "sm_90a"; none for ""."""
    number = architecture.removeprefix("sm_").rstrip("af")
    return tuple(name for name in names() if _capability(name) == f"{number[:-1]}.{number[-1:]}")


@functools.cache
def _capability(name: str) -> str:
    """Return the compute capability of a preset, its own or that of the one it extends; read off the text, for to load all takes long."""
    text = (FOLDER / f"{name}.toml").read_text("utf-8")
    if own := re.search(r'^compute_capability = "(.+?)"', text, re.MULTILINE):
        return own[1]
    base = re.search(r'^extends = "(.+?)"', text, re.MULTILINE)
    return _capability(base[1]) if base else ""


@functools.cache
def assumed(architecture: str) -> Gpu | None:
    """Return the preset whose pipes compilers of an architecture such as "sm_90" count on, None when there is none."""
    name = COUNTED_ON.get(architecture) or next(iter(presets_of(architecture)), None)
    return load(name) if name else None
