// What is counted where lanes arrive at BSYNC at different times: loops that groups of lanes leave one after the other, in one warp.
// A program by itself, to be run under Nsight Compute: nvcc -O3 -arch=sm_90 -std=c++17 -o arrivals arrivals.cu &&
// ncu --csv --page raw --metrics smsp__inst_executed.sum,smsp__thread_inst_executed.sum ./arrivals. ../h100/arrivals.csv has what it counted;
// ../h100/arrivals.sm_90.cubin is its code.
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
extern "C" __global__ void bottom(const int *trips, int *out) {
    int n = trips[threadIdx.x & 31], x = threadIdx.x;
    #pragma unroll 1
    for (int i = 0; i < n; i++) x = x * x + i;
    out[threadIdx.x] = x;
}
extern "C" __global__ void sides(const int *trips, int *out) {
    int n = trips[threadIdx.x & 31], x = threadIdx.x & 31;
    if (n & 1) { 
    #pragma unroll 1
      for (int i = 0; i < n; i++) x = x * x + i; }
    else {
    #pragma unroll 1
      for (int i = 0; i < n; i++) x = x * 3 - i; }
    out[threadIdx.x] = x;
}
extern "C" __global__ void nest(const int *trips, int *out) {
    int n = trips[threadIdx.x & 31], m = trips[32 + (threadIdx.x & 31)], x = threadIdx.x & 31;
    #pragma unroll 1
    for (int j = 0; j < m; j++) {
    #pragma unroll 1
      for (int i = 0; i < n; i++) x = x * x + i;
      x = x * 5 + j; n = (n + 1) % 5; }
    out[threadIdx.x] = x;
}
extern "C" __global__ void within(const int *trips, int *out) {
    int n = trips[threadIdx.x & 31], m = trips[32 + (threadIdx.x & 31)], x = threadIdx.x & 31;
    #pragma unroll 1
    for (int j = 0; j < m; j++) {
      if (n & 1) { x = x * 7 + j; out[threadIdx.x + 32] = x; }
      else { x = x * x + 5; out[threadIdx.x + 64] = x; }
      n = (n * 3 + 1) % 7; }
    out[threadIdx.x] = x;
}
int main() {
    int *trips, *out;
    cudaMalloc(&trips, 256); cudaMalloc(&out, 4096 * 4);
    int sizes[6] = {1, 1, 2, 4, 8, 16};
    srand(11);
    for (int i = 0; i < 300; i++) {
        std::vector<int> v(64), lanes(32);
        for (int t = 0; t < 32; t++) lanes[t] = t;
        for (int t = 31; t; t--) std::swap(lanes[t], lanes[rand() % (t + 1)]);
        int at = 0, high = i % 3 == 0 ? 4 : i % 3 == 1 ? 7 : 12;
        for (int s : sizes) { int n = rand() % high, m = rand() % 6; for (int k = 0; k < s; k++) v[lanes[at]] = n, v[32 + lanes[at++]] = m; }
        for (int x : v) printf("%d ", x); // first all lanes' first numbers, then their second: the groups of ../h100/arrivals.csv
        puts("");
        cudaMemcpy(trips, v.data(), 256, cudaMemcpyHostToDevice);
        bottom<<<1, 32>>>(trips, out);
        sides<<<1, 32>>>(trips, out);
        nest<<<1, 32>>>(trips, out);
        within<<<1, 32>>>(trips, out);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
