// What is counted where lanes arrive at BSYNC at different times in functions that call themselves, in one warp.
// A program by itself, to be run under Nsight Compute: nvcc -O3 -arch=sm_90 -std=c++17 -o calls calls.cu &&
// ncu --csv --page raw --metrics smsp__inst_executed.sum,smsp__thread_inst_executed.sum ./calls. ../h100/arrivals.csv has what it counted;
// ../h100/calls.sm_90.cubin is its code.
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
__device__ __noinline__ int rec1(int d, int *out) {
    if (d <= 0) return 0;
    int r = rec1(d - 1, out);
    out[threadIdx.x] = r;
    return r + 1;
}
extern "C" __global__ void one(const int *trips, int *out) { out[threadIdx.x] = rec1(trips[threadIdx.x], out + 64); }
__device__ __noinline__ int rec2(int d, unsigned x) {
    if (d <= 0) return 1;
    int a = rec2(d - 1 - (x & 1), x >> 1);
    int b = rec2(d - 2 + (x & 1), x >> 2);
    return a + b * 3;
}
extern "C" __global__ void two(const int *trips, int *out) { out[threadIdx.x] = rec2(trips[threadIdx.x] % 6, trips[32 + threadIdx.x]); }
__device__ __noinline__ int sort(unsigned *keys, int low, int high) {
    if (low >= high) return 0;
    unsigned pivot = keys[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (keys[i] < pivot) i++;
        while (keys[j] > pivot) j--;
        if (i <= j) {
            unsigned swapped = keys[i];
            keys[i++] = keys[j];
            keys[j--] = swapped;
        }
    }
    int left = sort(keys, low, j), right = sort(keys, i, high);
    return 1 + (left > right ? left : right);
}
extern "C" __global__ void quick(const int *trips, int *out) {
    int t = threadIdx.x, n = trips[t] % 7 + 2;
    unsigned x = trips[32 + t];
    unsigned keys[16];
    for (int k = 0; k < 16; k++) { x = x * 1664525u + 1013904223u; keys[k] = x >> 8; }
    out[t] = sort(keys, 0, n - 1);
    for (int k = 0; k < 16; k++) out[32 + 16 * t + k] = keys[k];
}
extern "C" __global__ void full(const int *trips, int *out) {
    int t = threadIdx.x;
    unsigned x = trips[32 + t];
    unsigned keys[16];
    for (int k = 0; k < 16; k++) { x = x * 1664525u + 1013904223u; keys[k] = x >> 8; }
    out[t] = sort(keys, 0, 15);
    for (int k = 0; k < 16; k++) out[32 + 16 * t + k] = keys[k];
}
int main() {
    int *trips, *out;
    cudaMalloc(&trips, 256); cudaMalloc(&out, 4096 * 4);
    std::vector<std::vector<int>> shapes = {{1, 31}, {10, 22}, {1, 2, 29}, {4, 8, 20}, {1, 1, 2, 4, 8, 16}};
    srand(17);
    for (int i = 0; i < 250; i++) {
        std::vector<int> v(64), lanes(32);
        for (int t = 0; t < 32; t++) lanes[t] = t;
        for (int t = 31; t; t--) std::swap(lanes[t], lanes[rand() % (t + 1)]);
        int at = 0;
        for (int s : shapes[i % 5]) { int n = rand() % 12, m = rand(); for (int k = 0; k < s; k++) v[lanes[at]] = n, v[32 + lanes[at++]] = m; }
        for (int x : v) printf("%d ", x); // first all lanes' first numbers, then their second: the groups of ../h100/arrivals.csv
        puts("");
        cudaMemcpy(trips, v.data(), 256, cudaMemcpyHostToDevice);
        one<<<1, 32>>>(trips, out);
        two<<<1, 32>>>(trips, out);
        quick<<<1, 32>>>(trips, out);
        full<<<1, 32>>>(trips, out);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
