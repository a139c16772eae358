"""Which presets are of an architecture; which of them compilers write control words for, and which one a GPU is a what-if of."""

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
    return next(iter(_shipped(architecture)), None)


def shipped(gpu: Gpu) -> Gpu | None:
    """Return the preset that a GPU is a what-if of, for which its compilers' words hold: of its architecture the one with the most equal
    units and pipes, of several the one of its name, or that compilers count on. None when its architecture has no preset.
    """
    return min(_shipped(gpu.architecture), key=lambda preset: (_apart(gpu, preset), preset.name != gpu.name), default=None)


@functools.cache
def _shipped(architecture: str) -> tuple[Gpu, ...]:
    """Return the presets of an architecture, the one that compilers count on first."""
    counted_on = COUNTED_ON.get(architecture)
    return tuple(load(name) for name in sorted(presets_of(architecture), key=lambda name: name != counted_on))


def _apart(gpu: Gpu, preset: Gpu) -> int:
    """Return how many units and pipes are not those of a preset."""
    return sum(mine.get(name) != one for mine, own in ((gpu.units, preset.units), (gpu.pipes, preset.pipes)) for name, one in own.items())
