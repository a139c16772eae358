// Loops whose words are written by hand, one block, timed by clocks: `python -m programs.measurements.gpu.standstill probe.cubin loops`
// puts them between the clocks of `probe`, compiled from this file, which then launches each.
//   nvcc -arch=sm_90 -cubin -o probe.cubin standstill.cu
//   nvcc -arch=sm_90 -DHOST -o standstill standstill.cu -lcuda && ./standstill loops/*.cubin > standstill.csv
#ifndef HOST
// 40 registers live around the timed region, which is overwritten.
extern "C" __global__ void __launch_bounds__(1024) probe(int *t, int limit) {
    int x[40];
    for (int k = 0; k < 40; k++) x[k] = threadIdx.x + k * limit;
    int begin, end;
    __syncthreads();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
    #pragma unroll
    for (int k = 0; k < 1024; k++) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x[k % 40]) : "r"(x[(k + 7) % 40]), "r"(x[(k + 13) % 40]));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    int odd = 0;
    for (int k = 0; k < 40; k++) odd += x[k] == 12345 + k;
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 16] = begin, t[threadIdx.x / 16 + 1] = end;
    if (odd == 40) t[64] = 1;
}
#else
#include <algorithm>
#include <cstdio>
#include <cuda.h>
#define C(x) do { CUresult r = x; if (r) { fprintf(stderr, "%s: %d (%s)\n", #x, r, file); return 1; } } while (0)
int main(int count, char **files) {
    const char *file = "";
    CUdevice device; CUcontext context; CUdeviceptr memory;
    C(cuInit(0)); C(cuDeviceGet(&device, 0)); C(cuDevicePrimaryCtxRetain(&context, device)); C(cuCtxSetCurrent(context));
    C(cuMemAlloc(&memory, 4096));
    puts("loop,threads,cycles");
    for (int k = 1; k < count; k++) {
        file = files[k];
        CUmodule module; CUfunction probe;
        C(cuModuleLoad(&module, file)); C(cuModuleGetFunction(&probe, module, "probe"));
        for (int threads : {32, 256, 512, 1024}) {
            int best = 1 << 30, h[64], limit = 1;
            for (int run = 0; run < 4; run++) {
                void *arguments[] = {&memory, &limit};
                C(cuLaunchKernel(probe, 1, 1, 1, threads, 1, 1, 0, 0, arguments, 0)); C(cuCtxSynchronize());
                C(cuMemcpyDtoH(h, memory, sizeof h));
                int begin = h[0], end = h[1];
                for (int w = 1; w < threads / 32; w++) begin = std::min(begin, h[2 * w]), end = std::max(end, h[2 * w + 1]);
                best = std::min(best, end - begin);
            }
            printf("%s,%d,%d\n", file, threads, best);
        }
        C(cuModuleUnload(module));
    }
}
#endif
