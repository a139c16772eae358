// First loads of a launch, one after another, by how far each is from those before: what a page costs that was not touched yet.
// A program by itself: nvcc -O3 -arch=sm_90 -o pages pages.cu, under ncu --cache-control all --clock-control none --metrics sm__cycles_active.max ./pages 1
#include <cstdio>
#include <cstdlib>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
const int LOADS = 24;
__constant__ long long at[LOADS];
extern "C" __global__ void pages(const char *a, int *t) {
    __shared__ int took[LOADS];
    int zero = 0;
    #pragma unroll 1
    for (int k = 0; k < LOADS; k++) {
        const char *p = a + at[k] + zero;
        int from, to, x;
        CLOCK(from)
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
        CLOCK(to)
        took[k] = to - from, zero = x;
    }
    for (int k = 0; k < LOADS; k++) t[blockIdx.x * LOADS + k] = took[k];
}
int main(int argc, char **argv) {
    int blocks = atoi(argv[1]);
    char *a; int *t, h[132 * LOADS];
    cudaMalloc(&a, 4ll << 30), cudaMalloc(&t, sizeof h);
    cudaMemset(a, 0, 4ll << 30);
    const long long K = 1024, M = K * K;
    long long w[LOADS] = {0, 4 * K, 8 * K + 256, 64 * K, 128 * K + 512, 1 * M, 1 * M + 4 * K, 2 * M, 2 * M + 4 * K, 4 * M, 4 * M + 64 * K, 6 * M, 32 * M, 32 * M + 4 * K, 34 * M, 64 * M, 512 * M, 512 * M + 4 * K, 1024 * M, 1026 * M, 2048 * M, 2048 * M + 4 * K, 20 * K, 3 * M};
    for (int shift = 0; shift < 6; shift++) {
        long long s[LOADS];
        for (int k = 0; k < LOADS; k++) s[k] = w[k] + shift * 128 * M + shift * 12416;
        cudaMemcpyToSymbol(at, s, sizeof s);
        for (int again = 0; again < 4; again++) {
            pages<<<blocks, 1>>>(a, t);
            cudaMemcpy(h, t, blocks * LOADS * 4, cudaMemcpyDeviceToHost);
            int b = blocks / 2;
            printf("%d,%d,%d", blocks, shift, again);
            for (int k = 0; k < LOADS; k++) printf(",%d", h[b * LOADS + k]);
            puts("");
        }
    }
    return cudaDeviceSynchronize();
}
