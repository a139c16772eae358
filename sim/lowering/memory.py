"""The memory system of a GPU as integer tables, and the rules of address and time that every engine shares.

Rates are kept in *ticks*, 256 to a cycle, so that a port of 35.7 bytes per cycle is exact to 0.4 % and every engine rounds alike.
A bounded first-in-first-out server is computed, not polled: a request that arrives at `a` is admitted when the one `depth`
places before it has been served, starts when the one before it has, and holds the server for its bytes.
"""

from typing import NamedTuple

import numpy as np

from sim.gpus.model import Gpu
from sim.gpus.path import LINE, SECTOR, TICKS, dram_ticks, fetched_sectors, l2_ticks, lookup_ticks, path, ticks
from sim.lowering.slices import across_of, hash_of
from sim.policies import Replacement

SECTORS = LINE // SECTOR
WHOLE = (1 << SECTORS) - 1  # all sectors of a line
LOCAL_BASE = 1 << 40  # local memory lies here, beyond every array: by warp slot, word, lane
LOCAL_LINE = LOCAL_BASE // LINE
LOCAL_WORDS = 1024  # per thread
LOCAL_RESERVED = 400  # words of a thread per warp slot: 1,600 bytes by an H100's driver, inferred from h100/local_lines.csv
LOCAL_DEEP = 1 << 26  # first row of words that lie deeper than that, which the driver would place elsewhere
LOCAL_SLOTS = 64  # warps of an SM at least, in the numbering of local memory: a preset with fewer has it where the others do
# Cycles from where a store's lines have been looked up until they begin to leave, beyond its passes: read off an H100, h100/rewrites.csv.
HANDED_ON = 2
REQUEST_WEIGHT = 3  # places of an SM's port to L2 that a load or store takes, of an atomic each packet one (h100.toml, interconnect.depth)
SEARCHED = 8  # sets of L1 in which the line that gives up its data is sought: assumed (h100/l1_sets.csv)
MOST_PENDING = 65536  # entries of a table without limit: as many as a preset may have
MOST_REQUESTS = 128  # of one instruction: four words of local memory at another place in every lane; tables and ports have room for it


