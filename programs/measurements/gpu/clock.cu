// What products of matrices do to the SM's clock: cycles over the GPU's timer, while one block multiplies now and then.
// A program by itself: nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o clock clock.cu && ./clock > clock.csv
// kind: wgmma, fences of wgmma without a product, mma.sync, none; where: the SM that looks, or another; a burst of so many products every
// `period` ns for 200 us; 0: one after another. mhz: mean of five launches.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
extern __shared__ __align__(1024) char shared[];
#define TIMER(t) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory")
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory")
enum { NONE, FENCES, WGMMA, MMA };
template <int KIND> __global__ void __launch_bounds__(256, 1) bursts(uint64_t *out, float *sums, int where, int period, int burst) {
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) ((int *)shared)[i] = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint64_t begun, t = 0;
    uint32_t from, to;
    TIMER(begun);
    if (threadIdx.x >= 128) {  // looks
        CLOCK(from);
        do TIMER(t); while (t < begun + 200000);
        CLOCK(to);
        if (threadIdx.x == 128 && blockIdx.x == 0) out[0] = t - begun, out[1] = to - from;
        return;
    }
    if (blockIdx.x != where) return;
    float s[16];
    for (int i = 0; i < 16; i++) s[i] = threadIdx.x + i;
    uint32_t a = threadIdx.x;
    uint64_t d = (uint64_t)((uint32_t)__cvta_generic_to_shared(shared) & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
    for (int n = 0, over = 0; !over; n++) {
        if (KIND == FENCES || KIND == WGMMA) {
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int k = 0; KIND == WGMMA && k < burst; k++)
                asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %16, 1, 1, 1, 0, 0;"
                             : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]), "+f"(s[7]), "+f"(s[8]),
                               "+f"(s[9]), "+f"(s[10]), "+f"(s[11]), "+f"(s[12]), "+f"(s[13]), "+f"(s[14]), "+f"(s[15]) : "l"(d));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        }
        for (int k = 0; KIND == MMA && k < burst; k++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
                         : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]) : "r"(a));
        if (threadIdx.x == 0) do TIMER(t); while (t < begun + (uint64_t)(n + 1) * period);
        asm volatile("{ .reg .pred p, q; setp.ge.u64 p, %1, %2; bar.red.or.pred q, 1, 128, p; selp.s32 %0, 1, 0, q; }"
                     : "=r"(over) : "l"(threadIdx.x ? 0ull : t), "l"(begun + 210000) : "memory");  // all warps at once: a product needs them
    }
    float sum = 0;
    for (int i = 0; i < 16; i++) sum += s[i];
    sums[threadIdx.x] = sum;
}
template <int KIND> void measured(const char *kind, int where, int period, int burst) {
    uint64_t *out, h[2];
    float *sums;
    double mhz = 0;
    cudaMalloc(&out, 16), cudaMalloc(&sums, 512);
    for (int again = 0; again < 6; again++) {
        bursts<KIND><<<132, 256, 16384>>>(out, sums, where, period, burst);
        if (cudaError_t error = cudaDeviceSynchronize()) fprintf(stderr, "%s: %s\n", kind, cudaGetErrorString(error)), exit(1);
        cudaMemcpy(h, out, 16, cudaMemcpyDeviceToHost);
        if (again) mhz += 1000.0 * h[1] / h[0] / 5;
    }
    printf("%s,%s,%d,%d,%.0f\n", kind, where ? "another" : "this", period, burst, mhz);
    cudaFree(out), cudaFree(sums);
}
int main() {
    puts("kind,where,period,burst,mhz");
    for (int warm = 0; warm < 2; warm++) measured<NONE>("none", 0, 1000, 0);
    for (int where : {0, 1}) measured<FENCES>("fences", where, 0, 0), measured<WGMMA>("wgmma", where, 0, 4), measured<MMA>("mma.sync", where, 0, 8);
    for (int burst : {1, 4})
        for (int period : {200, 400, 500, 600, 700, 800, 1000, 1200, 1500, 2000, 3000, 5000, 10000}) {
            measured<WGMMA>("wgmma", 0, period, burst);
            measured<MMA>("mma.sync", 0, period, burst);
        }
    measured<NONE>("none", 0, 1000, 0);
}
