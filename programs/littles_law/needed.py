"""`littles-law`: the parallelism that every preset needs, and the bytes in flight that a saturated copy really has.

V. Volkov, "Better Performance at Lower Occupancy", GTC 2010, parts I and II; what it states is in published.toml.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from programs.copy.sweep import curve, machine, saturation
from programs.published import published
from programs.reproduction import Check, Reproduction
from sim.analysis import little
from sim.gpus.loader import load, names

FOLDER = Path(__file__).parent
COPIED = {"gtx480": "1_float", "a100": "4_float", "h100": "4_float"}  # GPU -> the copy that is timed on it
COPY = "4_float"  # on any other GPU


def reproduce(gpu: str | None = None) -> Reproduction:
    """Set latency x throughput of every preset, or of `gpu` alone, beside the talk's numbers and beside simulated copies."""
    chosen = (gpu,) if gpu else names()
    copied = {gpu: COPY} if gpu and gpu not in COPIED else {name: copy for name, copy in COPIED.items() if name in chosen}
    checks = [
        *judged(published(FOLDER), chosen),
        *(_needed(name) for name in chosen),
        *(_simulated(name, copy) for name, copy in copied.items()),
    ]
    return Reproduction(title="Little's law: needed parallelism = latency x throughput", checks=tuple(checks), notes=NOTES)


def judged(said: Mapping[str, Any], chosen: tuple[str, ...]) -> Iterator[Check]:
    """Yield one judged check per number of the talk about a chosen preset."""
    for row in said["arithmetic"]:
        if row["gpu"] in chosen:
            found = little.arithmetic(load(row["gpu"])).operations
            wanted = f"{row['operations']} operations per SM"
            yield Check(f"{row['gpu']}: arithmetic", wanted, f"{found} operations per SM", found == row["operations"], row["quote"])
    row = said["memory"]
    if row["gpu"] in chosen:
        bytes_ = little.memory(load(row["gpu"]), latency=row["cycles"]).bytes
        simulated = f"{bytes_ / 1024:.1f} KiB ({bytes_ / 1000:.1f} KB)"
        yield Check(f"{row['gpu']}: memory", f"< {row['kilobytes']} KB", simulated, bytes_ / 1024 < row["kilobytes"], row["quote"])


def _needed(name: str) -> Check:
    gpu = load(name)
    sums, bytes_ = little.arithmetic(gpu), little.memory(gpu)
    warps = f"{sums.whole_warps()} warps, {sums.whole_warps(4)} at ILP 4"
    loads = f"{bytes_.bytes / 1000:.0f} KB, {bytes_.warps(4):.0f} warps per SM with 4 B per thread, {bytes_.warps(16):.0f} with 16 B"
    product = f"{sums.latency} cycles x {sums.lanes} lanes; {bytes_.latency} cycles x {bytes_.bandwidth:g} GB/s"
    return Check(
        f"{name}: needed",
        "-",
        f"{sums.operations} operations per SM ({warps}); {loads}",
        None,
        f"{product}; an SM holds {gpu.limits.warps} warps",
    )


def _simulated(name: str, copy: str) -> Check:
    """Return the bytes in flight at the lowest occupancy within 3 % of the best of a copy: loads, half of the copy's traffic."""
    gpu = machine(load(name))
    found = saturation(curve(gpu, copy))
    law = little.memory(gpu, latency=round(found.latency), bandwidth=found.gigabytes / 2)
    simulated = f"loads {found.in_flight / 1000:.0f} KB in flight at {found.occupancy:.0f} % occupancy, {found.gigabytes:.0f} GB/s"
    said = f"{law.bytes / 1000:.0f} KB"
    note = f"latency under load {law.latency} cycles x {law.bandwidth:.0f} GB/s, the half of the traffic that is loads"
    return Check(f"{name}: copy of {copy.replace('_', ' ')} per thread, saturated", said, simulated, None, note)


NOTES = (
    "Needed: with the preset's unloaded latency and pin bandwidth, threads loading alone; a scoreboard that knows every register. In the "
    "rows of a simulated copy the published column is Little's law with the latency and the bandwidth that the run had: the counter "
    "bytes_in_flight is counted, not computed from them. A copy's loads are half of its traffic; counting the stores doubles it.",
)
