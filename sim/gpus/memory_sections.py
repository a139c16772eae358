"""Sections of a GPU's preset about memory: from the load/store unit to DRAM."""

from typing import Annotated, Literal

from pydantic import Field

from sim.gpus.section import Count, Positive, Section, needs
from sim.policies import NamedReplacement


class Memory(Section):
    """How long memory takes: a fixed time per space, or what the load/store unit, caches and DRAM make of each access."""

    model_config = needs(beyond="global_load", ends="global_store", unit_shared="shared_load", unit_constant="constant_load")

    kind: Literal["fixed", "hierarchy"] = Field(
        "hierarchy",
        description="the same latency for every access, or the machine of [lsu], [shared], [l1], [interconnect], [l2] and [dram]",
    )
    global_load: Count | None = Field(None, description="fixed: cycles from a global load's issue to its dependent's")
    global_store: Count = Field(1, description="fixed: cycles a store holds up the end of its warp")
    shared_load: Count = Field(description="cycles from a shared load's issue to its dependent's, without conflicts")
    constant_load: Count = Field(
        description="cycles from an LDC's issue to its dependent's, and until its address register may be overwritten (read barrier)"
    )


class LoadStore(Section):
    """Load/store unit: per port a queue and an address unit, behind them one unit per SM that takes an instruction at a time."""

    model_config = needs(
        "lsu",
        l2_path="latency",
        global_memory="coalescing",
        passes="replay",
        wide="word_cycles",
        loads_read="load_read",
        writes_read="store_read",
        shared_writes="shared_store_read",
        fences="fence_latency",
        stores="store_lines store_wait store_line_cycles leaving_lines leaving_cycles",
    )

    coalescing: Literal["sectors", "cc12", "cc10"] = Field(
        default="sectors",
        description="how a warp's addresses become requests: lines and sectors, or the half-warp rules of CC 1.2/1.3 and CC 1.0/1.1",
    )
    depth: Annotated[int, Field(ge=1, le=64)] = Field(
        default=5, description="memory instructions of one issue port not yet taken by the shared unit"
    )
    latency: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=10, description="cycles from issue to the first in which the shared unit may take it; it has had this cycle's turn"
    )
    interval: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1, description="cycles between two instructions that the shared unit takes, one in a cycle at most"
    )
    replay: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1, description="cycles of a port's address unit per pass over the banks of shared memory, or of a hit in L1"
    )
    word_cycles: Annotated[int, Field(ge=0, le=64)] = Field(
        default=2, description="cycles that each 32-bit register after the first adds to a load"
    )
    load_read: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1,
        description="cycles from where the shared unit takes a load until its address registers may be overwritten (read barrier), "
        "in a later one; word_cycles more for LDGSTS, which has two addresses",
    )
    store_read: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=4, description="the same for a global or local store of 32 bits; word_cycles more for each further register"
    )
    shared_store_read: Annotated[int, Field(ge=1, le=1000)] = Field(default=2, description="the same for a store to shared memory")
    fence_latency: Annotated[int, Field(ge=0, le=100_000)] = Field(
        default=0,
        description="cycles that a fence of the whole GPU (MEMBAR.GPU, .GL, .SYS) holds its warp, whatever is under way; 0 = none",
    )
    store_lines: Annotated[int, Field(ge=0, le=128)] = Field(
        default=0, description="lines of stores that an SM keeps so that further stores join them; 0 = each leaves at once"
    )
    store_wait: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=30,
        description="cycles in which a further store must join a kept line; else the line leaves when the unit takes the next store",
    )
    store_line_cycles: Annotated[float, Field(ge=0, le=64)] = Field(
        default=0.0,
        description="cycles per line of a global or local store until another store of its own port may be taken",
    )
    leaving_lines: Annotated[int, Field(ge=0, le=64)] = Field(
        default=0,
        description="lines of stores, about to leave for L2, that no other store can join: of a line that one meets, L1 keeps only what "
        "that store wrote; 0 = stores take nothing from L1",
    )
    leaving_cycles: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1, description="cycles between two of them, and for each pass of their store"
    )


class SharedMemory(Section):
    model_config = needs(
        passes="rule",
        pass_cycles="pass_cycles",
        shared_loads="pass_latency",
        copies="copy_latency",
        copied_in="copy_bytes_per_cycle",
        tiles="tile_latency",
        tiles_in="tile_bytes_per_cycle",
        mbarrier_looks="barrier_latency",
    )

    rule: Literal["fermi", "kepler4", "kepler8", "cc1"] = Field(
        default="fermi",
        description="how lanes meet in banks: 2.x and Maxwell on, Kepler's two modes, or 1.x (sim.analysis.banks tells each)",
    )
    pass_cycles: Annotated[int, Field(ge=1, le=64)] = Field(
        default=1, description="cycles of one pass over the banks, which serve one in a cycle at most"
    )
    pass_latency: Annotated[int, Field(ge=0, le=64)] = Field(
        default=0,
        description="cycles that a load's result comes later for each pass after the first, where the passes themselves take no longer; "
        "of stores and atomics pass_cycles alone",
    )
    copy_latency: Annotated[int, Field(ge=1, le=4096)] = Field(
        default=1, description="cycles from the issue of a bulk copy until it asks for its first line; it has had this cycle's turn"
    )
    copy_bytes_per_cycle: Annotated[float, Field(gt=0)] = Field(default=64, description="of bulk copies into shared memory, per SM")
    tile_latency: Annotated[int, Field(ge=1, le=4096)] = Field(default=1, description="the same as copy_latency, of a tile (TMA)")
    tile_bytes_per_cycle: Annotated[float, Field(gt=0)] = Field(
        default=64, description="of tiles into shared memory, per SM; a row asks for each of its lines, one a cycle at most"
    )
    barrier_latency: Annotated[int, Field(ge=0, le=4096)] = Field(
        default=0,
        description="cycles that a look at an mbarrier takes longer than a shared load, from the last arrival on if that is later",
    )


