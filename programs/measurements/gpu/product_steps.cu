// How long each step of a product by mma.sync takes, fragments straight from global memory: 64 x 64 of the result per block, 16 columns a step.
// Two steps read the 64 bytes of a row that DRAM sends at once, so of a cold L2 the first of each two waits for it, and of the other part of L2.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o product_steps product_steps.cu && ./product_steps > product_steps.csv
// The kernel alone, as ../h200/product_steps.sm_90.cubin: nvcc -O3 -arch=sm_90 -std=c++17 -DKERNEL_ALONE -cubin
#include <algorithm>
#include <cstdio>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory")
const int STEPS = 32;
__device__ __forceinline__ unsigned two(const unsigned short *p) { return *reinterpret_cast<const unsigned *>(p); }
extern "C" __global__ void __launch_bounds__(128) product_steps(const unsigned short *a, const unsigned short *b, float *c, int n, unsigned *out) {
    __shared__ unsigned noted[4][STEPS + 1];
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, pair = threadIdx.x % 4 * 2, step = 1;
    int row = blockIdx.y * 64 + warp / 2 * 32 + group, column = blockIdx.x * 64 + warp % 2 * 32 + group;
    float sum[2][4][4] = {};
    unsigned now;
    CLOCK(now);
    noted[warp][0] = now;
#pragma unroll 1
    for (int k = pair; k < n; k += 16) {
        unsigned left[2][4], right[4][2];
        for (int i = 0; i < 2; i++) {
            const unsigned short *p = a + (row + 16 * i) * n + k;
            left[i][0] = two(p), left[i][1] = two(p + 8 * n), left[i][2] = two(p + 8), left[i][3] = two(p + 8 * n + 8);
        }
        for (int j = 0; j < 4; j++) {
            const unsigned short *p = b + (column + 8 * j) * n + k;
            right[j][0] = two(p), right[j][1] = two(p + 8);
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 4; j++)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
                             : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j][0]), "r"(right[j][1]));
        CLOCK(now);
        noted[warp][step++] = now;
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 2; h++) {
                float2 *p = reinterpret_cast<float2 *>(c + (row + 16 * i + 8 * h) * n + column - group + 8 * j + pair);
                *p = make_float2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
            }
    __syncthreads();
    unsigned *o = out + (blockIdx.y * gridDim.x + blockIdx.x) * 4 * STEPS;
    for (int i = threadIdx.x; i < 4 * STEPS; i += 128)
        if (i % STEPS < n / 16) o[i] = noted[i / STEPS][i % STEPS + 1] - noted[i / STEPS][i % STEPS];
}
#ifndef KERNEL_ALONE
__global__ void read_all(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += p[k];
    if (x == 12345) *o = x;
}
int main() {
    const int LAUNCHES = 41;
    unsigned short *a, *b;
    float *c;
    unsigned *out;
    int *other, *o;
    cudaMalloc(&a, 1 << 20), cudaMalloc(&b, 1 << 20), cudaMalloc(&c, 1 << 20), cudaMalloc(&out, 1 << 20), cudaMalloc(&other, 256 << 20), cudaMalloc(&o, 4);
    cudaMemset(a, 0, 1 << 20), cudaMemset(b, 0, 1 << 20), cudaMemset(other, 0, 256 << 20);
    for (int warm = 0; warm < 3000; warm++) read_all<<<1024, 256>>>(other, 64 << 20, o);  // until the clock stays
    puts("n,l2,first,even,odd");
    for (int n : {128, 256, 512})
        for (int warm : {0, 1}) {
            int blocks = n / 64 * (n / 64);
            std::vector<unsigned> h(blocks * 4 * STEPS), times[3];
            for (int launch = -1; launch < LAUNCHES; launch++) {
                if (!warm) read_all<<<1024, 256>>>(other, 64 << 20, o);
                cudaDeviceSynchronize();
                product_steps<<<dim3(n / 64, n / 64), 128>>>(a, b, c, n, out);
                cudaMemcpy(h.data(), out, h.size() * 4, cudaMemcpyDeviceToHost);
                for (int i = 0; launch >= 0 && i < (int)h.size(); i++)
                    if (i % STEPS < n / 16) times[i % STEPS ? 1 + i % 2 : 0].push_back(h[i]);
            }
            printf("%d,%s", n, warm ? "warm" : "cold");
            for (int kind : {0, 2, 1}) {  // the first step; the second, fourth, ...; the third, fifth, ...
                std::sort(times[kind].begin(), times[kind].end());
                printf(",%u", times[kind][times[kind].size() / 2]);
            }
            puts("");
        }
    return cudaDeviceSynchronize() != cudaSuccess;
}
#endif
