"""Which preset stands for the machine that compilers of an architecture write control words for."""

import functools
import re

from sim.gpus.loader import FOLDER, load, names
from sim.gpus.model import Gpu


@functools.cache
def assumed(architecture: str) -> Gpu | None:
    """Return the first preset of an architecture such as "sm_90", None when there is none."""
    capability = re.compile(rf'^compute_capability = "{architecture[3:-1]}\.{architecture[-1:]}"', re.MULTILINE)
    found = (name for name in names() if capability.search((FOLDER / f"{name}.toml").read_text("utf-8")))
    name = next(found, None)
    return load(name) if name else None
