"""What compiled programs find below their parameters, generic addresses of every memory, and accesses of Hopper and Blackwell."""

from typing import Any

import numpy as np
import pytest

import isa
import sim
from isa import compiler
from isa.errors import UserError

pytestmark = pytest.mark.skipif(not compiler.is_installed(), reason="needs the extra `cuda`")
ARCHITECTURES = ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a", "sm_120"]
SPACES = """
extern "C" __global__ void spaces(int *out, int *g, int n) {
  __shared__ int s[32];
  int l[4];
  for (int k = 0; k < 4; k++) l[k] = 10 * k + n;
  s[threadIdx.x] = 1000 + threadIdx.x;
  __syncthreads();
  int *p = threadIdx.x & 1 ? s + (threadIdx.x ^ n) : threadIdx.x & 2 ? l + (threadIdx.x >> 3 & 3) : g + threadIdx.x;
  int where = __isShared(p) + 2 * __isLocal(p) + 4 * __isGlobal(p);
  out[threadIdx.x] = *p;
  *p += where;
  atomicAdd(threadIdx.x & 1 ? s + (threadIdx.x ^ n) : g + threadIdx.x, 7);
  __syncthreads();
  out[32 + threadIdx.x] = threadIdx.x & 1 ? s[threadIdx.x ^ n] : *p;
  out[64 + threadIdx.x] = where;
}"""


