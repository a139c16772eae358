// Copies by cp.async whose rows lie `pitch` bytes apart in shared memory: when a load behind them is back, and when they have landed.
// nvcc -O3 -std=c++17 -arch=sm_90 -o pitch pitch.cu && ./pitch > pitch.csv
// Of one block: each warp copies 8 times 32 pieces of `bytes` (16 past L1, 8 and 4 through it), rows of 128 bytes, then loads a word of shared
// memory; L2 warm. Cycles from the first clock of any warp to the last; the least of eight launches.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
extern __shared__ __align__(1024) char store[];
template <int BYTES> __global__ void __launch_bounds__(1024) copies(const char *from, int *t, int pitch, int start) {
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, of_row = 128 / BYTES, rows = 32 * BYTES / 128, all = rows * blockDim.x / 32;
    unsigned to[8]; const char *source[8];
    for (int i = 0; i < 8; i++) {
        unsigned row = i * all + warp * rows + lane / of_row;
        to[i] = (unsigned)__cvta_generic_to_shared(store) + start + row * pitch % 196608 + lane % of_row * BYTES;
        source[i] = from + (i * blockDim.x + threadIdx.x) * BYTES;
    }
    ((volatile int *)store)[threadIdx.x] = 0;
    __syncthreads();
    int begin, back, end, word;
    CLOCK(begin)
    #pragma unroll
    for (int i = 0; i < 8; i++)
        if (BYTES == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to[i]), "l"(source[i]) : "memory");
        else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to[i]), "l"(source[i]), "n"(BYTES) : "memory");
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"((unsigned)__cvta_generic_to_shared(store) + 200000 + threadIdx.x * 4) : "memory");
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 12345; @p trap; }" :: "r"(word) : "memory");  // not before it is back
    CLOCK(back)
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    CLOCK(end)
    if (lane == 0) t[warp * 3] = begin, t[warp * 3 + 1] = back, t[warp * 3 + 2] = end;
}
template <int BYTES> void measured(const char *from, int *device) {
    cudaFuncSetAttribute(copies<BYTES>, cudaFuncAttributeMaxDynamicSharedMemorySize, 212992);
    for (int warps : {1, 2, 4, 8, 16}) for (int pitch : {128, 132, 136, 144, 160, 192, 256, 272}) for (int start : {0, 16, 64}) {
        if (pitch % BYTES || start % BYTES) continue;
        int t[96], back = 1 << 30, end = 1 << 30;
        for (int again = 0; again < 8; again++) {
            copies<BYTES><<<1, 32 * warps, 212992>>>(from, device, pitch, start);
            cudaMemcpy(t, device, sizeof t, cudaMemcpyDeviceToHost);
            if (cudaError_t e = cudaGetLastError()) fprintf(stderr, "%s\n", cudaGetErrorString(e)), exit(1);
            int b = t[0], c = t[1], d = t[2];
            for (int w = 0; w < warps; w++) b = std::min(b, t[3 * w]), c = std::max(c, t[3 * w + 1]), d = std::max(d, t[3 * w + 2]);
            back = std::min(back, c - b), end = std::min(end, d - b);
        }
        printf("%d,%d,%d,%d,%d,%d\n", BYTES, warps, pitch, start, back, end);
    }
}
int main() {
    char *from; int *device;
    cudaMalloc(&device, 65536), cudaMalloc(&from, 1 << 22), cudaMemset(from, 0, 1 << 22);
    puts("bytes,warps,pitch,start,back,landed");
    measured<16>(from, device), measured<8>(from, device), measured<4>(from, device);
    return cudaDeviceSynchronize() != cudaSuccess;
}
