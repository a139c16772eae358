"""How fast the simulator is: warp instructions per second of each half and of both, and what compiling costs.

Rates are of one thread unless they name more (of sweeps: `sweep_rates.py`); programs are large enough that set-up is a few percent at
most; the first, compiling run counts not.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

import isa
from sim.compiled.cores import MOST, cores
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.result.result import Result
from sim.timing import simulate
from sim.traces import reader, writer

CHAIN = """
.kernel ffma_chain
.param u32 passes
        MOV R0, c[0x0][passes]
.Loop:  IADD32I R0, R0, -1
        ISETP.NE.AND P0, PT, R0, RZ, PT
.rept 200
        FFMA R1, R1, R2, R3
.endr
   @P0  BRA .Loop
        EXIT
"""
# The addresses of a thread's float: of x in R2 and R3, of y in R4 and R5.
ADDRESSES = """
        S2R R0, SR_TID.X
        S2R R1, SR_CTAID.X
        IMAD R0, R1, 0x100, R0
        SHL R0, R0, 2
        IADD R2.CC, R0, c[0x0][x]
        IADD.X R3, RZ, c[0x0][x+4]
        IADD R4.CC, R0, c[0x0][y]
        IADD.X R5, RZ, c[0x0][y+4]"""
STREAM = f"""
.kernel stream
.param ptr x
.param ptr y
.param u32 passes
{ADDRESSES}
        MOV R8, c[0x0][passes]
.Loop:  LD.E R6, [R2]
        LD.E R7, [R4]
        IADD32I R8, R8, -1
        ISETP.NE.AND P0, PT, R8, RZ, PT
        FFMA R7, R6, 2.0, R7
        ST.E [R4], R7
   @P0  BRA .Loop
        EXIT
"""
COPY = f"""
.kernel copy
.param ptr x
.param ptr y
{ADDRESSES}
        LD.E R6, [R2]
        ST.E [R4], R6
        EXIT
"""
SAXPY = f"""
.kernel saxpy
.param ptr x
.param ptr y
{ADDRESSES}
        LD.E R6, [R2]
        LD.E R7, [R4]
        FFMA R6, R6, 2.0, R7
        ST.E [R4], R6
        EXIT
