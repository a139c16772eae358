"""The preset of the GPU that a launch was captured on."""

import itertools
import re

from isa.errors import UserError
from sim.captures.file import Capture
from sim.gpus.loader import load, names
from sim.gpus.model import Gpu

UNLIKE = ("ti", "super", "laptop", "max")  # behind a name: another chip


def preset_of(capture: Capture) -> Gpu:
    """Return the preset of a capture's GPU. Raises UserError when there is none."""
    gpu = capture.table.gpu
    words = re.split(r"[^a-z0-9]+", gpu.name.lower())
    called = {*words, *("".join(pair) for pair in itertools.pairwise(words))}
    found = [load(preset) for preset in names() if preset in called and not called & {*UNLIKE}]
    if alike := [one for one in found if gpu.sms in (0, one.sms)]:  # a name may stand for several chips: H100 PCIe has 114 SMs
        return alike[0]
    message = f"no preset is a {gpu.name or 'GPU of no name'}{f' of {gpu.sms} SMs' if found else ''}, which this launch was captured on"
    raise UserError(message, path=str(capture.path), hint="give --gpu NAME or a GPU file; simtlab gpus lists presets")