class Hierarchy(NamedTuple):
    """One memory system as numbers; int64 scalars. Cycles are ALU-clock cycles."""

    modelled: np.int64  # 0: fixed latencies, nothing below is used
    queues: np.int64  # ports of the SM that issue memory instructions
    coalescing: np.int64  # index in COALESCING
    depth: np.int64
    latency: np.int64
    interval: np.int64
    replay: np.int64
    word_cycles: np.int64
    local_slots: np.int64  # warps of an SM, in the numbering of local memory
    local_row: np.int64  # bytes of one word of each of a warp's lanes
    store_lines: np.int64  # that an SM keeps for stores to join
    store_wait: np.int64
    leaving_lines: np.int64  # of stores that take no other in; 0 = not modelled
    leaving_cycles: np.int64
    store_line_ticks: np.int64  # per line of a store, until its queue may store again
    bank_rule: np.int64  # index in BANK_RULES
    banks: np.int64
    pass_bytes: np.int64  # that a pass delivers at most
    interleave: np.int64  # bytes from one bank to the next
    bank_row: np.int64  # bytes that one row of all banks covers
    pass_cycles: np.int64
    shared_pass_latency: np.int64
    barrier_latency: np.int64
    copy_latency: np.int64
    copy_ticks: np.int64  # per sector
    tile_latency: np.int64
    tile_ticks: np.int64  # per sector
    far_latency: np.int64  # more for shared memory of another SM
    far_one_way: np.int64
    multicast_latency: np.int64
    multicast_ticks: np.int64  # per sector and block that gets it
    far_ticks: np.int64  # per 32 bytes to another SM
    shared_latency: np.int64  # from the take to the dependent's issue, one pass
    l1_sets: np.int64  # 0: no L1
    l1_ways: np.int64
    l1_decoupled: np.int64  # 1: tags apart from data, sets by the hash measured on an H100
    l1_data: np.int64  # lines for which there is room
    l1_replacement: np.int64  # a Replacement
    l1_latency: np.int64  # from the take to the dependent's issue
    l1_bytes: np.int64  # 16 * bytes per cycle * 32 / threads of a warp: 32 words then take the cycles of a warp
    l1_fetch: np.int64  # sectors fetched for a miss
    l1_stores: np.int64  # index in L1_STORES
    line_cycles: np.int64
    tags: np.int64  # lines of a load or store looked up per cycle; 0: line_cycles each, and no passes over the banks
    pass_latency: np.int64
    pending: np.int64
    network: np.int64  # cycles one way
    request_ticks: np.int64  # per request's header
    data_ticks: np.int64  # per word of a store
    least_words: np.int64  # that a sector of a store counts at least
    mask_ticks: np.int64  # more, for a request of a store that does not write whole sectors
    response_ticks: np.int64  # per sector
    request_depth: np.int64  # places
    request_ring: np.int64  # places for them: an instruction may have more than the depth
    l2_sets: np.int64  # per slice; 0: no L2
    l2_ways: np.int64
    l2_replacement: np.int64  # a Replacement
    l2_latency: np.int64  # from the slice to the network
    l2_ticks: np.int64  # per sector loaded
    lookup_ticks: np.int64  # of a slice per request, at least
    lanes: np.int64  # slices of a part on which the hash lays 32 KB; 0 = slices take turns
    lane_cycle: np.int64  # after so many times 32 KB all slices have had as many lines
    partial_ticks: np.int64  # per sector stored in part
    write_port: np.int64  # 1 = stores and what DRAM sends have a port of their own
    coalesced: np.int64  # loads that one read of a slice serves
    joins: np.int64  # cycles after it in which others may join it
    atomic_ticks: np.int64  # of an atomic per packet
    whole_atomic_ticks: np.int64  # of one of whole sectors, other than a bulk reduction's
    far: np.int64  # cycles to the other part of L2; 0 = there is one part
    across: np.int64  # cycles more to slices on the other side of the chip, fewer to those on the own
    l2_start: np.int64  # index in L2_START
    channels: np.int64
    dram_latency: np.int64  # from the channel to the network, beyond l2_latency
    dram_ticks: np.int64  # per sector read
    write_ticks: np.int64  # per sector written
    activate_ticks: np.int64  # of a channel from one activation of a row to the next; 0 = rows are not modelled
    turnaround_ticks: np.int64  # of a channel, each way; 0: it writes in order, at once
    write_batch: np.int64  # sectors that it gathers at least
    refresh: np.int64  # cycles that a bank is away
    refresh_interval: np.int64  # after so many cycles again
    access_sectors: np.int64  # sectors fetched at once
    slice_depth: np.int64
    channel_depth: np.int64


COALESCING = ("sectors", "cc12", "cc10")
BANK_RULES = ("fermi", "kepler4", "kepler8", "cc1")
# Banks, bytes that a pass delivers, bytes from one bank to the next, bytes of one row of all banks; sources in sim.analysis.banks.
GEOMETRY = {"fermi": (32, 128, 4, 128), "kepler4": (32, 256, 4, 256), "kepler8": (32, 256, 8, 256), "cc1": (16, 64, 4, 64)}
JOINED = 1 << 14  # places of a table of reads that others may join: several times as many as are served within l2.latency
ROWS = 1 << 16  # places of tables of those that DRAM reads, and writes: several times as many as requests that wait
L1_STORES = ("allocate", "update", "evict")
L2_START = ("cold", "warm", "dirty")


def row_place(line: int) -> int:
    """Return the place of a 128-byte line's row, the 256 bytes that one activation serves, in a table of ROWS, by a multiplicative hash."""
    return (((line >> 1) * 0x9E3779B1) & 0xFFFFFFFF) >> 16


