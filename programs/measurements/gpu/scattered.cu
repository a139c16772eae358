// What LDC with an address per lane takes, lines at random: by warps, loads in flight, addresses of a warp, lines, and SMs that do it.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o scattered scattered.cu && ./scattered > scattered.csv
#include <algorithm>
#include <cstdio>
#include <vector>
__constant__ int table[16384];  // zeros
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
__device__ __forceinline__ int load(unsigned address) { int v; asm volatile("ld.const.s32 %0, [%1];" : "=r"(v) : "r"(address)); return v; }
__device__ __forceinline__ unsigned mixed(unsigned x) { x *= 0x9E3779B1u; x ^= x >> 15; x *= 0x85EBCA6Bu; x ^= x >> 13; return x; }
// Lane i (of `distinct` groups) reads lines at random of `lines` lines of 64 bytes; CHAINS loads in flight.
template <int CHAINS> __global__ void __launch_bounds__(1024) scattered(int *t, unsigned base, int distinct, int lines, int loops) {
    int begin, end;
    unsigned lane = threadIdx.x % 32 % distinct, warp = threadIdx.x / 32, x = mixed(lane + 32 * warp + 1);
    unsigned zero[CHAINS];
    for (int k = 0; k < CHAINS; k++) zero[k] = base + load(base + 64 * k);
    __syncthreads();
    CLOCK(begin)
    #pragma unroll 1
    for (int n = 0; n < loops; n++) {
        #pragma unroll
        for (int k = 0; k < CHAINS; k++) {
            x = x * 1664525u + 1013904223u;
            zero[k] = base + load(zero[k] + ((x >> 16) & (lines - 1)) * 64);
        }
    }
    int sum = 0;
    for (int k = 0; k < CHAINS; k++) sum += zero[k];
    if (sum == 1) t[0] = sum;
    CLOCK(end)
    if (threadIdx.x % 32 == 0) t[128 * blockIdx.x + threadIdx.x / 16] = begin, t[128 * blockIdx.x + threadIdx.x / 16 + 1] = end;
}
int *d;
template <int CHAINS> void report(int distinct, int lines, int threads, int blocks = 1) {
    int best = 1 << 30, most = 1 << 30;
    std::vector<int> h(128 * blocks), each;
    for (int again = 0; again < 4; again++) {
        scattered<CHAINS><<<blocks, threads>>>(d, 0, distinct, lines, 64 / CHAINS);
        cudaMemcpy(h.data(), d, 512 * blocks, cudaMemcpyDeviceToHost);
        each.clear();
        for (int b = 0; b < blocks; b++) {
            int begin = h[128 * b], end = h[128 * b + 1];
            for (int w = 1; w < threads / 32; w++) begin = std::min(begin, h[128 * b + 2 * w]), end = std::max(end, h[128 * b + 2 * w + 1]);
            each.push_back(end - begin);
        }
        std::sort(each.begin(), each.end());
        if (again) best = std::min(best, each[blocks / 2]), most = std::min(most, each[blocks - 1]);
    }
    printf("%d,%d,%d,%d,%d,%d,%d\n", CHAINS, distinct, lines, threads, blocks, best, most);
}
int main() {
    cudaMalloc(&d, 132 * 512);
    puts("chains,distinct,lines,threads,blocks,cycles,most");
    for (int threads : {32, 64, 128, 256, 512, 1024}) for (int lines : {64, 512}) for (int distinct : {1, 32}) {
        report<1>(distinct, lines, threads), report<4>(distinct, lines, threads);
    }
    for (int blocks : {1, 2, 4, 8, 16, 24, 33, 48, 66, 99, 132}) for (int lines : {16, 64, 512}) for (int distinct : {1, 32}) for (int threads : {32, 256})
        report<4>(distinct, lines, threads, blocks);
    return cudaDeviceSynchronize();
}
