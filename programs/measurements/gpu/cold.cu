// How long loads of a launch take that finds nothing in L2: by warps, one launch after another, for ncu (which empties the caches) and without it.
// nvcc -O3 -arch=sm_90 -std=c++17 -o cold cold.cu && ./cold MODE: ncu (nothing is done between launches), read (256 MB are read before each), wait (read, then 20 ms)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <unistd.h>
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
__global__ void cold(const char *a, int *t, long step) {
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned long long g;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(g));
    int c0, c1, x;
    CLOCK(c0)
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(a + warp * step + threadIdx.x % 32 * 4) : "memory");
    WAIT_FOR(x) CLOCK(c1)
    if (threadIdx.x % 32 == 0) t[warp * 4] = c0, t[warp * 4 + 1] = c1 - c0, t[warp * 4 + 2] = (int)g;
}
__global__ void read_all(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += p[k];
    if (x == 12345) *o = x;
}
int main(int argc, char **argv) {
    char *a, *other; int *t;
    bool read = strcmp(argv[1], "ncu"), rest = !strcmp(argv[1], "wait");
    cudaMalloc(&a, 1l << 30), cudaMalloc(&other, 256 << 20), cudaMalloc(&t, 4 << 20);
    cudaMemset(a, 0, 1l << 30), cudaMemset(other, 0, 256 << 20);
    srand(7);
    std::vector<int> h(1 << 20);
    printf("mode,blocks,threads,launch,start_kb,warps,least,p10,median,p90,most,over_850,ns_span,latencies\n");
    int shapes[][2] = {{1, 32}, {1, 256}, {33, 128}, {132, 128}, {132, 512}, {264, 64}};
    for (auto &s : shapes) for (int l = 0; l < 24; l++) {
        int warps = s[0] * s[1] / 32;
        long start = (long)(rand() % 8192) * 65536;
        if (read) read_all<<<1024, 256>>>((int *)other, 64 << 20, t), cudaDeviceSynchronize();
        if (rest) usleep(20000);
        cold<<<s[0], s[1]>>>(a + start, t, 128);
        cudaMemcpy(h.data(), t, warps * 16, cudaMemcpyDeviceToHost);
        std::vector<int> v;
        unsigned lo = ~0u, hi = 0; int over = 0;
        for (int w = 0; w < warps; w++) v.push_back(h[w * 4 + 1]), lo = std::min(lo, (unsigned)h[w * 4 + 2]), hi = std::max(hi, (unsigned)h[w * 4 + 2]), over += h[w * 4 + 1] > 850;
        printf("%s,%d,%d,%d,%ld,%d,", argv[1], s[0], s[1], l, start / 1024, warps);
        std::vector<int> raw = v;
        std::sort(v.begin(), v.end());
        printf("%d,%d,%d,%d,%d,%d,%u,", v[0], v[warps / 10], v[warps / 2], v[warps * 9 / 10], v[warps - 1], over, hi - lo);
        if (l < 8) for (int w = 0; w < warps && w < 264; w++) printf("%d ", raw[w]);
        printf("\n");
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
