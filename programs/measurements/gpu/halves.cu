// Halves of lines that DRAM sends: does the second of a line cost a channel as much as another line's? Each warp instruction loads 64 bytes of four lines,
// at random. first: only the first halves; one after another: both halves by the same warp, one instruction after the other; two warps: the second halves
// by the next warp; later: the second halves eight instructions later; whole: both in one instruction, of two lines.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o halves halves.cu && ./halves > halves.csv
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
typedef unsigned long long u64;
enum Way { FIRST, ONE_AFTER_ANOTHER, TWO_WARPS, LATER, WHOLE, WAYS };
const char *NAMES[] = {"first", "one after another", "two warps", "later", "whole"};
const int EACH = 8;  // in flight per thread
__device__ __forceinline__ unsigned mixed(unsigned x) { x *= 0x9E3779B1u; x ^= x >> 15; x *= 0x85EBCA6Bu; x ^= x >> 13; return x; }
template <int WAY> __global__ void halves(const float *a, unsigned lines, int rounds, float *out, u64 *times) {
    unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    u64 begin = clock64();
    float sum = 0;
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        float v[EACH];
        #pragma unroll
        for (int e = 0; e < EACH; e++) {
            unsigned step = r * EACH + e, half = 0, who = warp;
            if (WAY == ONE_AFTER_ANOTHER) half = step & 1, step >>= 1;
            if (WAY == TWO_WARPS) half = warp & 1, who = warp >> 1;
            if (WAY == LATER) half = r & 1, step = (r >> 1) * EACH + e;
            unsigned number = (step * warps + who) * 4 + (WAY == WHOLE ? lane / 16 : lane / 8);
            u64 at = (u64)(mixed(number) % lines) * 32 + (WAY == WHOLE ? lane % 16 * 2 : half * 16 + lane % 8 * 2);
            asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v[e]) : "l"(a + at));
        }
        #pragma unroll
        for (int e = 0; e < EACH; e++) sum += v[e];
    }
    if (sum == 1.2345e30f) *out = sum;
    if (threadIdx.x == 0) times[blockIdx.x] = clock64() - begin;
}
float *a, *out;
u64 *times, host[132];
template <int WAY> void measure(int threads) {
    unsigned lines = 1u << 22, rounds = (1 << 20) / (132 * (threads / 32) * EACH) & ~1;
    u64 least = ~0ull;
    for (int k = 0; k < 4; k++) {
        halves<WAY><<<132, threads>>>(a, lines, rounds, out, times);
        cudaMemcpy(host, times, sizeof host, cudaMemcpyDeviceToHost);
        if (k) least = std::min(least, *std::max_element(host, host + 132));
    }
    double moved = 132.0 * (threads / 32) * EACH * rounds * 4;  // halves
    printf("%s,%d,%.0f,%llu,%.3f\n", NAMES[WAY], threads, moved, least, moved / least);
}
template <int WAY> void all() { for (int threads : {256, 512, 1024}) measure<WAY>(threads); }
int main() {
    cudaMalloc(&a, 512 << 20), cudaMalloc(&out, 4), cudaMalloc(&times, sizeof host);
    cudaMemset(a, 0, 512 << 20);
    printf("way,threads,halves,cycles,halves_per_cycle\n");
    all<FIRST>(), all<ONE_AFTER_ANOTHER>(), all<TWO_WARPS>(), all<LATER>(), all<WHOLE>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
