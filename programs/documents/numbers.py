"""`document-numbers`: the arithmetic that the talks and the note do with a GPU's numbers, done again with the presets'."""

from collections.abc import Iterator
from pathlib import Path

from isa.architecture import parameter_base
from isa.vocabulary import Unit
from programs.reproduction import Check, Reproduction
from programs.tesla.products import TILES
from sim.analysis import little
from sim.analysis.banks import GEOMETRY
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP, occupancy
from sim.launch.file import load_launch
from sim.launch.launch import Launch

PROGRAMS = Path(__file__).parents[1]

LATENCY = 800  # cycles; "Memory: < 800 cycles (?)"


def reproduce(gpu: str | None = None) -> Reproduction:
    """Compute each number from presets; `gpu` is not looked at, the documents name their GPUs."""
    del gpu
    checks = (*_rates(), *_latencies(), *_dual_issue(), *_flight(), *_registers(), *_vectors(), *_blocks(), *_caches(), *_little())
    return Reproduction(title="The documents' own arithmetic, from the presets", checks=checks)


def exactly(what: str, published: str, found: str, note: str = "") -> Check:
    """Return a check of what must be as published."""
    return Check(what, published, found, published == found, note)


def near(what: str, published: float, found: float, unit: str = "", within: float = 1.5, note: str = "") -> Check:
    """Return a check of one number. within: percent."""
    passed = abs(found / published - 1) <= within / 100
    return Check(what, f"{published:g}{unit}", f"{found:.4g}{unit}", passed, note or (f"within {within:g} %" if within else "exact"))


def _rates() -> Iterator[Check]:
    gpu = load("gtx480")
    per_cycle = gpu.peak_fp32_flops / 2 / (gpu.clock.core_mhz * 1e6)
    yield near("GTX 480: peak, Tflop/s", 1.3, gpu.peak_fp32_flops / 1e12, within=4)
    yield near("GTX 480: multiply-adds per cycle", 480, per_cycle)
    yield near("GTX 480: words of memory per cycle", 32, gpu.dram_bytes_per_cycle * gpu.sms / 4)
    yield near("G80: cycles of an arithmetic instruction's issue", 4, 32 / load("g80").pipes["fp32"].lanes)
    for name, lanes, banks in (("g80", 8, 16), ("gtx480", 32, 32), ("gtx460", 48, 32)):
        machine = load(name)
        found = (_lanes(name), banks_of(name))
        yield Check(
            f"{machine.name}: thread processors and banks", f"{lanes} and {banks}", f"{found[0]} and {found[1]}", found == (lanes, banks)
        )


def _lanes(name: str) -> int:
    """Return the multiply-adds that an SM's lanes take per cycle."""
    gpu = load(name)
    return gpu.lanes(Unit.FP32)


def banks_of(name: str) -> int:
    """Return the banks of shared memory."""
    return GEOMETRY[load(name).shared.rule].banks


def _latencies() -> Iterator[Check]:
    """Yield "about 20 cycles for arithmetic; 400+ cycles for memory"."""
    gpu = load("gtx480")
    found = gpu.latency(Unit.GLOBAL)
    yield near("GTX 480: cycles of an arithmetic operation", 20, gpu.latency(Unit.FP32), within=10, note="about; within 10 %")
    yield Check("GTX 480: cycles of an access to memory", "400+", str(found), found >= 400)
    yield near("GTX 480: peak of one SM, Gflop/s", 1300 / 15, gpu.peak_fp32_flops / gpu.sms / 1e9, within=4)


def _dual_issue() -> Iterator[Check]:
    """Yield what an SM of a GF104 must issue, and what its schedulers can."""
    gpu = load("gtx460")
    pipe, form = gpu.pipes["fp32"], "{} cores, {} to an instruction: {} instructions per cycle".format
    yield exactly("GTX 460: issue for the peak", form(48, 16, 3), form(_lanes("gtx460"), pipe.lanes, pipe.count))
    form = "{} schedulers, {} instructions of a warp each".format
    yield exactly("GTX 460: schedulers", form(2, 2), form(gpu.core.schedulers, gpu.core.issue_width))


