// Thread block clusters on sm_90: shared memory of other blocks, barriers of a cluster, multicast copies, reductions by bulk copies.
//
// Every warp writes two clocks, before and after what is timed: out[2 * warp], out[2 * warp + 1], warps counted through the grid.
#include <cuda.h>
#include <cstdint>

extern __shared__ __align__(1024) uint32_t room[];

__device__ __forceinline__ uint32_t near_address(const void* pointer) { return (uint32_t)__cvta_generic_to_shared(pointer); }
__device__ __forceinline__ uint32_t rank() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ uint32_t ranks() { uint32_t r; asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ uint32_t of_rank(uint32_t address, uint32_t r) {
  uint32_t far; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(address), "r"(r)); return far;
}
__device__ __forceinline__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ __forceinline__ void arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ __forceinline__ void wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ __forceinline__ uint32_t now() { uint32_t t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
__device__ __forceinline__ void keep(uint32_t* out, uint32_t before, uint32_t after) {
  int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) { out[2 * warp] = before; out[2 * warp + 1] = after; }
}
__device__ __forceinline__ void begin(uint32_t barrier, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count) : "memory"); }
__device__ __forceinline__ void begun() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void expect(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive_far(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(barrier) : "memory");
}
__device__ __forceinline__ void wait_for(uint32_t barrier, int parity) {
  asm volatile("{\n.reg .pred p;\nLOOK:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra LOOK;\n}" :: "r"(barrier), "r"(parity) : "memory");
}

// Loads one after another, by the first warp of rank `from`, from rank `to`.
extern "C" __global__ void chase(uint32_t* out, int from, int to, int count) {
  uint32_t address = of_rank(near_address(room) + 4 * threadIdx.x, rank());
  room[threadIdx.x] = address;
  uint32_t at = of_rank(near_address(room) + 4 * threadIdx.x, to), before = 0, after = 0;
  arrive(); wait();
  if (rank() == from && threadIdx.x < 32) {
    before = now();
    for (int n = 0; n < count; n += 8) {
#pragma unroll
      for (int k = 0; k < 8; k++) asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at));
    }
    after = now() + (at == 1);
  }
  keep(out, before, after);
  arrive(); wait();
}
// The same within a block, with LDS.
extern "C" __global__ void chase_near(uint32_t* out, int count) {
  uint32_t at = near_address(room) + 4 * threadIdx.x;
  room[threadIdx.x] = at;
  __syncthreads();
  uint32_t before = now();
  for (int n = 0; n < count; n += 8) {
#pragma unroll
    for (int k = 0; k < 8; k++) asm volatile("ld.shared::cta.u32 %0, [%0];" : "+r"(at));
  }
  keep(out, before, now() + (at == 1));
}
// Atomics one after another: each adds what the one before it returned.
extern "C" __global__ void chase_atomic(uint32_t* out, int from, int to, int count) {
  room[threadIdx.x] = 0;
  uint32_t at = of_rank(near_address(room) + 4 * threadIdx.x, to), before = 0, after = 0, value = 0;
  arrive(); wait();
  if (rank() == from && threadIdx.x < 32) {
    before = now();
    for (int n = 0; n < count; n += 8) {
#pragma unroll
      for (int k = 0; k < 8; k++) asm volatile("atom.shared::cluster.exch.b32 %0, [%1], %0;" : "+r"(value) : "r"(at));
    }
    after = now() + (value == 1);
  }
  keep(out, before, after);
  arrive(); wait();
}

