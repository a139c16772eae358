// Instructions of uniform registers, alone and beside others: cycles per round of an SM's warps, 32 rounds of 16 in a row.
// A program by itself: nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o uniform uniform.cu && ./uniform > uniform.csv; what it
// executes: cuobjdump -sass uniform; which pipes: ncu --metrics smsp__inst_executed_pipe_uniform.sum,sm__inst_executed_pipe_alu.sum
#include <algorithm>
#include <cstdio>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory")
enum { ADD, LOGIC, SHIFT, MULTIPLY, ADD_FMNMX, ADD_FADD, FMNMX, FADD };
template <int KIND> __global__ void __launch_bounds__(256, 1) rounds(unsigned *t, unsigned *o, unsigned n, unsigned m, unsigned p, unsigned q, float g) {
    unsigned a = n, b = m, c = p, d = q, from, to;
    float f[8];
    for (int i = 0; i < 8; i++) f[i] = g * i + threadIdx.x;
    __syncthreads();
    CLOCK(from);
    #pragma unroll 1
    for (int r = 0; r < 32; r++)
        #pragma unroll
        for (int i = 0; i < 16; i++) {
            if (KIND == ADD || KIND == ADD_FMNMX || KIND == ADD_FADD) a = (a ^ a >> 3) + n, b = (b ^ b >> 5) + m, c = (c ^ c >> 7) + p, d = (d ^ d >> 9) + q;
            if (KIND == LOGIC) a = a ^ a >> 3, b = b ^ b >> 5, c = c ^ c >> 7, d = d ^ d >> 9;
            if (KIND == SHIFT) a = a << 1 | a >> 31, b = b << 3 | b >> 29, c = c << 5 | c >> 27, d = d << 7 | d >> 25;
            if (KIND == MULTIPLY) a = a * n + m, b = b * m + p, c = c * p + q, d = d * q + n;
            if (KIND == ADD_FMNMX || KIND == FMNMX) for (int j = 0; j < 4; j++) asm volatile("max.f32 %0, %0, %1;" : "+f"(f[j]) : "f"(f[4 + j]));
            if (KIND == ADD_FADD || KIND == FADD) for (int j = 0; j < 4; j++) asm volatile("add.f32 %0, %0, %1;" : "+f"(f[j]) : "f"(f[4 + j]));
        }
    CLOCK(to);
    if (threadIdx.x == blockDim.x - 1) *t = to - from;
    o[threadIdx.x] = a + b + c + d + (unsigned)(f[0] + f[1] + f[2] + f[3]);
}
template <int KIND> void measured(const char *name, unsigned *t, unsigned *o) {
    for (int threads : {32, 128, 256}) {
        unsigned best = ~0u, h;
        for (int again = 0; again < 5; again++) rounds<KIND><<<1, threads>>>(t, o, 3, 5, 7, 11, 1.5f), cudaMemcpy(&h, t, 4, cudaMemcpyDeviceToHost), best = std::min(best, h);
        printf("%s,%d,%.3f\n", name, threads, best / 512.0);
    }
}
int main() {
    unsigned *t, *o;
    cudaMalloc(&t, 4), cudaMalloc(&o, 1024);
    puts("kind,threads,cycles");
    measured<ADD>("add", t, o), measured<LOGIC>("logic", t, o), measured<SHIFT>("shift", t, o), measured<MULTIPLY>("multiply", t, o);
    measured<ADD_FMNMX>("add_fmnmx", t, o), measured<ADD_FADD>("add_fadd", t, o), measured<FMNMX>("fmnmx", t, o), measured<FADD>("fadd", t, o);
    return cudaDeviceSynchronize() != cudaSuccess;
}
