// How much longer does a load take when DRAM writes? Loops that load and store, and loads on a few SMs beside what the others do.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o turnarounds turnarounds.cu && ./turnarounds
// It prints what ../h100/turnarounds.csv and ../h100/probes.csv hold. Arrays are of zeros, so that a value loaded can be added to an address.
#include <algorithm>
#include <cstdio>
#include <vector>
typedef long long cycles_type;
typedef unsigned short brief;
const int LINES = 1 << 22, RING = 8, PROBES = 4, PASSES = 4000, CYCLES = 3000000;  // lines of 128 bytes: 512 MB

__device__ unsigned shuffled(unsigned line) { return line * 0x9E3779B1u & (LINES - 1); }

// A pass of a warp: load a line, wait for it, store: nothing, a line of DRAM, or one of a few lines. taken: cycles of each pass, of four blocks.
enum Stores { NONE, DRAM, L2 };
template <int STORES> __global__ void loop(int *from, int *to, int *ring, int order, int passes, brief *taken) {
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5, value = 0, start = clock();
    for (int pass = 0; pass < passes; pass++) {
        int line = (pass * gridDim.x + blockIdx.x) * warps + warp;
        if (order == 1) line = (blockIdx.x * passes + pass) * warps + warp;
        if (order == 2) line = shuffled(line);
        line += value;
        value = __ldcg(from + (size_t)line * 32 + lane);
        if (value == 77) ring[0] = 1;
        if (STORES == DRAM) to[(size_t)line * 32 + lane] = value + 1;
        if (STORES == L2) ring[((blockIdx.x * warps + warp) * RING + pass % RING) * 32 + lane] = value + 1;
        int stop = clock();
        if (blockIdx.x < 4 && lane == 0) taken[(blockIdx.x * warps + warp) * (size_t)passes + pass] = min(stop - start, 65535);
        start = stop;
    }
}

// Four warps on each of four SMs load one line after another, of DRAM or of L2; all others load and store lines of DRAM, once in `period`.
__global__ void probe(int *from, int *to, int *own, bool in_l2, int loads, int stores, int period, brief *taken, cycles_type *done) {
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, warps = blockDim.x >> 5, value = 0;
    if (blockIdx.x < PROBES) {
        if (warp >= 4) return;
        int number = blockIdx.x * 4 + warp;
        for (int k = 0; k < 256; k++) value += __ldcg(own + (number * 64 + k % 64) * 32);
        cycles_type first = clock64();
        while (clock64() < first + 40000);
        int start = clock();
        for (int pass = 0; pass < PASSES && clock64() - first < CYCLES - 100000; pass++) {
            size_t line = in_l2 ? number * 64 + pass % 64 : shuffled((pass * 4 + blockIdx.x) * 4 + warp);
            value = __ldcg((in_l2 ? own : from) + line * 32 + lane + value);
            if (value == 77) own[0] = 1;
            int stop = clock();
            if (lane == 0) taken[number * PASSES + pass] = min(stop - start, 65535);
            start = stop;
        }
        return;
    }
    int number = (blockIdx.x - PROBES) * warps + warp, all = (gridDim.x - PROBES) * warps, next = 0, count = 0;
    cycles_type first = clock64() + (cycles_type)number * 97 % period, now = first, due = first;
    while (now - first < CYCLES) {
        for (int k = 0; k < loads; k++) value = __ldcg(from + (size_t)(LINES - 1 - (next++ * all + number & (LINES - 1))) * 32 + lane + value);
        if (value == 77) own[0] = 1;
        for (int k = 0; k < stores; k++, next++) to[(size_t)(next * all + number & (LINES - 1)) * 32 + lane] = next;
        count++, due += period;
        while ((now = clock64()) < due && now - first < CYCLES);
    }
    if (lane == 0) atomicAdd((unsigned long long *)done, count);
    if (lane == 0 && number == 0) done[1] = now - first;
}

void print(std::vector<brief> all) {
    std::sort(all.begin(), all.end());
    all.erase(all.begin(), std::upper_bound(all.begin(), all.end(), 0));
    double sum = 0;
    for (brief one : all) sum += one;
    printf(",%.1f", sum / all.size());
    for (double share : {.1, .25, .5, .75, .9, .99}) printf(",%d", all[(size_t)(share * all.size())]);
    printf("\n");
}

int main() {
    int *from, *to, *own, blocks = 132;
    brief *taken;
    cycles_type *done;
    size_t bytes = (size_t)LINES * 128;
    cudaMalloc(&from, bytes), cudaMalloc(&to, bytes), cudaMalloc(&own, 1 << 26), cudaMalloc(&taken, 1 << 28), cudaMalloc(&done, 16);
    cudaMemset(from, 0, bytes), cudaMemset(to, 0, bytes), cudaMemset(own, 0, 1 << 26);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    decltype(&loop<NONE>) kernels[] = {loop<NONE>, loop<DRAM>, loop<L2>};
    const char *names[] = {"none", "dram", "l2"}, *orders[] = {"in turn", "each SM its own", "random"};
    for (int stores = NONE; stores <= L2; stores++)
        for (int order = 0; order < 3; order++)
            for (int warps : {1, 2, 4, 8, 12, 16, 24, 32}) {
                int passes = LINES / (blocks * warps);
                float least = 1e9, took;
                for (int k = 0; k < 3; k++, least = std::min(least, took)) {
                    cudaEventRecord(begin);
                    kernels[stores]<<<blocks, warps * 32>>>(from, to, own, order, passes, taken);
                    cudaEventRecord(end), cudaEventSynchronize(end), cudaEventElapsedTime(&took, begin, end);
                }
                std::vector<brief> all((size_t)4 * warps * passes);
                cudaMemcpy(all.data(), taken, all.size() * sizeof(brief), cudaMemcpyDeviceToHost);
                printf("%s,%s,%d,%.5f", orders[order], names[stores], warps, least);
                print(all);
            }
    for (bool in_l2 : {false, true})
        for (auto mix : {std::pair{1, 0}, {0, 1}, {1, 1}, {1, 3}})
            for (double rate : {0., .15, .3, .6, 1., 1.5, 2., 3., 4., 5., 6., 8.}) {
                auto [loads, stores] = rate ? mix : std::pair{0, 0};
                int warps = 16, period = rate ? (blocks - PROBES) * warps * (loads + stores) / rate : 1000000;
                cudaMemset(done, 0, 16), cudaMemset(taken, 0, 1 << 20);
                probe<<<blocks, warps * 32>>>(from, to, own, in_l2, loads, stores, period, taken, done);
                std::vector<brief> all(16 * PASSES);
                cycles_type counted[2];
                cudaMemcpy(all.data(), taken, all.size() * sizeof(brief), cudaMemcpyDeviceToHost);
                cudaMemcpy(counted, done, 16, cudaMemcpyDeviceToHost);
                double each = (double)counted[0] / std::max(counted[1], 1LL);
                printf("%s,%.3f,%.3f", in_l2 ? "l2" : "dram", each * loads, each * stores);
                print(all);
            }
    return cudaDeviceSynchronize();
}
