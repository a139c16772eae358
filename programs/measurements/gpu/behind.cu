// Straight code by SMs some of which begin later: how long a line takes where they follow each other through it.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o behind behind.cu && ./behind > behind.csv
#include <algorithm>
#include <cstdio>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int LENGTH> __device__ __forceinline__ void segment(float (&x)[8], float b) {
    #pragma unroll
    for (int k = 0; k < LENGTH; k++) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x[k % 8]) : "f"(b));
}
// mode 0: second SMs of pairs later; 1: every second pair later; 2: each SM by a time of its own below `late`.
template <int N> __global__ void straight(int mode, int late, int rounds, int *t, float b) {
    unsigned sm, from, mid = 0, to;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    float x[8];
    for (int k = 0; k < 8; k++) x[k] = k + threadIdx.x;
    unsigned wait = mode == 0 ? (sm & 1) * late : mode == 1 ? (sm >> 1 & 1) * late : late ? (sm * 2654435761u >> 8) % late : 0;
    CLOCK(from)
    for (;;) { unsigned now; CLOCK(now) if (now - from >= 20000 + wait) break; }
    CLOCK(from)
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        segment<N>(x, b);
        if (r == rounds / 2) CLOCK(mid)
    }
    CLOCK(to)
    float s = 0;
    for (int k = 0; k < 8; k++) s += x[k];
    if (threadIdx.x == 0) t[blockIdx.x * 3] = sm, t[blockIdx.x * 3 + 1] = mid - from, t[blockIdx.x * 3 + 2] = to - mid;
    if (s == 1234.5f) t[0] = 0;
}
template <int N> void go(int *t) {
    const int rounds = 21;
    cudaFuncSetAttribute(straight<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024);  // so that an SM has one block
    for (int blocks : {1, 132}) for (int threads : {32, 128}) for (int mode : {0, 1, 2}) for (int late : {0, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
        if (blocks == 1 && (mode || late)) continue;
        std::vector<int> h(blocks * 3);
        for (int k = 0; k < 2; k++) straight<N><<<blocks, threads, 120 * 1024>>>(mode, late, rounds, t, 0.5f);
        cudaMemcpy(h.data(), t, h.size() * 4, cudaMemcpyDeviceToHost);
        std::vector<double> c, d;
        for (int k = 0; k < blocks; k++) c.push_back(h[3 * k + 2] / (10.0 * N / 8)), d.push_back(h[3 * k + 1] / (11.0 * N / 8));
        std::sort(c.begin(), c.end()), std::sort(d.begin(), d.end());
        printf("%d,%d,%d,%d,%d,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f\n", N * 16 / 1024, blocks, threads, mode, late, d[0], d[d.size() / 2], d.back(), c[0], c[c.size() / 2], c.back());
    }
}
int main() {
    int *t;
    cudaMalloc(&t, 1 << 20);
    printf("kb,blocks,threads,mode,late,first_least,first_median,first_most,least,median,most\n");
    go<3008>(t), go<4032>(t), go<6400>(t);
    return cudaDeviceSynchronize();
}
