"""`h100-memory`: what one H100 was measured to do with copies, strides and shared memory, against the preset."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import sim
from programs.measurements import copies, strides
from programs.measurements.copies import Copy
from programs.reproduction import Check, Reproduction
from sim.gpus.model import Gpu
from sim.report.curves import Curve

COPIES, SHARED = 6.0, 1.5  # percent: mean error accepted
THREADS = (64, 256)  # block sizes whose copies are run; all were measured
CEILING = ("float", 1, 64, 32)
Pair = tuple[Copy, float]  # a measured copy and its simulated milliseconds


def reproduce(gpu: str | None = None, threads: Iterable[int] = THREADS) -> Reproduction:
    """Run the copies with blocks of so many threads, the shared-memory strides and the strided copies. Raises UserError for no such GPU."""
    machine = sim.gpu(gpu or "h100")
    part, sizes = copies.part_of(machine), set(threads)
    pairs = [(copy, copies.simulated(copy, part)) for copy in copies.measured() if copy.threads in sizes]
    checks = (*copy_checks(pairs), *shared_checks(machine), *strides.counter_checks(machine))
    return Reproduction(
        title=f"Memory measurements of an H100 on {machine.name}",
        checks=checks,
        notes=NOTES,
        curves=tuple(_curves(pairs)),
        x_label="resident blocks per SM",
        y_label="GB/s read and written",
    )


def error(pair: Pair) -> float:
    """Return the simulated bandwidth's error, percent of the measured one."""
    copy, milliseconds = pair
    return 100 * (copy.milliseconds / milliseconds - 1)


def copy_checks(pairs: list[Pair]) -> Iterator[Check]:
    """Yield mean and worst error over all copies, judged; per kernel, shown; and the ceiling that the start of blocks makes."""
    everything = f"bandwidth of {len(pairs)} copies, mean error"
    yield Check(everything, f"under {COPIES:g}%", _mean_worst(pairs), _mean(pairs) < COPIES)
    for kernel, group in groupby(pairs, lambda pair: pair[0].kernel):
        own = list(group)
        note = "block overhead FITTED to it" if kernel == "1 float" else ""
        yield Check(f"copy, {kernel} per thread, {len(own)} launches", "-", _mean_worst(own), None, note)
    for copy, milliseconds in pairs:
        if (copy.type, copy.elements, copy.threads, copy.resident) == CEILING:
            said, found = (f"{copy.bandwidth(time):,.0f} GB/s" for time in (copy.milliseconds, milliseconds))
            passed = abs(error((copy, milliseconds))) < COPIES / 2
            yield Check("ceiling of 64-thread blocks, 1 float", said, found, passed, "")


def shared_checks(gpu: Gpu) -> Iterator[Check]:
    """Yield the mean error over all shared-memory launches, judged, and the mean error per stride, shown."""
    errors: dict[int, list[float]] = {}
    for stride, threads, cycles in strides.shared_loads():
        errors.setdefault(stride, []).append(100 * abs(strides.shared_cycles(stride, threads, gpu) / cycles - 1))
    every = [one for found in errors.values() for one in found]
    mean = sum(every) / len(every)
    yield Check(
        f"shared loads, {len(every)} launches, mean error", f"under {SHARED:g}%", f"{mean:.1f}%, worst {max(every):.1f}%", mean < SHARED
    )
    for stride, found in errors.items():
        yield Check(f"shared loads, stride {stride} words", "-", f"{sum(found) / len(found):.1f}%, worst {max(found):.1f}%", None)


def _mean(pairs: list[Pair]) -> float:
    return sum(abs(error(pair)) for pair in pairs) / len(pairs)


def _mean_worst(pairs: list[Pair]) -> str:
    worst = max(pairs, key=lambda pair: abs(error(pair)))
    copy = worst[0]
    return f"{_mean(pairs):.1f}%, worst {error(worst):+.0f}% ({copy.resident} x {copy.threads} threads)"


def _curves(pairs: list[Pair]) -> Iterator[Curve]:
    """Yield, per kernel, measured and simulated bandwidth of the smallest blocks by blocks per SM."""
    for kernel, found in groupby(pairs, lambda pair: pair[0].kernel):
        own = [pair for pair in found if pair[0].threads == THREADS[0]]
        x = tuple(float(copy.resident) for copy, _ in own)
        if own:
            yield Curve("measured", x, tuple(copy.bandwidth(copy.milliseconds) for copy, _ in own), panel=kernel)
            yield Curve("simulated", x, tuple(copy.bandwidth(time) for copy, time in own), panel=kernel)


NOTES = (
    "Fitted to these rows: dram.channel_depth, to the ceiling of copies of 1 GB. That of 64-thread blocks of one float per thread is "
    "blocks.retire_interval, measured with blocks that do nothing. What stores and turnarounds of DRAM cost is fitted to launches of their "
    "own, what blocks cost to launches that do nothing.",
    "The copies are simulated on a quarter of the chip: 33 SMs with a quarter of the channels, bandwidth and block starts; a few "
    "waves of blocks, with a small L2 that is full of data not written back, so that as much is written as read at once, as in most "
    "of a copy of 1 GB.",
    "A copy's round trip grows with the bytes on their way long before DRAM is saturated, by 300 cycles at 1,400 GB/s: its channels "
    "turn from reading to writing and back: loads alone, and loads beside stores that stay in L2, take no longer (turnarounds.csv). "
    "dram.turnaround and dram.write_batch are fitted to such loads, not to copies; dram.channel_depth to the copies' ceiling. What stays: "
    "with 4 and 8 KB on their way per SM copies are 15 to 25 % too fast. There the H100's loads alone take 2 to 10 % longer than here "
    "(blocks that only load, timed by their clocks; not kept); beside stores their times spread more than here, and a block waits for "
    "the slowest of its loads.",
    "L1 hit rates are shown, not judged: the H100 counts a store as a hit when an earlier store took its line.",
)