"""
# name, GPU, blocks, warps per block, passes: about ten million warp instructions each
CHAINS = (
    ("gtx480, 1 SM, 32 warps", "gtx480", 1, 32, 1500),
    ("gtx480, 1 SM, 48 warps", "gtx480", 2, 24, 1000),
    ("h100, 1 SM, 32 warps", "h100", 1, 32, 1500),
    ("h100, 1 SM, 64 warps", "h100", 2, 32, 750),
    ("h100, 132 SMs, 32 warps each", "h100", 132, 32, 12),
)
WORK = (10_000, 100_000, 1_000_000, 10_000_000)  # warp instructions, of the table that shows how cost grows


THREADS = min(cores(), MOST)
LISTED = 10_000  # instructions of the listing that `loading` reads


class Rate(NamedTuple):
    """One measurement; seconds: one per repetition.

    part: timing (Numba), simpy (the same in SimPy), functional, reading (a trace's text), both, both with so many threads that share the
    SMs, or growth (both, with more and more work).
    """

    part: str
    program: str
    instructions: int  # warp instructions
    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """Millions of warp instructions per second in the fastest repetition."""
        return self.instructions / min(self.seconds) / 1e6

    @property
    def spread(self) -> float:
        """Slowest over fastest repetition, minus one."""
        return max(self.seconds) / min(self.seconds) - 1


class Compilation(NamedTuple):
    """Seconds from the start of a fresh Python process to its first result."""

    cold: float  # nothing compiled before
    cached: float


def chain(blocks: int, warps: int, passes: int) -> Launch:
    """Return dependent multiply-adds: 203 instructions per pass, nothing to wait for but the FP32 pipe."""
    return Launch(isa.parse(CHAIN), grid=(blocks,), block=(32 * warps,), args=(np.uint32(passes),))


def stream(blocks: int, passes: int) -> Launch:
    """Return y = 2 x + y, again and again, by blocks of 256 threads: 3 of 7 instructions access memory."""
    arrays = [np.ones(256 * blocks, np.float32) for _ in range(2)]
    return Launch(isa.parse(STREAM), grid=(blocks,), block=(256,), args=(*arrays, np.uint32(passes)))


def rates(repeats: int = 5, scale: float = 1.0) -> Iterator[Rate]:
    """Measure, and yield one `Rate` after another; scale: how much of the usual ten million instructions to run."""
    for name, gpu_name, blocks, warps, passes in CHAINS:
        gpu, trace = load(gpu_name).replace({} if blocks > 2 else {"sms": 1}), execute(chain(blocks, warps, _scaled(passes, scale)))
        yield _rate("timing", f"FFMA chain, {name}", trace.warp_instructions, partial(simulate, trace, gpu, threads=1), repeats)
    gpu = load("h100")
    programs = {"FFMA chain": chain(48, 32, _scaled(32, scale)), "load, FFMA, store": stream(132, _scaled(1350, scale))}
    for name, launch in programs.items():
        trace = execute(launch)
        n = trace.warp_instructions
        yield from _by_threads("functional", f"{name}, {launch.blocks} blocks", n, partial(execute, launch), repeats)
        yield _rate("timing", f"{name}, h100, {launch.blocks} blocks", n, partial(simulate, trace, gpu, threads=1), repeats)
        yield from _by_threads("both", f"{name}, h100, {launch.blocks} blocks", n, partial(_both, launch, gpu), repeats)


def memory(repeats: int = 5, scale: float = 1.0) -> Iterator[Rate]:
    """Measure kernels that only move data: a float per thread, once, through caches and DRAM; about a million warp instructions."""
    for name, listing in (("copy", COPY), ("saxpy", SAXPY)):
        launch = elementwise(listing, _scaled(12_000, scale))
        trace = execute(launch)
        yield from _by_threads("functional", f"{name}, {launch.blocks} blocks", trace.warp_instructions, partial(execute, launch), repeats)
        with tempfile.TemporaryDirectory() as folder:
            written, what = writer.write([trace], folder), f"trace of {name}, {launch.blocks} blocks"
            yield _rate("reading", what, trace.warp_instructions, partial(reader.read, written), repeats)
        for key, gpu in ((key, load(key)) for key in ("gtx480", "h100")):
            what = f"{name}, {key}, {launch.blocks} blocks"
            yield _rate("timing", what, trace.warp_instructions, partial(simulate, trace, gpu, threads=1), repeats)
            yield from _by_threads("both", what, trace.warp_instructions, partial(_both, launch, gpu), repeats)


def growth(repeats: int = 3, scale: float = 1.0) -> Iterator[Rate]:
    """Measure the copy with more and more blocks: where cost is linear in the work, the rate stays; small runs pay for the set-up."""
    for instructions in WORK:
        launch = elementwise(COPY, _scaled(instructions // (8 * 11), scale))
        n = execute(launch).warp_instructions
        yield _rate("growth", f"copy, h100, {launch.blocks} blocks", n, partial(_both, launch, load("h100")), repeats)


def elementwise(listing: str, blocks: int) -> Launch:
    """Return a kernel of one float per thread in blocks of 256 threads."""
    arrays = [np.ones(256 * blocks, np.float32) for _ in range(2)]
    return Launch(isa.parse(listing), grid=(blocks,), block=(256,), args=tuple(arrays))


def engines(repeats: int = 3) -> Iterator[Rate]:
    """Measure both timing engines on the same small job: 8 warps of dependent multiply-adds on one SM of a GTX 480."""
    gpu, trace = load("gtx480").replace({"sms": 1}), execute(chain(1, 8, 5))
    name, n = "FFMA chain, gtx480, 1 SM, 8 warps", trace.warp_instructions
    yield _rate("timing", name, n, partial(simulate, trace, gpu, threads=1), repeats)
    if find_spec("simpy") is not None:
        from sim import reference

        yield _rate("simpy", name, n, partial(reference.simulate, trace, gpu), repeats)


def loading(repeats: int = 3, instructions: int = LISTED) -> dict[str, float]:
    """Return the seconds of processor time in which a listing of so many instructions, all different, becomes a `Program`; best of all.

    By the form of the listing. No repetition reads an instruction that another one has read.
    """
    best = {}
    for place, (form, written) in enumerate({"mini-SASS": _mini_sass, "cuobjdump -sass": _disassembled}.items()):
        times = []
        for turn in range(repeats):
            seed = place * repeats + turn
            text = written([f"FFMA R{k % 199}, R{k // 199}, -R{seed % 250}, R{k % 31}" for k in range(instructions - 1)])
            start = time.process_time()
            isa.parse(text)
            times.append(time.process_time() - start)
        best[form] = min(times)
    return best


def _mini_sass(instructions: list[str]) -> str:
    return "\n".join([".kernel long", *(f"    {text};" for text in instructions), "    EXIT;"])


def _disassembled(instructions: list[str]) -> str:
    """Return instructions as `cuobjdump -sass` prints them, with encodings (that mean nothing)."""
    word = "/* 0x000fe20000000800 */"
    lines = [f"        /*{16 * k:04x}*/  {text} ;  {word}\n  {word}" for k, text in enumerate([*instructions, "EXIT"])]
    return "\n".join(["\tcode for sm_90", "\t\tFunction : long", *lines, "\t\t.........."])


def compilation() -> Compilation:
    """Measure a fresh process with an empty cache of compiled kernels, then another with what the first one left."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"SIMTLAB_CACHE": folder}
        return Compilation(*(_fresh_process(environment) for _ in range(2)))


def first_result() -> int:
    """Run both halves once on a small program with arithmetic and memory; return its cycles."""
    return simulate(execute(stream(1, 2)), load("gtx480")).cycles


def _fresh_process(environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "from sim.bench import first_result; first_result()"], env=environment, check=True)
    return time.perf_counter() - start


def _both(launch: Launch, gpu: Gpu, threads: int = 1) -> Result:
    return simulate(execute(launch, threads=threads), gpu, threads=threads)


def _by_threads(part: str, program: str, instructions: int, work: Callable[..., object], repeats: int) -> Iterator[Rate]:
    """Measure what takes `threads=` by one thread, and by as many as there are cores."""
    for threads in sorted({1, THREADS}):
        name = part if threads == 1 else f"{part}, {threads} threads"
        yield _rate(name, program, instructions, partial(work, threads=threads), repeats)


def _scaled(passes: int, scale: float) -> int:
    return max(round(passes * scale), 1)


def _rate(part: str, program: str, instructions: int, work: Callable[[], object], repeats: int) -> Rate:
    work()  # compiles, or loads what is compiled
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return Rate(part, program, instructions, tuple(seconds))
