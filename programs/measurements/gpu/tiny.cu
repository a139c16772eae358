// What launches of a few warps take, again and again: a kernel that does nothing, one that stores, one that sums four loads.
// A program by itself: nvcc -O3 -arch=sm_90 -o tiny tiny.cu, under
// ncu --csv --page raw --cache-control all --clock-control none --metrics sm__cycles_active.max,gpc__cycles_elapsed.max,smsp__inst_executed.sum,... ./tiny
#include <cstdio>
extern "C" __global__ void nothing() {}
extern "C" __global__ void stores(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
extern "C" __global__ void sums(float *out, const float *in, int n, float b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = b;
    for (int k = 0; k < 4; k++) x = x * b + in[i + k * n];
    out[i] = x;
}
int main() {
    float *d;
    cudaMalloc(&d, 1 << 26);
    for (int again = 0; again < 8; again++)
        for (int grid : {1, 8, 132}) for (int threads : {32, 256}) {
            nothing<<<grid, threads>>>();
            stores<<<grid, threads>>>(d, 1 << 20);
            sums<<<grid, threads>>>(d, d + (1 << 22), 1 << 20, 0.5f);
        }
    return cudaDeviceSynchronize();
}