def run(source: str, name: str, architecture: str, *args: Any, block: int = 32, shared: int = 0) -> None:
    program = isa.compile(source, architecture, name)
    sim.execute(sim.Launch(program, (1,), (block,), args, shared_dynamic=shared))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_generic_addresses_of_shared_local_and_global_memory_in_one_instruction(architecture: str) -> None:
    out, g, lane = np.zeros(96, np.int32), np.arange(500, 532, dtype=np.int32), np.arange(32)
    before = g.copy()
    run(SPACES, "spaces", architecture, out, g, np.int32(2))
    kind = np.where(lane & 1, 1, np.where(lane & 2, 2, 4))
    value = np.choose(np.where(lane & 1, 0, np.where(lane & 2, 1, 2)), [1000 + (lane ^ 2), 10 * (lane >> 3 & 3) + 2, before])
    assert out[:32].tolist() == value.tolist()
    assert out[64:].tolist() == kind.tolist()
    assert out[32:64].tolist() == (value + kind + np.where(kind == 2, 0, 7)).tolist()
    assert g.tolist() == np.where(lane & 1, before, np.where(kind == 4, before + 11, before + 7)).tolist()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_generic_atomics_that_are_done_in_global_memory_only_say_so(architecture: str) -> None:
    """Compilers go on with shared and local memory by themselves where the predicate is false."""
    source = """
extern "C" __global__ void sums(unsigned long long *out, unsigned long long *g) {
  __shared__ unsigned long long s[2];
  if (threadIdx.x < 2) s[threadIdx.x] = 100;
  __syncthreads();
  out[2 + threadIdx.x] = atomicAdd(threadIdx.x & 1 ? s + (threadIdx.x >> 4) : g + (threadIdx.x >> 4), 1ull << 33);
  __syncthreads();
  if (threadIdx.x < 2) out[threadIdx.x] = s[threadIdx.x];
}"""
    out, g = np.zeros(34, np.uint64), np.array([5, 6], np.uint64)
    run(source, "sums", architecture, out, g)
    assert out[:2].tolist() == [100 + (8 << 33)] * 2
    assert g.tolist() == [5 + (8 << 33), 6 + (8 << 33)]
    assert sorted(out[2:18:2].tolist()) == [5 + (k << 33) for k in range(8)]
    assert sorted(out[3:18:2].tolist()) == [100 + (k << 33) for k in range(8)]


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_sizes_of_a_launch_are_known_and_what_only_a_driver_knows_is_refused_by_name(architecture: str) -> None:
    source = """
    extern "C" __global__ void size(unsigned *out) { asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(out[0])); }
    extern "C" __global__ void sms(unsigned *out) { asm("mov.u32 %0, %nsmid;" : "=r"(out[0])); }"""
    out = np.zeros(1, np.uint32)
    run(source, "size", architecture, out, shared=768)
    assert out[0] == 768
    with pytest.raises(UserError, match=r"c\[0x0\]\[0x10c\] is %nsmid, which is not known here"):
        run(source, "sms", architecture, out)
    bank = np.zeros(0x114 // 4, np.uint32)
    bank[0x10C // 4] = 132
    program = isa.compile(source, architecture, "sms")
    sim.execute(sim.Launch(program, (1,), (32,), (out,), constants={0: bank}))
    assert out[0] == 132


def test_a_constant_below_the_parameters_that_is_found_while_running_is_refused() -> None:
    listing = ".target sm_80\n.param ptr out\nMOV R2, 0x10c\nLDC R3, c[0x0][R2]\nSTG.E [R4], R3\nEXIT"
    with pytest.raises(UserError, match=r"c\[0x0\]\[0x10c\] .* is not known here"):
        sim.execute(sim.Launch(isa.parse(listing), (1,), (32,), (np.zeros(32, np.uint32),)))


LOCAL = """
.param ptr y
MOV R2, 0x10
MOV R3, 0x2
LD.E R5, [R2]
ISETP.NE.AND P0, PT, R5, RZ, PT
@P0 BPT.TRAP 0x1
MOV R4, 0x7
{access}
LD.E R5, [R2]
MOV R6, c[0x0][y]
MOV R7, RZ
STG.E [R6], R5
EXIT"""


def test_local_memory_by_generic_addresses_alone_starts_at_zero_in_each_block() -> None:
    y = np.zeros(1, np.int32)
    sim.execute(sim.Launch(isa.parse(LOCAL.format(access="ST.E [R2], R4")), (2,), (32,), (y,)))
    assert y[0] == 7


def test_an_atomic_on_local_memory_is_refused() -> None:
    program = isa.parse(LOCAL.format(access="ATOM.E.ADD R5, [R2], R4"))
    with pytest.raises(UserError, match="atomic on local memory"):
        sim.execute(sim.Launch(program, (1,), (32,), (np.zeros(1, np.int32),)))


@pytest.mark.parametrize("architecture", ["sm_90", "sm_100", "sm_120"])
def test_clusters_of_one_block_are_what_launches_have_and_larger_ones_run_on_sm_90(architecture: str) -> None:
    source = """
    #define R(k, name) asm("mov.u32 %0, %" name ";" : "=r"(out[k]));
    extern "C" __global__ void one(unsigned *out) {
      R(0, "cluster_ctarank") R(1, "cluster_nctarank") R(2, "cluster_nctaid.x") R(3, "nclusterid.x") R(4, "nclusterid.y")
      R(5, "clusterid.y")
    }
    extern "C" __global__ void __cluster_dims__(2, 1, 1) two(unsigned *out) { R(0, "cluster_ctarank") }"""
    out = np.zeros(6, np.uint32)
    program = isa.compile(source, architecture, "one")
    sim.execute(sim.Launch(program, (3, 2), (1,), (out,)))
    assert out.tolist() == [0, 1, 1, 3, 2, 1]
    pairs = sim.Launch(isa.compile(source, architecture, "two"), (4, 2), (1,), (out,))
    assert pairs.ranks == 2
    if architecture == "sm_90":
        sim.execute(pairs)
        assert out[0] == 1
    else:
        with pytest.raises(UserError, match="clusters are modelled for sm_90"):
            sim.execute(pairs)


@pytest.mark.parametrize("architecture", ["sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120a"])
def test_a_cubin_says_parameters_shared_memory_and_constants_whatever_the_letter_behind_its_architecture(architecture: str) -> None:
    source = """__constant__ int c[3] = {5, 6, 7};
    extern "C" __global__ void k(int n, float *x) { __shared__ float s[40]; s[threadIdx.x] = c[n]; __syncthreads(); x[0] = s[n]; }"""
    program = isa.compile(source, architecture, "k")
    assert [slot.size for slot in program.parameters] == [4, 8]
    assert program.shared_bytes == 1024 + 160
    assert program.constants[3] == np.array([5, 6, 7], np.int32).tobytes()


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_copies_that_fill_up_with_zeros(architecture: str) -> None:
    source = """
    extern "C" __global__ void fill(uint4 *out, uint4 *in) {
      __shared__ uint4 s[32];
      unsigned to = (unsigned)__cvta_generic_to_shared(s + threadIdx.x);
      s[threadIdx.x] = make_uint4(9, 9, 9, 9);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(in + threadIdx.x), "r"(threadIdx.x % 17));
      asm volatile("cp.async.wait_all;");
      out[threadIdx.x] = s[threadIdx.x];
    }"""
    data, out = np.random.default_rng(5).integers(1, 256, (32, 16), dtype=np.uint8), np.zeros((32, 16), np.uint8)
    run(source, "fill", architecture, out, data)
    lengths = np.arange(32) % 17
    assert out.tolist() == np.where(np.arange(16) < lengths[:, None], data, 0).tolist()


def test_sums_of_vectors_and_compare_and_swap_with_a_predicate() -> None:
    source = """
    extern "C" __global__ void sums(float2 *a, float4 *b, float2 *old) {
      float x = threadIdx.x;
      old[threadIdx.x] = atomicAdd(a, make_float2(x, 1));
      atomicAdd(b, make_float4(1, x, 2, 3));
    }
    extern "C" __global__ void floats(float *out) {
      __shared__ float s[2];
      if (threadIdx.x < 2) s[threadIdx.x] = 0.5f;
      __syncthreads();
      atomicAdd(s + (threadIdx.x & 1), 1.0f);
      __syncthreads();
      if (threadIdx.x < 2) out[threadIdx.x] = s[threadIdx.x];
    }"""
    a, b, old, x = np.zeros(2, np.float32), np.zeros(4, np.float32), np.zeros((32, 2), np.float32), np.arange(32)
    run(source, "sums", "sm_90", a, b, old)
    assert (a.tolist(), b.tolist()) == ([x.sum(), 32], [32, x.sum(), 64, 96])
    assert old.tolist() == np.stack([np.cumsum(x) - x, x], 1).tolist()
    for architecture in ("sm_90", "sm_120"):
        out = np.zeros(2, np.float32)
        run(source, "floats", architecture, out)
        assert out.tolist() == [16.5, 16.5]


def test_an_untaken_assertion_is_no_obstacle() -> None:
    source = """extern "C" __global__ void k(int *out, int n) { if (n == 77) __assertfail("x", "y", 3, "f", 1); out[0] = n; }"""
    out = np.zeros(1, np.int32)
    run(source, "k", "sm_90", out, np.int32(3))
    assert out[0] == 3
    with pytest.raises(UserError, match=r"assertion failed: x\n  y:3, f\n"):
        run(source, "k", "sm_90", out, np.int32(77))
