"""Sections of a GPU's preset about what comes before issue: blocks and how many fit, instructions, constants."""

from typing import Annotated, Literal

from pydantic import Field

from sim.gpus.section import Count, Positive, Section, needs
from sim.policies.blocks import AnyBlockPolicy, Order


class Blocks(Section):
    model_config = needs(blocks="order start_interval")

    policy: AnyBlockPolicy = Field(default="emptiest", description="which SM takes the next block; in Python also a function of yours")
    group_size: Annotated[int, Field(ge=1, le=4096)] = Field(default=2, description="blocks in a row that share an SM (grouped)")
    order: Order = Field(default="launch", description="which block starts next: as launched, or the one with the most warp instructions")
    start_interval: Annotated[float, Field(ge=0)] = Field(
        default=0, description="cycles between two block starts, whole chip; 0 = no limit"
    )
    sm_interval: Count = Field(
        default=0,
        description="cycles between two block starts on one SM, beside one for each warp of the block, "
        "whose warps issue when all are there; 0 = no limit",
    )
    retire_interval: Annotated[float, Field(ge=0)] = Field(
        default=0, description="cycles that the whole chip's dispatcher takes for each finished block, one after another; 0 = no time"
    )
    start_latency: Count = Field(
        default=0,
        description="cycles from a block's start to its warps' first issue, beside one for each warp where there is an sm_interval",
    )
    retire_latency: Count = Field(default=0, description="cycles from a block's last warp's end to its place being free")
    awaits_stores: bool = Field(default=False, description="a block keeps its place until L2 has answered its stores")
    launch_overhead: Count = Field(
        default=0, description="cycles added to elapsed_cycles for the kernel launch, beside those of stores and the dispatcher at its end"
    )
    launch_us: Annotated[float, Field(ge=0)] = Field(
        default=0, description="the same in microseconds, whatever the clock; what is known only by the wall clock"
    )


class Fetch(Section):
    """Caches of instructions, lines of 128 bytes: of a TPC (two SMs), of a GPC, then L2 (whose latencies `constants` has)."""

    model_config = needs(far_code="far_ahead", near_code="near_ways", much_code="ways")

    first: Count = Field(default=0, description="cycles that the first instruction of an SM takes to come, beside the start of its block")
    far: Count = Field(default=0, description="cycles more where it comes from the part of L2 that the SM is not near")
    jump: Count = Field(default=0, description="cycles that a line takes from the GPC's cache to the TPC's; 0 = code is always there")
    ahead: Annotated[int, Field(ge=0, le=64)] = Field(default=0, description="lines that follow one in the code and are asked for with it")
    far_ahead: Annotated[int, Field(ge=0, le=64)] = Field(
        default=0, description="the same of what the GPC's cache asks L2 for; `ahead` where that is more"
    )
    port_cycles: Annotated[float, Field(ge=0, le=10_000)] = Field(
        default=0, description="cycles of the port of a GPC's cache (l2.gpcs) for a line that goes to a TPC, or comes from L2"
    )
    near_bytes: Annotated[int, Field(ge=0, multiple_of=128)] = Field(default=0, description="the TPC's cache; 0 = without limit")
    near_ways: Annotated[int, Field(ge=1, le=64)] = Field(default=4, description="lines per set")
    bytes: Annotated[int, Field(ge=0, multiple_of=128)] = Field(default=0, description="the GPC's cache; 0 = without limit")
    ways: Annotated[int, Field(ge=1, le=64)] = Field(default=16, description="lines per set")
    prefetched: Annotated[int, Field(ge=0, multiple_of=128)] = Field(
        default=0, description="bytes of code that come to the GPC's cache as a kernel starts, whether they are asked for or not"
    )
    prefetch_cycles: Annotated[float, Field(ge=0, le=10_000)] = Field(
        default=0, description="cycles between two lines of them; the first is in time for the first block of the SMs that share the cache"
    )


class Constants(Section):
    """Constant caches of an SM, empty when a kernel starts (sim/lowering/constant_lines.py)."""

    model_config = needs(
        operands="near",
        constant_loads="load_near address_cycles",
        lane_constants="address_latency group_cycles",
        far_constants="far cold",
        far_constant_loads="load_entries",
        constants="bytes port_cycles",
        many_constants="ways",
    )

    near: Count = Field(default=0, description="cycles until a line of 64 bytes comes from the level behind, for operands")
    load_near: Count = Field(default=0, description="the same for LDC, which has a cache of its own")
    load_entries: Annotated[int, Field(ge=0, le=64)] = Field(
        default=0, description="LDC of an SM that ask L2 for 256 bytes at a time; the next waits, and all LDC behind it; 0 = any number"
    )
    far: Count = Field(default=0, description="cycles more where that level has to ask L2: once in 256 bytes")
    cold: Count = Field(default=0, description="cycles more where L2 starts cold and DRAM is asked: once for each SM, of code for each GPC")
    bytes: Annotated[int, Field(ge=0, multiple_of=64)] = Field(
        default=0, description="of each cache: of operands, one per scheduler, and of LDC; 0 = without limit"
    )
    ways: Annotated[int, Field(ge=1, le=64)] = Field(default=4, description="lines per set")
    address_latency: Count = Field(default=0, description="cycles more of LDC for each distinct address of its lanes beyond the first")
    address_cycles: Count = Field(default=0, description="cycles of the SM that each address of LDC takes")
    group_cycles: Count = Field(default=0, description="cycles of the SM that 256 bytes take of which LDC's cache lacks lines")
    port_cycles: Annotated[float, Field(ge=0, le=10_000)] = Field(
        default=0.0,
        description="cycles of the port of the level behind for a line, or for 256 bytes where LDC's lanes ask; the SMs of a GPC "
        "(l2.gpcs) have equal shares of it",
    )


