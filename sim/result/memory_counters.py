"""The memory counters of a `Result`, made of what an engine tallied; meanings as Nsight Compute's unless said."""

from collections.abc import Sequence

from sim.gpus.model import Gpu
from sim.gpus.path import SECTOR
from sim.result.causes import Tally


def ratio(part: float, whole: float) -> float:
    """Return part / whole, 0 for an empty whole."""
    return part / whole if whole else 0.0


def memory_counters(tallies: Sequence[int], gpu: Gpu, cycles: int) -> dict[str, float]:
    """Return the counters by name. tallies: by `Tally`; cycles: of the run.

    Sectors are 32 bytes. load_latency: mean cycles from a load's issue to its data. bytes_in_flight: mean over the run and
    the chip, of the sectors that loads had asked for and not got. dram_throughput: share of the pin bandwidth.
    """
    t = {tally: int(tallies[tally]) for tally in Tally}
    read, written = SECTOR * t[Tally.DRAM_READ], SECTOR * t[Tally.DRAM_WRITTEN]
    pins = gpu.dram_bytes_per_cycle * gpu.sms * cycles
    return {
        "global_load_requests": t[Tally.LOAD_REQUESTS],
        "global_load_sectors": t[Tally.LOAD_SECTORS],
        "global_store_requests": t[Tally.STORE_REQUESTS],
        "global_store_sectors": t[Tally.STORE_SECTORS],
        "global_atomic_requests": t[Tally.ATOMIC_REQUESTS],
        "global_atomic_sectors": t[Tally.ATOMIC_SECTORS],
        "bulk_load_requests": t[Tally.BULK_LOADS],
        "bulk_load_sectors": t[Tally.BULK_LOAD_SECTORS],
        "bulk_store_requests": t[Tally.BULK_STORES],
        "bulk_store_sectors": t[Tally.BULK_STORE_SECTORS],
        "bulk_reduction_requests": t[Tally.BULK_REDUCTIONS],
        "bulk_reduction_sectors": t[Tally.BULK_REDUCTION_SECTORS],
        "local_requests": t[Tally.LOCAL_REQUESTS],
        "local_sectors": t[Tally.LOCAL_SECTORS],
        "shared_requests": t[Tally.SHARED_REQUESTS],
        "shared_wavefronts": t[Tally.SHARED_WAVEFRONTS],
        "shared_bank_conflicts": t[Tally.SHARED_CONFLICTS],
        "l1_sectors": t[Tally.L1_SECTORS],
        "l1_hit_rate": ratio(t[Tally.L1_HITS] + t[Tally.L1_MERGED], t[Tally.L1_SECTORS]),
        "l1_merged_sectors": t[Tally.L1_MERGED],
        "l1_load_sectors": t[Tally.L1_LOAD_SECTORS],
        "l1_load_hit_rate": ratio(t[Tally.L1_LOAD_HITS] + t[Tally.L1_MERGED], t[Tally.L1_LOAD_SECTORS]),
        "l1_passed_sectors": t[Tally.L1_PASSED],
        "stores_joined": t[Tally.STORES_JOINED],
        "l2_sectors_read": t[Tally.L2_READS],
        "l2_sectors_written": t[Tally.L2_WRITES],
        "l2_joined_sectors": t[Tally.L2_JOINED],
        "l2_hit_rate": ratio(t[Tally.L2_HITS], t[Tally.L2_READS] + t[Tally.L2_WRITES]),
        "dram_bytes_read": read,
        "dram_bytes_written": written,
        "dram_throughput": ratio(read + written, pins),
        "load_latency": ratio(t[Tally.LOAD_CYCLES], t[Tally.LOADS]),
        "bytes_in_flight": ratio(SECTOR * t[Tally.LOAD_SECTOR_CYCLES], cycles),
        "l2_queue_full": t[Tally.SLICE_FULL],
        "dram_queue_full": t[Tally.CHANNEL_FULL],
        "pending_requests_peak": t[Tally.MSHR_PEAK],
        "sm_requests_peak": t[Tally.PORT_PEAK],
    }
