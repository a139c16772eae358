// How long one warp waits for the first and for all of 1 to 16 loads that DRAM serves, lines some bytes apart; L2 is full of other data, read before.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o waits waits.cu && ./waits
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int N> __global__ void waits(const char *a, int *t, long step, long block_step) {
    int c[N + 2], x[N];
    const char *p = a + blockIdx.x * block_step + threadIdx.x * 4;
    CLOCK(c[0])
    #pragma unroll
    for (int k = 0; k < N; k++) asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x[k]) : "l"(p + k * step) : "memory");
    CLOCK(c[1])
    #pragma unroll
    for (int k = 0; k < N; k++) { WAIT_FOR(x[k]) CLOCK(c[k + 2]) }
    if (threadIdx.x == 0)
        #pragma unroll
        for (int k = 0; k < N + 2; k++) t[blockIdx.x * 32 + k] = c[k] - c[0];
}
__global__ void read_all(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += p[k];
    if (x == 12345) *o = x;
}
char *a, *other; int *t;
template <int N> void go(int blocks, long step, long block_step, int warm, int launches) {
    std::vector<int> h(blocks * 32);
    std::vector<std::vector<int>> v(N + 2);
    for (int l = -1; l < launches; l++) {
        if (!warm) read_all<<<1024, 256>>>((int *)other, 64 << 20, t);
        cudaDeviceSynchronize();
        long start = warm ? 0 : (long)(rand() % 1024) * 65536 % (512l << 20);
        waits<N><<<blocks, 32>>>(a + start, t, step, block_step);
        cudaMemcpy(h.data(), t, blocks * 128, cudaMemcpyDeviceToHost);
        if (l >= 0) for (int b = 0; b < blocks; b++) for (int k = 0; k < N + 2; k++) v[k].push_back(h[b * 32 + k]);
    }
    for (int k = 1; k < N + 2; k++) {
        std::sort(v[k].begin(), v[k].end());
        double m = 0; for (int x : v[k]) m += x;
        int n = v[k].size();
        printf("%d,%d,%ld,%ld,%d,%d,%d,%.1f,%d,%d,%d,%d,%d,%d,%d\n", N, blocks, step, block_step, warm, n, k - 1, m / n, v[k][0], v[k][n / 10], v[k][n / 4], v[k][n / 2], v[k][3 * n / 4], v[k][9 * n / 10], v[k][n - 1]);
    }
}
int main() {
    cudaMalloc(&a, 4l << 30), cudaMalloc(&other, 256 << 20), cudaMalloc(&t, 1 << 20);
    cudaMemset(a, 0, 4l << 30), cudaMemset(other, 0, 256 << 20);
    printf("loads,blocks,step,block_step,warm,samples,k,mean,least,p10,p25,median,p75,p90,most\n");
    for (int warm : {0, 1}) for (int blocks : {1, 132}) {
        int L = warm ? 40 : blocks == 1 ? 400 : 20;
        for (long step : {128l, 256l, 1024l, 4096l, 65536l, 2097152l}) {
            long bs = blocks == 1 ? 0 : step >= 65536 ? 4224 : step * 8 + 4096 - (step * 8) % 4096;
            go<1>(blocks, step, bs, warm, L), go<2>(blocks, step, bs, warm, L), go<4>(blocks, step, bs, warm, L), go<8>(blocks, step, bs, warm, L), go<16>(blocks, step, bs, warm, L);
        }
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
