"""`h100-intervals`: the interval-analysis kernels as nvcc compiled them on an H100, 1 to 32 warps per SM, and what its counters say."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import isa
import sim
from programs.intervals.kernels import SIZE, launch, part_of
from programs.measurements.copies import H100
from programs.published import rows
from programs.reproduction import Check, Reproduction
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP
from sim.gpus.path import LINE
from sim.launch.copies import copied
from sim.report.curves import Curve
from sim.result.result import Result

LISTING = "intervals.sm_90.sass"
KERNELS = {
    "mxv_lcs": "_Z7mxv_lcsPKfPfi",
    "mxv_lc_s": "_Z8mxv_lc_sPKfPfi",
    "mxv_per_thd": "_Z11mxv_per_thdPKfPfi",
    "add_one": "_Z7add_onePKfPfi",
}
VECTORS, COUNTED_VECTORS = 2162688, 270336  # of the timed launches, and of those whose counters were read
SMALL = ("mxv_per_thd", "add_one")  # a pass is one element, not a vector of 16
SETTLED = 64  # passes of all warps of an SM, after which few warps do not begin their loads and stores together any more
PARTS = 4  # of the chip; one is simulated
ASKED = 8.0  # percent: mean error
LOSS, FULL_PORT = 8, 0.8  # warps per SM from which bandwidth is lost; share of the time
COUNTERS = ("load_requests", "load_sectors", "store_requests", "store_sectors")


@dataclass(frozen=True)
class Timed:
    """One measured launch."""

    kernel: str
    warps: int  # per SM, one block
    milliseconds: float


def measured() -> Iterator[Timed]:
    """Yield the 48 measured launches."""
    for row in rows(H100 / "intervals.csv"):
        yield Timed(row["kernel"], int(row["warps_per_sm"]), float(row["milliseconds"]))


@cache
def program(kernel: str) -> isa.Program:
    return isa.load(H100 / LISTING, KERNELS[kernel])


def passes(kernel: str, warps: int, sms: int, vectors: int = VECTORS) -> float:
    """Return how often a thread of the measured launch goes through its loop, on average."""
    elements = vectors * (16 if kernel in SMALL else 1)
    return elements / (sms * warps * WARP)


def simulated(one: Timed, part: Gpu) -> float:
    """Return milliseconds of the whole launch: a few passes, then every further one as long as the last of these on average."""
    few = max(SETTLED // one.warps, 2) * (4 if one.kernel in SMALL else 1)
    many = 2 * few
    small = with_l2_of(part, 2 * 4 * few * part.sms * one.warps * WARP * (1 if one.kernel in SMALL else SIZE))
    runs = [_run(one.kernel, small, one.warps, count) for count in (few, many)]
    each = (runs[1].cycles - runs[0].cycles) / (many - few)
    cycles = runs[1].cycles + (passes(one.kernel, one.warps, part.sms * PARTS) - many) * each + part.launch_cycles
    return cycles / (part.clock.core_mhz * 1e3)


def with_l2_of(part: Gpu, moved: int) -> Gpu:
    """Return a chip whose L2, which begins full of data not written back, is no larger than what is moved in the first passes.

    It is in its steady state then, as much written as read: with the whole L2 these passes would write twice as much.
    """
    if part.l2 is None:
        return part
    row = part.l2.ways * LINE * part.dram.channels
    return part.replace({"l2.bytes": min(part.l2.bytes, max(moved // row, 1) * row)})


def _run(kernel: str, part: Gpu, warps: int, count: int) -> Result:
    return sim.run(copied(launch(kernel, part.sms, warps, count, program(kernel))), part)


def reproduce(gpu: str | None = None) -> Reproduction:
    """Run the 48 launches on a quarter of `gpu` (default h100), and set the counters beside. Raises UserError for no such GPU."""
    machine = sim.gpu(gpu or "h100")
    pairs = [(one, simulated(one, part_of(machine, PARTS))) for one in measured()]
    return Reproduction(
        title=f"Interval-analysis kernels of an H100 on {machine.name}",
        checks=(*_times(pairs), *counter_checks(machine), *mechanism(machine)),
        notes=NOTES,
        curves=tuple(_curves(pairs)),
        x_label="warps per SM",
        y_label="percent of the best measured performance",
    )


Pairs = list[tuple[Timed, float]]


def _times(pairs: Pairs) -> Iterator[Check]:
    """Yield the mean error over all launches, and per kernel."""
    errors = {(one.kernel, one.warps): 100 * (ms / one.milliseconds - 1) for one, ms in pairs}
    yield _judged(f"{len(errors)} launches, mean error", errors)
    for kernel in KERNELS:
        own = {key: error for key, error in errors.items() if key[0] == kernel}
        yield _judged(f"{kernel}, {len(own)} launches, mean error", own)


def _judged(what: str, errors: dict[tuple[str, int], float]) -> Check:
    """Return the check of a mean error."""
    passed = sum(map(abs, errors.values())) / len(errors) < ASKED
    return Check(what, f"under {ASKED:g}%", _mean_worst(errors), passed)


def _mean_worst(errors: dict[tuple[str, int], float]) -> str:
    (kernel, warps), worst = max(errors.items(), key=lambda item: abs(item[1]))
    return f"{sum(map(abs, errors.values())) / len(errors):.1f}%, worst {worst:+.1f}% ({kernel}, {warps} warps)"


def counter_checks(gpu: Gpu) -> Iterator[Check]:
    """Yield requests and sectors, judged, and hits and cycles, shown, of the launches whose counters were read."""
    part = part_of(gpu, PARTS).replace({"l2.start": "cold"})
    for row in rows(H100 / "interval_counters.csv"):
        kernel, warps = row["kernel"], int(row["warps_per_sm"])
        if kernel == "mxv_lc_s":  # the compiler made mxv_lcs of it
            continue
        vectors = COUNTED_VECTORS * (4 if kernel == "add_one" else 16) // 16 if kernel in SMALL else COUNTED_VECTORS
        found = _run(kernel, part, warps, round(passes(kernel, warps, gpu.sms, vectors)))
        counters, said = found.counters, [int(row[name]) for name in COUNTERS]
        numbers = [PARTS * int(counters[f"global_{name}"]) for name in COUNTERS]
        what = f"{kernel}, {warps} warps"
        yield Check(f"{what}: requests, sectors of loads; of stores", _words(said), _words(numbers), numbers == said)
        shown = f"{100 * counters['l1_hit_rate']:.1f}%; {PARTS * int(counters['l2_sectors_written']):,}; {found.cycles:,}"
        yield Check(f"{what}: L1 hits; sectors stored in L2; cycles", f"{row['l1_hit_percent']}%; -; {int(row['cycles']):,}", shown, None)


def mechanism(gpu: Gpu) -> Iterator[Check]:
    """Yield what the H100's own counters say of the loss of mxv_lcs at 8 and more warps: it is the stores, not the loads."""
    part, every = part_of(gpu, PARTS), VECTORS * 16  # sectors of its loads, and of its stores
    found = [row for row in rows(H100 / "partial_store_counters.csv") if row["loads"] == "strided"]
    runs = [_run("mxv_lcs", part, int(row["warps_per_sm"]), 1).counters for row in found]
    warps = ", ".join(row["warps_per_sm"] for row in found)
    hits = ", ".join(f"{100 * (1 - run['l2_sectors_read'] / run['global_load_sectors']):.1f}" for run in runs)
    said = ", ".join(f"{100 * int(row['load_hits']) / every:.1f}" for row in found)
    yield Check(f"percent of the loads that hit L1, {warps} warps", said, hits, None, "the loads do not thrash L1")
    joined = ", ".join(f"{int(row['write_sectors']) / every:.2f}" for row in found)
    share = ", ".join(f"{run['l2_sectors_written'] / run['global_store_sectors']:.2f}" for run in runs)
    note = "an SM joins stores to one sector while nothing comes between; other warps' stores come between"
    yield Check(f"sectors of a store that reach L2, {warps} warps", joined, share, None, note)
    busy = ", ".join(f"{100 * int(row['port_cycles']) / int(row['l2_cycles']):.0f}" for row in found)
    rule = [100 * (int(row["write_requests"]) + int(row["write_sectors"])) / int(row["l2_cycles"]) for row in found]
    full = min(int(row["port_cycles"]) / int(row["l2_cycles"]) for row in found if int(row["warps_per_sm"]) >= LOSS)
    counted = ", ".join(f"{percent:.0f}" for percent in rule)
    what = f"percent of the time that L2's input ports are busy, {warps} warps; a cycle per request and sector of a store"
    yield Check(what, busy, counted, full >= FULL_PORT, "not modelled as ports: l2.partial_cost holds the slices")


