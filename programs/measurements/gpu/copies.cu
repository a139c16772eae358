// One wave of loads, or of loads and stores, that finds nothing in L2: cycles of each warp from before its loads until the last is there, and of the launch.
// nvcc -O3 -arch=sm_90 -std=c++17 -o copies copies.cu && ./copies MODE: read (256 MB are read before each), warm
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
// KIND 0: loads; 1: and stores elsewhere; 2: stores alone
template <int E, int KIND> __global__ void copies(const uint4 *a, uint4 *b, int *t) {
    long base = blockIdx.x * (long)blockDim.x * E + threadIdx.x;
    uint4 v[E];
    int c0, c1, c2;
    CLOCK(c0)
    if (KIND < 2) {
        #pragma unroll
        for (int e = 0; e < E; e++) asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[e].x), "=r"(v[e].y), "=r"(v[e].z), "=r"(v[e].w) : "l"(a + base + e * blockDim.x) : "memory");
    } else
        for (int e = 0; e < E; e++) v[e] = {1u, 2u, 3u, (unsigned)threadIdx.x};
    #pragma unroll
    for (int e = 0; e < E; e++) { WAIT_FOR(v[e].x) if (KIND) asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" :: "l"(b + base + e * blockDim.x), "r"(v[e].x), "r"(v[e].y), "r"(v[e].z), "r"(v[e].w) : "memory"); }
    CLOCK(c1)
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0) t[warp * 2] = c0, t[warp * 2 + 1] = c1;
}
__global__ void read_all(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += p[k];
    if (x == 12345) *o = x;
}
uint4 *a, *b; char *other; int *t; bool flush, warm;
template <int E, int KIND> void go(const char *mode, int blocks, int threads) {
    std::vector<int> h(1 << 20);
    int warps = blocks * threads / 32;
    for (int l = 0; l < 9; l++) {
        long start = warm ? 0 : (long)(rand() % 4096) * 65536;
        if (flush) read_all<<<1024, 256>>>((int *)other, 64 << 20, t), cudaDeviceSynchronize();
        copies<E, KIND><<<blocks, threads>>>(a + start / 16, b + start / 16, t);
        cudaMemcpy(h.data(), t, warps * 8, cudaMemcpyDeviceToHost);
        std::vector<int> v;
        for (int w = 0; w < warps; w++) v.push_back(h[2 * w + 1] - h[2 * w]);
        std::sort(v.begin(), v.end());
        double m = 0; for (int x : v) m += x;
        printf("%s,%d,%d,%d,%d,%d,%.0f,%d,%d,%d,%d,%d\n", mode, E, KIND, blocks, threads, l, m / warps, v[0], v[warps / 10], v[warps / 2], v[warps * 9 / 10], v[warps - 1]);
    }
}
int main(int argc, char **argv) {
    cudaMalloc(&a, 1l << 30), cudaMalloc(&b, 1l << 30), cudaMalloc(&other, 256 << 20), cudaMalloc(&t, 8 << 20);
    cudaMemset(a, 0, 1l << 30), cudaMemset(b, 0, 1l << 30);
    flush = !strcmp(argv[1], "read"), warm = !strcmp(argv[1], "warm");
    printf("mode,each,kind,blocks,threads,launch,mean,least,p10,median,p90,most\n");
    go<1, 0>(argv[1], 132, 512), go<1, 1>(argv[1], 132, 512), go<1, 2>(argv[1], 132, 512);
    go<2, 0>(argv[1], 132, 512), go<2, 1>(argv[1], 132, 512), go<2, 2>(argv[1], 132, 512);
    go<4, 0>(argv[1], 132, 512), go<4, 1>(argv[1], 132, 512), go<4, 2>(argv[1], 132, 512);
    go<4, 0>(argv[1], 132, 1024), go<4, 1>(argv[1], 132, 1024), go<4, 2>(argv[1], 132, 1024);
    return cudaDeviceSynchronize() != cudaSuccess;
}
