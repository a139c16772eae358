// Tensor cores: after how long a product's sums may be added to, how often products issue, by warps of one SM and of all; ldmatrix,
// stmatrix and movmatrix with and without bank conflicts; both beside other work; copies by cp.async.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o tensor tensor.cu && ./tensor > tensor.csv
#include <algorithm>
#include <cstdio>
#include <vector>
const int UNROLLED = 32, LOOPS = 16;
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
typedef unsigned u32;
__shared__ __align__(128) u32 store[8192];

// What an operation keeps: sums of its own, factors that it shares, an address in shared memory.
struct Kept { u32 s[8]; u32 a[4], b[2]; double d[12]; u32 at; float f; };
#define FOUR "{%0, %1, %2, %3}"
#define SUMS4 "+r"(x.s[0]), "+r"(x.s[1]), "+r"(x.s[2]), "+r"(x.s[3])
#define OPERATION(NAME, TEXT, ...) struct NAME { static const char *name() { return #NAME; } \
    static __device__ __forceinline__ void apply(Kept &x, const Kept &k, int i) { asm volatile(TEXT : __VA_ARGS__); } };
#define A2 "r"(k.a[0]), "r"(k.a[1])
#define A4 A2, "r"(k.a[2]), "r"(k.a[3])
#define B1 "r"(k.b[0])
#define B2 B1, "r"(k.b[1])
#define SMALL(NAME, TYPE) OPERATION(NAME, "mma.sync.aligned." TYPE " " FOUR ", {%4, %5}, {%6}, " FOUR ";", SUMS4 : A2, B1)
#define LARGE(NAME, TYPE) OPERATION(NAME, "mma.sync.aligned." TYPE " " FOUR ", {%4, %5, %6, %7}, {%8, %9}, " FOUR ";", SUMS4 : A4, B2)
SMALL(hmma_1688_f32, "m16n8k8.row.col.f32.f16.f16.f32")
SMALL(hmma_1688_bf16, "m16n8k8.row.col.f32.bf16.bf16.f32")
SMALL(hmma_1684_tf32, "m16n8k4.row.col.f32.tf32.tf32.f32")
LARGE(hmma_1688_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
LARGE(hmma_16816_f32, "m16n8k16.row.col.f32.f16.f16.f32")
LARGE(hmma_16816_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
OPERATION(hmma_1688_f16, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};", "+r"(x.s[0]), "+r"(x.s[1]) : A2, B1)
OPERATION(hmma_16816_f16, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};", "+r"(x.s[0]), "+r"(x.s[1]) : A4, B2)
OPERATION(imma_8816, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};", "+r"(x.s[0]), "+r"(x.s[1]) : "r"(k.a[0]), B1)
SMALL(imma_16816, "m16n8k16.row.col.s32.s8.s8.s32")
LARGE(imma_16832, "m16n8k32.row.col.s32.s8.s8.s32")
#define D4 "+d"(x.d[0]), "+d"(x.d[1]), "+d"(x.d[2]), "+d"(x.d[3])
#define D(i) "d"(k.d[i])
OPERATION(dmma_884, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};", "+d"(x.d[0]), "+d"(x.d[1]) : D(0), D(1))
OPERATION(dmma_1684, "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 " FOUR ", {%4, %5}, {%6}, " FOUR ";", D4 : D(0), D(1), D(2))
OPERATION(dmma_1688, "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 " FOUR ", {%4, %5, %6, %7}, {%8, %9}, " FOUR ";", D4 : D(0), D(1), D(2), D(3), D(8), D(9))
OPERATION(dmma_16816, "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 " FOUR ", {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, " FOUR ";", D4 : D(0), D(1), D(2), D(3), D(4), D(5), D(6), D(7), D(8), D(9), D(10), D(11))
// What is loaded is used, and not twice the same: else the assembler leaves it out.
#define STORED(NAME, TEXT) OPERATION(NAME, TEXT, SUMS4 : "r"(x.at + 128 * i) : "memory")
#define LOADED(NAME, TEXT, USE) OPERATION(NAME, "{ .reg .b32 p, q, r, t; " TEXT " xor.b32 %0, %0, p; " USE " }", SUMS4 : "r"(x.at + 128 * i) : "memory")
#define USE2 "xor.b32 %1, %1, q;"
#define USE4 USE2 "xor.b32 %2, %2, r; xor.b32 %3, %3, t;"
LOADED(ldsm_1, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {p}, [%4];", "")
LOADED(ldsm_2, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {p, q}, [%4];", USE2)
LOADED(ldsm_4, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {p, q, r, t}, [%4];", USE4)
LOADED(ldsm_4_turned, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {p, q, r, t}, [%4];", USE4)
STORED(stsm_1, "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%4], {%0};")
STORED(stsm_2, "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%4], {%0, %1};")
STORED(stsm_4, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%4], {%0, %1, %2, %3};")
LOADED(lds_32, "ld.shared.b32 p, [%4];", "")
LOADED(lds_128, "ld.shared.v4.b32 {p, q, r, t}, [%4];", USE4)
// of a chain: the address is what was loaded, zero, added to itself
#define CHASE(NAME, TEXT) OPERATION(NAME, "{ .reg .b32 p, q, r, t; " TEXT " add.u32 %4, %4, p; }", SUMS4, "+r"(x.at) : : "memory")
CHASE(ldsm_1_chain, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {p}, [%4];")
CHASE(ldsm_2_chain, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {p, q}, [%4];")
CHASE(ldsm_4_chain, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {p, q, r, t}, [%4];")
CHASE(ldsm_4_turned_chain, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {p, q, r, t}, [%4];")
CHASE(lds_32_chain, "ld.shared.b32 p, [%4];")
CHASE(lds_128_chain, "ld.shared.v4.b32 {p, q, r, t}, [%4];")
OPERATION(movm, "movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;", "+r"(x.s[0]))
OPERATION(fused, "fma.rn.f32 %0, %0, %1, %1;", "+f"(x.f) : "f"(k.f))
OPERATION(dfma, "fma.rn.f64 %0, %0, %1, %1;", "+d"(x.d[0]) : D(1))
OPERATION(imad, "mad.lo.u32 %0, %0, %1, %1;", "+r"(x.s[0]) : B1)
OPERATION(iadd, "add.u32 %0, %0, %1;", "+r"(x.s[0]) : B1)
OPERATION(none, "", "+r"(x.s[0]))

template <class A, class B, int CHAINS> __global__ void __launch_bounds__(1024) chains(int *t, int zero, int stride, int around) {
    Kept x[CHAINS], y[CHAINS], k;
    int lane = threadIdx.x % 32, begin, end;
    for (int i = threadIdx.x; i < 8192; i += blockDim.x) store[i] = zero;
    for (int i = 0; i < 4; i++) k.a[i] = zero;
    for (int i = 0; i < 12; i++) k.d[i] = zero;
    k.b[0] = k.b[1] = zero, k.f = zero;
    u32 base = (u32)__cvta_generic_to_shared(store);
    for (int c = 0; c < CHAINS; c++)
        for (Kept *z : {&x[c], &y[c]}) {
            for (int i = 0; i < 8; i++) z->s[i] = zero;
            for (int i = 0; i < 4; i++) z->d[i] = zero;
            z->f = zero, z->at = base + (lane * stride) % around;
        }
    __syncthreads();
    CLOCK(begin)
    #pragma unroll 1
    for (int n = 0; n < LOOPS; n++)
        #pragma unroll
        for (int i = 0; i < UNROLLED; i++) A::apply(x[i % CHAINS], k, i), B::apply(y[i % CHAINS], k, i);
    u32 odd = 0;
    for (int c = 0; c < CHAINS; c++)
        for (Kept *z : {&x[c], &y[c]})
            odd |= z->s[0] | z->s[1] | z->s[2] | z->s[3] | z->at - base | (z->d[0] + z->d[1] + z->d[2] + z->d[3] == 12345) | (z->f == 12345);
    asm volatile("" :: "r"(odd) : "memory");
    CLOCK(end)
    __syncthreads();
    if (lane == 0 && blockIdx.x == 0) t[threadIdx.x / 16] = begin, t[threadIdx.x / 16 + 1] = end;
    if (odd == 12345) t[64] = 1;
}
int *device;
template <class A, class B, int CHAINS> void measure(int warps, int blocks, int stride = 16, int around = 16384) {
    double best = 1e9;
    for (int again = 0; again < 5; again++) {
        int t[66];
        chains<A, B, CHAINS><<<blocks, 32 * warps>>>(device, 0, stride, around);
        if (cudaMemcpy(t, device, sizeof t, cudaMemcpyDeviceToHost) != cudaSuccess) { printf("failed %s\n", cudaGetErrorString(cudaGetLastError())); return; }
        int begin = t[0], end = t[1];
        for (int w = 0; w < warps; w++) begin = std::min(begin, t[2 * w]), end = std::max(end, t[2 * w + 1]);
        best = std::min(best, double(end - begin) / (UNROLLED * LOOPS));
    }
    printf("%s,%s,%d,%d,%d,%d,%d,%.3f\n", A::name(), B::name(), CHAINS, warps, blocks, stride, around, best);
}
template <class A> void products() {
    for (int warps : {1, 4}) measure<A, none, 1>(warps, 1), measure<A, none, 2>(warps, 1), measure<A, none, 4>(warps, 1);
    for (int warps : {8, 16}) measure<A, none, 1>(warps, 1), measure<A, none, 2>(warps, 1), measure<A, none, 4>(warps, 1);
    measure<A, none, 2>(16, 132), measure<A, none, 4>(16, 132);
}
template <class A, class B> void beside() {
    for (int warps : {1, 4, 8, 16}) measure<A, B, 4>(warps, 1);
}
template <class A, int CHAINS = 4> void shared() {
    for (int stride : {0, 16, 32, 64, 128, 144, 272}) measure<A, none, CHAINS>(1, 1, stride, stride == 128 ? 1024 : 16384);
    if (CHAINS > 1)
        for (int warps : {2, 4, 8, 16})
            for (int stride : {16, 32, 128}) measure<A, none, CHAINS>(warps, 1, stride, stride == 128 ? 1024 : 16384);
}

// cp.async: cycles until `n` copies of 16 (or 4) bytes per thread are in shared memory, L2 warm.
template <int BYTES> __global__ void copies(const char *from, int *t, int n, int distance) {
    int begin, issued, end;
    u32 to = (u32)__cvta_generic_to_shared(store) + threadIdx.x * BYTES;
    from += threadIdx.x * BYTES;
    CLOCK(begin)
    for (int i = 0; i < n; i++) {
        if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + i * distance));
        else asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from + i * distance));
    }
    asm volatile("cp.async.commit_group;");
    CLOCK(issued)
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    CLOCK(end)
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 32 * 3] = begin, t[threadIdx.x / 32 * 3 + 1] = issued, t[threadIdx.x / 32 * 3 + 2] = end;
}
template <int BYTES> void copied(const char *from) {
    for (int warps : {1, 4, 16}) for (int n : {1, 2, 4, 8, 16}) {
        int best = 1 << 30, issue = 0;
        for (int again = 0; again < 7; again++) {
            int t[48];
            copies<BYTES><<<1, 32 * warps>>>(from, device, n, 512 * BYTES);
            cudaMemcpy(t, device, sizeof t, cudaMemcpyDeviceToHost);
            int begin = t[0], issued = t[1], end = t[2];
            for (int w = 0; w < warps; w++) begin = std::min(begin, t[3 * w]), issued = std::max(issued, t[3 * w + 1]), end = std::max(end, t[3 * w + 2]);
            if (end - begin < best) best = end - begin, issue = issued - begin;
        }
        printf("cp_async_%d,issue,%d,%d,1,0,0,%d\ncp_async_%d,wait,%d,%d,1,0,0,%d\n", BYTES, n, warps, issue, BYTES, n, warps, best);
    }
}
int main() {
    char *from;
    cudaMalloc(&device, 4096), cudaMalloc(&from, 1 << 20), cudaMemset(from, 0, 1 << 20);
    printf("operation,beside,chains,warps,blocks,stride,around,cycles\n");
    products<hmma_1688_f32>(), products<hmma_1688_bf16>(), products<hmma_1684_tf32>(), products<hmma_1688_tf32>(), products<hmma_16816_f32>();
    products<hmma_16816_bf16>(), products<hmma_1688_f16>(), products<hmma_16816_f16>(), products<imma_8816>(), products<imma_16816>();
    products<imma_16832>(), products<dmma_884>(), products<dmma_1684>(), products<dmma_1688>(), products<dmma_16816>();
    shared<ldsm_1>(), shared<ldsm_2>(), shared<ldsm_4>(), shared<ldsm_4_turned>(), shared<stsm_1>(), shared<stsm_2>(), shared<stsm_4>();
    shared<lds_32>(), shared<lds_128>();
    shared<ldsm_1_chain, 1>(), shared<ldsm_2_chain, 1>(), shared<ldsm_4_chain, 1>(), shared<ldsm_4_turned_chain, 1>();
    shared<lds_32_chain, 1>(), shared<lds_128_chain, 1>();
    for (int warps : {1, 4, 16}) measure<movm, none, 1>(warps, 1), measure<movm, none, 4>(warps, 1);
    beside<hmma_16816_f32, fused>(), beside<hmma_16816_f32, imad>(), beside<hmma_16816_f32, iadd>(), beside<hmma_16816_f32, lds_32>();
    beside<hmma_16816_f32, ldsm_4>(), beside<hmma_16816_f32, dfma>(), beside<hmma_16816_f32, imma_16832>(), beside<hmma_16816_f32, dmma_884>();
    beside<dmma_884, dfma>(), beside<hmma_1688_f32, fused>(), beside<ldsm_4, fused>(), beside<ldsm_4, lds_128>(), beside<ldsm_4, ldsm_4>(), beside<hmma_1688_f32, hmma_16816_f32>();
    copied<16>(from), copied<4>(from);
}
