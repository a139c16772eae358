"""The sliders of the page: the dozen numbers that matter, each with range, unit and source from the GPU's own field specification."""

from typing import Any

from isa.errors import UserError
from sim.gpus.fields import bounds, choices, meaning, unit
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP
from sim.report.gpus import value

# field -> what the slider is called. Fields that a GPU lacks are left out.
MACHINE = {
    "sms": "SMs",
    "core.schedulers": "schedulers per SM",
    "core.issue_width": "issue width",
    "core.policy": "policy",
    "units.fp32.latency": "FP32 latency",
    "memory.global_load": "load latency",
    "memory.shared_load": "shared latency",
    "l1.bytes": "L1 size",
    "l1.latency": "L1 latency",
    "l2.latency": "L2 latency",
    "dram.latency": "DRAM latency",
    "dram.bandwidth": "DRAM bandwidth",
    "limits.warps": "warp slots per SM",
    "limits.blocks": "block slots per SM",
    "limits.registers": "registers per SM",
}
UNITS = {  # of what its description counts
    "sms": "SMs",
    "core.schedulers": "schedulers",
    "core.issue_width": "instructions",
    "limits.warps": "warps",
    "limits.blocks": "blocks",
    "limits.registers": "32-bit registers",
}
REACH = 4  # how far a slider goes beside the GPU's own number: to a fourth and four times of it, within what is legal
STEPS = 200  # of a slider of real numbers
MOST_BLOCKS = 1024  # of a slider, which otherwise goes to twice what the GPU holds


def machine(gpu: Gpu) -> list[dict[str, Any]]:
    """Return the sliders of a GPU: field, label, value, lowest, highest and step, or the words to choose from; unit, meaning, source."""
    return [_knob(gpu, name, label) for name, label in MACHINE.items() if value(gpu, name) is not None]


def launch(gpu: Gpu) -> list[dict[str, Any]]:
    """Return the sliders of a launch on this GPU, in the same form; their value is None: what the launch says."""
    limits = gpu.limits
    rows = [
        ("warps", "warps per block", 1, limits.threads_per_block // WARP, "warps"),
        ("blocks", "blocks", 1, min(2 * limits.blocks * gpu.sms, MOST_BLOCKS), "blocks"),
        ("registers", "registers per thread", 1, min(limits.registers_per_thread, 255), "32-bit registers"),
        ("shared", "shared memory per block", 0, limits.shared_per_block, "bytes"),
    ]
    return [
        {"field": field, "label": label, "value": None, "low": low, "high": high, "step": 1, "unit": unit}
        | {"meaning": f"{low} to {high:,} {unit}; left alone: what the launch says", "source": f"limits of {gpu.name}", "choices": []}
        for field, label, low, high, unit in rows
    ]


def _knob(gpu: Gpu, name: str, label: str) -> dict[str, Any]:
    now, source = value(gpu, name), gpu.source_of(name)
    knob = {"field": name, "label": label, "value": now, "unit": UNITS.get(name) or unit(Gpu, name), "meaning": meaning(Gpu, name)}
    knob |= {"source": f"{source.kind}: {source.text}" if source else "", "choices": choices(Gpu, name)}
    if knob["choices"]:
        return knob
    low, high, whole = bounds(Gpu, name)
    low = max(now / REACH, low or 0) if name not in ("sms", "core.schedulers") else 1
    high = now if name == "sms" else min(now * REACH, high or now * REACH)
    if whole:
        return knob | {"low": int(_reach(gpu, name, now, int(low), 1)), "high": int(_reach(gpu, name, now, int(high), 1)), "step": 1}
    low, high = (round(_reach(gpu, name, now, end, now / STEPS), 3) for end in (low, high))
    return knob | {"low": low, "high": high, "step": float(f"{(high - low) / STEPS:.1g}")}


def _reach(gpu: Gpu, name: str, now: Any, end: Any, step: Any) -> Any:
    """Return the value nearest to `end` that may stand beside the GPU's other numbers, to a step: between `now` and `end`, by halves."""
    good, bad = now, end
    if _stands(gpu, name, end):
        return end
    while abs(good - bad) > step:
        middle = (good + bad) // 2 if step == 1 else (good + bad) / 2
        good, bad = (middle, bad) if _stands(gpu, name, middle) else (good, middle)
    return good


def _stands(gpu: Gpu, name: str, number: Any) -> bool:
    try:
        gpu.replace({name: number})
    except UserError:
        return False
    return True
