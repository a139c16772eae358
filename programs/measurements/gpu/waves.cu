// One wave of blocks: each warp loads E vectors of 16 bytes per lane, then stores as many. MODE 0: loads alone, 1: both, 2: stores alone.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o waves waves.cu && ./waves
// It prints what ../h200/waves.csv holds, where modes have names; `ns`, a launch by events, is not there. Before each launch 256 MB are read, so L2 has none of it.
#include <cstdio>
#include <vector>
#include <algorithm>
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int E, int MODE> __global__ void wave(const int4 *a, int4 *b, int *t, int n) {
    int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, base = blockIdx.x * blockDim.x * E + threadIdx.x, t0, t1, t2;
    int4 v[E];
    CLOCK(t0)
#pragma unroll
    for (int e = 0; e < E; e++) {
        if (MODE != 2) asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[e].x), "=r"(v[e].y), "=r"(v[e].z), "=r"(v[e].w) : "l"(a + base + e * blockDim.x) : "memory");
        else v[e] = make_int4(n, n, n, n);
    }
#pragma unroll
    for (int e = 0; e < E; e++) WAIT_FOR(v[e].x)
    CLOCK(t1)
    if (MODE >= 1)
#pragma unroll
        for (int e = 0; e < E; e++) asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" :: "l"(b + base + e * blockDim.x), "r"(v[e].x), "r"(v[e].y), "r"(v[e].z), "r"(v[e].w) : "memory");
    CLOCK(t2)
    if (threadIdx.x % 32 == 0) t[3 * w] = t0, t[3 * w + 1] = t1, t[3 * w + 2] = t2;
}
int4 *a, *b, *big; int *t;
__global__ void flush(int4 *p, size_t n) { for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { int4 v = p[i]; if (v.x == 12345) p[0] = v; } }
template <int E, int MODE> void go(int grid, int block) {
    int warps = grid * block / 32;
    std::vector<std::vector<double>> all;
    for (int k = 0; k < 15; k++) {
        flush<<<1056, 256>>>(big, (size_t)(256 << 20) / 16);
        cudaDeviceSynchronize();
        cudaEvent_t x, y; cudaEventCreate(&x), cudaEventCreate(&y);
        cudaEventRecord(x);
        wave<E, MODE><<<grid, block>>>(a + (k % 5) * (1 << 18), b + (k % 3) * (1 << 18), t, 5);
        cudaEventRecord(y); cudaDeviceSynchronize();
        float ms; cudaEventElapsedTime(&ms, x, y);
        std::vector<int> h(3 * warps);
        cudaMemcpy(h.data(), t, 12 * warps, cudaMemcpyDeviceToHost);
        std::vector<double> l, f;
        for (int i = 0; i < warps; i++) l.push_back(unsigned(h[3 * i + 1] - h[3 * i])), f.push_back(unsigned(h[3 * i + 2] - h[3 * i + 1]));
        std::sort(l.begin(), l.end()); std::sort(f.begin(), f.end());
        double m = 0; for (double v : l) m += v; double s = 0; for (double v : f) s += v;
        all.push_back({m / warps, l[0], l[warps / 10], l[warps / 2], l[warps * 9 / 10], l[warps - 1], s / warps, f[warps - 1], ms * 1e6});
    }
    printf("%d,%d,%d,%d", E, MODE, grid, block);
    for (int c = 0; c < 9; c++) { std::vector<double> v; for (auto &r : all) v.push_back(r[c]); std::sort(v.begin(), v.end()); printf(",%.0f", v[7]); }
    printf("\n");
}
template <int E> void modes(int grid, int block) { go<E, 0>(grid, block); go<E, 1>(grid, block); go<E, 2>(grid, block); }
int main() {
    cudaMalloc(&a, 64 << 20), cudaMalloc(&b, 64 << 20), cudaMalloc(&big, 256 << 20), cudaMalloc(&t, 4 << 20);
    cudaMemset(a, 0, 64 << 20);
    printf("vectors,mode,grid,block,load_mean,load_least,load_p10,load_p50,load_p90,load_most,store_mean,store_most,ns\n");
    for (int block : {32, 64, 128, 256, 512, 1024}) modes<1>(132, block);
    for (int block : {128, 512}) modes<4>(132, block);
    modes<1>(528, 256); modes<2>(132, 512); modes<1>(33, 512); modes<4>(33, 512); modes<4>(8, 512);
    return cudaDeviceSynchronize();
}