def joined_place(line: int, gpc: int) -> int:
    """Return the place of a GPC's read of a 128-byte line in a table of JOINED, by a multiplicative hash."""
    return (((line << 3 ^ gpc) * 0x9E3779B1) & 0xFFFFFFFF) >> 18


def local_row(slot: int, word: int) -> int:
    """Return which row of local memory is a word of a warp's lanes. slot: of the warp, numbered over the chip; word: within a thread's."""
    deeper = LOCAL_WORDS - LOCAL_RESERVED
    if word >= deeper:
        return slot * LOCAL_RESERVED + word - deeper
    return LOCAL_DEEP + slot * deeper + word


def carve_out(gpu: Gpu, shared_per_sm: int) -> int:
    """Return the bytes of shared memory that the driver sets apart when blocks use `shared_per_sm` in all."""
    return next((size for size in gpu.limits.shared_carveouts if size >= shared_per_sm), gpu.limits.shared_bytes)


def l1_lines(gpu: Gpu, shared_per_sm: int) -> int:
    """Return the lines of the L1 cache beside that much shared memory."""
    if gpu.l1 is None:
        return 0
    size = gpu.l1.bytes - (carve_out(gpu, shared_per_sm) if gpu.l1.unified else 0)
    return max(size, 0) // LINE


def l1_places(gpu: Gpu, lines: int) -> tuple[int, int]:
    """Return the sets of L1, and the tags of each, where there is room for so many lines."""
    if gpu.l1 is None or lines == 0:
        return 0, 0
    sets, ways = gpu.l1.sets, gpu.l1.ways if gpu.l1.sets else min(gpu.l1.ways, lines)
    while 0 < sets * ways < lines:
        sets *= 2
    return sets or lines // ways, ways


