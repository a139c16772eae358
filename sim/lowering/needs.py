"""What a field of a GPU needs in order to be read, as its section says (`needs` in its schema), and whether a run had it."""

from collections.abc import Callable
from typing import NamedTuple

from isa import matrices
from isa.vocabulary import Flag, Mbarrier, Operation, Space, Unit
from sim.gpus.checks import MATRICES
from sim.gpus.model import Gpu
from sim.lowering.accesses import ACCESS
from sim.lowering.constant_lines import LINE
from sim.lowering.fetch import comes_from_dram
from sim.lowering.listing import listing
from sim.lowering.used import BEYOND, Used


class Need(NamedTuple):
    """lacks: why a field that needs it is not read, as a clause. met: whether a run on a GPU, its number changed, reads it."""

    lacks: str
    met: Callable[[Gpu, Used], object]


def _passes(gpu: Gpu, used: Used) -> bool:
    through_l1 = gpu.l1 and (
        (gpu.l1.tags_per_cycle and used.cached(gpu, Operation.LOAD)) or (gpu.lsu.leaving_lines and used.cached(gpu, Operation.STORE))
    )
    return bool(used.at(Space.SHARED).any() or through_l1)


def _far_code(gpu: Gpu, used: Used) -> bool:
    """Return whether the GPC's cache of code has to ask L2 for some of it."""
    fetch, size = gpu.fetch, used.code_bytes
    return bool(fetch.jump) and (size > fetch.prefetched or 0 < fetch.bytes < size)


def _is_refreshed(gpu: Gpu, used: Used) -> object:
    """Return whether a refresh of DRAM delays code or constants, where they come from it."""
    return gpu.fetch.first or (gpu.constants.far and (used.operands or used.loads_constants))


