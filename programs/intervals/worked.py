"""Every worked number of the lecture notes on interval analysis, from the listings and the inputs that the notes used.

GPU Microarchitecture Note Set 5. Where the notes slip, both values are shown and the note says why.
"""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import isa
import sim
from isa.vocabulary import Unit
from programs.intervals.kernels import FOLDER, SIZE
from programs.reproduction import Check
from sim.analysis.interval import Analysis, Resource, analyse
from sim.functional import execute
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.traces.trace import Trace

COUNTED = (Unit.FP32, Unit.GLOBAL)  # "accounting only for the load, multiply/add, and store instructions"
L_M, L_2 = 400, 200  # cycles of a load that misses and that hits L2
GTX1080: dict[str, Any] = {"sms": 20, "clock.core_mhz": 1730}
K20: dict[str, Any] = {"sms": 13, "clock.core_mhz": 710}
FMAS, ACCESSES, EXTRA = SIZE * SIZE, 2 * SIZE, 19  # of one product; EXTRA: 1.2 instructions per FMA, less loads and stores


def device(latency: int = 4, **changes: Any) -> Gpu:
    """Return the notes' device: L_F = latency, L_M = 400, 32 lanes and 8 load/store lanes per scheduler.

    changes: fields with other values; `a__b` stands for the field a.b.
    """
    textbook = sim.gpu("textbook")
    units = [f"units.{unit}.latency" for unit, timing in textbook.units.items() if timing.pipe == "fp32"]
    fields = {name.replace("__", "."): value for name, value in changes.items()}
    return textbook.replace({"memory.global_load": L_M, **dict.fromkeys(units, latency), **fields})


@cache
def _executed(kernel: str) -> Trace:
    return execute(load_launch(FOLDER / f"{kernel}.toml").launch)


def analysis(kernel: str, gpu: Gpu, counted: bool = True) -> Analysis:
    """Return the interval analysis of a kernel; counted: of its loads, multiply-adds and stores alone."""
    return analyse(_executed(kernel), gpu, only=COUNTED if counted else None)


class Sheet:
    """The notes' arithmetic for one interval on one device: latency, bytes per thread, and what both say."""

    def __init__(self, latency: float, data: float, gigabytes: float, mhz: float, sms: int) -> None:
        self.latency, self.mhz, self.sms = latency, mhz, sms
        self.off_chip = Resource("data L2-DRAM", data, "B", gigabytes * 1e3 / mhz)

    @property
    def nanoseconds(self) -> float:
        return self.latency * 1e3 / self.mhz

    @property
    def threads(self) -> float:
        """Threads that fill the off-chip bandwidth (P)."""
        return self.off_chip.threads(self.latency)

    @property
    def per_sm(self) -> float:
        return self.threads / self.sms

    def issue_threads(self, cycles: float) -> float:
        """Threads of one SM that fill its issue when each needs so many cycles of it per interval (Q)."""
        return self.latency / cycles


def number(what: str, said: float, found: float, digits: int = 0, note: str = "") -> Check:
    """Return the check that a number comes out to the last digit that the notes print, rounded or cut off."""
    return Check(
        what, f"{said:,.{digits}f}", f"{found:,.{max(digits, 2) if found % 1 else digits}f}", abs(found - said) < 10.0**-digits, note
    )


def instead(what: str, said: str, found: str, why: str) -> Check:
    """Return the row that shows what the notes print beside what follows from their own rules."""
    return Check(what, said, found, None, f"slip: {why}")


def checks() -> Iterator[Check]:
    """Yield every worked number in the order of the notes."""
    yield from _loops()
    yield from _units()
    yield from _load_compute_store()
    yield from _gtx1080()
    yield from _k20()
    yield from _interleaved()
    yield from _per_thread()


def _loops() -> Iterator[Check]:
    simple, actual = (analysis(name, device(6), counted=False) for name in ("simple_loop", "actual_loop"))
    data = analysis("add_one", device()).traffic.dram
    yield number("simple loop: L, to the branch", 410, simple.to_last)
    yield number("actual loop: L, to the next iteration", 417, actual.latency, note="the notes' figure calls the branch I13; it is I12")
    yield number("add_one: bytes per thread", 8, data)
    for latency, said in ((410, 4341), (417, 4416)):
        yield number(f"M2200 (88.1 GB/s, 1.04 GHz), L = {latency}: P", said, Sheet(latency, data, 88.1, 1040, 8).threads)
    dispatch = analysis("simple_loop", device(6, **{"sms": 20}))
    yield number("GP104: dispatch, 2/640 + 1/2560 cycles per thread", 0.003516, dispatch.resources[0].cycles, 6)
    yield Check("GP104: P of dispatch at L = 410", "-", f"{dispatch.resources[0].threads(410):,.0f}", None)


