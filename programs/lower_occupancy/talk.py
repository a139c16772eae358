"""`lower-occupancy`: what the talk states beside its experiments: pairs of library versions, registers, shared memory, SDK and MAGMA.

V. Volkov, "Better Performance at Lower Occupancy", GTC 2010; what it states is in published.toml. Its experiments are volkov-tlp-ilp,
volkov-copy, sgemm-ladder and fft.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isa.vocabulary import Operation, Unit
from programs.fft.fft_outputs import transform
from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.sgemm import sgemm_ladder
from programs.steady import Steady, steady
from programs.tesla.products import TILES, rate
from programs.volkov.sweep import ONE_SM, chains, percent_of_peak, resized
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP, most_registers
from sim.launch.file import load_launch
from sim.launch.launch import Launch
from sim.timing import simulate

FOLDER = Path(__file__).parent
WITHIN = 10  # percent
FFT_WITHIN = 15  # the same of the ratio of two FFTs
OPERANDS = 12  # bytes that a multiply-add reads from registers
THREADS = 512  # that stream from registers or from shared memory
SDK = "sgemm_sdk"
SMALL = (160, 80, 80)  # rows of A, columns of A, columns of B: 10, 5 and 5 tiles, in matrixMul.h of the SDK of 2010
MAGMA = 960  # the largest multiple of 96 below 1024


def reproduce(gpu: str | None = None) -> Reproduction:
    """Check the statements, each on its GPU (an 8800 GTX, a GTX 280, a GTX 480), or those about `gpu` alone."""
    said, chosen = published(FOLDER), (gpu,) if gpu else ("g80", "gt200", "gtx480")
    checks: list[Check] = []
    if "g80" in chosen:
        checks += [*_sgemm(said), *_fft(said)]
    checks += [_registers(row) for row in said["registers"] if row["preset"] in chosen]
    for row in said["gap"]:
        if row["preset"] in chosen:
            checks += _gap(row)
    if "gtx480" in chosen:
        checks += [*_sdk(said["sdk"], load("gtx480")), *_magma(said["magma"], load("gtx480"))]
    return Reproduction(title="Better performance at lower occupancy, beside its experiments", checks=tuple(checks), notes=NOTES)


def off_by(found: float, wanted: float) -> float:
    """Return the deviation in percent."""
    return 100 * (found / wanted - 1)


def _rate(what: str, wanted: float, found: float, note: str = "") -> Check:
    off = off_by(found, wanted)
    simulated = f"{found:.0f} Gflop/s ({off:+.0f} %)"
    return Check(what, f"{wanted:g} Gflop/s", simulated, abs(off) <= WITHIN, note or f"within {WITHIN} %")


def _sgemm(said: Mapping[str, Any]) -> Iterator[Check]:
    gpu, rates = load("g80"), []
    for row in said["prologue"]:
        found = rate(gpu, row["kernel"], row["blocks"])
        size, occupancy = int(np.prod(found.busy.long.block)), round(found.busy.occupancy)
        simulated = f"{size} threads, {occupancy} % occupancy"
        passed = (size, occupancy) == (row["threads"], row["occupancy"])
        yield Check(f"{row['name']}, SGEMM: what fits", f"{row['threads']} threads, {row['occupancy']} % occupancy", simulated, passed)
        yield _rate(f"{row['name']}, SGEMM", row["gigaflops"], found.gigaflops, f"blocks of {TILES[row['kernel']]} of C; see volkov-demmel")
        rates.append(found.gigaflops)
    yield Check(
        "SGEMM at half the occupancy",
        "1.6 times as fast",
        f"{rates[1] / rates[0]:.2f} times",
        abs(off_by(rates[1] / rates[0], 1.6)) <= WITHIN,
    )


def _fft(said: Mapping[str, Any]) -> Iterator[Check]:
    """Judge occupancies and the order; CUFFT's code is not public, so the rates of other code are shown, with what they wait for."""
    gpu, rates = load("g80"), []
    for row in said["fft"]:
        found = transform(gpu, row["outputs"])
        passed = (found.threads, round(found.occupancy)) == (row["threads"], row["occupancy"])
        simulated = f"{found.threads} threads, {found.occupancy:.0f} % occupancy"
        yield Check(f"{row['name']}: what fits", f"{row['threads']} threads, {row['occupancy']} % occupancy", simulated, passed)
        waits = sorted(((found.steady.stall(cause), cause) for cause in found.steady.long.stalls if cause != "selected"), reverse=True)[:2]
        why = ", ".join(f"{cause} {100 * share:.0f} %" for share, cause in waits)
        note = f"fft_1024_{row['outputs']}, not its code; {found.conflicts:.0f} bank conflicts per transform; waits: {why}"
        simulated = f"{found.gigaflops:.0f} Gflop/s ({off_by(found.gigaflops, row['gigaflops']):+.0f} %)"
        yield Check(row["name"], f"{row['gigaflops']} Gflop/s", simulated, None, note)
        rates.append(found.gigaflops)
    ratio = rates[1] / rates[0]
    note = f"within {FFT_WITHIN} %: of code that is not CUFFT's"
    yield Check("FFT at half the occupancy", "2 times as fast", f"{ratio:.2f} times", abs(off_by(ratio, 2)) <= FFT_WITHIN, note)


