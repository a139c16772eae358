"""`volkov-demmel`: matrix products on GPUs of compute capability 1.x, by short vectors in registers or by large ones in shared memory.

V. Volkov and J. Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008; what it states is in published.toml.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from programs.published import published
from programs.reproduction import Check, Reproduction
from programs.tesla import blas1
from programs.tesla.products import FOLDER, TILES, Rate, product, rate, reuse, whole
from programs.volkov.sweep import ONE_SM, block_sizes, chains, percent_of_peak, resized
from sim.functional import execute
from sim.gpus.loader import load
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP, occupancy
from sim.launch.file import load_launch
from sim.report.curves import Curve

GPUS = ("g80", "g84", "g92", "gt200")
MEASURED = "g80"  # the 8800 GTX, on which the products were measured
WITHIN = 8  # percent
SIZES = (2, 4, 6, 8, 12, 16)  # of C: times 64
INNER = 2048  # A is M x 2048, B is 2048 x N
NEARLY = 0.95  # of the best: "3 threads/core are nearly enough to hide memory latency"
CHAINS = 6  # enough independent multiply-adds per thread for 64 threads


def reproduce(gpu: str | None = None) -> Reproduction:
    """Run the products, the peak and BLAS1 on the four GPUs, or on `gpu` alone."""
    said = published(FOLDER)
    machines = {name: load(name) for name in ((gpu,) if gpu else GPUS)}
    checks: list[Check] = []
    for row in said["gpu"]:
        if row["preset"] in machines:
            checks += _table(row, machines[row["preset"]])
    for machine in machines.values():
        checks += _peak(said["peak"], machine)
    if said["reuse"]["preset"] in machines:
        checks += _reuse(said["reuse"], machines[said["reuse"]["preset"]])
    rates = {
        name: {row["name"]: [rate(machine, row["name"], one["blocks"]) for one in row["blocks"]] for row in said["kernel"]}
        for name, machine in machines.items()
    }
    for name, machine in machines.items():
        checks += _products(said, machine, rates[name], name == MEASURED)
    curves = {name: scaled(machine) for name, machine in machines.items()}
    checks += _scaled(said["scaled"], machines, {name: one["sgemm_64x16_cc1"][-1].percent for name, one in rates.items()})
    checks += [_size(machines[name], points) for name, points in curves.items()]
    checks += blas1.checks(said["blas1"])
    return Reproduction(
        title="Benchmarking GPUs to tune dense linear algebra",
        checks=tuple(checks),
        notes=NOTES,
        curves=tuple(Curve(machines[name].name, *points) for name, points in curves.items()),
        x_label="rows and columns of C (inner dimension 2048)",
        y_label="SGEMM, percent of the FP32 peak",
    )


def _table(row: Mapping[str, Any], gpu: Gpu) -> Iterator[Check]:
    form = "{} cores, {:.0f} Gflop/s, {} memory controllers, {:.0f} GB/s".format
    said = (row["cores"], row["gigaflops"], row["controllers"], row["gigabytes"])
    got = (gpu.sms, gpu.peak_fp32_flops / 1e9, gpu.dram.channels, gpu.dram.bandwidth)
    passed = all(abs(a / b - 1) < 0.01 for a, b in zip(got, said, strict=True))
    yield Check(f"{row['name']}: the table", form(*said), form(*got), passed, "preset, within 1 %")


def _peak(row: Mapping[str, Any], gpu: Gpu) -> Iterator[Check]:
    one, threads = gpu.replace(ONE_SM), row["threads"]
    best = percent_of_peak(execute(resized(chains(CHAINS), threads, one)), one)
    what = f"{gpu.name}: {threads} threads, ILP {CHAINS}"
    yield Check(what, f"{row['percent']} % of peak", f"{best:.1f} %", best >= row["percent"], "one block on one SM")
    operand = load_launch(FOLDER / "ffma_shared.toml").launch
    sizes = [size for size in block_sizes(one)[1::2] if occupancy(one, size, operand.registers_per_thread, operand.shared_per_block).blocks]
    found = {size: percent_of_peak(execute(resized(operand, size, one)), one) for size in sizes}
    size = max(found, key=lambda size: found[size])
    passed = 0.99 * row["shared_at_most"] <= found[size] < 100 * 2 / 3
    note = f"best of {len(found)} block sizes, {size} threads; a load of 2 cycles beside 4: two thirds, never reached; at least 99 % of it"
    yield Check(f"{gpu.name}: an operand in shared memory", f"at most {row['shared_at_most']} %", f"{found[size]:.1f} %", passed, note)


def _reuse(row: Mapping[str, Any], gpu: Gpu) -> Iterator[Check]:
    """Judge the bytes per flop of the GPU, and the reuse that a product needs and has."""
    per_flop = gpu.dram.bandwidth * 1e9 / gpu.peak_fp32_flops
    yield Check(f"{gpu.name}: bytes per flop", f"{row['bytes_per_flop']}", f"{per_flop:.2f}", round(per_flop, 2) == row["bytes_per_flop"])
    yield Check("reuse that a product needs", f"{row['needed']} times", f"{4 / per_flop:.1f}", round(4 / per_flop) == row["needed"])
    found = reuse(rate(gpu, "sgemm_64x16_cc1", 1).busy)
    what = "reuse of blocks of 64 x 16"
    yield Check(what, f"{row['of_64_by_16']}-way", f"{found:.1f}", round(found) == row["of_64_by_16"], "flops per word loaded, counted")


def _products(said: Mapping[str, Any], gpu: Gpu, run: Mapping[str, list[Rate]], measured: bool) -> Iterator[Check]:
    """Judge on the GPU that was measured, show on others, both products at each number of blocks per SM."""
    for row in said["kernel"]:
        rates = run[row["name"]]
        if not measured:
            found = ", ".join(f"{one.percent:.0f} %" for one in rates)
            note = f"bound by its instructions {rates[-1].bound:.0f} %; {rates[-1].gigaflops:.0f} Gflop/s"
            yield Check(f"{gpu.name}: {row['title']}, {blocks_of(rates)} blocks per SM", "-", found, None, note)
            continue
        yield _fits(row, gpu)
        off = 100 * (rates[-1].bound / row["bound"] - 1)
        fit = "; its unrolling FITTED to it" if row["name"] == "sgemm_square_cc1" else ""
        simulated = f"{rates[-1].bound:.1f} % ({off:+.0f} %)"
        yield Check(
            f"{row['title']}: bound by its instructions", f"{row['bound']} % of peak", simulated, abs(off) <= WITHIN, f"counted{fit}"
        )
        for one, found_rate in zip(row["blocks"], rates, strict=True):
            yield _percent(row["title"], one, found_rate)
        off = 100 * (rates[-1].gigaflops / row["gigaflops"] - 1)
        simulated = f"{rates[-1].gigaflops:.0f} Gflop/s ({off:+.0f} %)"
        yield Check(row["title"], f"{row['gigaflops']} Gflop/s", simulated, abs(off) <= WITHIN, f"within {WITHIN} %")
        if len(rates) > 1:
            yield from _streams(row, rates)


def _streams(row: Mapping[str, Any], rates: list[Rate]) -> Iterator[Check]:
    """Judge the warps on a core with each number of blocks, and that three blocks are nearly enough."""
    each = row["threads"] // WARP
    said, got = (
        ", ".join(map(str, one)) for one in ([each * one.blocks for one in rates], [one.busy.long.occupancy.warps for one in rates])
    )
    yield Check(f"{row['title']}: instruction streams per core", said, got, said == got)
    three, most = rates[2], rates[-1]
    note = f"{three.busy.occupancy:.0f} % occupancy; the slide's 33 % is that of 4"
    simulated = f"{100 * three.percent / most.percent:.0f} % of the best, {three.busy.long.occupancy.warps} streams"
    passed = three.percent > NEARLY * most.percent and three.busy.long.occupancy.warps == 3 * each
    yield Check(
        f"{row['title']}: 3 per core are nearly enough", f"6 streams; {row['blocks'][2]['percent']} of 60 %", simulated, passed, note
    )


def blocks_of(rates: list[Rate]) -> str:
    """Return the numbers of blocks on an SM in words."""
    return ", ".join(str(one.blocks) for one in rates)


def _percent(title: str, row: Mapping[str, Any], found: Rate) -> Check:
    off = 100 * (found.percent / row["percent"] - 1)
    busy = found.busy
    waits = sorted(((busy.stall(cause), cause) for cause in ("long_scoreboard", "barrier", "not_selected", "mio_throttle")), reverse=True)
    why = ", ".join(f"{cause} {100 * share:.0f} %" for share, cause in waits[:3])
    what = f"{title}: {row['blocks']} per SM"
    return Check(what, f"{row['percent']} % of peak", f"{found.percent:.1f} % ({off:+.0f} %)", abs(off) <= WITHIN, f"warps' time: {why}")


def _fits(row: Mapping[str, Any], gpu: Gpu) -> Check:
    launch = product(row["name"], (1, 1), 32)
    found = occupancy(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block)
    form = "{} threads, {} registers, {:.1f} KB, {} % occupancy, {} warps per SM".format
    said = (row["threads"], row["registers"], row["shared_kib"], row["occupancy"], row["streams"])
    kib = round(launch.shared_per_block / 1024, 1)
    got = (launch.threads_per_block, launch.registers_per_thread, kib, round(100 * found.fraction), found.warps)
    rows, columns = TILES[row["name"]]
    return Check(f"{row['title']}: what fits", form(*said), form(*got), got == said, f"{rows * columns} numbers of C per block, in both")


def scaled(gpu: Gpu) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return sizes of C and percent of peak of the whole product."""
    return tuple(64.0 * size for size in SIZES), tuple(whole(gpu, (size, 4 * size), INNER) for size in SIZES)


