// The first jump of a kernel, over so many KB of code, which is in no cache, in L2, or in the SM.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o code_jumps code_jumps.cu && ./code_jumps > code_jumps.csv
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int LENGTH> __device__ __forceinline__ void segment(float (&x)[8], float b) {
    #pragma unroll
    for (int k = 0; k < LENGTH; k++) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x[k % 8]) : "f"(b));
}
#define CASE(n) case n: CLOCK(c1) segment<56>(x, b); CLOCK(c2) break;
#define CASE4(n) CASE(n) CASE(n + 1) CASE(n + 2) CASE(n + 3)
#define CASE16(n) CASE4(n) CASE4(n + 4) CASE4(n + 8) CASE4(n + 12)
#define CASE64(n) CASE16(n) CASE16(n + 16) CASE16(n + 32) CASE16(n + 48)
// wait: cycles before the jump
__global__ void jump(int which, int wait, float b, int *t, float *out) {
    int c0, c1 = 0, c2 = 0, now;
    float x[8];
    CLOCK(c0)
    #pragma unroll
    for (int k = 0; k < 8; k++) x[k] = k + threadIdx.x;
    do { CLOCK(now) } while (now - c0 < wait);
    CLOCK(now)
    switch (which) { CASE64(0) CASE64(64) }
    if (threadIdx.x == 0) t[blockIdx.x * 4] = now - c0, t[blockIdx.x * 4 + 1] = c1 - now, t[blockIdx.x * 4 + 2] = c2 - c1;
    float s = 0;
    for (int k = 0; k < 8; k++) s += x[k];
    if (s == 1234.5f) *out = s;
}
template <int N> __global__ void other(float *out, float b) {
    float x[8];
    for (int k = 0; k < 8; k++) x[k] = k + threadIdx.x;
    segment<8192>(x, b), segment<8192>(x, b), segment<8192>(x, b);
    float s = 0;
    for (int k = 0; k < 8; k++) s += x[k];
    if (s == 1234.5f) out[N] = s;
}
int main() {
    int *t;
    float *out;
    char *big;
    cudaMalloc(&t, 132 * 16), cudaMalloc(&out, 4096), cudaMalloc(&big, 256 << 20);
    std::vector<int> h(132 * 4);
    printf("before,blocks,wait,piece,least,median,most,piece_cycles\n");
    for (std::string before : {"nothing", "code", "both"})
        for (int blocks : {1, 132})
            for (int wait : {0, 1000, 3000})
                for (int which : {0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 60, 61, 62, 63, 64, 65, 66, 70, 80, 100, 127}) {
                    std::vector<int> jumps, pieces;
                    for (int again = 0; again < 4; again++) {
                        if (before != "nothing") other<0><<<264, 128>>>(out, 0.5f);
                        if (before == "both") cudaMemset(big, again, 256 << 20);
                        cudaDeviceSynchronize();
                        jump<<<blocks, 32>>>(which, wait, 0.5f, t, out);
                        cudaMemcpy(h.data(), t, 132 * 16, cudaMemcpyDeviceToHost);
                        for (int b = 0; again && b < blocks; b++) jumps.push_back(h[4 * b + 1]), pieces.push_back(h[4 * b + 2]);
                    }
                    std::sort(jumps.begin(), jumps.end()), std::sort(pieces.begin(), pieces.end());
                    size_t half = jumps.size() / 2;
                    printf("%s,%d,%d,%d,%d,%d,%d,%d\n", before.c_str(), blocks, wait, which, jumps[0], jumps[half], jumps.back(), pieces[half]);
                }
    return cudaDeviceSynchronize() != cudaSuccess;
}