def _words(numbers: list[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def _curves(pairs: Pairs) -> Iterator[Curve]:
    """Yield measured and simulated performance, percent of the kernel's best measured one."""
    for kernel in ("mxv_lcs", "mxv_per_thd", "add_one"):
        own = [(one, ms) for one, ms in pairs if one.kernel == kernel]
        warps, best = tuple(one.warps for one, _ in own), min(one.milliseconds for one, _ in own)
        yield Curve("measured", warps, tuple(100 * best / one.milliseconds for one, _ in own), kernel)
        yield Curve("simulated", warps, tuple(100 * best / ms for _, ms in own), kernel)


NOTES = (
    "Steady state of a quarter of the chip, L2 full of data not written back, as when the launches were repeated. No number of the preset "
    "is fitted to these times, but dram.turnaround and dram.write_batch are to a loop that loads and stores a line in turn, like add_one "
    "(turnarounds.csv); that a sector stored in part costs a slice of L2 two (l2.partial_cost) agrees with the rate of these launches.",
    "The loss of mxv_lcs and mxv_lc_s at 8 and more warps has been put down to 64-byte-strided vectors that thrash L1. The H100's counters "
    "say otherwise: the loads hit L1 alike at 1 and at 32 warps; what grows eightfold is the stores that reach L2. 16 stores of 4 bytes "
    "fill two sectors per lane. An SM joins them, without exception with one warp, while they follow each other, which stores of several "
    "warps in turn prevent. L2's input ports take a cycle per request and one per sector, and are then full. In L1's counter, which counts "
    "loads and stores together, this shows as fewer hits at 8 warps, and as lg_throttle. partial_stores.csv has the same without the "
    "multiply-adds, and the stores alone: 0.118 ms with 1 warp per SM, 0.466 ms with 2. Here six warps are 26 % too slow: their stores "
    "meet more often than on the H100, and are then not joined.",
    "What becomes of stores in an SM was then measured with kernels made for it (joins.csv): up to 24 lines, written again within some 25 "
    "to 100 cycles, take further stores in; 32 do not. Bursts of two warps that begin together are lost, of two that begin 100 cycles "
    "apart are not, though they overlap: stores go in the order of their issue. [lsu] and [interconnect] of the preset have the "
    "numbers. joins.csv has vectors without a matrix, too: of their stores 0, 4, 10, 19, 38, 63, 84 and 90 % "
    "are not joined with 1 to 16 warps.",
)
