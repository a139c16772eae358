// Eight loads of one warp, one after another, each waited for, that DRAM serves (L2 is full of other data, read before): plain, past L1, volatile.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o chains chains.cu && ./chains
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int KIND> __global__ void chain(const char *a, int *t, long step, long block_step) {
    int c[9], x = 0;
    const char *p = a + blockIdx.x * block_step + threadIdx.x * 4;
    WAIT_FOR((int)(long)p)
    CLOCK(c[0])
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        const char *q = p + k * step + x;
        if (KIND == 0) asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(q) : "memory");
        if (KIND == 1) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(q) : "memory");
        if (KIND == 2) asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(q) : "memory");
        WAIT_FOR(x)
        CLOCK(c[k + 1])
    }
    if (threadIdx.x == 0)
        for (int k = 0; k < 8; k++) t[blockIdx.x * 8 + k] = c[k + 1] - c[k];
}
__global__ void read_all(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += p[k];
    if (x == 12345) *o = x;
}
char *a, *other; int *t;
template <int KIND> void go(int blocks, long step, int warm) {
    std::vector<int> h(blocks * 8);
    std::vector<std::vector<int>> v(8);
    int launches = blocks == 1 ? 200 : 12;
    long block_step = blocks == 1 ? 0 : 8 * step + 4096;
    for (int l = -1; l < launches; l++) {
        if (!warm) read_all<<<1024, 256>>>((int *)other, 64 << 20, t);
        cudaDeviceSynchronize();
        chain<KIND><<<blocks, 32>>>(a + (warm ? 0 : (long)(rand() % 1024) * 65536), t, step, block_step);
        cudaMemcpy(h.data(), t, blocks * 32, cudaMemcpyDeviceToHost);
        if (l >= 0) for (int b = 0; b < blocks; b++) for (int k = 0; k < 8; k++) v[k].push_back(h[b * 8 + k]);
    }
    for (int k = 0; k < 8; k++) {
        std::sort(v[k].begin(), v[k].end());
        double m = 0; for (int x : v[k]) m += x;
        int n = v[k].size();
        printf("%s,%d,%ld,%d,%d,%.1f,%d,%d,%d,%d,%d\n", KIND == 0 ? "plain" : KIND == 1 ? "cg" : "volatile", blocks, step, warm, k, m / n, v[k][n / 10], v[k][n / 4], v[k][n / 2], v[k][3 * n / 4], v[k][9 * n / 10]);
    }
}
int main() {
    cudaMalloc(&a, 2l << 30), cudaMalloc(&other, 256 << 20), cudaMalloc(&t, 1 << 20);
    cudaMemset(a, 0, 2l << 30), cudaMemset(other, 0, 256 << 20);
    printf("kind,blocks,step,warm,k,mean,p10,p25,median,p75,p90\n");
    for (int warm : {0, 1}) for (int blocks : {1, 132}) for (long step : {128l, 4096l, 65536l, 1048576l}) go<0>(blocks, step, warm), go<1>(blocks, step, warm), go<2>(blocks, step, warm);
    return cudaDeviceSynchronize() != cudaSuccess;
}