def _many_constants(gpu: Gpu, used: Used) -> bool:
    """Return whether the constant caches may lack room for some lines, by their number of ways: sets times ways is more than half."""
    lines = listing(used.program).constants
    return (used.operands or used.loads_constants) and (used.lanes_of_constants or lines.all > gpu.constants.bytes // LINE // 2)


L2_TRAFFIC, WRITTEN = ("l2_sectors_read", "l2_sectors_written"), "dram_bytes_written"
NO_LOADS, NO_STORES = "no load of global or local memory is executed", "no store to global or local memory is executed"
NO_CLUSTERS, NO_CONSTANTS = "the launch has no clusters of blocks", "no instruction that is executed names a constant"
NEEDS = {
    "nothing": Need("", lambda gpu, used: True),
    "lsu": Need("no access to memory is executed", lambda gpu, used: used.accesses),
    # it is a part of the latencies of L2 and DRAM, which copies have too
    "l2_path": Need("no access to memory is executed, nothing goes to L2", lambda gpu, used: used.accesses or used.moved(*L2_TRAFFIC)),
    "unit_shared": Need("neither an access to shared memory nor a SHFL is executed", lambda gpu, used: "shared" in used.units),
    "shared_writes": Need(
        "no store to shared memory with a read barrier is executed",
        lambda gpu, used: (used.at(Space.SHARED) & ~used.of(Operation.LOAD) & used.read_barriers).any(),
    ),
    "passes": Need(
        "no executed instruction makes passes over banks (shared memory, loads with l1.tags_per_cycle, stores with lsu.leaving_lines)",
        _passes,
    ),
    "pass_cycles": Need(
        "no access to shared memory is executed",
        lambda gpu, used: (
            (gpu.memory.kind == "hierarchy" and (used.at(Space.SHARED) | (used.of(Operation.LOAD) & used.has(int(Flag.ASYNC)))).any())
            or used.of(*matrices.OF_WARPGROUP).any()
        ),
    ),
    "shared_loads": Need(
        "no load of shared memory takes more than one pass over the banks",  # passes are counted with those of stores
        lambda gpu, used: (
            (used.of(Operation.LOAD) & used.at(Space.SHARED)).any()
            and used.counters.get("shared_wavefronts", 1) > used.counters.get("shared_requests", 0)
        ),
    ),
    "global_memory": Need("no access to global memory is executed", lambda gpu, used: used.at(Space.GLOBAL, Space.GENERIC).any()),
    "beyond": Need("no access to global or local memory is executed", lambda gpu, used: used.at(*BEYOND).any()),
    "loads_read": Need("no executed load has a read barrier", lambda gpu, used: (used.of(Operation.LOAD) & used.read_barriers).any()),
    "answers": Need(NO_LOADS, lambda gpu, used: used.answers.any()),
    "passed_l1": Need(
        "nothing that is executed waits for L1",
        lambda gpu, used: used.answers.any() or (gpu.l1 and gpu.l1.tags_per_cycle and used.at(*BEYOND).any()),
    ),
    "stores": Need(NO_STORES, lambda gpu, used: used.stores.any()),
    "ends": Need("nothing that is executed writes to memory", lambda gpu, used: used.of(*ACCESS.keys() - {Operation.LOAD}).any()),
    "writes_read": Need(
        "no store or atomic of global or local memory with a read barrier is executed",
        lambda gpu, used: (used.at(*BEYOND) & ~used.of(Operation.LOAD) & used.read_barriers).any(),
    ),
    "others_read": Need(
        "no executed instruction but accesses to memory has a read barrier",
        lambda gpu, used: (
            used.read_barriers
            & ~used.of(*ACCESS if gpu.memory.kind == "hierarchy" else (), *matrices.OF_WARPGROUP)
            & ~(used.of(Operation.LDC) & (used.program.encoded.address_register[used.rows] >= 0))
        ).any(),
    ),
    "sends": Need(
        "no thread writes to L2",  # bulk copies send whole sectors
        lambda gpu, used: (used.at(*BEYOND) & ~used.of(Operation.LOAD)).any(),
    ),
    "l2_queues": Need(  # and those of channels without a depth of their own
        "no store or atomic goes to L2",
        lambda gpu, used: (
            not gpu.dram.channel_depth
            or (used.at(*BEYOND) & ~used.of(Operation.LOAD)).any()
            or ((used.copies & used.function_has(1)) | used.reductions).any()
        ),
    ),
    "wide": Need(
        "no access of more than 32 bits per lane is executed that waits for its data or tells when it has read them",
        lambda gpu, used: (
            (used.answers & used.is_wide)
            | (used.at(*BEYOND, Space.SHARED) & ~used.of(Operation.LOAD) & used.read_barriers & used.is_wide)
            | (used.of(Operation.LOAD) & used.has(int(Flag.ASYNC)))
        ).any(),
    ),
    "fences": Need("no fence of the whole GPU is executed", lambda gpu, used: used.has(int(Flag.DEVICE)).any()),
    "tensor": Need("no product of matrices is executed", lambda gpu, used: bool(used.units & MATRICES)),
    "barriers": Need("no barrier of a block is executed", lambda gpu, used: "barrier" in used.units),
    "branches": Need(
        "no branch is executed", lambda gpu, used: ((used.program.encoded.unit[used.rows] == Unit.BRANCH) & ~used.of(Operation.EXIT)).any()
    ),
    "gpc": Need(
        "nothing goes to L2, and code and constants are always there",
        lambda gpu, used: (
            used.moved(*L2_TRAFFIC)
            or gpu.fetch.jump
            or (gpu.constants.port_cycles and (used.operands or used.loads_constants))
            or gpu.fetch.far
        ),
    ),
    "brx": Need("no branch to where a register says is executed", lambda gpu, used: used.of(Operation.BRX).any()),
    "convergence": Need("no BSYNC is executed", lambda gpu, used: used.of(Operation.BSYNC).any()),
    "unit_constant": Need("no LDC is executed", lambda gpu, used: "constant" in used.units),
    "cached": Need("nothing that is executed goes through L1", lambda gpu, used: used.cached(gpu, Operation.LOAD, Operation.STORE)),
    "cached_loads": Need("no load that is executed goes through L1", lambda gpu, used: used.cached(gpu, Operation.LOAD)),
    "looked_up": Need(
        "no load that is executed goes through L1, and nothing is stored to global or local memory",
        lambda gpu, used: used.cached(gpu, Operation.LOAD) or used.stores.any(),
    ),
    "cached_stores": Need("no store that is executed goes through L1", lambda gpu, used: used.cached(gpu, Operation.STORE)),
    "l2": Need("nothing goes to L2", lambda gpu, used: used.moved(*L2_TRAFFIC)),
    "l2_reads": Need(
        "nothing is read from L2", lambda gpu, used: (used.answers | (used.copies & ~used.function_has(1)) | used.reductions).any()
    ),
    "slices": Need(
        "nothing goes to L2",
        lambda gpu, used: used.moved(*L2_TRAFFIC) or (gpu.l2 and gpu.l2.across and _is_refreshed(gpu, used)),
    ),
    "way_to_l2": Need(
        "nothing is read from L2, and code and constants do not come from it",
        lambda gpu, used: (used.answers | used.copies | used.reductions).any() or _is_refreshed(gpu, used),
    ),
    "l2_start": Need(
        "nothing goes to L2",
        lambda gpu, used: (
            (gpu.memory.kind == "hierarchy" and (used.moved(*L2_TRAFFIC) or (gpu.dram.refresh and _is_refreshed(gpu, used))))
            or used.beyond_present
            or _far_code(gpu, used)
        ),
    ),
    "atomics": Need(
        "no atomic of global memory is executed", lambda gpu, used: ((used.of(Operation.ATOM) & used.at(*BEYOND)) | used.reductions).any()
    ),
    "dram": Need("nothing goes to DRAM", lambda gpu, used: used.moved("dram_bytes_read", WRITTEN)),
    "refreshed": Need(
        "nothing goes to DRAM, and code and constants do not come from it",
        lambda gpu, used: used.moved("dram_bytes_read", WRITTEN) or (_is_refreshed(gpu, used) and comes_from_dram(gpu)),
    ),
    "dram_writes": Need("nothing is written to DRAM", lambda gpu, used: used.moved(WRITTEN)),
    "operands": Need(NO_CONSTANTS, lambda gpu, used: used.operands),
    "constants": Need(NO_CONSTANTS, lambda gpu, used: used.operands or used.loads_constants),
    "many_constants": Need("the constant caches have room for all that is named", _many_constants),
    "constant_loads": Need("no LDC is executed", lambda gpu, used: used.loads_constants),
    "lane_constants": Need("no LDC with an address from a register is executed", lambda gpu, used: used.lanes_of_constants),
    "far_constants": Need("neither code nor constants come from L2", lambda gpu, used: used.beyond_present or _far_code(gpu, used)),
    "far_constant_loads": Need("no LDC asks L2", lambda gpu, used: used.loads_far_constants),
    "far_code": Need("the GPC's cache of code has it all", _far_code),
    "much_code": Need("the code fits in fetch.bytes", lambda gpu, used: used.code_bytes > gpu.fetch.bytes),
    "near_code": Need("the code fits in fetch.near_bytes", lambda gpu, used: used.code_bytes > gpu.fetch.near_bytes),
    "fits": Need("it only decides whether a launch is refused, and this one was not", lambda gpu, used: False),
    "shared_bytes": Need("blocks take no shared memory", lambda gpu, used: used.shared),
    "wide_products": Need(
        "no IMAD.WIDE or IMAD.HI is executed",
        lambda gpu, used: (used.of(Operation.IMAD, Operation.IMAD_CARRY) & used.has(int(Flag.WIDE | Flag.HIGH))).any(),
    ),
    "blocks": Need("the launch has one block", lambda gpu, used: used.blocks != 1),
    "copies": Need(
        "no bulk copy of bytes is executed", lambda gpu, used: (used.between_blocks | (used.copies & ~used.function_has(~1))).any()
    ),
    "copied_in": Need(
        "no bulk copy of bytes into shared memory is executed", lambda gpu, used: (used.copies & ~used.function_has(-1)).any()
    ),
    "tiles": Need("no copy of a tile is executed", lambda gpu, used: (used.copies & used.function_has(~1)).any()),
    "tiles_in": Need(
        "no copy of a tile into shared memory is executed",
        lambda gpu, used: (used.copies & used.function_has(~1) & ~used.function_has(1)).any(),
    ),
    "mbarrier_looks": Need(
        "no wait for an mbarrier is executed",
        lambda gpu, used: (used.of(Operation.MBARRIER) & (used.program.encoded.function[used.rows] == Mbarrier.CHECK)).any(),
    ),
    "clusters": Need(NO_CLUSTERS, lambda gpu, used: used.clusters is not False),
    "far": Need(
        "nothing that is executed goes to shared memory of another block", lambda gpu, used: (used.far | used.between_blocks).any()
    ),
    "far_waits": Need("no access to shared memory of another block is executed", lambda gpu, used: (used.far & ~used.mbarrier_uses).any()),
    "far_counts": Need(
        "nothing that counts at an mbarrier of another block is executed",
        lambda gpu, used: ((used.far & used.mbarrier_uses) | used.between_blocks).any(),
    ),
    "multicast": Need("no copy to several blocks is executed", lambda gpu, used: (used.copies & used.has(int(Flag.EVERY))).any()),
    "cluster_barriers": Need("no barrier of a cluster is executed", lambda gpu, used: used.of(Operation.CLUSTER_BARRIER).any()),
    "group_products": Need("no wgmma product is executed", lambda gpu, used: used.of(*matrices.OF_WARPGROUP).any()),
    "shared_products": Need(
        "no wgmma product with its left factor in shared memory is executed",
        lambda gpu, used: (used.of(*matrices.OF_WARPGROUP) & ~used.function_has(int(matrices.WarpgroupFlag.REGISTERS))).any(),
    ),
    "register_products": Need(
        "no wgmma product with its left factor in registers is executed",
        lambda gpu, used: (used.of(*matrices.OF_WARPGROUP) & used.function_has(int(matrices.WarpgroupFlag.REGISTERS))).any(),
    ),
}
