"""Occupancy against published numbers, NVIDIA's rules worked by hand, and properties that hold for every GPU."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.errors import UserError
from sim.gpus.loader import load, names
from sim.gpus.model import Gpu
from sim.gpus.occupancy import most_registers, occupancy, residency

GPUS = {name: load(name) for name in names()}

# GPU of the compute capability, threads per block, registers per thread, shared bytes per block ->
# blocks, warps, percent of the warps, limiters, who says so.
WORKED = [
    ("g80", 512, 15, 8499, 1, 16, 66.7, "warps registers shared", "CUBLAS 1.1 SGEMM: Volkov and Demmel, SC 2008"),
    ("g80", 64, 30, 1126, 4, 8, 33.3, "registers", "Volkov and Demmel, SC 2008"),
    ("gt200", 512, 16, 0, 2, 32, 100, "warps registers", "CUDA C Programming Guide 4.2, 5.2.3"),
    ("gt200", 512, 17, 0, 1, 16, 50, "registers", "CUDA C Programming Guide 4.2, 5.2.3"),
    ("gtx480", 1024, 21, 8192, 1, 32, 66.7, "warps registers", "Volkov, GTC 2010"),
    ("gtx480", 512, 28, 8192, 2, 32, 66.7, "registers", "Volkov, GTC 2010"),
    ("gtx480", 256, 41, 8192, 3, 24, 50, "registers", "Volkov, GTC 2010"),
    ("gtx480", 128, 63, 8192, 4, 16, 33.3, "registers", "Volkov, GTC 2010"),
    ("gtx480", 512, 32, 0, 2, 32, 66.7, "registers", "CUDA C Programming Guide, 2.x edition"),
    ("gtx480", 512, 33, 0, 1, 16, 33.3, "registers", "CUDA C Programming Guide, 2.x edition"),
    ("gtx480", 192, 20, 0, 8, 48, 100, "warps blocks registers", "Volkov, GTC 2010: at most 20 registers for 100 %"),
    ("gtx480", 192, 21, 0, 7, 42, 87.5, "registers", "rule: 21 registers are allocated in units of 128"),
    ("v100", 128, 37, 0, 12, 48, 75, "registers", "CUDA C++ Best Practices Guide"),
    ("v100", 320, 37, 0, 4, 40, 62.5, "registers", "CUDA C++ Best Practices Guide"),
    ("gt200", 128, 128, 0, 1, 4, 12.5, "registers", "Volkov, GTC 2010: about 128 registers at 12.5 %"),
    ("g80", 128, 12, 0, 5, 20, 83.3, "registers", "rule"),
    ("g80", 256, 12, 0, 2, 16, 66.7, "registers", "rule"),
    ("k20c", 64, 16, 0, 16, 32, 50, "blocks", "rule"),
    ("gtx980", 256, 33, 0, 6, 48, 75, "registers", "rule: 33 registers cost 40"),
    ("v100", 256, 64, 49152, 2, 16, 25, "shared", "rule"),
    ("t4", 1024, 65, 0, 0, 0, 0, "registers", "rule: cannot launch"),
    ("a100", 256, 64, 40960, 4, 32, 50, "registers shared", "rule: 41 KB with the reserved one"),
    ("a6000", 256, 42, 0, 5, 40, 83.3, "registers", "rule"),
    ("a6000", 512, 40, 0, 3, 48, 100, "warps registers", "rule"),
    ("rtx4090", 64, 32, 0, 24, 48, 100, "warps blocks", "rule"),
    ("h100", 128, 168, 0, 3, 12, 18.75, "registers", "rule"),
    ("h100", 288, 224, 0, 0, 0, 0, "registers", "rule: 9 warps count as 12 when a launch is checked"),
    ("g80", 96, 4, 0, 6, 18, 75, "warps", "rule: 3 warps count as 4"),
    ("gtx480", 736, 21, 0, 1, 23, 47.9, "registers", "rule: 768 registers per warp, not 704"),
    ("gtx480", 352, 45, 0, 1, 11, 22.9, "registers", "rule: 1536 registers per warp, not 1472"),
    ("a100", 64, 16, 32768, 4, 8, 12.5, "shared", "rule: 33 KB with the reserved one"),
    ("h100", 64, 16, 232448, 1, 2, 3.1, "shared", "rule: the most a block may use"),
    ("h100", 64, 16, 232449, 0, 0, 0, "shared", "rule: cannot launch"),
]


@pytest.mark.parametrize("case", WORKED, ids=lambda case: "-".join(str(part) for part in case[:4]))
def test_worked_example(case: tuple) -> None:
    name, threads, registers, shared, blocks, warps, percent, limiters, _ = case
    found = occupancy(GPUS[name], threads, registers, shared)
    assert (found.blocks, found.warps, found.limiters) == (blocks, warps, tuple(limiters.split()))
    assert 100 * found.fraction == pytest.approx(percent, abs=0.05)


# Compute capability 3.0, 3.7 and 5.0 have no preset; their limits are the K20's and the GTX 980's but for these.
CC30 = GPUS["k20c"].replace({"compute_capability": "3.0", "limits.registers_per_thread": 63})
CC37 = GPUS["k20c"].replace(
    {
        "compute_capability": "3.7",
        "limits.registers": 131072,
        "limits.registers_per_block": 65536,
        "limits.shared_bytes": 114688,
        "limits.shared_carveouts": (81920, 98304, 114688),
    }
)
CC50 = GPUS["gtx980"].replace({"compute_capability": "5.0", "limits.shared_bytes": 65536})
MOST = [(CC30, 32), (CC37, 64), (CC50, 32)] + [
    (GPUS[name], most)
    for name, most in {
        "g80": 10,
        "gt200": 16,
        "gtx480": 20,
        "gtx460": 20,
        "k20c": 32,
        "gtx980": 32,
        "m2200": 32,
        "gtx1080": 32,
        "p100": 32,
        "v100": 32,
        "rtx2080ti": 64,
        "t4": 64,
        "a100": 32,
        "a6000": 40,
        "rtx4090": 40,
        "h100": 32,
        "h200": 32,
    }.items()
]


@pytest.mark.parametrize(("gpu", "most"), MOST, ids=lambda value: value.compute_capability if isinstance(value, Gpu) else str(value))
def test_most_registers_per_thread_at_full_occupancy(gpu: Gpu, most: int) -> None:
    def full(registers: int) -> bool:
        sizes = range(32, gpu.limits.threads_per_block + 1, 32)
        return any(occupancy(gpu, threads, registers).fraction == 1 for threads in sizes)

    assert full(most)
    assert not any(full(registers) for registers in range(most + 1, gpu.limits.registers_per_thread + 1))


def test_registers_of_a_block_and_of_the_sm_differ_on_cc_37() -> None:
    assert occupancy(CC37, 256, 64).blocks == 8
    assert occupancy(CC37, 1024, 64).blocks == 2
    assert occupancy(CC37, 1024, 65).blocks == 0


def test_cc_60_refuses_what_cc_61_could_not_hold() -> None:
    p100 = GPUS["p100"]
    assert occupancy(p100, 576, 104).blocks == 0
    assert occupancy(p100.replace({"limits.launch_partitions": None}), 576, 104).blocks == 1
    assert occupancy(p100, 576, 96).blocks == occupancy(GPUS["gtx1080"], 576, 96).blocks == 1


@pytest.mark.parametrize(
    ("name", "shared", "carveout", "blocks"),
    [
        ("v100", 8192, None, 12),
        ("v100", 8192, 32768, 4),
        ("v100", 8192, 33000, 8),  # grows to the next supported size, 64 KB
        ("v100", 8193, 0, 1),  # 8448 bytes need a carve-out of 16 KB
        ("k20c", 16384, 16384, 1),
        ("k20c", 16640, 16384, 2),  # before CC 7.0, a block that does not fit gets the largest
        ("a100", 7168, 8192, 1),  # 1 KB reserved
        ("gtx980", 32768, 16384, 3),  # no choice of sizes
    ],
)
def test_carveout(name: str, shared: int, carveout: int | None, blocks: int) -> None:
    assert occupancy(GPUS[name], 64, 16, shared, carveout).blocks == blocks


launches = {
    "name": st.sampled_from(sorted(GPUS)),
    "threads": st.integers(1, 1024),
    "registers": st.integers(1, 255),
    "shared": st.integers(0, 232448),
}


@given(**launches)
def test_resident_blocks_never_exceed_the_sm(name: str, threads: int, registers: int, shared: int) -> None:
    gpu, found = GPUS[name], occupancy(GPUS[name], threads, registers, shared)
    assert found.blocks <= gpu.limits.blocks
    assert found.warps == found.blocks * -(-threads // 32) <= gpu.limits.warps
    assert found.blocks * found.registers_per_block <= gpu.limits.registers
    assert found.blocks * found.shared_per_block <= gpu.limits.shared_bytes
    assert found.fraction == found.warps / gpu.limits.warps


@given(**launches)
def test_limiters_are_the_resources_that_allow_fewest(name: str, threads: int, registers: int, shared: int) -> None:
    found = occupancy(GPUS[name], threads, registers, shared)
    assert found.blocks == min(found.by_limiter.values())
    for resource, blocks in found.by_limiter.items():
        assert (resource in found.limiters) == (blocks == found.blocks)


@given(more=st.tuples(st.integers(0, 64), st.integers(0, 64), st.integers(0, 4096)), **launches)
def test_asking_for_more_never_gives_more_blocks(more: tuple[int, int, int], name: str, threads: int, registers: int, shared: int) -> None:
    less = occupancy(GPUS[name], threads, registers, shared)
    assert occupancy(GPUS[name], threads + more[0], registers + more[1], shared + more[2]).blocks <= less.blocks


@given(**launches)
def test_a_warp_is_resident_whole(name: str, threads: int, registers: int, shared: int) -> None:
    whole = -(-threads // 32) * 32
    assert occupancy(GPUS[name], threads, registers, shared) == occupancy(GPUS[name], whole, registers, shared)


@given(name=st.sampled_from(sorted(GPUS)), threads=st.integers(1, 512), blocks=st.integers(1, 8))
def test_most_registers_is_the_last_that_fits(name: str, threads: int, blocks: int) -> None:
    gpu = GPUS[name]
    most = most_registers(gpu, threads, blocks)
    assert not most or occupancy(gpu, threads, most).blocks >= blocks
    assert most == gpu.limits.registers_per_thread or occupancy(gpu, threads, most + 1).blocks < blocks


@given(**launches)
def test_refused_exactly_when_no_block_fits(name: str, threads: int, registers: int, shared: int) -> None:
    found = occupancy(GPUS[name], threads, registers, shared)
    if found.blocks:
        assert residency(GPUS[name], threads, registers, shared) == found
        return
    with pytest.raises(UserError) as error:
        residency(GPUS[name], threads, registers, shared)
    words = {"warps": "threads per block", "registers": "registers per thread", "shared": "bytes of shared memory"}
    for limiter in found.limiters:
        assert words[limiter] in error.value.message
    assert error.value.hint


@pytest.mark.parametrize(
    ("name", "launch", "says"),
    [
        ("h100", (1025, 32, 0), "1025 threads per block, at most 1024"),
        ("g80", (513, 4, 0), "513 threads per block, at most 512"),
        ("gtx480", (32, 64, 0), "64 registers per thread, at most 63"),
        ("t4", (1024, 65, 0), "of 65536 registers"),
        ("a100", (32, 32, 166913), "166913 bytes of shared memory per block, at most 166912"),
    ],
)
def test_refusal_names_limit_and_amount(name: str, launch: tuple[int, int, int], says: str) -> None:
    with pytest.raises(UserError, match=says):
        residency(GPUS[name], *launch)


def test_a_block_may_be_given_by_its_sizes() -> None:
    assert occupancy(GPUS["v100"], (16, 16, 2), 37) == occupancy(GPUS["v100"], 512, 37)


@pytest.mark.parametrize(("block", "registers", "shared"), [(0, 1, 0), ((32, 0), 1, 0), (32, -1, 0), (32, 1, -1)])
def test_sizes_that_no_launch_has(block: int | tuple[int, ...], registers: int, shared: int) -> None:
    with pytest.raises(UserError, match="too small"):
        occupancy(GPUS["v100"], block, registers, shared)
