// Which SMs' loads of a line L2 serves with one read, and how long one is open to others: blocks on chosen SMs, each so many cycles after the one before,
// load the same line, or copy the same 16 KB; one at a time, `period` cycles apart, so that nothing else is under way.
// A program by itself: nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o coalescing coalescing.cu && ./coalescing; and, for what L2 reads,
// ncu --cache-control none -k regex:lines\|copies --metrics lts__t_sectors_srcunit_tex_op_read.sum ./coalescing
#include <algorithm>
#include <cstdio>
#include <vector>
extern __shared__ __align__(128) char shared[];
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned smid() { unsigned id; asm volatile("mov.u32 %0, %%smid;" : "=r"(id)); return id; }
__device__ unsigned long long timer() { unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
__global__ void touch(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += __ldcg(p + k);
    if (x == 12345) *o = x;
}
__constant__ int delay[132];
__device__ unsigned arrived;
// begin in one cycle: the global timer's edge is seen by all SMs at the same time
__device__ long long together() {
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived % gridDim.x) {}
    }
    __syncthreads();
    unsigned long long edge = (timer() >> 15) + 2 << 15;
    while (timer() < edge) {}
    return clock64();
}
__global__ void __launch_bounds__(32) lines(const int *from, int count, int stride, int period, int *out, unsigned *took) {
    long long start = together() + 2000;
    int late = delay[smid()], sum = 0;
    if (late < 0) return;
    for (int k = 0; k < count; k++) {
        const int *p = from + (long)k * stride + threadIdx.x;
        while (clock64() < start + (long long)k * period + late) {}
        int v; long long t0 = clock64();
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
        sum += v;
        asm volatile("" :: "r"(sum) : "memory");
        if (sum == 12345678) *out = 1;
        long long t1 = clock64();
        if (threadIdx.x == 0) took[smid() * 256 + 2 * k] = t0 - start - (long long)k * period, took[smid() * 256 + 2 * k + 1] = t1 - t0;
    }
    if (sum == 12345) *out = sum;
}
__global__ void __launch_bounds__(32) copies(const int *from, int count, int stride, int period, int *out) {
    long long start = together() + 2000;
    int late = delay[smid()];
    if (late < 0 || threadIdx.x) return;
    unsigned barrier = at(shared), parity = 0;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(barrier));
    for (int k = 0; k < count; k++, parity ^= 1) {
        const int *p = from + (long)k * stride;
        while (clock64() < start + (long long)k * period + late) {}
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16384;" :: "r"(barrier) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16384, [%2];" :: "r"(at(shared) + 128), "l"(p), "r"(barrier) : "memory");
        int ok = 0;
        while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(barrier), "r"(parity) : "memory");
    }
}
int *from, *out, *other;
unsigned *took;
// SMs 0, step, 2 step, ...; prints the launch, and of loads the medians of when those of the first two SMs began, and how long they took, clock reads included
void run(bool cold, bool copied, int sms, int step, int apart) {
    static std::vector<unsigned> all(132 * 256);
    std::vector<int> late(132, -1);
    for (int i = 0; i < sms; i++) late[i * step % 132] = i * apart;
    unsigned zero = 0;
    cudaMemcpyToSymbol(delay, late.data(), 132 * 4), cudaMemcpyToSymbol(arrived, &zero, 4);
    touch<<<264, 256>>>(from, 8 << 20, out);
    if (cold) touch<<<264, 256>>>(other, 64 << 20, out);
    if (copied) copies<<<132, 32, 200 << 10>>>(from, 64, 4096 + 1056, 8000, out);
    else lines<<<132, 32, 200 << 10>>>(from, 128, 32 * 33, 4000, out, took);
    cudaMemcpy(all.data(), took, 132 * 1024, cudaMemcpyDeviceToHost);
    printf("%s,%s,%d,%d,%d", cold ? "cold" : "warm", copied ? "copies" : "lines", sms, step, apart);
    for (int sm : {0, step}) {
        std::vector<unsigned> one;
        std::vector<unsigned> begun;
        for (int k = 0; k < 128; k++) begun.push_back(all[sm % 132 * 256 + 2 * k]), one.push_back(all[sm % 132 * 256 + 2 * k + 1]);
        std::sort(begun.begin(), begun.end()), std::sort(one.begin(), one.end());
        if (!copied) printf(",%u,%u", begun[64], one[64]);
    }
    puts("");
}
int main(int argc, char **argv) {
    cudaMalloc(&from, 32 << 20), cudaMalloc(&out, 1 << 16), cudaMalloc(&other, 256 << 20), cudaMalloc(&took, 132 * 1024);
    cudaMemset(from, 1, 32 << 20), cudaMemset(other, 0, 256 << 20), cudaMemset(took, 0, 132 * 1024);
    cudaFuncSetAttribute(copies, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    cudaFuncSetAttribute(lines, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    for (bool cold : {false, true}) {
        for (int step : {1, 2, 3, 4, 6, 8, 10, 12, 14, 15, 16, 17, 32, 33, 48, 64, 78, 92, 106, 120, 131}) run(cold, false, 2, step, 0);
        for (int step : {1, 2, 16, 65}) for (int apart : {20, 40, 60, 80, 100, 150, 200, 250, 300, 400, 500, 600, 700, 800, 1000, 1400}) run(cold, false, 2, step, apart);
        for (int sms : {1, 3, 4, 5, 6, 7, 8, 12, 16, 33, 66, 132}) { run(cold, false, sms, 1, 0); if (sms < 67) run(cold, false, sms, 132 / sms, 0); }
        for (int apart : {10, 20, 50, 100, 200, 400}) run(cold, false, 12, 11, apart);
        for (int sms : {1, 2, 4, 8, 12, 16}) for (int apart : {0, 25, 50, 100, 200, 300, 400, 600, 1000})
            if (sms > 1 || !apart) run(cold, true, sms, sms == 1 ? 1 : 132 / sms | 1, apart);
        for (int apart = 0; apart <= 800; apart += 20) run(cold, false, 2, 16, apart);
    }
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
