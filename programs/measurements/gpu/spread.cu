// How long SMs take for equal blocks of launches of the population, L2 cold (256 MB read in between): of the second launch, per SM, its blocks, the cycles
// from the first one's begin to the last one's end, the mean of a block.
// nvcc -O3 -arch=sm_90 -std=c++17 -I ../population -o spread spread.cu && ./spread > spread.csv
#include <algorithm>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#include "kernels.cuh"
typedef unsigned long long u64;
#define COMMA ,
#define CASE(name, body) __global__ void name(ARGUMENTS, u64 *t) { \
    u64 begin, end; unsigned sm; \
    begin = clock64(); asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); \
    body(a, b, index, n, p); __syncthreads(); end = clock64(); \
    if (threadIdx.x == 0) t[blockIdx.x * 3] = sm, t[blockIdx.x * 3 + 1] = begin, t[blockIdx.x * 3 + 2] = end; }
CASE(rows_, rows)
CASE(mix_, mix<1 COMMA 1 COMMA 0 COMMA 1>)
CASE(local_, local<200>)
CASE(gather_, gather<8>)
CASE(stream_, stream<1 COMMA 1 COMMA 1>)
__global__ void sweep(const float4 *a, int n, float *out) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i].x;
    if (sum == 12345) *out = sum;
}
float *a, *b, *out;
int *index_;
float4 *big;
u64 *t;
template <class K> void measure(const char *name, K kernel, int grid, int block, int n, int p) {
    std::vector<u64> host(grid * 3);
    for (int k = 0; k < 2; k++) {
        sweep<<<1056, 256>>>(big, 1 << 24, out);
        kernel<<<grid, block>>>(a, b, index_, n, p, t);
        cudaMemcpy(host.data(), t, grid * 24, cudaMemcpyDeviceToHost);
    }
    for (u64 sm = 0; sm < 132; sm++) {
        u64 first = ~0ull, last = 0, sum = 0, count = 0;
        for (int i = 0; i < grid; i++)
            if (host[3 * i] == sm)
                first = std::min(first, host[3 * i + 1]), last = std::max(last, host[3 * i + 2]), sum += host[3 * i + 2] - host[3 * i + 1], count++;
        if (count) printf("%s,%llu,%llu,%llu,%.0f\n", name, sm, count, last - first, (double)sum / count);
    }
}
int main() {
    cudaMalloc(&a, 1 << 26), cudaMalloc(&b, 1 << 26), cudaMalloc(&index_, 1 << 24), cudaMalloc(&t, 1 << 20), cudaMalloc(&big, 1 << 28), cudaMalloc(&out, 4);
    cudaMemset(a, 0, 1 << 26), cudaMemset(index_, 0, 1 << 24), cudaMemset(big, 0, 1 << 28);
    std::vector<int> random(1 << 22);
    unsigned x = 1;
    for (int &v : random) x = x * 1664525 + 1013904223, v = (x >> 8) % 200;
    cudaMemcpy(index_, random.data(), 1 << 24, cudaMemcpyHostToDevice);
    printf("kernel,sm,blocks,span,block_mean\n");
    measure("rows", rows_, 1056, 32, 0, 1000);
    measure("mix", mix_, 4224, 64, 0, 2);
    measure("local", local_, 1024, 32, 0, 16);
    measure("gather", gather_, 1024, 64, 0, 1);
    measure("stream", stream_, 1056, 64, 0, 1);
    return cudaDeviceSynchronize() != cudaSuccess;
}
