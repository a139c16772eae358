// Latency of a dependent load of shared memory, words of zeros: by width and by how far apart the lanes' words lie. One warp; cycles of each.
#include <cstdio>
#include <algorithm>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
extern __shared__ unsigned words[];
template <int KIND> __global__ void chain(int *t, unsigned stride) {
    for (int i = threadIdx.x; i < 24576; i += blockDim.x) words[i] = 0;
    __syncthreads();
    unsigned base = (unsigned)__cvta_generic_to_shared(words) + (KIND < 3 ? threadIdx.x % 32 * stride : threadIdx.x % 32 % (KIND == 3 ? 8 : KIND == 4 ? 16 : 32) * stride), at = base, a, b, c, d;
    int begin, end;
    for (int again = 0; again < 3; again++) {
        __syncthreads();
        CLOCK(begin)
        #pragma unroll 16
        for (int i = 0; i < 256; i++) {
            if (KIND == 0) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(at) : "memory");
            if (KIND == 1) asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
            if (KIND == 2) asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
            if (KIND == 3) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at) : "memory");
            if (KIND == 4) asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at) : "memory");
            if (KIND == 5) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
            at = base + a;
        }
        CLOCK(end)
    }
    if (threadIdx.x == 0) t[0] = end - begin, t[1] = at;
}
int *t, h[2];
template <int KIND> void go(const char *name, int stride) {
    cudaFuncSetAttribute(chain<KIND>, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304);
    int best = 1 << 30;
    for (int n = 0; n < 3; n++) { chain<KIND><<<1, 32, 98304>>>(t, stride); cudaMemcpy(h, t, 8, cudaMemcpyDeviceToHost); best = std::min(best, h[0]); }
    printf("%s,%d,%.2f\n", name, stride, best / 256.);
}
int main() {
    cudaMalloc(&t, 64);
    printf("load,stride,cycles\n");
    for (int s : {0, 4, 8, 16, 32, 64, 128}) go<0>("LDS", s);
    for (int s : {0, 8, 16, 32, 64, 128}) go<1>("LDS.64", s);
    for (int s : {0, 16, 32, 64, 128}) go<2>("LDS.128", s);
    for (int s : {0, 16, 32, 64, 128, 144}) go<3>("LDSM.1", s);
    for (int s : {0, 16, 32, 64, 128, 144}) go<4>("LDSM.2", s);
    for (int s : {0, 16, 32, 64, 128, 144}) go<5>("LDSM.4", s);
    return cudaDeviceSynchronize() != cudaSuccess;
}
