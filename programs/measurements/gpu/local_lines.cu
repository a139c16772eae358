// W warps of a block per SM each store R rows of 128 bytes of local memory, then load a word of each, one warp after another, twice: how many rows
// of the second time are not in L1? A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o local_lines local_lines.cu && ./local_lines > local_lines.csv
#include <algorithm>
#include <cstdio>
#include <vector>
typedef unsigned u32;
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int R> __global__ void local(u32 *lost) {
    volatile int kept[R];
    int w = threadIdx.x / 32, n = blockDim.x / 32, lane = threadIdx.x % 32;
    u32 count = 0;
    for (int turn = 0; turn < n; turn++) {
        if (w == turn) {
            #pragma unroll 1
            for (int k = 0; k < R; k++) kept[k] = k;
        }
        __syncthreads();
    }
    #pragma unroll 1
    for (int turn = 0; turn < 2 * n; turn++) {
        if (w == turn % n) {
            count = 0;
            #pragma unroll 1
            for (int k = 0; k < R; k++) {
                u32 from, to;
                CLOCK(from)
                int y = kept[k];
                WAIT_FOR(y)
                CLOCK(to)
                count += to - from > 150;
            }
        }
        __syncthreads();
    }
    if (lane == 0) atomicAdd(&lost[blockIdx.x], count);
}
__global__ void sweep(const float4 *a, int n, float *out) {  // local memory of launches before leaves L1
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i].x;
    if (sum == 12345) *out = sum;
}
u32 *lost; float4 *big; float *out;
template <int R> void measure(std::vector<int> warps) {
    for (int w : warps) {
        std::vector<u32> h(132);
        cudaMemset(lost, 0, 4 * 132);
        sweep<<<1056, 256>>>(big, 1 << 24, out);
        local<R><<<132, 32 * w>>>(lost);
        cudaMemcpy(h.data(), lost, 4 * 132, cudaMemcpyDeviceToHost);
        std::sort(h.begin(), h.end());
        double sum = 0;
        for (u32 v : h) sum += v;
        printf("%d,%d,%.1f,%u,%u,%u\n", R, w, sum / 132, h[0], h[66], h[131]);
    }
}
int main() {
    cudaMalloc(&lost, 4 * 132), cudaMalloc(&big, 1 << 28), cudaMalloc(&out, 4);
    cudaMemset(big, 0, 1 << 28);
    printf("rows,warps,lost,least,median,most\n");
    measure<64>({8, 16, 24, 28, 32}), measure<100>({8, 12, 16, 18, 20}), measure<200>({4, 6, 8, 9, 10}), measure<400>({3, 4, 5}), measure<1000>({1, 2});
    return cudaDeviceSynchronize() != cudaSuccess;
}
