// How long a warp waits for a constant that no instruction named before: of the same 64 bytes, the same 256, others; L2 with and without it.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o constants constants.cu && ./constants
// It prints what ../h100/constants.csv holds; ../h100/constants.sm_90.cubin is its code.
#include <algorithm>
#include <cstdio>
#include <vector>
const int STEPS = 10, SMS = 132;
const int BYTES[STEPS] = {0, 4, 64, 128, 256, 512, 2048, 16384, 16448, 8};
__constant__ float constants[8192];
__device__ float sink;
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
#define STEP(i, byte) CLOCK(c[i]) x = fmaf(x, constants[byte / 4], x); asm volatile("{ .reg .pred p; setp.eq.f32 p, %0, 0f42F6E979; @p exit; }" : "+f"(x) :: "memory");

extern "C" __global__ void name_constants(int *t, float start) {
    int c[STEPS + 1];
    float x = start;
    STEP(0, 0) STEP(1, 4) STEP(2, 64) STEP(3, 128) STEP(4, 256) STEP(5, 512) STEP(6, 2048) STEP(7, 16384) STEP(8, 16448) STEP(9, 8)
    CLOCK(c[STEPS])
    if (threadIdx.x == 0) for (int i = 0; i < STEPS; i++) t[blockIdx.x * STEPS + i] = c[i + 1] - c[i];
    if (x == 1.5f) sink = x;
}
int main() {
    int *d;
    char *other;
    cudaMalloc(&d, SMS * STEPS * 4), cudaMalloc(&other, 256 << 20);
    printf("blocks,l2,byte,least,median,most\n");
    for (int blocks : {1, 32, 132}) for (int cold = 1; cold >= 0; cold--) {
        std::vector<int> took[STEPS];
        for (int launch = 0; launch < 8; launch++) {  // the first finds no instructions
            if (cold) cudaMemset(other, launch, 256 << 20);
            std::vector<int> h(blocks * STEPS);
            cudaDeviceSynchronize();
            name_constants<<<blocks, 32>>>(d, 1.0f);
            cudaMemcpy(h.data(), d, h.size() * 4, cudaMemcpyDeviceToHost);
            if (launch) for (int k = 0; k < (int)h.size(); k++) took[k % STEPS].push_back(h[k]);
        }
        for (int i = 0; i < STEPS; i++) {
            std::sort(took[i].begin(), took[i].end());
            printf("%d,%s,%d,%d,%d,%d\n", blocks, cold ? "cold" : "warm", BYTES[i], took[i].front(), took[i][took[i].size() / 2], took[i].back());
        }
    }
    return cudaDeviceSynchronize();
}