class L1(Section):
    """First-level data cache of an SM: 128-byte lines of four sectors."""

    model_config = needs(
        "cached",
        passed_l1="latency",
        answers="pending",
        beyond="bytes_per_cycle line_cycles global_loads",
        cached_loads="pass_latency sector",
        looked_up="tags_per_cycle",
        cached_stores="stores",
    )

    bytes: Annotated[int, Field(ge=128)] = Field(description="capacity, bytes; together with shared memory where it is unified")
    unified: bool = Field(False, description="capacity is shared with shared memory: the launch's carve-out is taken off")
    line: Literal[128] = Field(128, description="bytes per tag")
    sector: Literal[32, 64, 128] = Field(32, description="bytes fetched for a miss")
    ways: Annotated[int, Field(ge=1, le=512)] = Field(4, description="lines per set")
    sets: Annotated[int, Field(ge=0, le=512)] = Field(
        0,
        description="sets of tags, a power of two, by the hash measured on an H100, doubled until there is a tag for each line; "
        "0 = as many sets as there are lines for, by another hash",
    )
    replacement: NamedReplacement = Field("lru", description="which line of a full set goes; sim.policies.replacement")
    latency: Count = Field(description="cycles from a load's issue to its dependent's, on a hit")
    bytes_per_cycle: Annotated[float, Field(gt=0)] = Field(
        128, description="bytes between L1 and the registers per cycle; not of loads that pass over the banks"
    )
    line_cycles: Annotated[int, Field(ge=1, le=64)] = Field(
        1, description="cycles of the unit per line that is touched; with tags_per_cycle of no load, of a store until the next"
    )
    tags_per_cycle: Annotated[int, Field(ge=0, le=128)] = Field(
        0, description="lines looked up per cycle, one in each bank of tags (128: any); loads then read in passes; 0 = only line_cycles"
    )
    pass_latency: Annotated[int, Field(ge=0, le=64)] = Field(
        0, description="cycles by which each further pass delays a hit (with tags_per_cycle)"
    )
    global_loads: bool = Field(
        True, description="global loads that name no cache operator are cached; local ones and those of .CONSTANT or .CA always are"
    )
    stores: Literal["allocate", "update", "evict"] = Field(
        "allocate", description="a store, always written through, takes a line of its own, updates one that is there, or evicts it"
    )
    pending: Annotated[int, Field(ge=0, le=65536)] = Field(
        512,
        description="MSHRs: lines that loads wait for; 0 = without limit, else 128 at least: a load may need so many at once",
    )


class Interconnect(Section):
    """Between an SM and the L2 slices, a port for each direction."""

    model_config = needs("l2", sends="store_least", stores="store_mask")

    latency: Annotated[int, Field(ge=1, le=10000)] = Field(
        default=40, json_schema_extra={"clock": "l2"}, description="cycles one way; a request leaves at the end of a cycle"
    )
    request_bytes_per_cycle: Annotated[float, Field(gt=0)] = Field(default=32, description="from an SM; a store carries its sectors")
    response_bytes_per_cycle: Annotated[float, Field(gt=0)] = Field(default=64, description="to an SM")
    header: Count = Field(default=8, description="bytes of a request beside its data")
    store_least: Annotated[int, Field(ge=4, le=32)] = Field(
        default=32, description="bytes that a stored sector takes at least on its way; more when more of it is written"
    )
    store_mask: Annotated[int, Field(ge=0, le=128)] = Field(
        default=0, description="bytes more of a store's request some sector of which it does not write whole"
    )
    depth: Annotated[int, Field(ge=8, le=65536)] = Field(
        default=256,
        description="requests of an SM on their way to L2, each worth three packets of an atomic, a store of a whole line four; "
        "the unit waits for room for all of an instruction's, or for none",
    )