def _blocks() -> Iterator[Check]:
    """Yield how sizes of blocks and registers compare, from the listings' launches."""
    for what, times, large, small in (
        ("CUBLAS 1.1 and 2.0", 8, "tesla/sgemm_square_cc1", "tesla/sgemm_64x16_cc1"),
        ("CUFFT 2.2 and 2.3", 4, "fft/fft_1024_4", "fft/fft_1024_16"),
    ):
        launches = [load_launch(PROGRAMS / f"{name}.toml").launch for name in (large, small)]
        threads, warps = ([one.threads_per_block for one in launches], [_resident(load("g80"), one) for one in launches])
        yield exactly(f"{what}: threads per block", f"{times}x smaller", f"{threads[0] / threads[1]:g}x smaller")
        yield exactly(f"{what}: occupancy", "2x lower", f"{warps[0] / warps[1]:g}x lower", f"{warps[0]} and {warps[1]} warps per SM")
    yield exactly("GTX 480: threads of an SM", "1536 max", f"{WARP * load('gtx480').limits.warps} max")
    for name, said in (("g80", 128), ("gt200", 128), ("gtx480", 64)):
        gpu = load(name)
        yield near(f"{gpu.name}: registers per thread, up to about", said, gpu.limits.registers_per_thread, within=2)


def _resident(gpu: Gpu, launch: Launch) -> int:
    return occupancy(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block).warps


def _caches() -> Iterator[Check]:
    """Yield the lecture's widths of what caches move, and its compiler's bytes of constants: parameters of 32-bit addresses."""
    gpu = load("k20c")
    assert gpu.l1 is not None
    assert gpu.l2 is not None
    yield exactly("Kepler: L1's and L2's transactions", "128 and 32 bytes", f"{gpu.l1.line} and {gpu.l2.sector} bytes")
    yield near("three pointers of 32 bits on sm_35, bytes of cmem[0]", 332, parameter_base("sm_35") + 3 * 4, within=0)


def _flight() -> Iterator[Check]:
    law = little.memory(load("gtx480"), latency=LATENCY)
    yield Check("GTX 480: bytes in flight", "< 100 KB", f"{law.bytes / 1024:.1f} KiB", law.bytes / 1024 < 100)
    yield near("threads that fetch 4 B each", 25_000, law.bytes / 4)
    yield near("threads that fetch 100 B each", 1_000, law.bytes / 100)


def _registers() -> Iterator[Check]:
    """Yield register traffic at peak, and shared memory's."""
    yield near("a*b+c at 1.3 Tflop/s, 12 bytes each, TB/s", 7.8, 1.3 / 2 * 12)
    yield near("GTX 480: registers' bandwidth for multiply-adds, TB/s", 8.1, load("gtx480").peak_fp32_flops / 2 * 12 / 1e12)
    gpu = load("gtx480")
    yield near("GTX 480: shared memory, TB/s", 1.3, 4 * 32 * gpu.sms * gpu.clock.core_mhz / 2 / 1e6, within=4)


def _vectors() -> Iterator[Check]:
    """Yield what a vector of threads takes, and the sizes of what holds it (Volkov and Demmel)."""
    g80, gt200 = load("g80"), load("gt200")
    lanes, most = g80.pipes["fp32"].lanes, g80.limits.threads_per_block
    yield exactly("vectors", "of 32 elements, 32 streams", f"of {WARP} elements, {gt200.limits.warps} streams", gt200.name)
    yield exactly("longest vector", "VL = 512", f"VL = {most}")
    form = "CPI = {} to issue, {} to execute".format
    yield exactly("single issue that is faster than execution", form(2, 4), form(g80.core.issue_interval, WARP // lanes))
    sizes = [4 * gpu.limits.registers / gpu.limits.shared_bytes for gpu in (g80, gt200)]
    yield exactly("shared memory against registers: smaller", "2-4x", f"{sizes[0]:g}-{sizes[1]:g}x", f"{g80.name}, {gt200.name}")
    operands = 4 * 4 * lanes  # three read and one written, of 4 bytes
    banks = GEOMETRY[g80.shared.rule].pass_bytes / g80.shared.pass_cycles
    yield exactly("shared memory against registers: bandwidth", "4x lower", f"{operands / banks:g}x lower", "4 operands against 1")
    yield near("a pointer of 512 threads, bytes of registers", 2048, most * 4, within=0)
    yield near("the same of 64 threads", 256, 64 * 4, within=0)
    for name, (rows, columns) in TILES.items():
        yield near(f"{name}: flops of a block per step of K", 2048, 2 * rows * columns, within=0)
    share = 4 * 512 * 4 / (4 * load("g80").limits.registers)
    yield Check("3 pointers and a counter of 512 threads on an 8800 GTX", "25 % of the registers", f"{share:.0%}", round(share, 2) == 0.25)


def _little() -> Iterator[Check]:
    """Yield the note's own examples of L = lambda W."""
    yield near("10 customers an hour, half an hour each", 5, 10 * 0.5)
    for name, wanted in (("g80", 192), ("gtx480", 576), ("gtx460", 864)):
        law = little.arithmetic(load(name))
        found = law.operations
        yield Check(f"{load(name).name}: {law.latency} cycles x {law.lanes} lanes", str(wanted), str(found), found == wanted)
