// How long first loads take that DRAM serves, L2 being full of other, unwritten data: each warp loads one line, a kilobyte from the next warp's.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o first_loads first_loads.cu && ./first_loads
// It prints what ../h100/first_loads.csv holds; ../h100/first_loads.sm_90.cubin is its code.
#include <algorithm>
#include <cstdio>
#include <vector>
const int BIN = 25, BINS = 80;  // cycles; the last has all that are later
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");

extern "C" __global__ void first_load(const char *a, int *t, int start) {
    int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, from, to, x;
    const char *p = a + (start + warp) * 1024;
    CLOCK(from)
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
    WAIT_FOR(x)
    CLOCK(to)
    if (threadIdx.x % 32 == 0) t[warp] = to - from;
}
__global__ void read_all(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += p[k];
    if (x == 12345) *o = x;
}
int main() {
    char *a, *other;
    int *t;
    cudaMalloc(&a, 64 << 20), cudaMalloc(&other, 256 << 20), cudaMalloc(&t, 1 << 16);
    cudaMemset(a, 0, 64 << 20), cudaMemset(other, 0, 256 << 20);
    printf("blocks,threads,loads");
    for (int b = 0; b < BINS; b++) printf(",%d", b * BIN);
    printf("\n");
    int shapes[][2] = {{1, 32}, {16, 32}, {132, 32}, {132, 256}};
    for (auto &shape : shapes) {
        int warps = shape[0] * shape[1] / 32, launches = std::max(100, 1000 / warps);
        std::vector<int> h(warps), bins(BINS);
        for (int launch = -1; launch < launches; launch++) {
            read_all<<<1024, 256>>>((int *)other, 64 << 20, t);
            cudaDeviceSynchronize();
            first_load<<<shape[0], shape[1]>>>(a, t, launch < 0 ? 0 : launch * 61 % 4096);
            cudaMemcpy(h.data(), t, warps * 4, cudaMemcpyDeviceToHost);
            if (launch >= 0) for (int x : h) bins[std::min(x / BIN, BINS - 1)]++;
        }
        printf("%d,%d,%d", shape[0], shape[1], warps * launches);
        for (int b : bins) printf(",%d", b);
        printf("\n");
    }
    return cudaDeviceSynchronize();
}
