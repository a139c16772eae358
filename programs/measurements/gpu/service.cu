// What reads of special registers, constants, shared memory and other lanes keep busy: 16 S2R in a row, again and again. `service.py` puts other
// instructions in their places: nvcc -O3 -arch=sm_90 -cubin service.cu, then python -m programs.measurements.gpu.service service.cubin FOLDER.
typedef unsigned u32;
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
extern "C" __global__ void __launch_bounds__(1024) service(u32 *t, int rounds) {
    u32 sum = 0, from, to;
    __syncthreads();
    CLOCK(from)
    #pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        u32 v[16];
        #pragma unroll
        for (int e = 0; e < 16; e++) asm volatile("mov.u32 %0, %%smid;" : "=r"(v[e]));
        #pragma unroll
        for (int e = 0; e < 16; e++) sum ^= v[e];
    }
    CLOCK(to)
    t[threadIdx.x] = from, t[1024 + threadIdx.x] = to, t[2048 + threadIdx.x] = sum;
}
