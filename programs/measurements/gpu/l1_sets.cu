// Which lines of global memory drive each other out of L1: one warp touches lines in an order, again and again; how many of each pass are late?
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o l1_sets l1_sets.cu && ./l1_sets > l1_sets.csv
#include <cstdio>
#include <vector>
typedef unsigned u32;
typedef unsigned long long u64;
const int PASSES = 5, SEVERAL = 8;
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
__device__ __forceinline__ u32 load(const char *g, u32 line) {
    u32 from, to, y;
    CLOCK(from)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(y) : "l"(g + (u64)line * 128) : "memory");
    WAIT_FOR(y)
    CLOCK(to)
    return to - from > 120;
}
// Line k of n: k * stride, or, stride 0, any of 2^19 by a hash. late[pass]: how many.
extern "C" __global__ void touch(const char *g, u32 n, u32 stride, u32 *late) {
    #pragma unroll 1
    for (int pass = 0; pass < PASSES; pass++) {
        u32 count = 0;
        #pragma unroll 1
        for (u32 k = 0; k < n; k++) {
            u32 line = k * 0x9E3779B1u;
            line = (line ^ line >> 15) * 0x85EBCA6Bu;
            line = stride ? k * stride : (line ^ line >> 13) & 0x7ffff;
            count += load(g, line);
        }
        if (threadIdx.x == 0) late[pass] = count;
    }
}
struct Lines { u32 line[SEVERAL]; int count, stored; };
// Touches lines in turn, those whose bit is set in `stored` by a store of all lanes. late[0]: the last.
extern "C" __global__ void several(char *g, Lines lines, u32 *late) {
    u32 is_late = 0;
    #pragma unroll 1
    for (int k = 0; k < lines.count; k++) {
        if (lines.stored >> k & 1) {
            asm volatile("st.global.u32 [%0], %1;" :: "l"(g + (u64)lines.line[k] * 128 + threadIdx.x * 4), "r"(k) : "memory");
            u32 from, now;
            CLOCK(from)
            do { CLOCK(now) } while (now - from < 100);
        } else is_late = load(g, lines.line[k]);
    }
    if (threadIdx.x == 0) late[0] = is_late;
}
char *g; u32 *late;
std::vector<u32> touched(u32 n, u32 stride) {
    std::vector<u32> h(PASSES);
    touch<<<1, 32>>>(g, n, stride, late);
    cudaMemcpy(h.data(), late, 4 * PASSES, cudaMemcpyDeviceToHost);
    return h;
}
int last(std::vector<u32> of, int stored = 0) {
    Lines lines = {{}, (int)of.size(), stored};
    for (size_t k = 0; k < of.size(); k++) lines.line[k] = of[k];
    u32 h;
    several<<<1, 32>>>(g, lines, late);
    cudaMemcpy(&h, late, 4, cudaMemcpyDeviceToHost);
    return h;
}
int main() {
    char *all;
    cudaMalloc(&all, 48ull << 30), cudaMalloc(&late, 4 * PASSES);
    g = (char *)(((u64)all + (1ull << 34) - 1) >> 34 << 34);  // 16 GB, aligned to as much
    printf("what,number,stride,result\n");
    // The first four are of the set of line 0 as was found by search; of further bits each line with one bit is tried with all low bits.
    std::vector<u32> set = {1 << 9 | 113, 1 << 10 | 27, 1 << 11 | 374};
    for (int bit = 9; bit < 27; bit++)
        for (u32 low = 0; low < 512; low++) {
            u32 line = 1u << bit | low;
            std::vector<u32> order = {0};
            for (u32 other : set) if (other != line) order.push_back(other);
            if (order.size() == 3) order.push_back(1 << 12 | 329);
            order.push_back(line), order.push_back(0);
            if (last(order)) printf("set,%d,,%u\n", bit + 7, low);
        }
    u32 a = set[0], b = set[1], c = set[2], d = 1 << 12 | 329;
    for (int most = 1; most <= 6; most++) {
        std::vector<u32> order = {0}, of = {a, b, c, d, 1 << 13 | 57, 1 << 14 | 481};
        order.insert(order.end(), of.begin(), of.begin() + most), order.push_back(0);
        printf("lines of the set between two loads of one,%d,,%d\n", most, last(order));
    }
    printf("least recently used: one loaded again,,,%d\n", last({0, a, b, c, 0, d, 0}));
    printf("least recently used: the one after it,,,%d\n", last({0, a, b, c, 0, d, a}));
    printf("least recently used: one stored again,,,%d\n", last({0, a, b, c, 0, d, 0}, 1 << 4));
    printf("all stored: the first,,,%d\n", last({0, a, b, c, d, 0}, 31));
    printf("all stored: the second,,,%d\n", last({0, a, b, c, d, a}, 31));
    for (int carve : {0, 8, 16, 32, 64, 100}) {
        cudaFuncSetAttribute(touch, cudaFuncAttributePreferredSharedMemoryCarveout, carve * 100 / 228);
        std::vector<u32> sizes = {200, 400, 600, 800, 1000, 1200, 1400, 1500, 1600, 1700, 1800, 1900, 1950, 2000, 2048};
        for (u32 n : sizes) { auto h = touched(n, 1); printf("one after another; carve-out asked for %d KB,%u,1,%u %u %u %u\n", carve, n, h[1], h[2], h[3], h[4]); }
        for (u32 n : sizes) { auto h = touched(n, 0); printf("any of 2^19; carve-out asked for %d KB,%u,0,%u %u %u %u\n", carve, n, h[1], h[2], h[3], h[4]); }
    }
    cudaFuncSetAttribute(touch, cudaFuncAttributePreferredSharedMemoryCarveout, 0);
    for (u32 stride : {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 3, 31, 33, 96, 125, 8448})
        for (u32 n : {256, 1024, 1536}) { auto h = touched(n, stride); printf("at a stride,%u,%u,%u %u %u %u\n", n, stride, h[1], h[2], h[3], h[4]); }
    return cudaDeviceSynchronize() != cudaSuccess;
}
