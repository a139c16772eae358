// What a channel of DRAM pays for: lines, or rows? All SMs load, or store to, one sector, two, or all of each line, in blocks at random places: of LINES
// lines that lie STEP lines apart. All of a block is one instruction's, or its neighbours'. STEP = 1, LINES = 1: lines at random; 8: a kilobyte in a row.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o granules granules.cu && ./granules > granules.csv
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
typedef unsigned long long u64;
const int EACH = 8;  // in flight per thread
__device__ __forceinline__ unsigned mixed(unsigned x) { x *= 0x9E3779B1u; x ^= x >> 15; x *= 0x85EBCA6Bu; x ^= x >> 13; return x; }
// Lines are numbered in the order of warps, steps, lanes.
template <int LINES, int STEP, int SECTORS, int STORE> __global__ void granules(float *a, unsigned lines, int rounds, float *out, u64 *times) {
    unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    const int AT_ONCE = 32 / SECTORS;  // lines of one instruction
    u64 begin = clock64();
    float sum = 0;
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        float v[EACH];
        #pragma unroll
        for (int e = 0; e < EACH; e++) {
            unsigned number = ((r * warps + warp) * EACH + e) * AT_ONCE + lane / SECTORS;
            u64 line = (u64)(mixed(number / LINES) % (lines / LINES / STEP)) * LINES * STEP + number % LINES * STEP;
            float *at = a + line * 32 + lane % SECTORS * 8;
            if (STORE) {
                asm volatile("st.global.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(at), "f"(1.0f));
                asm volatile("st.global.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(at + 4), "f"(1.0f));
            } else asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v[e]) : "l"(at));
        }
        if (!STORE)
            #pragma unroll
            for (int e = 0; e < EACH; e++) sum += v[e];
    }
    if (sum == 1.2345e30f) *out = sum;
    if (threadIdx.x == 0) times[blockIdx.x] = clock64() - begin;
}
float *a, *out;
u64 *times, host[132];
template <int LINES, int STEP, int SECTORS, int STORE> void measure() {
    unsigned lines = 1u << 22, rounds = (1 << 20) * SECTORS / (132 * 32 * EACH);
    u64 least = ~0ull;
    for (int k = 0; k < 4; k++) {
        granules<LINES, STEP, SECTORS, STORE><<<132, 1024>>>(a, lines, rounds, out, times);
        cudaMemcpy(host, times, sizeof host, cudaMemcpyDeviceToHost);
        if (k) least = std::min(least, *std::max_element(host, host + 132));
    }
    double moved = 132.0 * 32 * EACH * rounds * 32 / SECTORS;  // lines
    printf("%s,%d,%d,%d,%.0f,%llu,%.3f\n", STORE ? "store" : "load", LINES, STEP, SECTORS, moved, least, moved / least);
}
template <int LINES, int STEP> void widths() {
    measure<LINES, STEP, 1, 0>(), measure<LINES, STEP, 2, 0>(), measure<LINES, STEP, 4, 0>();
    measure<LINES, STEP, 1, 1>(), measure<LINES, STEP, 2, 1>(), measure<LINES, STEP, 4, 1>();
}
template <int STEP> void steps() { widths<2, STEP>(), widths<4, STEP>(), widths<8, STEP>(), widths<1024, STEP>(); }
int main() {
    cudaMalloc(&a, 512 << 20), cudaMalloc(&out, 4), cudaMalloc(&times, sizeof host);
    cudaMemset(a, 0, 512 << 20);
    printf("what,lines,step,sectors,moved,cycles,lines_per_cycle\n");
    widths<1, 1>(), steps<1>(), steps<2>(), steps<3>(), steps<4>(), steps<8>(), steps<16>(), steps<32>(), steps<64>(), steps<256>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
