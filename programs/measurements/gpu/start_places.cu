// How a launch begins and what it waits for: copies of kernels that do nothing, and that read clocks around their parameters and two loads,
// the driver puts each copy elsewhere. A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o start_places start_places.cu, under
// ncu --csv --page raw --cache-control all --clock-control none --metrics sm__cycles_active.max ./start_places FILE SEED
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
#ifndef COPIES
#define COPIES 12
#endif
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int K> __global__ void begun(const int *a, int p, int far, unsigned *out) {
    unsigned c0, c1, c2, c3, sm;
    CLOCK(c0)
    WAIT_FOR(p) CLOCK(c1)
    int y; asm volatile("ld.global.u32 %0, [%1];" : "=r"(y) : "l"(a + blockIdx.x * blockDim.x + threadIdx.x + p) : "memory");
    WAIT_FOR(y) CLOCK(c2)
    int z; asm volatile("ld.global.u32 %0, [%1];" : "=r"(z) : "l"(a + blockIdx.x * blockDim.x + threadIdx.x + y + far) : "memory");
    WAIT_FOR(z) CLOCK(c3)
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x % 32 == 0) {
        int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
        ((uint4 *)out)[w * 2] = make_uint4(c0, c1, c2, c3), out[w * 8 + 4] = sm;
    }
}
template <int K> __global__ void nothing(int p) {}
std::vector<void (*)(const int *, int, int, unsigned *)> begins;
std::vector<void (*)(int)> nothings;
template <int... K> void fill(std::integer_sequence<int, K...>) { (begins.push_back(begun<K>), ...), (nothings.push_back(nothing<K>), ...); }
int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "w"); srand(atoi(argv[2]));
    int *a; unsigned *out; cudaMalloc(&a, 64 << 20), cudaMemset(a, 0, 64 << 20), cudaMalloc(&out, 1 << 22);
    fill(std::make_integer_sequence<int, COPIES>());
    std::vector<unsigned> h(1 << 18);
    for (int k = 0; k < COPIES; k++) for (int grid : {1, 4, 132}) for (int threads : {32, 64, 96, 128, 192, 256, 512, 1024}) {
        if (grid == 132 && threads != 32 && threads != 256 && threads != 1024) continue;
        nothings[k]<<<grid, threads>>>(0);
        int at = rand() % (1 << 20) / 32 * 32, far = (4 << 20) + rand() % (1 << 20) / 32 * 32;
        begins[k]<<<grid, threads>>>(a + at, 0, far, out), cudaMemcpy(h.data(), out, grid * threads, cudaMemcpyDeviceToHost);
        fprintf(file, "%d %d %d", k, grid, threads);
        for (int w = 0; w < grid * threads / 32; w++) for (int c = 0; c < 5; c++) fprintf(file, " %u", h[w * 8 + c]);
        fprintf(file, "\n");
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