// Independent accesses of all warps of the first `active` ranks: to rank `to`, or with to < 0 to the one `-to` further on.
template <int KIND> __device__ __forceinline__ void rates(uint32_t* out, int active, int to, int count, int stride) {
  for (int n = threadIdx.x; n < 4096; n += blockDim.x) room[n] = 0;
  uint32_t target = to < 0 ? (rank() - to) % ranks() : to, before = 0, after = 0, sum = 0;
  uint32_t at = of_rank(near_address(room) + stride * (threadIdx.x % 32), target);
  arrive(); wait();
  if (rank() < active) {
    before = now();
#pragma unroll 1
    for (int n = 0; n < count; n += 8) {
      uint32_t x[8], y[8], z[8], w[8], here = at + ((n & 8) << 4);
#pragma unroll
      for (int k = 0; k < 8; k++) {
        if (KIND == 0) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(x[k]) : "r"(here + 1024 * k));
        if (KIND == 1) asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(x[k]), "=r"(y[k]), "=r"(z[k]), "=r"(w[k]) : "r"(here + 1024 * k));
        if (KIND == 2) asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(here + 1024 * k), "r"(n) : "memory");
        if (KIND == 3) asm volatile("st.shared::cluster.v4.u32 [%0], {%1,%1,%1,%1};" :: "r"(here + 1024 * k), "r"(n) : "memory");
        if (KIND == 4) asm volatile("red.shared::cluster.add.u32 [%0], %1;" :: "r"(here + 1024 * k), "r"(n) : "memory");
        if (KIND == 5) asm volatile("ld.shared::cluster.v2.u32 {%0,%1}, [%2];" : "=r"(x[k]), "=r"(y[k]) : "r"(here + 1024 * k));
      }
#pragma unroll
      for (int k = 0; k < 8; k++) sum += KIND == 0 ? x[k] : KIND == 1 ? x[k] + y[k] + z[k] + w[k] : KIND == 5 ? x[k] + y[k] : 0;
    }
    after = now() + (sum == 1);
  }
  keep(out, before, after);
  arrive(); wait();
}
extern "C" __global__ void loads_4(uint32_t* out, int active, int to, int count, int stride) { rates<0>(out, active, to, count, stride); }
extern "C" __global__ void loads_8(uint32_t* out, int active, int to, int count, int stride) { rates<5>(out, active, to, count, stride); }
extern "C" __global__ void loads_16(uint32_t* out, int active, int to, int count, int stride) { rates<1>(out, active, to, count, stride); }
extern "C" __global__ void stores_4(uint32_t* out, int active, int to, int count, int stride) { rates<2>(out, active, to, count, stride); }
extern "C" __global__ void stores_16(uint32_t* out, int active, int to, int count, int stride) { rates<3>(out, active, to, count, stride); }
extern "C" __global__ void reds_4(uint32_t* out, int active, int to, int count, int stride) { rates<4>(out, active, to, count, stride); }

// Barriers of the cluster, one after another.
extern "C" __global__ void barriers(uint32_t* out, int count) {
  arrive(); wait();
  uint32_t before = now();
  for (int n = 0; n < count; n++) { arrive_relaxed(); wait(); }
  keep(out, before, now());
}
extern "C" __global__ void barriers_release(uint32_t* out, int count) {
  arrive(); wait();
  uint32_t before = now();
  for (int n = 0; n < count; n++) { arrive(); wait(); }
  keep(out, before, now());
}

// A token between ranks 0 and 1: arrivals at each other's barrier (kind 0), or words that complete there (st.async).
template <int KIND> __device__ __forceinline__ void tokens(uint32_t* out, int count) {
  uint32_t barrier = near_address(room), other = of_rank(barrier, rank() ^ 1), before = 0, after = 0;
  if (threadIdx.x == 0) { begin(barrier, 1); begun(); }
  arrive(); wait();
  if (rank() < 2 && threadIdx.x == 0) {
    if (KIND == 1) expect(barrier, 4);
    before = now();
    for (int n = 0; n < count; n++) {
      if (rank() == 1 || n) {
        wait_for(barrier, (rank() == 1 ? n : n - 1) & 1);
        if (KIND == 1) expect(barrier, 4);
      }
      if (KIND == 0) arrive_far(other);
      if (KIND == 1) asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" :: "r"(other + 128), "r"(n), "r"(other) : "memory");
    }
    after = now();
  }
  keep(out, before, after);
  arrive(); wait();
}
extern "C" __global__ void tokens_arrive(uint32_t* out, int count) { tokens<0>(out, count); }
extern "C" __global__ void tokens_async(uint32_t* out, int count) { tokens<1>(out, count); }

