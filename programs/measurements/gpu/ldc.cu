// LDC of lines that the SM's cache has not: do misses of independent loads overlap? K loads in a row, APART bytes from each other, by one thread or by
// all warps, of one SM or several; L2 cold (256 MB read in between), or warm. cycles: from the first issue until all are there; the fewest and the median of nine.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o ldc ldc.cu && ./ldc > ldc.csv
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
__constant__ int table[16384];  // zeros
__device__ __forceinline__ int load(unsigned address) {
    int value;
    asm volatile("ld.const.s32 %0, [%1];" : "=r"(value) : "r"(address));
    return value;
}
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int K> __global__ void loads(int *t, unsigned base, int apart, int shift) {
    int begin, end, sum = 0, value[K];
    unsigned address = base + (threadIdx.x / 32) * shift;
    __syncthreads();
    CLOCK(begin)
    #pragma unroll
    for (int k = 0; k < K; k++) value[k] = load(address + k * apart);
    #pragma unroll
    for (int k = 0; k < K; k++) sum += value[k];
    asm volatile("" :: "r"(sum) : "memory");
    if (sum == 1) t[1 << 16] = sum;
    CLOCK(end)
    if (threadIdx.x % 32 == 0) t[blockIdx.x * 32 + threadIdx.x / 32] = end - begin + sum;
}
__global__ void sweep(const int4 *a, int n, int *out) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i].x;
    if (sum == 12345) *out = sum;
}
int *t, host[132 * 32];
int4 *big;
template <int K> void measure(int blocks, int threads, int apart, int shift, int cold) {
    int found[9];
    for (int n = 0; n < 10; n++) {
        if (cold) sweep<<<1056, 256>>>(big, 1 << 24, t);
        loads<K><<<blocks, threads>>>(t, 0, apart, shift);
        cudaMemcpy(host, t, sizeof host, cudaMemcpyDeviceToHost);
        int most = 0;
        for (int b = 0; b < blocks; b++) for (int w = 0; w < threads / 32; w++) most = std::max(most, host[b * 32 + w]);
        if (n) found[n - 1] = most;
    }
    std::sort(found, found + 9);
    printf("%d,%d,%d,%d,%d,%d,%d,%d\n", K, blocks, threads, apart, shift, cold, found[0], found[4]);
}
template <int K> void all() {
    for (int cold : {0, 1}) for (int apart : {4, 64, 256, 512, 1024}) {
        measure<K>(1, 32, apart, 0, cold);
        if (apart >= 256) measure<K>(1, 256, apart, 0, cold), measure<K>(1, 256, apart, 4096, cold), measure<K>(33, 32, apart, 0, cold), measure<K>(132, 256, apart, 0, cold);
    }
}
int main() {
    cudaMalloc(&t, 1 << 19), cudaMalloc(&big, 1 << 28);
    cudaMemset(big, 0, 1 << 28);
    printf("loads,blocks,threads,apart,shift,cold,least,median\n");
    all<1>(), all<2>(), all<4>(), all<8>(), all<16>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