class Clusters(Section):
    """Clusters of blocks: SMs that reach each other's shared memory, and how long that takes."""

    model_config = needs(
        "clusters",
        far_waits="latency",
        far_counts="one_way_latency",
        far="bytes_per_cycle",
        multicast="multicast_latency multicast_bytes_per_cycle",
        cluster_barriers="barrier_latency arrival_cycles",
    )

    groups: tuple[int, ...] = Field(description="SMs of each group (GPC), lowest numbers first: the blocks of a cluster share one")
    latency: Annotated[int, Field(ge=1, le=4096)] = Field(
        description="cycles that shared memory of another SM takes longer than the own; what comes from there comes in a later cycle"
    )
    one_way_latency: Annotated[int, Field(ge=1, le=4096)] = Field(
        description="the same of what needs no answer: arrivals at an mbarrier there, stores and copies that complete at one"
    )
    multicast_latency: Annotated[int, Field(ge=1, le=4096)] = Field(
        description="cycles that a line of a copy to several blocks comes later to the others than to the one that copies"
    )
    multicast_bytes_per_cycle: Annotated[float, Field(gt=0)] = Field(
        description="of copies to several blocks, per SM and block that gets them: as if each SM got as much as it sends"
    )
    bytes_per_cycle: Annotated[float, Field(gt=0)] = Field(description="of an SM's port to the others: requests and data, in 32 bytes each")
    barrier_latency: Annotated[int, Field(ge=1, le=4096)] = Field(
        description="cycles from the last arrival at a cluster's barrier until warps go on; what other SMs do is seen in a later one"
    )
    arrival_cycles: Count = Field(description="cycles between two arrivals of an SM's warps at the barrier of their cluster")


class WarpGroup(Section):
    """Products of warpgroups (wgmma): each scheduler's tensor core has a row of them, and the schedulers' work side by side."""

    model_config = needs("group_products", shared_products="start_shared", register_products="start_registers register_cycles")

    queue: Annotated[int, Field(ge=1, le=64)] = Field(description="products of a warp that have issued and are not over")
    start_shared: Count = Field(description="cycles from issue until a product begins whose left factor lies in shared memory")
    start_registers: Count = Field(description="cycles from issue until a product begins whose left factor lies in registers")
    column_cycles: Annotated[float, Field(gt=0)] = Field(description="cycles of a product for each of its columns")
    register_cycles: Count = Field(description="cycles that the left factor takes out of registers; a product takes no less")
    port_cycles: Count = Field(
        description="cycles in a row that a product takes the ports of registers, after each that it leaves to others; 0 = it needs none"
    )
    port_backlog: Count = Field(description="such cycles, at most, that a product makes up for after instructions that follow one another")


class Limits(Section):
    """Per-SM residency limits (the rules are in occupancy.py)."""

    model_config = needs(
        fits="threads_per_block registers_per_thread registers_per_block shared_per_block launch_partitions",
        shared_bytes="shared_bytes shared_unit",
        cached="shared_carveouts",
    )

    warps: Annotated[int, Field(ge=1, le=2048)] = Field(description="resident warps per SM; of one scheduler at most 64")
    blocks: Positive = Field(description="resident blocks per SM")
    threads_per_block: Positive = Field(description="threads in one block")
    registers: Positive = Field(description="32-bit registers per SM")
    registers_per_block: Positive | None = Field(None, description="registers a block may use, when not the whole file")
    registers_per_thread: Positive = Field(description="registers an instruction can name")
    register_unit: Positive = Field(description="registers per allocation unit")
    register_unit_exceptions: dict[int, int] = Field(default_factory=dict, description="registers per thread -> unit (Fermi)")
    register_scope: Literal["block", "warp"] = Field(description="what is rounded up to a unit")
    warp_granularity: Positive = Field(1, description="warps per block are rounded up to this for registers and warps")
    sub_partitions: Positive = Field(description="parts of the register file; a warp's registers lie in one")
    launch_partitions: Positive | None = Field(None, description="a block must also fit a register file of this many parts (CC 6.0)")
    shared_bytes: Positive = Field(description="shared memory per SM, bytes, at the largest carve-out")
    shared_per_block: Positive = Field(description="bytes a block may use (opt-in maximum)")
    shared_unit: Positive = Field(description="bytes per allocation unit")
    shared_reserved: Count = Field(0, description="bytes the system takes per block")
    shared_carveouts: tuple[int, ...] = Field((), description="sizes the driver may choose, bytes")