class L2(Section):
    """Second-level cache: slices by address, 128-byte lines of four 32-byte sectors, write-back, allocates on loads and stores."""

    model_config = needs(
        "l2",
        dram="sector",
        l2_reads="coalesced",
        stores="partial_cost",
        atomics="atomic_cycles",
        l2_start="start",
        nothing="core_cycles",
        gpc="gpcs",
        way_to_l2="across",
        slices="hash",
    )

    bytes: Positive = Field(description="capacity, bytes")
    line: Literal[128] = Field(128, description="bytes per tag")
    sector: Literal[32, 64, 128] = Field(
        32, description="bytes fetched for a miss, if that is more than dram.access_bytes; written back by 32"
    )
    ways: Annotated[int, Field(ge=1, le=512)] = Field(16, description="lines per set")
    replacement: NamedReplacement = Field("lru", description="which line of a full set goes; sim.policies.replacement")
    latency: Count = Field(description="cycles from a load's issue to its dependent's, on a hit, unloaded")
    core_cycles: Count = Field(0, description="of the latency, those that belong to the core's clock whatever L2's is")
    bytes_per_cycle: Annotated[float, Field(gt=0)] = Field(
        32, json_schema_extra={"clock": "l2"}, description="bytes per cycle of all slices together, per SM of the chip"
    )
    hash: Literal["turns", "hopper"] = Field(
        "turns", description="how lines lie on slices: they take turns; or as counted on an H100 (sim.lowering.slices)"
    )
    gpcs: tuple[Annotated[int, Field(ge=1, le=65536)], ...] = Field(
        (), max_length=256, description="SMs of each GPC: they share a coalescer, a cache of code, ports and the way to L2; () = one"
    )
    far: Count = Field(
        0,
        json_schema_extra={"clock": "l2"},
        description="cycles more of a sector's first load from the other part of L2; stores pass through both parts; 0 = one part",
    )
    across: Count = Field(
        0, json_schema_extra={"clock": "l2"}, description="cycles more from slices on the other side of the chip, fewer from the SM's own"
    )
    partial_cost: Annotated[float, Field(gt=0, le=64)] = Field(1, description="time of a slice for a sector stored in part; another = 1")
    write_port: bool = Field(
        False, description="stores, and sectors that DRAM sends, take turns at a port of each slice of their own, beside that of loads"
    )
    coalesced: Annotated[int, Field(ge=1, le=65535)] = Field(
        1,
        description="loads of a whole line, by SMs of a GPC, that one read of a slice serves, if they come within l2.latency (and l2.far, "
        "if the line came from there) after it was served; 1 = none joins",
    )
    lookup_cycles: Annotated[float, Field(ge=0, le=10000)] = Field(
        0, json_schema_extra={"clock": "l2"}, description="cycles of a slice that a request takes at least; 0 = as long as its sectors take"
    )
    atomic_cycles: Annotated[float, Field(gt=0, le=10000)] = Field(
        1,
        json_schema_extra={"clock": "l2"},
        description="cycles of a slice's atomic unit per sector, or per lane that updates the same word where those are more; "
        "l2.lookup_cycles, unless 0, where it updates whole sectors",
    )
    start: Literal["cold", "warm", "dirty"] = Field(
        "cold", description="before cycle 0: empty; with the launch's arrays, as far as they fit; or full of other data not written back"
    )


class Dram(Section):
    model_config = needs(
        "dram", slices="channels", l2_queues="depth", dram_writes="write_cost turnaround write_batch", refreshed="refresh refresh_interval"
    )

    bandwidth: Annotated[float, Field(gt=0)] = Field(description="pin bandwidth, GB/s (1e9)")
    efficiency: Annotated[float, Field(gt=0, le=1)] = Field(1.0, description="share of the pin bandwidth that streams reach")
    write_cost: Annotated[float, Field(gt=0, le=64)] = Field(1, description="time of a channel for a byte written; a byte read = 1")
    activate_cycles: Annotated[float, Field(ge=0, le=10000)] = Field(
        0,
        json_schema_extra={"clock": "dram"},
        description="cycles of a channel from one activation to the next; 256 bytes that wait together share one; 0 = not modelled",
    )
    turnaround: Count = Field(
        0,
        json_schema_extra={"clock": "dram"},
        description="cycles in which a channel turns from reading to writing, and back; 0 = not modelled",
    )
    write_batch: Positive = Field(8, description="lines that a channel with turnarounds gathers before it turns to writing")
    latency: Count = Field(description="cycles from a load's issue to its dependent's, missing every cache, unloaded")
    refresh: Count = Field(0, json_schema_extra={"clock": "dram"}, description="cycles that a bank is away to be refreshed; 0 = never")
    refresh_interval: Positive = Field(
        8000, json_schema_extra={"clock": "dram"}, description="cycles from one refresh of a bank to the next"
    )
    access_bytes: Literal[32, 64, 128] = Field(32, description="bytes fetched at once; l2.sector where that is more")
    channels: Annotated[int, Field(ge=1, le=512)] = Field(8, description="channels, each with an L2 slice before it")
    depth: Annotated[int, Field(ge=1, le=4096)] = Field(64, description="stores and atomics that wait at an L2 slice; loads enter at once")
    channel_depth: Annotated[int, Field(ge=0, le=4096)] = Field(0, description="at a channel: reads, lines to be written; 0 = as `depth`")