def _units() -> Iterator[Check]:
    p100, turing, pascal = sim.gpu("p100"), sim.gpu("rtx2080ti"), sim.gpu("gtx1080").replace({"sms": 20})
    launch = Launch(isa.parse(".kernel f\nEXIT;"), (10,), (64,))
    yield number("10 blocks of 64 threads: P", 640, launch.blocks * launch.threads_per_block)
    yield number("GP104: load/store instructions per cycle, 20 x 32", 640, pascal.lanes(Unit.GLOBAL) * pascal.sms)
    yield number("GP104: FP32 instructions per cycle, 20 x 128", 2560, pascal.lanes(Unit.FP32) * pascal.sms)
    yield number("GP100: load/store instructions per cycle, 2 x 8 x 56", 896, p100.lanes(Unit.GLOBAL) * p100.sms)
    yield number("CC 7.5, 48 SMs: FP32 instructions per cycle", 3072, turing.lanes(Unit.FP32) * 48)


def _load_compute_store() -> Iterator[Check]:
    wide = analysis("mxv_lcs", device())
    narrow = analysis("mxv_lcs", device(pipes__fp32__lanes=16))
    yield number(
        "mxv_lcs, 32 lanes: L_M + MN + 4M", 720, wide.latency, note="headed CC 5.1, which does not exist (5.0, 5.2, 6.1 have 32 lanes)"
    )
    yield number("mxv_lcs, 16 lanes: L_M + 2MN + 4M", 976, narrow.latency)
    best = min(range(4, 65), key=lambda n: L_M / n + n + 4)
    yield number("N of the fewest threads, sqrt(L_M)", 20, best)
    bare = analysis("mxv_lcs", device(pipes__ldst__lanes=32)).latency
    yield instead(
        "L(K0) in the remark on units", "L_M + MN + M", f"L_M + MN + 4M = {wide.latency}, not {bare}", "the formula above it has 4M"
    )


def _gtx1080() -> Iterator[Check]:
    for lanes, cycles, ns, threads, per_sm, name in ((32, 672, 388.4, 971.9, 48.6, "N stores"), (16, 688, 397.7, None, None, "2N stores")):
        found = analysis("mxv_lcs", device(pipes__ldst__lanes=lanes, **GTX1080))
        sheet = Sheet(found.latency, found.traffic.dram, 320.3, 1730, 20)
        yield number(f"GTX 1080, {name}: L", cycles, found.latency)
        yield number(f"GTX 1080, {name}: ns", ns, sheet.nanoseconds, 1)
        if threads and per_sm:
            rounded = sheet.threads * round(sheet.nanoseconds, 1) / sheet.nanoseconds
            yield number("GTX 1080: P", threads, rounded, 1, f"of the rounded {ns} ns; unrounded {sheet.threads:.1f}")
            yield number("GTX 1080: P per SM", per_sm, sheet.per_sm, 1)
    full = analysis("mxv_lcs", device(**GTX1080))
    sheet = Sheet(full.latency, full.traffic.dram, 320.3, 1730, 20)
    yield instead(
        "GTX 1080, 4N stores: L; ns; P; per SM",
        "672; 388.4; 971.9; 48.6",
        f"{full.latency}; {sheet.nanoseconds:.1f}; {sheet.threads:.1f}; {sheet.per_sm:.1f}",
        "a store takes 32 / 8 = 4 cycles of issue, as in the notes' formula; the numbers count one",
    )
    yield from _gtx1080_issue(full.latency)


def _issue(fp: float, memory: float, lanes_fp: float, lanes_memory: float) -> float:
    return fp / lanes_fp + memory / lanes_memory


def _gtx1080_issue(full: int) -> Iterator[Check]:
    dispatch = {lanes: analysis("mxv_lcs", device(sms=1, pipes__ldst__lanes=lanes)).resources[0].cycles for lanes in (16, 8)}
    ideal = Sheet(672, 128, 320.3, 1730, 20)
    yield number("GTX 1080: issue, 256/128 + 32/64 cycles", 2.5, dispatch[16], 1)
    yield number("GTX 1080: Q", 268.8, ideal.issue_threads(dispatch[16]), 1)
    yield instead(
        "GTX 1080: Q with theta_IM = 32 per SM",
        "268.8",
        f"{ideal.issue_threads(dispatch[8]):.0f}; with 4N stores {full / dispatch[8]:.0f}",
        "64 load/store lanes per SM contradict the notes' own 20 x 32 = 640 per chip",
    )
    yield number("1.2 instructions per FMA: not FMAs", 51.2, 0.2 * FMAS, 1)
    yield number("less loads and stores", EXTRA, 0.2 * FMAS - ACCESSES)
    more = Sheet(672 + EXTRA, 128, 320.3, 1730, 20)
    cycles = dispatch[16] + EXTRA / 128
    for name, said, found, digits in (
        ("L", 691.0, more.latency, 0),
        ("ns", 399.4, more.nanoseconds, 1),
        ("P", 999.0, more.threads, 0),
        ("P per SM", 50.0, more.per_sm, 0),
        ("issue", 2.648, cycles, 3),
        ("Q", 261.0, more.issue_threads(cycles), 0),
    ):
        yield number(f"GTX 1080, {EXTRA} more instructions: {name}", said, found, digits)


