"""What the memory system moved: accesses by kind, and bytes and hits from the registers to DRAM, as text that a pipe keeps whole."""

import math
from typing import NamedTuple

import numpy as np

from isa.vocabulary import Operation, Space
from sim.analysis import little
from sim.gpus.path import SECTOR
from sim.lowering.accesses import is_cached
from sim.report.words import count, size
from sim.result.memory_counters import ratio
from sim.result.result import Result

KINDS = {
    **{"global loads": "global_load", "global stores": "global_store", "global atomics": "global_atomic", "local memory": "local"},
    **{"bulk loads": "bulk_load", "bulk stores": "bulk_store", "bulk reductions": "bulk_reduction"},
}


class Access(NamedTuple):
    """The accesses of one kind. parts: sectors of 32 bytes, or passes over the banks of shared memory."""

    kind: str
    requests: int  # warp instructions with at least one lane; of bulk copies lines
    parts: int

    @property
    def each(self) -> float:
        """Parts per request."""
        return ratio(self.parts, self.requests)


class Flow(NamedTuple):
    """Bytes between the levels, and what each level did with them; rates are fractions of 1."""

    l1_read: int  # bytes from L1 to the registers, or past it
    written: int  # bytes to L2: stores, atomics, and what bulk copies send
    l2_read: int  # bytes from L2
    dram_read: int
    dram_written: int
    l1_hits: float | None  # of the sectors that loads looked up in L1; NaN: none did; None: no L1
    l1_merged: int  # sectors of those hits that a fetch under way brought
    l2_hits: float | None  # of the sectors read and written; None: no L2
    dram_share: float  # of the pin bandwidth


def accesses(result: Result) -> list[Access]:
    """Return the kinds of access that the kernel made, shared memory last."""
    counters = result.counters
    rows = [Access(kind, int(counters[f"{name}_requests"]), int(counters[f"{name}_sectors"])) for kind, name in KINDS.items()]
    rows.append(Access("shared memory", int(counters["shared_requests"]), int(counters["shared_wavefronts"])))
    return [row for row in rows if row.requests]


def flow(result: Result) -> Flow:
    """Return what moved between the levels."""
    counters = result.counters
    loaded = counters["global_load_sectors"] + counters["local_sectors"]
    return Flow(
        l1_read=int(SECTOR * loaded),
        written=int(SECTOR * counters["l2_sectors_written"]),
        l2_read=int(SECTOR * counters["l2_sectors_read"]),
        dram_read=int(counters["dram_bytes_read"]),
        dram_written=int(counters["dram_bytes_written"]),
        l1_hits=(counters["l1_load_hit_rate"] if counters["l1_load_sectors"] else math.nan) if result.gpu.l1 else None,
        l1_merged=int(counters["l1_merged_sectors"]),
        l2_hits=counters["l2_hit_rate"] if result.gpu.l2 else None,
        dram_share=counters["dram_throughput"],
    )


def chart(result: Result) -> str:
    """Return the memory chart of a run, "" when memory was not accessed or has a fixed latency."""
    rows = accesses(result) if result.gpu.memory.kind == "hierarchy" else []
    if not rows:
        return ""
    parts = [_kinds(result, rows)]
    if any(row.kind != "shared memory" for row in rows) or result.counters["l2_sectors_read"] or result.counters["l2_sectors_written"]:
        parts.append(f"{_levels(flow(result))}\n{times(result)}")
    return "\n\n".join(parts)


def _kinds(result: Result, rows: list[Access]) -> str:
    lines = [f"Memory{'requests':>23}{'sectors of 32 bytes':>21}{'per request':>13}{'moved':>11}"]
    for row in rows:
        if row.kind == "shared memory":
            conflicts = int(result.counters["shared_bank_conflicts"])
            passes = f"{row.parts:>13,} passes"
            lines.append(
                f"  {row.kind:<15}{row.requests:>12,}{passes:>21}{row.each:>13.2f}  {conflicts:,} of the passes are bank conflicts"
            )
        else:
            lines.append(f"  {row.kind:<15}{row.requests:>12,}{row.parts:>21,}{row.each:>13.2f}{size(SECTOR * row.parts):>11}")
    return "\n".join(lines)


