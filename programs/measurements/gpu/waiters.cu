// What does a load cost that waits for data from L2, by how many loads there are and how many places they want?
// And what does it cost to read the 64-bit clock, as such programs do?
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o waiters waiters.cu && ./waiters
// It prints what ../h200/waiters.csv holds; ../h200/waiters.sm_90.cubin is its code. All arrays are of zeros.
#include <algorithm>
#include <cstdio>
// of a warp's load: one sector, one line, a half of each of two lines, a line in two passes, 8 lines
enum Pattern { SECTOR, LINE, HALVES, PASSES, LINES, PATTERNS };
const char *NAMES[] = {"sector", "line", "halves", "two passes", "8 lines"};
const int APART = 512, MOST = 512;  // words from one place to the next; places
__device__ int place(int pattern, int lane) {
    return pattern == SECTOR ? lane & 7 : pattern == LINE ? lane : pattern == HALVES ? lane + 16 : pattern == PASSES ? lane * 2 : lane / 4 * 32 + lane;
}
#define LOAD(x, p) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
__device__ int now() { int c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory"); return c; }

// From one cycle on each warp loads COUNT times; the n-th load of all, by turns of the warps, is of place n & mask. Each warp's cycles from
// then until its first load, and until it has its data, in the second round, which finds its instructions in the caches; all are in L2.
template <int P, int COUNT> __global__ void __launch_bounds__(1024) wait(const int *a, int *t, int mask) {
    __shared__ int begin;
    int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x & 31, x[COUNT], all = 0, start, stop;
    #pragma unroll 1
    for (int round = 0; round < 2; round++) {
        unsigned long long p[COUNT];
        const int *from = a + round * MOST * APART + place(P, lane);
        for (int k = warp; k <= mask; k += warps) all |= __ldcg(from + k * APART);  // past L1: now this part of L2 has them
        WAIT_FOR(all)
        #pragma unroll
        for (int k = 0; k < COUNT; k++) p[k] = __shfl_sync(~0u, (unsigned long long)(from + (k * warps + warp & mask) * APART), lane);
        if (threadIdx.x == 0) begin = now() + 3000;
        __syncthreads();
        int then = begin;
        do start = now() - then; while (start < 0);
        #pragma unroll
        for (int k = 0; k < COUNT; k++) LOAD(x[k], p[k])
        #pragma unroll
        for (int k = 0; k < COUNT; k++) all |= x[k];
        WAIT_FOR(all)
        stop = now() - then;
    }
    if (lane == 0) t[2 * warp] = start, t[2 * warp + 1] = stop;
}
// Each warp reads the clock COUNT times: cycles until its first reading, its last one, from the first of all.
template <int COUNT> __global__ void clocks(int *t) {
    long long c[COUNT];
    #pragma unroll 1
    for (int round = 0; round < 2; round++) {
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < COUNT; k++) asm volatile("mov.u64 %0, %%clock64;" : "=l"(c[k]) :: "memory");
    }
    long long all = 0;
    for (int k = 0; k < COUNT; k++) all |= c[k];
    if (all == 77) t[0] = 0;
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 16] = (int)c[0], t[threadIdx.x / 16 + 1] = (int)c[COUNT - 1];
}
int *a, *t;
template <int P, int COUNT> void row(int warps, int places) {
    const int RUNS = 9;
    int host[64], starts[RUNS], firsts[RUNS], means[RUNS], lasts[RUNS];
    for (int run = 0; run < RUNS; run++) {
        cudaMemset(a, 0, 2 * MOST * APART * 4);
        wait<P, COUNT><<<1, 32 * warps>>>(a, t, places - 1);
        cudaMemcpy(host, t, warps * 8, cudaMemcpyDeviceToHost);
        starts[run] = 0, firsts[run] = 1 << 30, lasts[run] = 0, means[run] = 0;
        for (int w = 0; w < warps; w++) {
            starts[run] = std::max(starts[run], host[2 * w]), firsts[run] = std::min(firsts[run], host[2 * w + 1]);
            lasts[run] = std::max(lasts[run], host[2 * w + 1]), means[run] += host[2 * w + 1];
        }
        means[run] /= warps;
    }
    for (int *s : {starts, firsts, means, lasts}) std::sort(s, s + RUNS);
    printf("%s,%d,%d,%d,%d,%d,%d,%d\n", NAMES[P], COUNT, warps, places, starts[RUNS / 2], firsts[RUNS / 2], means[RUNS / 2], lasts[RUNS / 2]);
}
template <int COUNT> void read_clocks(int warps) {
    int host[64];
    clocks<COUNT><<<1, 32 * warps>>>(t);
    cudaMemcpy(host, t, warps * 8, cudaMemcpyDeviceToHost);
    int begin = host[0], start = 0, first = 1 << 30, mean = 0, last = 0;
    for (int w = 0; w < warps; w++) if (host[2 * w] - begin < 0) begin = host[2 * w];
    for (int w = 0; w < warps; w++) {
        int stop = host[2 * w + 1] - begin;
        start = std::max(start, host[2 * w] - begin), first = std::min(first, stop), last = std::max(last, stop), mean += stop;
    }
    printf("clock,%d,%d,0,%d,%d,%d,%d\n", COUNT, warps, start, first, mean / warps, last);
}
template <int P, int COUNT> void measure() {
    for (int warps : {1, 4, 8, 16, 32})
        for (int places = 1; places <= std::min(warps * COUNT, MOST); places *= 2) row<P, COUNT>(warps, places);
}
template <int P> void all() {
    measure<P, 1>(), measure<P, 2>(), measure<P, 4>(), measure<P, 8>(), measure<P, 16>();
    if constexpr (P + 1 < PATTERNS) all<P + 1>();
}
int main() {
    cudaMalloc(&a, 2 * MOST * APART * 4 + 4096), cudaMalloc(&t, 1024);
    printf("pattern,count,warps,places,start,first,mean,last\n");
    for (int warps : {1, 2, 4, 8, 16, 32}) read_clocks<1>(warps), read_clocks<2>(warps), read_clocks<8>(warps), read_clocks<16>(warps);
    all<SECTOR>();
    return cudaDeviceSynchronize();
}
