// What the start of a launch takes, by blocks and threads: a kernel that does nothing, stores, sums, straight code, operands of many lines of constants.
// A program by itself: nvcc -O3 -arch=sm_90 -o starts starts.cu, under
// ncu --csv --page raw --cache-control all --clock-control none --metrics sm__cycles_active.max ./starts
#include <cstdio>
extern "C" __global__ void nothing() {}
extern "C" __global__ void stores(float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = i; }
extern "C" __global__ void sums(float *out, const float *in, int n, float b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = b;
    for (int k = 0; k < 4; k++) x = x * b + in[i + k * n];
    out[i] = x;
}
template <int N> __global__ void straight(float *out, int never) {
    float x = threadIdx.x;
    #pragma unroll
    for (int k = 0; k < N; k++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    if (never) out[threadIdx.x] = x;
}
struct Q { float f[256]; };
template <int N> __global__ void parameters(float *out, Q p, int never) {
    float x = threadIdx.x;
    #pragma unroll
    for (int k = 0; k < N; k++) asm volatile("fma.rn.f32 %0, %0, %1, %0;" : "+f"(x) : "f"(p.f[k * 16]));
    if (never) out[threadIdx.x] = x;
}
int main() {
    float *d; Q q{};
    cudaMalloc(&d, 1 << 26);
    for (int again = 0; again < 6; again++)
        for (int grid : {1, 2, 8, 33, 66, 132, 264}) for (int threads : {32, 256}) {
            nothing<<<grid, threads>>>();
            stores<<<grid, threads>>>(d, 1 << 20);
            sums<<<grid, threads>>>(d, d + (1 << 22), 1 << 20, 0.5f);
            if (grid == 2 || grid == 33 || grid == 66) continue;
            straight<8><<<grid, threads>>>(d, 0);
            straight<64><<<grid, threads>>>(d, 0);
            straight<256><<<grid, threads>>>(d, 0);
            straight<1024><<<grid, threads>>>(d, 0);
            parameters<1><<<grid, threads>>>(d, q, 0);
            parameters<4><<<grid, threads>>>(d, q, 0);
            parameters<16><<<grid, threads>>>(d, q, 0);
        }
    return cudaDeviceSynchronize();
}
