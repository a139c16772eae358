"""What CUDA programs use beyond arithmetic on floats, compiled and executed: asynchronous copies, atomics, votes, device variables."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isa
import sim
from isa import compiler
from isa.errors import UserError

SOURCES = Path(__file__).parents[1] / "data" / "cuda"
RANDOM = np.random.default_rng(7)
pytestmark = pytest.mark.skipif(not compiler.is_installed(), reason="needs the extra `cuda`")


def executed(name: str, architecture: str, grid: tuple[int, ...], block: tuple[int, ...], *args: Any, shared: int = 0) -> sim.Launch:
    program = isa.compile(SOURCES / f"{name}.cu", architecture, name)
    launch = sim.Launch(program, grid, block, args, shared_dynamic=shared)
    sim.execute(launch)
    return launch


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
def test_asynchronous_copies_of_tiles(architecture: str) -> None:
    n = 48
    a, b, c = RANDOM.random((n, n), np.float32), RANDOM.random((n, n), np.float32), np.zeros((n, n), np.float32)
    launch = executed("async_tile", architecture, (3, 3), (16, 16), c, a, b, np.int32(n))
    assert c == pytest.approx(a @ b, rel=1e-5)
    if architecture != "sm_75":
        trace = sim.execute(launch)
        for gpu in (sim.gpu("h100"), sim.gpu("gtx480")):  # by control words where they fit, by a scoreboard
            assert sim.simulate(trace, gpu).cycles > 1000


def test_copies_of_a_group_and_reductions_over_tiles() -> None:
    x, v = RANDOM.random(768, np.float32), RANDOM.integers(-1000, 1000, 192).astype(np.int32)
    sums, largest = np.zeros(24, np.float32), np.full(1, -5000, np.int32)
    executed("group_copy", "sm_80", (3,), (64,), sums, largest, x, v, np.int32(256), shared=1024)
    assert sums == pytest.approx(x.reshape(24, 32).sum(1), rel=1e-5)
    assert largest[0] == v.max()


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_compare_and_swap_wide_atomics_and_a_last_block(architecture: str) -> None:
    n, blocks = 200, 4
    x, index = RANDOM.standard_normal(n).astype(np.float32), np.arange(n)
    largest, total, words = np.zeros(1, np.float32), np.zeros(1), np.zeros(4, np.uint64)
    ticket, partial = np.zeros(1, np.uint32), np.zeros(blocks + 1)
    executed("cas_loops", architecture, (blocks,), (64,), largest, total, words, ticket, partial, x, np.int32(n))
    parity = 0
    for i in range(n):
        parity ^= (0x100000001 << (i & 31)) % (1 << 64)
    assert (largest[0], total[0], ticket[0]) == (x.max(), n / 2, 0)
    assert words.tolist() == [int(index.sum()) << 20, 0x123456789 * (n - 1), parity, -((n - 1) ** 2) % (1 << 64)]
    assert partial == pytest.approx([*np.add.reduceat(x.astype(np.float64), index[::64]), x.astype(np.float64).sum()], rel=1e-12)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80"])
def test_lanes_and_warps_ask_each_other(architecture: str) -> None:
    x = RANDOM.integers(-6, 12, 128).astype(np.int32)
    out, counts = np.zeros(128, np.uint32), np.zeros(2, np.int32)
    executed("warp_ops", architecture, (2,), (64,), out, counts, x, np.int32(128))
    expected = [word for warp in x.reshape(4, 32).tolist() for word in (asked(warp, lane) for lane in range(32))]
    assert out.tolist() == expected
    blocks = x.reshape(2, 64)
    assert counts.tolist() == [4 * int((b > 2).sum()) + 2 * bool((b > -50).all()) + bool((b == 9).any()) for b in blocks]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_functions_that_use_the_convergence_registers_of_those_who_call_them(architecture: str) -> None:
    """Lanes in tan() and in the slow path of a root wait at each other's registers: on no GPU is that the end."""
    source = """extern "C" __global__ void f(double* out, const double* x, const double* y, const unsigned* u) {
        const int t = threadIdx.x;
        double found;
        switch (u[t] & 3) {
            case 0: asm volatile("rsqrt.approx.f64 %0, %1;" : "=d"(found) : "d"(x[t])); break;
            case 1: found = hypot(x[t], y[t]); break;
            case 2: asm volatile("rsqrt.approx.f64 %0, %1;" : "=d"(found) : "d"(y[t])); break;
            default: found = tan(x[t]);
        }
        out[t] = found;
    }"""
    kernel = sim.cuda(source, architecture).kernel("f")
    for seed in (17, 28, 29, 33):
        random = np.random.default_rng(seed)
        x, y = (random.integers(0, 2**64, 32, np.uint64).view(np.float64).copy() for _ in range(2))
        x[random.random(32) < 0.3], y[random.random(32) < 0.3], x[random.random(32) < 0.2] = 0.0, 5e-310, 1e300
        which, out = random.integers(0, 4, 32).astype(np.uint32), np.zeros(32)
        sim.execute(kernel(1, 32, out, x, y, which))
        with np.errstate(all="ignore"):
            expected = np.choose(which, [1 / np.sqrt(x), np.hypot(x, y), 1 / np.sqrt(y), np.tan(x)])
        np.testing.assert_allclose(out, expected, rtol=1e-6)


