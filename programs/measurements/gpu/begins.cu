// What the start and the end of a launch take, by blocks and threads: kernels that do nothing, ask for constants, store once or twice.
// A program by itself: nvcc -O3 -arch=sm_90 -o begins begins.cu, under
// ncu --csv --page raw --cache-control all --clock-control none --metrics sm__cycles_active.max,sm__cycles_active.sum ./begins
#include <cstdio>
extern "C" __global__ void empty(float *b) {}
extern "C" __global__ void unstored(float *b, int p) { if ((blockIdx.x * blockDim.x + threadIdx.x) * p == 0x7ffffff1) *b = p; }
extern "C" __global__ void store(float *b, int p) { b[(blockIdx.x * blockDim.x + threadIdx.x) * p] = p; }
extern "C" __global__ void store_4(float4 *b, int p) { b[(blockIdx.x * blockDim.x + threadIdx.x) * p] = make_float4(p, p, p, p); }
extern "C" __global__ void stores(float *b, int p) {
    int at = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    for (int e = 0; e < 2; e++) b[(at + e * blockDim.x) * p] = p;
}
int main() {
    float *b;
    cudaMalloc(&b, 1 << 24), cudaMemset(b, 0, 1 << 24);
    for (int again = 0; again < 8; again++)
        for (int grid : {1, 2, 4, 8, 16, 33, 66, 132, 264}) for (int threads : {32, 64, 128, 256}) {
            empty<<<grid, threads>>>(b), unstored<<<grid, threads>>>(b, 1), store<<<grid, threads>>>(b, 1);
            store_4<<<grid, threads>>>((float4 *)b, 1), stores<<<grid, threads>>>(b, 1);
        }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
