// What constants cost: LDC with an address per lane, by distinct addresses and their distance; tables of 1 to 64 KB; operands c[3][...].
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o tables tables.cu && ./tables > tables.csv
#include <algorithm>
#include <cstdio>
#include <vector>
const int LOADS = 64;
__constant__ int table[16384];  // zeros
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
#define BEGIN int begin, end; __syncthreads(); CLOCK(begin)
#define END CLOCK(end) if (threadIdx.x % 32 == 0) t[threadIdx.x / 16] = begin, t[threadIdx.x / 16 + 1] = end;

__device__ __forceinline__ int load(unsigned address) {
    int value;
    asm volatile("ld.const.s32 %0, [%1];" : "=r"(value) : "r"(address));
    return value;
}
// Lane i reads word (i % distinct) * apart of the table, LOADS times; each address needs the last value, or four chains do.
template <int CHAINS> __global__ void __launch_bounds__(1024) lanes(int *t, unsigned base, int distinct, int apart, int loops) {
    unsigned address[CHAINS];
    for (int k = 0; k < CHAINS; k++) address[k] = base + (threadIdx.x % 32 % distinct) * apart;
    for (int k = 0; k < CHAINS; k++) address[k] += load(address[k]);
    BEGIN
    #pragma unroll 1
    for (int n = 0; n < loops; n++)
        #pragma unroll
        for (int k = 0; k < LOADS; k++) address[k % CHAINS] += load(address[k % CHAINS]);
    END
    int sum = 0;
    for (int k = 0; k < CHAINS; k++) sum += address[k];
    if (sum == 1) t[0] = sum;
}
// All lanes walk a table of so many bytes, `step` bytes at a time, `passes` times; t + 64: cycles of each pass.
extern "C" __global__ void __launch_bounds__(1024) walk(int *t, unsigned base, int bytes, int step, int passes) {
    unsigned address = base;
    int last, now;
    BEGIN
    CLOCK(last)
    #pragma unroll 1
    for (int p = 0; p < passes; p++) {
        address = base;
        #pragma unroll 1
        while (address < base + bytes) address += step + load(address);
        CLOCK(now)
        if (threadIdx.x == 0) t[64 + p] = now - last;
        last = now;
    }
    END
    if (address == 1) t[0] = 0;
}
// Operands of 1,024 lines of 64 bytes, named by instructions one after another; a function of its own, so that nothing is named ahead.
__device__ __noinline__ float named(float x, int lines) {
    #pragma unroll
    for (int s = 0; s < 64; s++) {
        if (s * 16 == lines) break;
        #pragma unroll
        for (int k = 0; k < 16; k++) x = fmaf(x, __int_as_float(table[(s * 16 + k) * 16]), x);
    }
    return x;
}
extern "C" __global__ void __launch_bounds__(1024) operands(int *t, int lines, int passes) {
    float x = threadIdx.x;
    int last, now;
    BEGIN
    CLOCK(last)
    #pragma unroll 1
    for (int p = 0; p < passes; p++) {
        x = named(x, lines);
        CLOCK(now)
        if (threadIdx.x == 0) t[64 + p] = now - last;
        last = now;
    }
    END
    if (x == 1.5f) t[0] = 0;
}
int *d;
template <class F> void report(const char *what, int a, int b, int c, int threads, int passes, F launch) {
    std::vector<int> best, h(128);
    for (int again = 0; again < 4; again++) {
        launch();
        cudaMemcpy(h.data(), d, 512, cudaMemcpyDeviceToHost);
        int begin = h[0], end = h[1];
        for (int w = 1; w < threads / 32; w++) begin = std::min(begin, h[2 * w]), end = std::max(end, h[2 * w + 1]);
        std::vector<int> row = {end - begin};
        for (int p = 0; p < passes; p++) row.push_back(h[64 + p]);
        if (again && (best.empty() || row < best)) best = row;
    }
    printf("%s,%d,%d,%d,%d", what, a, b, c, threads);
    for (int x : best) printf(",%d", x);
    puts("");
}
int main() {
    cudaMalloc(&d, 4096);
    puts("kernel,a,b,c,threads,all,pass_1,pass_2,pass_3");
    for (int threads : {32, 128, 512}) for (int apart : {4, 8, 64, 256, 1024}) for (int distinct : {1, 2, 4, 8, 16, 32}) if (apart * distinct <= 65536) {
        report("lanes1", distinct, apart, 8, threads, 0, [&] { lanes<1><<<1, threads>>>(d, 0, distinct, apart, 8); });
        report("lanes4", distinct, apart, 8, threads, 0, [&] { lanes<4><<<1, threads>>>(d, 0, distinct, apart, 8); });
    }
    for (int threads : {32, 1024}) for (int step : {16, 64, 256}) for (int kb : {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64})
        report("walk", kb * 1024, step, 0, threads, 3, [&] { walk<<<1, threads>>>(d, 0, kb * 1024, step, 3); });
    for (int threads : {32, 1024}) for (int lines : {16, 32, 48, 64, 128, 256, 384, 512, 768, 1008})
        report("operands", lines, 0, 0, threads, 3, [&] { operands<<<1, threads>>>(d, lines, 3); });
    return cudaDeviceSynchronize();
}
