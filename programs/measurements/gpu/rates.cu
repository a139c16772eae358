// How many sectors a cycle L2 and DRAM move, by what is asked of a line: loads past L1, stores, reductions, atomics, copies; one, two or
// four sectors of each line, lines in a row or at random, in L2 or beyond it, from 1, 8 or all SMs. And overlapping loads: how long an SM
// takes for loads a float further each, or of lines that other loads wait for.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o rates rates.cu && ./rates > rates.csv && ./rates overlaps > overlaps.csv
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
typedef unsigned long long u64;
enum Kind { LOAD, STORE, RED, ATOM, COPY, KINDS };
const char *KIND_NAMES[] = {"load", "store", "red", "atom", "copy"};
const int EACH = 8;  // in flight per thread

__device__ __forceinline__ unsigned mixed(unsigned x) { x *= 0x9E3779B1u; x ^= x >> 15; x *= 0x85EBCA6Bu; x ^= x >> 13; return x; }
__device__ __forceinline__ u64 nanoseconds() { u64 t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
// Each warp instruction touches 4 sectors, of 4 / SECTORS lines; eight lanes share a sector.
template <int KIND, int SECTORS, int RANDOM> __global__ void rate(float *a, float *b, unsigned lines, int rounds, u64 *times) {
    unsigned lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
    unsigned group = lane / (8 * SECTORS), within = lane % (8 * SECTORS);
    u64 begin = clock64(), since = nanoseconds();
    float sum = 0;
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        float v[EACH];
        float *at[EACH];
        #pragma unroll
        for (int e = 0; e < EACH; e++) {
            unsigned number = ((r * EACH + e) * warps + warp) * (4 / SECTORS) + group;
            unsigned x = RANDOM ? mixed(number) : number, sector = SECTORS == 4 ? 0 : (mixed(number + 77) % (4 / SECTORS)) * SECTORS;
            u64 offset = (u64)(x % lines) * 32 + sector * 8 + within;
            at[e] = (KIND == STORE ? b : a) + offset;
            if (KIND == LOAD || KIND == COPY) asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v[e]) : "l"(at[e]));
            if (KIND == STORE) *(volatile float *)at[e] = sum;
            if (KIND == RED) asm volatile("red.global.add.u32 [%0], %1;" :: "l"(at[e]), "r"(1) : "memory");
            if (KIND == ATOM) { unsigned old; asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at[e]), "r"(1) : "memory"); v[e] = old; }
        }
        #pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (KIND == LOAD || KIND == ATOM) sum += v[e];
            if (KIND == COPY) *(volatile float *)(b + (at[e] - a)) = v[e];
        }
    }
    if (sum == 1.2345e30f) a[0] = sum;
    if (threadIdx.x == 0) times[blockIdx.x * 2] = clock64() - begin, times[blockIdx.x * 2 + 1] = nanoseconds() - since;
}
float *a, *b;
u64 *times;
template <int KIND, int SECTORS, int RANDOM> void measure(unsigned lines, int blocks, int threads) {
    u64 host[264];
    cudaEvent_t start, stop;
    cudaEventCreate(&start), cudaEventCreate(&stop);
    unsigned wanted = blocks == 1 ? 1u << 17 : blocks < 132 ? 1u << 20 : 1u << 24;
    int rounds = std::max(4u, wanted / (blocks * (threads / 32) * EACH * 4));
    float least = 1e9;
    for (int k = 0; k < 4; k++) {
        float ms;
        cudaEventRecord(start);
        rate<KIND, SECTORS, RANDOM><<<blocks, threads>>>(a, b, lines, rounds, times);
        cudaEventRecord(stop), cudaEventSynchronize(stop), cudaEventElapsedTime(&ms, start, stop);
        if (k && ms < least) least = ms, cudaMemcpy(host, times, blocks * 16, cudaMemcpyDeviceToHost);
    }
    double most = 0, mean = 0;
    for (int k = 0; k < blocks; k++) most = std::max(most, (double)host[2 * k]), mean += (double)host[2 * k] / blocks;
    double sectors = (double)rounds * EACH * blocks * (threads / 32) * 4;
    printf("%s,%d,%s,%.3f,%d,%d,%.0f,%.0f,%.0f,%.1f,%.3f\n", KIND_NAMES[KIND], SECTORS, RANDOM ? "random" : "in a row", lines * 128e-6, blocks, threads,
           sectors, most, mean, 1e3 * host[0] / host[1], sectors / most);
}
template <int KIND, int SECTORS, int RANDOM> void sizes() {
    for (unsigned lines : {1u << 13, 1u << 16, 1u << 17, 1u << 22}) measure<KIND, SECTORS, RANDOM>(lines, 132, 1024);
    for (int threads : {128, 256, 512}) measure<KIND, SECTORS, RANDOM>(1u << 22, 132, threads);
    measure<KIND, SECTORS, RANDOM>(1u << 16, 1, 1024), measure<KIND, SECTORS, RANDOM>(1u << 16, 8, 1024);
}
template <int KIND> void patterns() {
    sizes<KIND, 4, 0>(), sizes<KIND, 4, 1>(), sizes<KIND, 2, 1>(), sizes<KIND, 1, 1>(), sizes<KIND, 1, 0>();
}
// K loads of a float per lane, STEP floats apart, from OFF on, of the lines of a warp; ROUND bytes further each round. What they load is in L2
// (HIT 0), or in L1, where a first pass put it (HIT 1); ALONE: each warp has lines of its own.
template <int K, int STEP, int OFF, int HIT, int ALONE> __global__ void overlap(const float *a, u64 *times, int rounds) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const int SPAN = (K * STEP + OFF + 63) / 32 * 32;  // floats that a warp touches in a round
    float sum = 0;
    u64 begin = 0;
    for (int pass = 0; pass <= HIT; pass++) {
        __syncthreads();
        begin = clock64();
        #pragma unroll 1
        for (int r = 0; r < rounds; r++) {
            const float *p = a + (ALONE ? (r * warps + warp) * SPAN : r * SPAN) + lane + OFF;
            #pragma unroll
            for (int k = 0; k < K; k++) sum += p[k * STEP];
        }
        __syncthreads();
    }
    u64 end = clock64();
    if (sum == 1.2345e30f) times[1] = 0;
    if (threadIdx.x == 0) times[0] = end - begin;
}
template <int K, int STEP, int OFF, int HIT, int ALONE> void measure_overlap() {
    for (int warps : {1, 4, 8, 16, 32}) {
        u64 least = ~0ull;
        int span = (K * STEP + OFF + 63) / 32 * 32, rounds = std::max(1, std::min(32, 40000 / (span * (ALONE ? warps : 1))));
        for (int k = 0; k < 5; k++) {
            u64 took;
            overlap<K, STEP, OFF, HIT, ALONE><<<1, warps * 32>>>(a, times, rounds);
            cudaMemcpy(&took, times, 8, cudaMemcpyDeviceToHost);
            if (k) least = std::min(least, took);
        }
        printf("%d,%d,%d,%s,%s,%d,%d,%llu,%.3f\n", K, STEP, OFF, HIT ? "l1" : "l2", ALONE ? "own" : "shared", warps, rounds, least,
               (double)least / (rounds * K * warps));
    }
}
template <int K, int STEP, int OFF> void overlaps() {
    measure_overlap<K, STEP, OFF, 0, 1>(), measure_overlap<K, STEP, OFF, 0, 0>(), measure_overlap<K, STEP, OFF, 1, 1>();
}
int main(int count, char **arguments) {
    u64 bytes = 1ull << 29;
    cudaMalloc(&a, bytes + 4096), cudaMalloc(&b, bytes + 4096), cudaMalloc(&times, 1 << 16);
    cudaMemset(a, 0, bytes), cudaMemset(b, 0, bytes);
    if (count > 1 && !strcmp(arguments[1], "overlaps")) {
        puts("loads,step,offset,from,lines,warps,rounds,cycles,cycles_per_load");
        overlaps<16, 32, 0>(), overlaps<16, 32, 1>(), overlaps<16, 32, 8>(), overlaps<16, 33, 0>(), overlaps<16, 1, 0>(), overlaps<16, 8, 0>();
        overlaps<16, 7, 5>(), overlaps<16, 64, 0>(), overlaps<16, 37, 1>(), overlaps<16, 0, 0>(), overlaps<16, 0, 1>();
    } else {
        puts("what,sectors,order,megabytes,blocks,threads,moved,cycles,cycles_mean,mhz,sectors_per_cycle");
        patterns<LOAD>(), patterns<STORE>(), patterns<RED>(), patterns<ATOM>(), patterns<COPY>();
    }
    return cudaDeviceSynchronize();
}
