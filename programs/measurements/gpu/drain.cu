// When a block's place is free again after the last stores of its warps, and how early the warps have issued them.
// nvcc -O3 -arch=sm_90 -std=c++17 -o drain drain.cu; ./drain > drain.csv; with an argument L2 is filled with something else before each launch
#include <algorithm>
#include <cstdio>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
const char *SHAPES[] = {"a line", "four lines", "a sector of 8 lines", "a word of 32 lines", "a sector of 16 lines", "16 of 48 bytes", "every second word"};
template <int SHAPE> __device__ float *place(float *to, int k) {  // of a lane in a warp's k-th store
    int lane = threadIdx.x % 32;
    if (SHAPE == 0) return to + k * 32 + lane;
    if (SHAPE == 1) return to + k * 128 + lane * 4;
    if (SHAPE == 2) return to + (k * 8 + lane / 4) * 32 + lane % 4 * 2;
    if (SHAPE == 3) return to + (k * 32 + lane) * 32;
    if (SHAPE == 4) return to + (k * 16 + lane / 2) * 32 + lane % 2 * 4;
    if (SHAPE == 5) return to + (k * 32 + lane) * 12;
    return to + (k * 32 + lane) * 2;
}
template <int SHAPE, int K> __device__ void stores(float *to) {
    #pragma unroll
    for (int k = 0; k < K; k++) {
        float *at = place<SHAPE>(to, k);
        if (SHAPE == 0 || SHAPE == 3 || SHAPE == 6) asm volatile("st.global.f32 [%0], {%1};" :: "l"(at), "f"(1.f) : "memory");
        if (SHAPE == 2) asm volatile("st.global.v2.f32 [%0], {%1, %1};" :: "l"(at), "f"(1.f) : "memory");
        if (SHAPE == 1 || SHAPE == 4 || SHAPE == 5) asm volatile("st.global.v4.f32 [%0], {%1, %1, %1, %1};" :: "l"(at), "f"(1.f) : "memory");
    }
}
__device__ unsigned idle(unsigned x, int loops) {
    #pragma unroll 1
    for (int k = 0; k < loops; k++) {
        #pragma unroll
        for (int j = 0; j < 16; j++) asm volatile("mad.lo.u32 %0, %0, %0, 7;" : "+r"(x) :: "memory");
    }
    return x;
}
// Block 0 stores; blocks 1 to 131 keep the other SMs busy for longer; block 132 comes when the place of block 0 is free, and says what that left in shared memory.
template <int SHAPE, int K> __global__ void drain(float *to, unsigned *out, int others) {
    extern __shared__ unsigned left[];
    unsigned start, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    CLOCK(start)
    if (blockIdx.x >= 132) {
        if (threadIdx.x == 0) {
            out[0] = left[0] == 77u, out[1] = start;
            for (int w = 0; w < warps; w++) out[2 + 2 * w] = left[1 + 2 * w], out[3 + 2 * w] = left[2 + 2 * w];
        }
        return;
    }
    if (blockIdx.x) { if (idle(start, others) == 77) out[100] = 1; return; }
    if (threadIdx.x == 0) left[0] = 77;
    unsigned from, issued;
    #pragma unroll 1
    for (int round = 0; round < 2; round++) {  // the second finds its instructions in the caches
        __syncthreads();
        if (idle(lane, 30) == 77) out[100] = 1;
        float *mine = to + (size_t)(round * warps + warp) * 32768 * 4;
        __syncthreads();
        CLOCK(from)
        stores<SHAPE, K>(mine);
        CLOCK(issued)
    }
    if (lane == 0) left[1 + 2 * warp] = from, left[2 + 2 * warp] = issued;
}
float *to; unsigned *out; char *other; bool cold;
template <int SHAPE, int K> void measure(int warps) {
    unsigned h[66];
    cudaFuncSetAttribute(drain<SHAPE, K>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    std::vector<double> last, next;
    for (int again = 0; again < 9; again++) {
        if (cold) cudaMemset(other, again, (size_t)256 << 20);
        drain<SHAPE, K><<<133, warps * 32, 200 << 10>>>(to, out, 150 + 8 * warps * K);
        cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
        if (!h[0]) return;
        unsigned from = h[2], most = 0;
        for (int w = 0; w < warps; w++) if ((int)(h[2 + 2 * w] - from) < 0) from = h[2 + 2 * w];
        for (int w = 0; w < warps; w++) most = std::max(most, h[3 + 2 * w] - from);
        last.push_back(most), next.push_back(h[1] - from);
    }
    std::sort(last.begin(), last.end()), std::sort(next.begin(), next.end());
    printf("%s,%d,%d,%.0f,%.0f\n", SHAPES[SHAPE], warps, K, last[4], next[4]);
}
template <int SHAPE> void shape() {
    for (int warps : {1, 4, 8}) {
        measure<SHAPE, 0>(warps), measure<SHAPE, 1>(warps), measure<SHAPE, 2>(warps), measure<SHAPE, 4>(warps), measure<SHAPE, 8>(warps);
        measure<SHAPE, 12>(warps), measure<SHAPE, 16>(warps), measure<SHAPE, 24>(warps), measure<SHAPE, 32>(warps), measure<SHAPE, 48>(warps), measure<SHAPE, 64>(warps);
    }
}
int main(int count, char **) {
    cold = count > 1;
    cudaMalloc(&to, (size_t)1 << 25), cudaMalloc(&out, 4096), cudaMalloc(&other, (size_t)256 << 20), cudaMemset(to, 0, (size_t)1 << 25);
    puts("shape,warps,stores,issued,next");
    shape<0>(), shape<1>(), shape<2>(), shape<3>(), shape<4>(), shape<5>(), shape<6>();
    return cudaDeviceSynchronize();
}
