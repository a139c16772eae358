// What one block waits for with mbarriers, bulk copies and products of a warp group (wgmma), by clocks; one block of 128 threads on one SM.
// A program by itself: nvcc -O3 -gencode arch=compute_90a,code=sm_90a -std=c++17 -o asynchronous asynchronous.cu && ./asynchronous
#include <algorithm>
#include <cstdio>
#include <cstdint>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory")
__device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(uint64_t *b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at(b)) : "memory"); }
__device__ void expect(uint64_t *b, int n) { asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ int try_wait(uint64_t *b, int parity) {
    int ok;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(at(b)), "r"(parity) : "memory");
    return ok;
}
__device__ int test_wait(uint64_t *b, int parity) {
    int ok;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(at(b)), "r"(parity) : "memory");
    return ok;
}
__device__ void wait(uint64_t *b, int parity) { while (!try_wait(b, parity)); }
__device__ void load_bulk(void *to, const void *from, int n, uint64_t *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(at(to)), "l"(from), "r"(n), "r"(at(b)) : "memory");
}
__device__ void store_bulk(void *to, const void *from, int n) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(at(from)), "r"(n) : "memory");
}
extern __shared__ __align__(1024) char shared[];
// 0: arrive then wait, one thread; 1: test_wait that succeeds; 2: try_wait that times out; 3: arrivals of four warps' first lanes, then all wait
__global__ void barriers(int *t) {
    __shared__ uint64_t b[4];
    int c[9], n = 0, x = 0;
    if (threadIdx.x == 0) init(b, 1), init(b + 1, 4), init(b + 2, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 0; k < 4; k++) {
            CLOCK(c[0]); arrive(b); CLOCK(c[1]); wait(b, k & 1); CLOCK(c[2]); x += test_wait(b, k & 1); CLOCK(c[3]); x += try_wait(b + 2, 0); CLOCK(c[4]);
        }
        for (int k = 0; k < 4; k++) t[n++] = c[k + 1] - c[k];
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        CLOCK(c[0]);
        if (threadIdx.x % 32 == 0) arrive(b + 1);
        wait(b + 1, k & 1);
        CLOCK(c[1]);
    }
    if (threadIdx.x == 0) t[4] = c[1] - c[0], t[5] = x;
    __syncthreads();
    CLOCK(c[0]); __syncthreads(); CLOCK(c[1]);
    if (threadIdx.x == 0) t[6] = c[1] - c[0];
}
// times of `count` bulk copies of `bytes` each: issue of all, until the first is there, until all; twice, the second time L2 has them
__global__ void loads(int *t, const char *from, int bytes, int count) {
    __shared__ uint64_t b[8];
    int c[4];
    if (threadIdx.x) return;
    for (int k = 0; k < count; k++) init(b + k, 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    for (int again = 0; again < 2; again++) {
        CLOCK(c[0]);
        for (int k = 0; k < count; k++) expect(b + k, bytes), load_bulk(shared + k * bytes, from + k * bytes, bytes, b + k);
        CLOCK(c[1]);
        wait(b, again);
        CLOCK(c[2]);
        for (int k = 1; k < count; k++) wait(b + k, again);
        CLOCK(c[3]);
        for (int k = 0; k < 3; k++) t[again * 3 + k] = c[k + 1] - c[0];
    }
}
__global__ void stores(int *t, char *to, int bytes, int count) {
    int c[4];
    if (threadIdx.x) return;
    for (int again = 0; again < 2; again++) {
        CLOCK(c[0]);
        for (int k = 0; k < count; k++) store_bulk(to + k * bytes, shared + k * bytes, bytes);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        CLOCK(c[1]);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        CLOCK(c[2]);
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        CLOCK(c[3]);
        for (int k = 0; k < 3; k++) t[again * 3 + k] = c[k + 1] - c[0];
    }
}
__device__ uint64_t descriptor(const void *p) {  // 128-byte swizzle, 1,024 bytes between groups of eight rows
    return (uint64_t)((at(p) & 0x3FFFF) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}
#define R8(b) "+f"(d[b]), "+f"(d[b + 1]), "+f"(d[b + 2]), "+f"(d[b + 3]), "+f"(d[b + 4]), "+f"(d[b + 5]), "+f"(d[b + 6]), "+f"(d[b + 7])
template <bool RS> __device__ void product8(float *d, uint64_t a, uint64_t b, uint32_t *r) {
    if constexpr (RS) asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8, 1, 1, 1, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b));
    else asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
template <bool RS> __device__ void product64(float *d, uint64_t a, uint64_t b, uint32_t *r) {
#define D64 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
    if constexpr (RS) asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D64 ", {%32,%33,%34,%35}, %36, 1, 1, 1, 0;" : R8(0), R8(8), R8(16), R8(24) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b));
    else asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D64 ", %32, %33, 1, 1, 1, 0, 0;" : R8(0), R8(8), R8(16), R8(24) : "l"(a), "l"(b));
}
template <bool RS> __device__ void product128(float *d, uint64_t a, uint64_t b, uint32_t *r) {
#define D128 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
    if constexpr (RS) asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " D128 ", {%64,%65,%66,%67}, %68, 1, 1, 1, 0;" : R8(0), R8(8), R8(16), R8(24), R8(32), R8(40), R8(48), R8(56) : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b));
    else asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " D128 ", %64, %65, 1, 1, 1, 0, 0;" : R8(0), R8(8), R8(16), R8(24), R8(32), R8(40), R8(48), R8(56) : "l"(a), "l"(b));
}
// 16 products in one chain of accumulators, waited for once (batch = 16) or one by one (batch = 1)
template <int N, bool RS, int BATCH> __global__ void products(int *t, float *out) {
    float d[64];
    uint32_t r[4] = {0, 0, 0, 0};
    for (int k = 0; k < 64; k++) d[k] = 0;
    for (int k = threadIdx.x; k < 49152 / 4; k += blockDim.x) ((int *)shared)[k] = 0;
    __syncthreads();
    uint64_t a = descriptor(shared + threadIdx.x / 128 * 8192), b = descriptor(shared + 16384);
    int from = 0, to = 0;
    for (int again = 0; again < 3; again++) {
        __syncthreads();
        CLOCK(from);
        #pragma unroll
        for (int group = 0; group < 16 / BATCH; group++) {
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            #pragma unroll
            for (int k = 0; k < BATCH; k++) {
                if constexpr (N == 8) product8<RS>(d, a, b, r);
                if constexpr (N == 64) product64<RS>(d, a, b, r);
                if constexpr (N == 128) product128<RS>(d, a, b, r);
            }
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        }
        CLOCK(to);
    }
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += d[k];
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) t[0] = to - from;
}
int *t, h[16];
void show(const char *what, int x, int y, int n) {
    cudaMemcpy(h, t, sizeof h, cudaMemcpyDeviceToHost);
    printf("%s,%d,%d", what, x, y);
    for (int k = 0; k < n; k++) printf(",%d", h[k]);
    printf(",%s\n", cudaGetErrorString(cudaGetLastError()));
}
template <int N, bool RS, int BATCH> void go(float *out) {
    cudaFuncSetAttribute(products<N, RS, BATCH>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    for (int groups : {1, 2, 4}) {
        products<N, RS, BATCH><<<1, 128 * groups, 65536>>>(t, out);
        cudaDeviceSynchronize();
        char what[64];
        sprintf(what, "wgmma_n%d_%s_by_%d", N, RS ? "registers" : "shared", BATCH);
        show(what, groups, 0, 1);
    }
}
int main() {
    char *d, *other; float *out;
    cudaMalloc(&d, 64 << 20), cudaMalloc(&other, 256 << 20), cudaMalloc(&t, 4096), cudaMalloc(&out, 4096);
    cudaFuncSetAttribute(loads, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    cudaFuncSetAttribute(stores, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    for (int again = 0; again < 3; again++) {
        barriers<<<1, 128>>>(t); show("barriers", 128, again, 7);
        for (int bytes : {16, 128, 512, 2048, 8192, 16384, 32768, 65536}) for (int count : {1, 2, 4, 8}) {
            if (bytes * count > 196608) continue;
            cudaMemset(other, again, 256 << 20);
            loads<<<1, 32, 200 << 10>>>(t, d, bytes, count); cudaDeviceSynchronize(); show("bulk_loads", bytes, count, 6);
            stores<<<1, 32, 200 << 10>>>(t, d, bytes, count); cudaDeviceSynchronize(); show("bulk_stores", bytes, count, 6);
        }
        go<8, false, 16>(out), go<8, true, 16>(out), go<8, false, 1>(out), go<64, false, 16>(out), go<64, true, 16>(out), go<64, false, 1>(out), go<128, false, 16>(out), go<128, true, 16>(out), go<128, false, 1>(out);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