def _k20() -> Iterator[Check]:
    found = analysis("mxv_lcs", device(pipes__ldst__lanes=32, **K20))
    kepler, full = sim.gpu("k20c"), analysis("mxv_lcs", device(**K20)).latency
    sheet, exact = (Sheet(found.latency, found.traffic.dram, 208.0, mhz, 13) for mhz in (710, kepler.clock.core_mhz))
    fp, memory = kepler.lanes(Unit.FP32), kepler.lanes(Unit.GLOBAL)
    yield number("K20: ns", 946.5, sheet.nanoseconds, 1)
    yield number("K20: P", 1538, sheet.threads)
    yield number("K20: P per SM", 118, sheet.per_sm)
    yield instead(
        "K20 at 706 MHz: ns; P; per SM; with 4N stores",
        "946.5; 1538; 118; -",
        f"{exact.nanoseconds:.1f}; {exact.threads:.1f}; {exact.per_sm:.1f}; {sheet.per_sm * full / 672:.1f}",
        "0.71 GHz is rounded; and see the stores of the GTX 1080",
    )
    yield number("K20: Q", 268.8, 672 / _issue(FMAS, ACCESSES, 128, 64), 1)
    yield instead(
        f"K20: Q with an SMX's {fp} FP32 and {memory} load/store lanes",
        "268.8",
        f"{672 / _issue(FMAS, ACCESSES, fp, memory):.1f}",
        "the notes copied the GTX 1080's 128 and 64",
    )
    yield number("K20, 1.2 instructions per FMA: issue", 2.898, _issue(FMAS + 51, ACCESSES, 128, 64), 3)
    yield number("K20, 1.2 instructions per FMA: Q", 231.8, 672 / _issue(FMAS + 51, ACCESSES, 128, 64), 1)
    once = (672 + EXTRA) / _issue(FMAS + EXTRA, ACCESSES, 128, 64)
    own = (672 + EXTRA) / _issue(FMAS + EXTRA, ACCESSES, fp, memory)
    yield instead(
        "K20: the same, loads and stores counted once; with Kepler's lanes",
        "231.8",
        f"{once:.1f}; {own:.1f}",
        "the 51 are not FMAs, and 32 of them are the loads and stores that stand beside them",
    )


def _interleaved() -> Iterator[Check]:
    mean = L_M // 8 + L_2 * 7 // 8
    found = analysis("mxv_lc_s", device(memory__global_load=mean, pipes__ldst__lanes=32, **GTX1080))
    sheet, other = (Sheet(found.latency, found.traffic.dram, gigabytes, 1730, 20) for gigabytes in (320.8, 320.3))
    yield number("mxv_lc_s: L / N, 50 + 175 + 16 + 1", 242, found.latency / SIZE)
    yield Check("mxv_lc_s: L", "-", f"{found.latency:,}", None)
    yield number("mxv_lc_s: P with 320.8 GB/s", 5609.4, sheet.threads, 1)
    yield instead("mxv_lc_s: P with 320.3 GB/s", "5609.4", f"{other.threads:.1f}", "elsewhere the notes use 320.3 GB/s")
    yield number("mxv_lc_s: P per SM", 280, sheet.per_sm)
    warps = sheet.per_sm / WARP
    yield instead("mxv_lc_s: warps per SM", "8", f"{warps:.2f}: {math.ceil(warps)}", "8 warps are 256 threads, fewer than 280")


def _per_thread() -> Iterator[Check]:
    found = analysis("mxv_per_thd", device(6, pipes__ldst__lanes=32, **GTX1080))
    sheet, other = (Sheet(found.latency, found.traffic.dram, gigabytes, 1730, 20) for gigabytes in (320.3, 320.8))
    yield number("mxv_per_thd: L, L_M + N L_F + 1", 497, found.latency)
    yield number("mxv_per_thd: ns", 287.3, sheet.nanoseconds, 1)
    yield number("mxv_per_thd: bytes per thread, 4 (N / M + 1)", 8, found.traffic.dram)
    yield number("mxv_per_thd: P with 320.3 GB/s", 11502, sheet.threads)
    yield instead("mxv_per_thd: P as its formula prints it, 320.8 GB/s", "11502", f"{other.threads:.1f}", "11502 is that of 320.3 GB/s")
    yield number("mxv_per_thd: P per SM", 575, sheet.per_sm)
    yield number("mxv_per_thd: warps per SM", 18, math.ceil(sheet.per_sm / WARP))
