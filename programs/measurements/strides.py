"""One SM of an H100: shared loads at a stride, 1 to 32 warps; and the counters of strided and shifted global copies."""

from collections.abc import Iterator

import numpy as np

import isa
import sim
from programs.coalescing import lecture
from programs.measurements.copies import H100
from programs.published import published, rows
from programs.reproduction import Check
from sim.gpus.model import Gpu
from sim.result.result import Result

LOOPS = 50  # of the shared loads, in every launch
COUNTERS = ("load_requests", "load_sectors", "store_requests", "store_sectors")


def shared_loads() -> Iterator[tuple[int, int, int]]:
    """Yield stride in words, threads, measured cycles of the 66 launches."""
    for row in rows(H100 / "lds_stride.csv"):
        yield int(row["stride"]), int(row["threads"]), int(row["cycles"])


def shared_cycles(stride: int, threads: int, gpu: Gpu) -> int:
    """Return the cycles from the first warp's first clock read to the last warp's last one."""
    program = isa.load(H100 / "lds_stride.sm_90.sass")
    args = (np.zeros(threads, np.float32), np.zeros(2 * threads, np.int64), np.int32(stride), np.int32(LOOPS))
    reads = sim.run(sim.Launch(program, (1,), (threads,), args), gpu).clock_reads
    cycle, instruction = reads[:, 0], reads[:, 3]
    return int(cycle[instruction == instruction.max()].max() - cycle[instruction == instruction.min()].min())


def counter_checks(gpu: Gpu) -> Iterator[Check]:
    """Yield, per launch, requests and sectors, judged; hit rates and DRAM bytes, shown."""
    launch = published(lecture.FOLDER)["h100"]
    for wanted, other in zip(lecture.counters("h100_sectors.csv"), rows(H100 / "strided.csv"), strict=True):
        stride, offset = wanted["stride"], wanted["offset"]
        found = _strided(stride, offset, launch["blocks"], launch["threads"], gpu)
        numbers = [int(found.counters[f"global_{name}"]) for name in COUNTERS]
        said = [wanted[name] for name in COUNTERS]
        what = f"stride {stride}, offset {offset}"
        yield Check(f"{what}: requests, sectors of loads; of stores", _words(said), _words(numbers), numbers == said)
        yield Check(f"{what}: L1, L2 hits; DRAM read, written; cycles", _rest_measured(other), _rest_simulated(found), None)


def _strided(stride: int, offset: int, blocks: int, threads: int, gpu: Gpu) -> Result:
    program = isa.load(H100 / "strided.sm_90.sass")
    words = blocks * threads * stride + offset
    args = (np.zeros(words, np.float32), np.zeros(words, np.float32), np.int32(stride), np.int32(offset))
    return sim.run(sim.Launch(program, (blocks,), (threads,), args), gpu)


def _words(numbers: list[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def _rest_measured(row: dict[str, str]) -> str:
    hits = f"{float(row['l1_hit_percent']):.1f}%, {float(row['l2_hit_percent']):.1f}%"
    return f"{hits}; {_mb(int(row['dram_bytes_read']))}, {_mb(int(row['dram_bytes_written']))} MB; {int(row['cycles']):,}"


def _rest_simulated(found: Result) -> str:
    c = found.counters
    hits = f"{100 * c['l1_hit_rate']:.1f}%, {100 * c['l2_hit_rate']:.1f}%"
    return f"{hits}; {_mb(c['dram_bytes_read'])}, {_mb(c['dram_bytes_written'])} MB; {found.cycles:,}"


def _mb(number: float) -> str:
    return f"{number / 1e6:.1f}"
