// Which lines of DRAM are late together, and when. One block of 32 warps loads all lines of 2 MB, one at a time each, in random order and at random
// times: when it asked, and how long that took (refresh.py makes refresh.csv of it). And how long it takes until all of 1 to 256 lines are there.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o refresh refresh.cu && ./refresh refresh.bin > rounds.csv && python -m programs.measurements.gpu.refresh refresh.bin
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
extern __shared__ uint2 noted[];
__global__ void __launch_bounds__(1024) one_by_one(const char *a, const unsigned *order, int n, uint2 *out) {
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int i = threadIdx.x; i < n; i += blockDim.x) noted[i] = make_uint2(order[i], 0);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        for (int i = warp; i < n; i += warps) {
            unsigned c0, c1, x, line = noted[i].x;
            CLOCK(c0)
            for (unsigned until = c0 + (line * 2654435761u >> 22) + (i < 2 * warps ? warp * 100 : 0); (int)(c0 - until) < 0;) CLOCK(c0)
            asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(a + line * 128ul) : "memory");
            WAIT_FOR(x)
            CLOCK(c1)
            noted[i] = make_uint2(c0, c1 - c0);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = noted[i];
}
__global__ void __launch_bounds__(1024) rounds(const char *a, const unsigned *bases, int count, int lanes, long step, unsigned *out) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned next = bases[0];
    for (int r = 0; r < count; r++) {
        unsigned c0, c1, x = 0, base = next;
        if (r + 1 < count) next = bases[r + 1];
        WAIT_FOR(next)
        __syncthreads();
        CLOCK(c0)
        if (lane < lanes) {
            asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(a + base * 128ul + (warp * lanes + lane) * step) : "memory");
            WAIT_FOR(x)
        }
        __syncthreads();
        CLOCK(c1)
        if (threadIdx.x == 0) noted[r] = make_uint2(c1 - c0, 0);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) out[i] = noted[i].x;
}
__global__ void read_all(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += p[k];
    if (x == 12345) *o = x;
}
int main(int argc, char **argv) {
    const int N = 16384, LAUNCHES = 200, ROUNDS = 400;
    char *a, *other;
    unsigned *order, *o;
    uint2 *out;
    cudaMalloc(&a, 4l << 30), cudaMalloc(&other, 256 << 20), cudaMalloc(&order, N * 4), cudaMalloc(&out, N * 8), cudaMalloc(&o, 1 << 20);
    cudaMemset(a, 0, 4l << 30), cudaMemset(other, 0, 256 << 20);
    cudaFuncSetAttribute(one_by_one, cudaFuncAttributeMaxDynamicSharedMemorySize, N * 8), cudaFuncSetAttribute(rounds, cudaFuncAttributeMaxDynamicSharedMemorySize, N * 8);
    FILE *f = fopen(argv[1], "wb");
    std::vector<unsigned> h(N);
    std::vector<uint2> t(N);
    for (int warm = 0; warm < 5000; warm++) read_all<<<1024, 256>>>((int *)other, 64 << 20, (int *)o);  // until the clock stays
    for (int launch = 0; launch < LAUNCHES; launch++) {
        for (int i = 0; i < N; i++) h[i] = i;
        for (int i = N - 1; i > 0; i--) std::swap(h[i], h[rand() % (i + 1)]);
        cudaMemcpy(order, h.data(), N * 4, cudaMemcpyHostToDevice);
        read_all<<<1024, 256>>>((int *)other, 64 << 20, (int *)o);
        cudaDeviceSynchronize();
        one_by_one<<<1, 1024, N * 8>>>(a + (2l << 30), order, N, out);
        cudaMemcpy(t.data(), out, N * 8, cudaMemcpyDeviceToHost);
        fwrite(h.data(), 4, N, f), fwrite(t.data(), 8, N, f);
    }
    fclose(f);
    puts("lines,step,samples,mean,least,p10,p25,median,p75,p90,most");
    for (long step : {128l, 512l, 2048l, 65536l}) for (int lines : {1, 8, 32, 128, 256}) {
        int lanes = lines < 8 ? 1 : 8, threads = lines / lanes * 32;
        std::vector<unsigned> b(ROUNDS), u(ROUNDS);
        for (int r = 0; r < ROUNDS; r++) b[r] = step < 65536 ? r * 4096 + rand() % 4 : r;  // no line twice
        cudaMemcpy(order, b.data(), ROUNDS * 4, cudaMemcpyHostToDevice);
        read_all<<<1024, 256>>>((int *)other, 64 << 20, (int *)o);
        cudaDeviceSynchronize();
        rounds<<<1, threads, N * 8>>>(a, order, ROUNDS, lanes, step, o);
        cudaMemcpy(u.data(), o, ROUNDS * 4, cudaMemcpyDeviceToHost);
        std::sort(u.begin(), u.end());
        double m = 0;
        for (unsigned x : u) m += x;
        printf("%d,%ld,%d,%.1f,%u,%u,%u,%u,%u,%u,%u\n", lines, step, ROUNDS, m / ROUNDS, u[0], u[ROUNDS / 10], u[ROUNDS / 4], u[ROUNDS / 2], u[3 * ROUNDS / 4], u[9 * ROUNDS / 10], u[ROUNDS - 1]);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