def _scaled(row: Mapping[str, Any], gpus: Mapping[str, Gpu], full: Mapping[str, float]) -> Iterator[Check]:
    """Judge the product with four blocks on every SM on each GPU, and how near the GPUs are to each other."""
    for name, percent in full.items():
        off = 100 * (percent / row["percent"] - 1)
        simulated = f"{percent:.1f} % ({off:+.0f} %)"
        yield Check(f"{gpus[name].name}: SGEMM", f"about {row['percent']} % of peak", simulated, abs(off) <= WITHIN, "4 blocks on every SM")
    if len(full) > 1:
        low, high = min(full.values()), max(full.values())
        yield Check("scaled performance of the GPUs", "nearly the same", f"{low:.1f} to {high:.1f} %", high - low <= 2, "within 2 points")


def _size(gpu: Gpu, points: tuple[tuple[float, ...], tuple[float, ...]]) -> Check:
    """Show the largest product of the curve, and how full its last wave of blocks is."""
    launch, last = product("sgemm_64x16_cc1", (1, 1), 16), SIZES[-1]
    held = gpu.sms * occupancy(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block).blocks
    waves = 4 * last**2 / held
    what = f"{gpu.name}: C of {points[0][-1]:.0f} x {points[0][-1]:.0f}, inner dimension {INNER}"
    return Check(what, "-", f"{points[1][-1]:.1f} % of peak", None, f"{4 * last**2} blocks are {waves:.1f} waves of {held}")


NOTES = (
    "Nothing is fitted to a rate. That a multiply-add with an operand in shared memory takes 6 cycles instead of 4 follows from what the "
    "slides say (core.dispatch of the g80 preset), and 66 % with it. Each such multiply-add is written LDS and FFMA: instruction counts "
    "are larger than the GPU's, its registers, cycles and shared-memory passes are not.",
    "CUBLAS 1.1's code is not public: its threads, registers, shared memory and square blocks are those published, its unrolling is FITTED "
    "to the published bound. It waits as one block does, all warps at the same barrier. An LDS on its own takes 2 cycles here, 4 there.",
    "Curves: the product is simulated with inner dimensions of 32 and 96, and each further step takes what one takes between them. Where a "
    "GPU holds many blocks, the last wave of a product is seldom full: more blocks improve load balance, as the slides say.",
)