def asked(v: list[int], lane: int) -> int:
    """Return what a lane of warp_ops finds."""
    own = v[lane]
    found = sum(1 << k for k in range(32) if v[k] > 3) + sum(1 << k for k in range(32) if v[k] & 3 == own & 3)
    found += sum(v[: lane + 1]) + v[lane ^ 5] + (v[lane + 1] if lane % 16 < 15 else own)
    parity = 0
    for word in v:
        parity ^= word % (1 << 32)
    found += sum(v) + max(v) + parity
    if lane < 20 and own & 1:
        odd = [word for word in v[:20] if word & 1]
        found += odd[0] + len(odd)
    return (8 * found + all(word > -100 for word in v) + 2 * any(word == 7 for word in v)) % (1 << 32)


def test_the_library_of_doubles_and_its_tables() -> None:
    x, y = RANDOM.standard_normal(60), RANDOM.standard_normal(60)
    out, exponents = np.zeros(60), np.zeros(60, np.int32)
    executed("double_math", "sm_80", (1,), (64,), out, exponents, x, y, np.int32(60))
    assert out == pytest.approx([doubles(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)], rel=1e-13)


def doubles(a: float, b: float) -> float:
    """Return what a lane of double_math computes."""
    total = math.exp(a) + math.log(abs(b) + 1) + math.sin(a * 10) + math.cos(b * 1000)
    total += abs(a) ** b + math.sqrt(abs(a)) + 1 / math.sqrt(abs(b) + 0.1) + math.cbrt(a)
    total += math.erf(a) + math.tanh(b) + math.atan2(a, b) + (a * b + 1) + a / b + math.hypot(a, b)
    total += math.floor(a * 3) + round(b * 7) + math.fmod(a * 100, 3.0) + min(a, b) + float(np.float32(a)) + int(b * 1e12)
    return total + math.frexp(a)[0]