def _levels(moved: Flow) -> str:
    """Return registers, L1, L2 and DRAM from left to right, bytes read on the arrows above, bytes written below."""
    names = ["registers", "L1", "L2", "DRAM"]
    found = ["", hits(moved.l1_hits), hits(moved.l2_hits), f"{moved.dram_share:.1%} of pins"]
    reads = [size(moved.l1_read), size(moved.l2_read), size(moved.dram_read)]
    writes = [size(moved.written), size(moved.written), size(moved.dram_written)]
    rows = (names, None), (found, ("<", reads)), ([""] * 4, (">", writes))
    return "\n".join("  " + _row(cells, arrows).rstrip() for cells, arrows in rows)


def _row(cells: list[str], arrows: tuple[str, list[str]] | None, width: int = 12, gap: int = 16) -> str:
    """Return cells of `width` columns with `gap` columns between, in which an arrow carries a number."""
    between = [" " * gap] * 3
    if arrows is not None:
        way, texts = arrows
        bars = [f" {text} ".center(gap - 3, "-") for text in texts]
        between = [f" <{bar} " if way == "<" else f" {bar}> " for bar in bars]
    return "".join(cell.center(width) + (between[k] if k < 3 else "") for k, cell in enumerate(cells))


def hits(rate: float | None) -> str:
    """Return a hit rate in words; NaN: of nothing."""
    return "absent" if rate is None else "no load asks" if math.isnan(rate) else f"hits {rate:.1%}"


def past_l1(result: Result) -> list[str]:
    """Return what goes past L1, by which instructions, and what of it L2 is not asked for again: why the arrows differ, a line each."""
    counters, program = result.counters, result.program
    lines = []
    if result.gpu.l1 and counters["l1_passed_sectors"]:
        encoded = program.encoded
        loads = (
            (encoded.operation == Operation.LOAD)
            & np.isin(encoded.space, (Space.GLOBAL, Space.GENERIC))
            & (result.issues_by_instruction > 0)
        )
        names = {program.instructions[i].opcode for i in np.flatnonzero(loads).tolist() if not is_cached(result.gpu, program, i)}
        lines.append(f"  past L1: {size(SECTOR * counters['l1_passed_sectors'])} of loads ({', '.join(sorted(names))})")
    if counters["bulk_load_sectors"]:
        lines.append(f"  past L1 and the registers: {size(SECTOR * counters['bulk_load_sectors'])} of bulk loads, from L2 to shared memory")
    if counters["l2_joined_sectors"]:
        joined = size(SECTOR * counters["l2_joined_sectors"])
        lines.append(f"  {joined} were not read from L2 again: SMs of a GPC that load the same line at about the same time share a read")
    return lines


def times(result: Result) -> str:
    """Return what goes past L1, the latency, the bytes in flight beside what Little's law asks for, the DRAM bandwidth, one line each."""
    counters, gpu = result.counters, result.gpu
    need = little.streams(gpu)
    moved = counters["dram_bytes_read"] + counters["dram_bytes_written"]
    rate = moved * gpu.clock.core_mhz / 1e3 / result.cycles
    lines = [
        f"  DRAM {rate:,.1f} GB/s, {counters['dram_throughput']:.1%} of the pins' {gpu.dram.bandwidth:,g} GB/s"
        + (f"; streams reach {gpu.dram.efficiency:.1%}" if gpu.dram.efficiency < 1 else "")
    ]
    if counters["load_latency"]:
        lines.insert(
            0, f"  a load takes {counters['load_latency']:,.0f} cycles on average; {size(counters['bytes_in_flight'])} are in flight"
        )
        lines[0] += f" (Little's law for full DRAM: {need.latency} cycles x {need.bandwidth:,.0f} GB/s = {size(need.bytes)})"
    full = int(counters["l2_queue_full"]), int(counters["dram_queue_full"])
    if any(full):
        lines.append(f"  queues full: at L2 for {count(full[0], 'request')}, at DRAM for {full[1]:,}")
    return "\n".join([*past_l1(result), *lines])