// Copies from shared memory of rank 0 to that of rank 1, `count` of `bytes`; rank 1 arrives at rank 0's barrier when all are there.
extern "C" __global__ void copies(uint32_t* out, int bytes, int count) {
  uint32_t barrier = near_address(room), other = of_rank(barrier, rank() ^ 1), before = 0, after = 0;
  if (threadIdx.x == 0) { begin(barrier, 1); begun(); }
  if (rank() == 1 && threadIdx.x == 0) expect(barrier, bytes * count);
  arrive(); wait();
  if (rank() == 0 && threadIdx.x == 0) {
    before = now();
    for (int n = 0; n < count; n++)
      asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   :: "r"(other + 1024 + n * bytes), "r"(barrier + 1024 + n * bytes), "r"(bytes), "r"(other) : "memory");
    wait_for(barrier, 0);
    after = now();
  }
  if (rank() == 1 && threadIdx.x == 0) { wait_for(barrier, 0); arrive_far(other); }
  keep(out, before, after);
  arrive(); wait();
}

// Tiles of 64 rows of 128 bytes that every block of the cluster wants, `count` of them. kind 0: each block loads them all itself; 1: each
// loads its share of the rows, for all. Twice: at first they come from DRAM.
template <int KIND> __device__ __forceinline__ void multicasts(uint32_t* out, const CUtensorMap& tiles, int count, int rows) {
  uint32_t barrier = near_address(room), before = 0, after = 0;
  uint16_t all = (1 << ranks()) - 1;
  if (threadIdx.x == 0) { begin(barrier, 1); begun(); }
  for (int turn = 0; turn < 2; turn++) {
    if (threadIdx.x == 0) expect(barrier, count * 8192);
    arrive(); wait();
    if (threadIdx.x == 0) {
      before = now();
      for (int n = 0; n < count; n++) {
        for (int row = KIND ? rank() * rows : 0; row < (KIND ? (rank() + 1) * rows : 64); row += rows) {
          uint32_t to = barrier + 1024 + n * 8192 + row * 128;
          if (KIND)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;"
                         :: "r"(to), "l"(&tiles), "r"(barrier), "r"(0), "r"(n * 64 + row), "h"(all) : "memory");
          else
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
                         :: "r"(to), "l"(&tiles), "r"(barrier), "r"(0), "r"(n * 64 + row) : "memory");
        }
      }
      wait_for(barrier, turn);
      after = now();
    }
    __syncthreads();
  }
  keep(out, before, after);
  if (threadIdx.x == 0) {
    uint32_t sum = 0;
    for (int n = 0; n < count * 2048; n += 97) sum = sum * 31 + room[256 + n];
    out[4096 + blockIdx.x] = sum;
  }
  arrive(); wait();
}
extern "C" __global__ void tiles_each(uint32_t* out, const __grid_constant__ CUtensorMap tiles, int count, int rows) { multicasts<0>(out, tiles, count, rows); }
extern "C" __global__ void tiles_all(uint32_t* out, const __grid_constant__ CUtensorMap tiles, int count, int rows) { multicasts<1>(out, tiles, count, rows); }

// One tile by one block, for `mask`: every block says when it had it.
extern "C" __global__ void tile_latency(uint32_t* out, const __grid_constant__ CUtensorMap tiles, int mask, int own) {
  uint32_t barrier = near_address(room), before = 0, after = 0;
  if (threadIdx.x == 0) { begin(barrier, 1); begun(); }
  for (int turn = 0; turn < 3; turn++) {
    if (threadIdx.x == 0 && mask >> rank() & 1) expect(barrier, 1024);
    arrive(); wait();
    if (threadIdx.x == 0 && rank() == 0) {
      before = now();
      if (own)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
                     :: "r"(barrier + 1024), "l"(&tiles), "r"(barrier), "r"(0), "r"(0) : "memory");
      else
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;"
                     :: "r"(barrier + 1024), "l"(&tiles), "r"(barrier), "r"(0), "r"(0), "h"((uint16_t)mask) : "memory");
    }
    if (threadIdx.x == 0 && mask >> rank() & 1) {
      wait_for(barrier, turn & 1);
      after = now();
    }
    arrive(); wait();
  }
  keep(out, before, after);
}

// Where blocks are.
extern "C" __global__ void places(uint32_t* out) {
  uint32_t sm; uint64_t t; asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  uint32_t clock = now();
  arrive(); wait();
  if (threadIdx.x == 0) { out[4 * blockIdx.x] = sm; out[4 * blockIdx.x + 1] = rank(); out[4 * blockIdx.x + 2] = clock; out[4 * blockIdx.x + 3] = (uint32_t)t; }
  for (uint32_t start = now(); now() - start < 20000;);
}