def hierarchy(gpu: Gpu, queues: int, shared_per_sm: int) -> Hierarchy:
    """Return the tables of `gpu` when resident blocks use `shared_per_sm` bytes of shared memory. queues: memory ports per SM."""
    lsu, net, l1, l2 = gpu.lsu, gpu.interconnect, gpu.l1, gpu.l2
    lines = l1_lines(gpu, shared_per_sm)
    l2_lines = l2.bytes // LINE // gpu.dram.channels if l2 else 0
    values = {
        **{"modelled": gpu.memory.kind == "hierarchy", "queues": queues},
        "coalescing": COALESCING.index(lsu.coalescing),
        **{name: getattr(lsu, name) for name in ("depth", "latency", "interval", "replay", "word_cycles")},
        "local_slots": max(LOCAL_SLOTS, gpu.limits.warps),
        "local_row": 4 * gpu.core.warp_size,
        "store_lines": lsu.store_lines if gpu.memory.kind == "hierarchy" else 0,
        **{name: getattr(lsu, name) for name in ("store_wait", "leaving_lines", "leaving_cycles")},
        "store_line_ticks": round(TICKS * lsu.store_line_cycles),
        "bank_rule": BANK_RULES.index(gpu.shared.rule),
        **dict(zip(("banks", "pass_bytes", "interleave", "bank_row"), GEOMETRY[gpu.shared.rule], strict=True)),
        "shared_pass_latency": gpu.shared.pass_latency,
        **{name: getattr(gpu.shared, name) for name in ("pass_cycles", "barrier_latency", "copy_latency", "tile_latency")},
        "copy_ticks": ticks(gpu.shared.copy_bytes_per_cycle, SECTOR),
        "tile_ticks": ticks(gpu.shared.tile_bytes_per_cycle, SECTOR),
        "shared_latency": gpu.memory.shared_load - lsu.latency,
        **dict(zip(("l1_sets", "l1_ways"), l1_places(gpu, lines), strict=True)),
        "l1_decoupled": int(bool(l1 and l1.sets)),
        "l1_data": lines,
        "l1_replacement": Replacement[l1.replacement.upper()] if l1 else Replacement.LRU,
        "l1_latency": l1.latency - lsu.latency if l1 else 0,
        "l1_bytes": round(16 * l1.bytes_per_cycle * 32 / gpu.core.warp_size) if l1 else 16 * LINE,
        "l1_fetch": l1.sector // SECTOR if l1 else 1,
        "l1_stores": L1_STORES.index(l1.stores) if l1 else 0,
        "line_cycles": l1.line_cycles if l1 else 1,
        "tags": l1.tags_per_cycle if l1 else 0,
        "pass_latency": l1.pass_latency if l1 else 0,
        "pending": (l1.pending or MOST_PENDING) if l1 else 512,
        "network": net.latency,
        "request_ticks": ticks(net.request_bytes_per_cycle, net.header) if net.header else 0,
        "data_ticks": ticks(net.request_bytes_per_cycle, 4),
        "least_words": net.store_least // 4,
        "mask_ticks": ticks(net.request_bytes_per_cycle, net.store_mask) if net.store_mask else 0,
        "response_ticks": ticks(net.response_bytes_per_cycle, SECTOR),
        "request_depth": REQUEST_WEIGHT * net.depth,
        "request_ring": max(REQUEST_WEIGHT * net.depth, MOST_REQUESTS) + lsu.store_lines,
        "l2_sets": max(1, l2_lines // l2.ways) if l2 else 0,
        "l2_ways": l2.ways if l2 else 0,
        "l2_replacement": Replacement[l2.replacement.upper()] if l2 else Replacement.LRU,
        "l2_latency": path(gpu).l2,
        "l2_ticks": l2_ticks(gpu),
        "lookup_ticks": lookup_ticks(gpu),
        **hash_of(gpu),
        "partial_ticks": round(l2_ticks(gpu) * l2.partial_cost) if l2 else 0,
        "write_port": bool(l2 and l2.write_port),
        "coalesced": l2.coalesced if l2 else 1,
        "joins": l2.latency if l2 else 0,
        "atomic_ticks": round(TICKS * l2.atomic_cycles) if l2 else TICKS,
        "whole_atomic_ticks": round(TICKS * (l2.lookup_cycles or l2.atomic_cycles)) if l2 else TICKS,
        "far": path(gpu).far,
        "across": across_of(gpu),
        "l2_start": L2_START.index(l2.start) if l2 else 0,
    }
    parts = values | _of_dram(gpu) | _of_clusters(gpu)
    return Hierarchy(**{name: np.int64(value) for name, value in parts.items()})


def _of_clusters(gpu: Gpu) -> dict[str, int]:
    """Return the fields of Hierarchy about what goes to other SMs."""
    one = gpu.clusters
    return {
        "far_latency": one.latency if one else 0,
        "far_one_way": one.one_way_latency if one else 0,
        "far_ticks": ticks(one.bytes_per_cycle, SECTOR) if one else 0,
        "multicast_latency": one.multicast_latency if one else 0,
        "multicast_ticks": ticks(one.multicast_bytes_per_cycle, SECTOR) if one else 0,
    }


def _of_dram(gpu: Gpu) -> dict[str, int]:
    """Return the fields of Hierarchy about DRAM."""
    dram = gpu.dram
    return {
        "channels": dram.channels,
        "dram_latency": path(gpu).dram,
        "dram_ticks": dram_ticks(gpu),
        "write_ticks": round(dram_ticks(gpu) * dram.write_cost),
        "activate_ticks": round(TICKS * dram.activate_cycles),
        "turnaround_ticks": TICKS * dram.turnaround,
        "write_batch": SECTORS * dram.write_batch,
        "refresh": dram.refresh,
        "refresh_interval": dram.refresh_interval,
        "access_sectors": fetched_sectors(gpu),
        "slice_depth": dram.depth,
        "channel_depth": dram.channel_depth or dram.depth,
    }
