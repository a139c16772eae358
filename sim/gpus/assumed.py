"""Which presets are of an architecture, and which stands for the machine that its compilers write control words for."""

import functools
import re

from sim.gpus.loader import FOLDER, load, names
from sim.gpus.model import Gpu


@functools.cache
def presets_of(architecture: str) -> tuple[str, ...]:
    """Return the names of the presets of an architecture such as "sm_90" or "sm_90a"; none for ""."""
    number = architecture.removeprefix("sm_").rstrip("af")
    capability = re.compile(rf'^compute_capability = "{number[:-1]}\.{number[-1:]}"', re.MULTILINE)
    return tuple(name for name in names() if capability.search((FOLDER / f"{name}.toml").read_text("utf-8")))


@functools.cache
def assumed(architecture: str) -> Gpu | None:
    """Return the first preset of an architecture such as "sm_90", None when there is none."""
    return next((load(name) for name in presets_of(architecture)), None)
