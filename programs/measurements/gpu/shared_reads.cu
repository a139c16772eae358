// What reaches L2 when several SMs read the same lines: blocks of 256 threads, one per SM, read 64 KB again and again, past L1 or by bulk copies of 8 KB.
// A program by itself, for ncu: nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o shared_reads shared_reads.cu && ncu --metrics ... ./shared_reads
// Launches: for each way (0 loads, 1 bulk copies), number of neighbours that read the same 64 KB, cycles by which each neighbour begins later; two launches each.
#include <cstdint>
#include <cstdio>
extern __shared__ __align__(128) char shared[];
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void later(int cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
}
__global__ void __launch_bounds__(256) loads(const uint4 *from, int together, int apart, int rounds, uint4 *out) {
    const uint4 *mine = from + blockIdx.x / together * 4096;
    uint4 sum = {0, 0, 0, 0};
    later(blockIdx.x % together * apart);
    for (int round = 0; round < rounds; round++)
        #pragma unroll 8
        for (int k = threadIdx.x; k < 4096; k += 256) {
            uint4 v;
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(mine + k));
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
    if (sum.x == 12345) out[threadIdx.x] = sum;
}
__global__ void __launch_bounds__(256) copies(const uint4 *from, int together, int apart, int rounds, uint4 *out) {
    const char *mine = (const char *)(from + blockIdx.x / together * 4096);
    unsigned barrier = at(shared), parity = 0;
    if (threadIdx.x) return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(barrier));
    later(blockIdx.x % together * apart);
    for (int round = 0; round < rounds; round++, parity ^= 1) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 65536;" :: "r"(barrier) : "memory");
        for (int k = 0; k < 8; k++)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 8192, [%2];" :: "r"(at(shared) + 128 + k * 8192), "l"(mine + k * 8192), "r"(barrier) : "memory");
        int ok = 0;
        while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(barrier), "r"(parity) : "memory");
    }
}
int main() {
    uint4 *from, *out;
    cudaMalloc(&from, 132 << 16), cudaMalloc(&out, 1 << 16);
    cudaMemset(from, 1, 132 << 16);
    cudaFuncSetAttribute(copies, cudaFuncAttributeMaxDynamicSharedMemorySize, 66 << 10);
    for (int way = 0; way < 2; way++)
        for (int together : {1, 2, 4, 8, 16, 33, 66, 132})
            for (int apart : {0, 100, 1000, 10000}) {
                if (together == 1 && apart) continue;
                for (int again = 0; again < 2; again++) (way ? copies : loads)<<<132, 256, way ? 66 << 10 : 0>>>(from, together, apart, 16, out);
            }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