def _registers(row: Mapping[str, Any]) -> Check:
    gpu = load(row["preset"])
    found = [registers_at(gpu, percent / 100) for percent in row["occupancy"]]
    form = " and ".join(f"{{}} at {percent:g} % occupancy" for percent in row["occupancy"]) + ": {}x"
    said, got = (form.format(*few, round(few[1] / few[0])) for few in (row["registers"], found))
    return Check(f"{gpu.name}: registers per thread", said, got, said == got)


def registers_at(gpu: Gpu, fraction: float) -> int:
    """Return the most registers per thread at that share of the SM's warps, with any size of block."""
    warps = round(fraction * gpu.limits.warps)
    sizes = [size for size in range(1, warps + 1) if warps % size == 0 and warps // size <= gpu.limits.blocks]
    return max(most_registers(gpu, WARP * size, warps // size) for size in sizes if WARP * size <= gpu.limits.threads_per_block)


def _gap(row: Mapping[str, Any]) -> Iterator[Check]:
    """Judge the ratio of two measured streams: operands of multiply-adds, and words from shared memory."""
    gpu = load(row["preset"])
    one = gpu.replace(ONE_SM)
    threads = min(THREADS, one.limits.threads_per_block)
    share = percent_of_peak(execute(resized(chains(4), threads, one)), one) / 100
    registers = OPERANDS * share * one.lanes(Unit.FP32)  # bytes per cycle of an SM
    launch = load_launch(FOLDER / "lds_stream.toml").launch
    trace = execute(replace(launch, block=(threads // 2,), args=(np.zeros(threads, np.float32), np.uint32(4))))
    loads = (trace.program.encoded.operation == Operation.LOAD) & (trace.program.encoded.unit == Unit.SHARED)
    shared = 4 * int(trace.true_lanes[loads].sum()) / simulate(trace, one).cycles
    ratio = registers / shared
    note = f"{registers:.0f} and {shared:.0f} bytes per cycle and SM, streamed"
    yield Check(
        f"{gpu.name}: registers against shared memory", f"at least {row['times']} times", f"{ratio:.2f} times", ratio >= row["times"], note
    )
    if "registers_tb" in row:
        chip = gpu.sms * gpu.clock.core_mhz / 1e6  # bytes per cycle and SM -> TB/s
        said, got = (row["registers_tb"], row["shared_tb"]), (registers * chip, shared * chip)
        passed = all(abs(off_by(a, b)) <= 3 for a, b in zip(got, said, strict=True))
        form = "{:.1f} and {:.1f} TB/s".format
        yield Check(
            f"{gpu.name}: the same, of the chip", form(*said), form(*got), passed, "12 bytes per multiply-add, 4 per load; within 3 %"
        )


def _sized(name: str, shape: tuple[int, int, int], grid: tuple[int, int], numbers: tuple[int, ...]) -> Launch:
    rows, inner, columns = shape
    launch = load_launch(sgemm_ladder.FOLDER / f"{name}.toml").launch
    arrays = [np.zeros(size, np.float32) for size in ((rows, inner), (inner, columns), (rows, columns))]
    return replace(launch, grid=grid, args=(*arrays, *(np.uint32(number) for number in numbers)))


def _slices(gpu: Gpu, name: str, size: int, width: int, numbers: tuple[int, ...]) -> Steady:
    """Time one more wave of blocks of a large square product. width: blocks across; `numbers`: the kernel's sizes."""
    held = 2 if name == "sgemm_36" else 6
    down = gpu.sms * held // width
    short, long = (execute(_sized(name, (size, size, size), (width, down * waves), numbers)) for waves in (1, 2))
    found = steady(short, long, gpu)
    assert found.long.occupancy.blocks == held, "whole waves"
    return found


def _sdk(row: Mapping[str, Any], gpu: Gpu) -> Iterator[Check]:
    found = _slices(gpu, SDK, 1024, 45, (1024, 1024))
    gigaflops = found.per_second(found.grown("fp32_flops")) / 1e9
    note = f"shared memory {100 * found.shared_busy:.0f} % busy, DRAM {100 * found.dram_busy:.0f} %; before the ladder"
    yield _rate("the SDK's product, 16 x 16 tiles, 1024 x 1024", row["large"], gigaflops, note)
    rows, inner, columns = SMALL
    run = simulate(execute(_sized(SDK, SMALL, (columns // 16, rows // 16), (inner, columns))), gpu)
    flops, took = 2.0 * rows * inner * columns, 1e6 * run.seconds
    launch = load("g80").blocks.launch_us  # a Fermi's is not known
    rest = 1e-3 * flops / row["shipped"] - took
    note = (
        f"A of {rows} x {inner}, launch after launch as its host code does: {took:.1f} us each, {flops / took / 1e3:.0f} Gflop/s "
        f"without the {launch:g} us between launches that the 8800 GTX's preset has; {rest:.1f} us would make it {row['shipped']}; "
        f"within {WITHIN} %"
    )
    yield _rate("the same as shipped", row["shipped"], 1e-3 * flops / (took + launch), note)


def _magma(row: Mapping[str, Any], gpu: Gpu) -> Iterator[Check]:
    found = _slices(gpu, "sgemm_36", MAGMA, MAGMA // 96, (MAGMA,))
    gigaflops = found.per_second(found.grown("fp32_flops")) / 1e9
    per_flop = _read(found)
    form = "{} % occupancy, {} blocks per SM, {:.2f} B/flop, {:.0f}x lower".format
    said = form(row["occupancy"], row["blocks"], row["bytes_per_flop"], 6)
    got = form(round(found.occupancy), found.long.occupancy.blocks, per_flop, 4 / per_flop)
    yield Check(f"{row['outputs']} outputs per thread: what fits", said, got, said == got, "MAGMA's shape; bytes counted")
    waits = sorted(((found.stall(cause), cause) for cause in found.long.stalls if cause != "selected"), reverse=True)[:3]
    why = ", ".join(f"{cause} {100 * share:.0f} %" for share, cause in waits)
    share = 100 * gigaflops * 1e9 / gpu.peak_fp32_flops
    note = f"{share:.0f} % of peak; shared memory {100 * found.shared_busy:.0f} % busy; warps' time: {why}"
    yield _rate(f"{row['outputs']} outputs per thread (MAGMA: up to)", row["gigaflops"], gigaflops, note)


def _read(found: Steady) -> float:
    """Return the bytes of shared memory loaded per flop: one word per lane and LDS."""
    loads = [i for i, one in enumerate(found.long.program.instructions) if one.opcode.startswith("LDS")]
    grown = found.long.issues_by_instruction[loads].sum() - found.short.issues_by_instruction[loads].sum()
    return 4 * WARP * int(grown) / found.grown("fp32_flops")


NOTES = (
    "CUBLAS's and CUFFT's code is not public: the kernels here have their published threads, registers and tiles. For SGEMM that is nearly "
    "all there is to choose, and the rates agree; of an FFT's time layout and twiddles decide, so its rates are shown, not judged: what "
    "cannot be reproduced is CUFFT's 45 and 93 Gflop/s, for want of its code; that half the occupancy is about twice as fast, is.",
    "Nothing is fitted to a number of this list.",
)
