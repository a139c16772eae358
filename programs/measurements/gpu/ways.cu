// How far each SM is from L2: one lane of one SM after another loads every line of 1 MB, which L2 has, the least of REPEATS times.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o ways ways.cu && ./ways ways.bin && python -m programs.measurements.gpu.ways ways.bin > ways.csv
#include <cstdio>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory")
const int LINES = 8192, REPEATS = 6, SHARED = 200 << 10;  // SHARED: one block fits an SM
extern __shared__ unsigned short least[];
__global__ void one(const char *a, unsigned sm, unsigned short *out) {
    unsigned here;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
    if (threadIdx.x || here != sm) return;
    for (int i = 0; i < LINES; i++) least[i] = 65535;
    for (int r = 0; r < REPEATS; r++)
        for (int i = 0; i < LINES; i++) {
            unsigned c0, c1, x;
            CLOCK(c0);
            asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(a + i * 128ul) : "memory");
            asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" ::"r"(x) : "memory");
            CLOCK(c1);
            if (c1 - c0 < least[i]) least[i] = c1 - c0;
        }
    for (int i = 0; i < LINES; i++) out[i] = least[i];
}
__global__ void read_all(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += p[k];
    if (x == 12345) *o = x;
}
int main(int argc, char **argv) {
    cudaDeviceProp gpu;
    cudaGetDeviceProperties(&gpu, 0);
    char *a;
    int *other, *o;
    unsigned short *out;
    cudaMalloc(&a, LINES * 128), cudaMalloc(&other, 256 << 20), cudaMalloc(&out, LINES * 2), cudaMalloc(&o, 4);
    cudaMemset(a, 0, LINES * 128), cudaMemset(other, 0, 256 << 20);
    cudaFuncSetAttribute(one, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    for (int warm = 0; warm < 5000; warm++) read_all<<<1024, 256>>>(other, 64 << 20, o);  // until the clock stays
    read_all<<<1024, 256>>>((int *)a, LINES * 32, o);
    std::vector<unsigned short> h(LINES);
    FILE *f = fopen(argv[1], "wb");
    for (int sm = 0; sm < gpu.multiProcessorCount; sm++) {
        one<<<gpu.multiProcessorCount, 32, SHARED>>>(a, sm, out);
        cudaMemcpy(h.data(), out, LINES * 2, cudaMemcpyDeviceToHost);
        fwrite(h.data(), 2, LINES, f);
    }
    fclose(f);
    return cudaDeviceSynchronize() != cudaSuccess;
}
