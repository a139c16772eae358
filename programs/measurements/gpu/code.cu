// How fast instructions come: segments of straight code, executed once and again, by how many of them there are before the code is repeated.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o code code.cu && ./code > code.csv
#include <algorithm>
#include <cstdio>
#include <vector>
const int SEGMENTS = 64, PASSES = 3;
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int LENGTH> __device__ __forceinline__ void segment(float (&x)[8], float b) {
    #pragma unroll
    for (int k = 0; k < LENGTH; k++) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x[k % 8]) : "f"(b));
}
template <int LENGTH, int S> __device__ __forceinline__ void segments_from(float (&x)[8], float b, int segments, int *clocks) {
    int c;
    CLOCK(c)
    if (threadIdx.x == 0) clocks[S] = c;
    if (S == segments) return;
    segment<LENGTH>(x, b);
    if constexpr (S + 1 < SEGMENTS) segments_from<LENGTH, S + 1>(x, b, segments, clocks);
}
// t[pass * (SEGMENTS + 1) + s]: clock of warp 0 before segment s; behind all, of each warp, when it begins and ends.
template <int LENGTH> __global__ void __launch_bounds__(1024) line(int *t, float b, int segments, int passes) {
    __shared__ int clocks[PASSES * (SEGMENTS + 1)];
    float x[8];
    #pragma unroll
    for (int k = 0; k < 8; k++) x[k] = k + threadIdx.x;
    int begin, end, c;
    __syncthreads();
    CLOCK(begin)
    #pragma unroll 1
    for (int p = 0; p < passes; p++) {
        segments_from<LENGTH, 0>(x, b, segments, clocks + p * (SEGMENTS + 1));
        CLOCK(c)
        if (threadIdx.x == 0) clocks[p * (SEGMENTS + 1) + segments] = c;
    }
    CLOCK(end)
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < 8; k++) sum += x[k];
    __syncthreads();
    int *mine = t + blockIdx.x * 512;
    for (int k = threadIdx.x; k < PASSES * (SEGMENTS + 1); k += blockDim.x) mine[k] = clocks[k];
    if (threadIdx.x % 32 == 0) mine[256 + threadIdx.x / 16] = begin, mine[257 + threadIdx.x / 16] = end;
    if (sum == 1234.5f) t[0] = 0;
}
template <int LENGTH> void measure(int *d, char *other, int segments, int threads, int blocks, int cold, bool each) {
    std::vector<int> h(blocks * 512);
    std::vector<std::vector<int>> took;
    for (int again = 0; again < 4; again++) {
        if (cold) cudaMemset(other, again, 256 << 20);
        cudaDeviceSynchronize();
        line<LENGTH><<<blocks, threads>>>(d, 0.5f, segments, PASSES);
        cudaMemcpy(h.data(), d, h.size() * 4, cudaMemcpyDeviceToHost);
        int begin = h[256], end = h[257];
        for (int w = 1; w < threads / 32; w++) begin = std::min(begin, h[256 + 2 * w]), end = std::max(end, h[257 + 2 * w]);
        std::vector<int> row = {end - begin};
        for (int p = 0; p < PASSES; p++) row.push_back(h[p * (SEGMENTS + 1) + segments] - h[p * (SEGMENTS + 1)]);
        for (int s = 0; each && s < segments; s++) row.push_back(h[s + 1] - h[s]);
        if (again || cold) took.push_back(row);
    }
    std::sort(took.begin(), took.end());
    printf("%d,%d,%d,%d,%s", LENGTH, segments, threads, blocks, cold ? "cold" : "warm");
    for (int x : took[took.size() / 2]) printf(",%d", x);
    puts("");
}
int main() {
    int *d;
    char *other;
    cudaMalloc(&d, 132 * 512 * 4), cudaMalloc(&other, 256 << 20);
    puts("length,segments,threads,blocks,l2,all,pass_1,pass_2,pass_3,segments_of_pass_1");
    for (int threads : {32, 128, 256, 512, 1024}) for (int blocks : {1, 132}) for (int cold : {1, 0}) {
        for (int segments : {1, 2, 4, 8, 16, 32, 48, 63}) measure<64>(d, other, segments, threads, blocks, cold, threads == 32);
        for (int segments : {4, 8, 10, 12, 16, 20, 24, 32, 48, 63}) measure<512>(d, other, segments, threads, blocks, cold, threads == 32);
    }
    return cudaDeviceSynchronize();
}