PARTS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void parts(int* sums, int* flags, const int* v) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto four = cg::tiled_partition<4>(warp);
    int x = v[threadIdx.x];
    auto alike = cg::labeled_partition(warp, x & 3);
    sums[threadIdx.x] = 1000 * alike.size() + cg::reduce(alike, x, cg::plus<int>());
    flags[threadIdx.x] = four.any(x == 3) + 2 * four.all(x < 8) + 4 * four.ballot(x > 0);
}
"""


@pytest.mark.parametrize("architecture", ["sm_75", "sm_80", "sm_90"])
def test_groups_of_one_warp_reduce_each_by_itself(architecture: str) -> None:
    program = isa.compile(PARTS, architecture)
    v = RANDOM.integers(-6, 12, 32).astype(np.int32)
    sums, flags = np.zeros(32, np.int32), np.zeros(32, np.int32)
    sim.execute(sim.Launch(program, (1,), (32,), (sums, flags, v)))
    assert sums.tolist() == [1000 * int((v & 3 == x & 3).sum()) + int(v[v & 3 == x & 3].sum()) for x in v]
    bits = np.array([1, 2, 4, 8])
    fours = [int((t == 3).any()) + 2 * int((t < 8).all()) + 4 * int(((t > 0) * bits).sum()) for t in v.reshape(8, 4)]
    assert flags.tolist() == np.repeat(fours, 4).tolist()


VARIABLES = """
__device__ int counter = 5;
__device__ int* where = &counter;
extern "C" __global__ void count(int* out) { out[threadIdx.x] = atomicAdd(&counter, 1); __syncthreads(); out[32] = *where; }
"""


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_device_variables_are_made_anew_for_every_launch(architecture: str) -> None:
    program = isa.compile(VARIABLES, architecture)
    for _ in range(2):
        out = np.zeros(33, np.int32)
        sim.execute(sim.Launch(program, (1,), (32,), (out,)))
        assert out.tolist() == [*range(5, 37), 37]


def test_a_copy_goes_where_both_registers_say() -> None:
    text = ".target sm_80\n.shared 512\n.param ptr x\nS2R R0, SR_TID.X\nSHL R5, R0, 2\nUMOV UR4, 0x40\nMOV R2, c[0x0][x]\n"
    text += "MOV R3, c[0x0][x+4]\nIMAD.WIDE R2, R0, 0x4, R2\nLDGSTS.E [R5+UR4+0x80], [R2.64]\nLDGDEPBAR\nDEPBAR.LE SB0, 0x0\n"
    text += "LDS R6, [R5+0xc0]\nSTG.E [R2.64+0x80], R6\nEXIT"
    x = np.arange(64, dtype=np.float32)
    sim.execute(sim.Launch(isa.parse(text), (1,), (32,), (x,)))
    assert x.tolist() == [*range(32), *range(32)]


@pytest.mark.parametrize(
    ("pitch", "start", "lanes", "further"),
    [
        (128, 0, 32, 0),
        (144, 0, 32, 3),
        (144, 576, 32, 4),
        (128, 16, 32, 4),
        (256, 96, 32, 4),
        (144, 144, 9, 1),
        (128, 16, 7, 0),
        (0, 0, 32, 0),
    ],
)
def test_a_trace_keeps_in_how_many_pieces_a_copy_comes(pitch: int, start: int, lanes: int, further: int) -> None:
    """Rows of 128 bytes: one that goes to two lines of shared memory comes in two pieces."""
    text = ".target sm_80\n.shared 2048\n.param ptr x\nS2R R0, SR_TID.X\nSHF.R.U32.HI R6, RZ, 3, R0\nLOP3.LUT R5, R0, 7, RZ, 0xc0, !PT\n"
    text += f"SHL R5, R5, 4\nIMAD R5, R6, {pitch}, R5\nMOV R2, c[0x0][x]\nMOV R3, c[0x0][x+4]\nIMAD.WIDE R2, R0, 0x10, R2\n"
    text += f"ISETP.LT.AND P0, PT, R0, {lanes}, PT\n@P0 LDGSTS.E.BYPASS.128 [R5+{start:#x}], [R2.64]\nEXIT"
    trace = sim.execute(sim.Launch(isa.parse(text), (1,), (32,), (np.zeros(128, np.float32),)))
    assert int(trace.arrays.access_base[0]) >> 32 == further
    assert trace.addresses(0, 1)[0] < 1 << 32


def test_a_copy_beside_shared_memory_names_where_it_writes() -> None:
    text = ".target sm_80\n.shared 64\n.param ptr x\nMOV R2, c[0x0][x]\nMOV R3, c[0x0][x+4]\nLDGSTS.E [RZ+0x40], [R2.64]\nEXIT"
    launch = sim.Launch(isa.parse(text), (1,), (32,), (np.zeros(64, np.float32),))
    with pytest.raises(UserError, match="outside shared memory"):
        sim.execute(launch)
