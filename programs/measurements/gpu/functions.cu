// How fast code comes to warps that each call one of eight functions at random, by how much code there is, by SMs and warps.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o functions functions.cu && ./functions > functions.csv
#include <algorithm>
#include <cstdio>
#include <vector>
#include "../population/kernels.cuh"  // body
template <int N> __global__ void fun(const float *a, float *b, const int *index, int p, int *t) {
    int c0, c1, sm; float x = a[threadIdx.x], y = x + 1;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(c0) :: "memory");
    int here = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < p; r++) {
        int which = index[(here / 32 * 31 + r * 7) % 8192] % 8;
        switch (which) {
            case 0: x = body<N, 0>(x, y); break;
            case 1: x = body<N, 1>(x, y); break;
            case 2: x = body<N, 2>(x, y); break;
            case 3: x = body<N, 3>(x, y); break;
            case 4: x = body<N, 4>(x, y); break;
            case 5: x = body<N, 5>(x, y); break;
            case 6: x = body<N, 6>(x, y); break;
            default: x = body<N, 7>(x, y);
        }
    }
    asm volatile("mov.u32 %0, %%clock;" : "=r"(c1) :: "memory");
    b[here] = x;
    if (threadIdx.x % 32 == 0) { t[here / 32 * 2] = c1 - c0; t[here / 32 * 2 + 1] = sm; }
}
template <int N> void go(const float *a, float *b, const int *index, int *t) {
    for (int p : {8, 40}) for (int blocks : {1, 33, 66, 132}) for (int warps : {1, 2, 4, 8}) {
        std::vector<int> h(blocks * warps * 2);
        for (int k = 0; k < 2; k++) fun<N><<<blocks, warps * 32>>>(a, b, index, p, t);
        cudaMemcpy(h.data(), t, h.size() * 4, cudaMemcpyDeviceToHost);
        std::vector<int> c; for (size_t k = 0; k < h.size(); k += 2) c.push_back(h[k]);
        std::sort(c.begin(), c.end());
        double sum = 0; for (int x : c) sum += x;
        printf("%d,%d,%d,%d,%d,%.0f,%d\n", N, p, blocks, warps, c[0], sum / c.size(), c.back());
    }
}
int main() {
    float *a, *b; int *index, *t;
    cudaMalloc(&a, 1 << 20); cudaMalloc(&b, 1 << 20); cudaMalloc(&index, 8192 * 4); cudaMalloc(&t, 1 << 20);
    cudaMemset(a, 0, 1 << 20);
    std::vector<int> r(8192); unsigned s = 12345; for (int &x : r) { s = s * 1664525u + 1013904223u; x = s >> 8; }
    cudaMemcpy(index, r.data(), 8192 * 4, cudaMemcpyHostToDevice);
    printf("length,calls,blocks,warps,least,mean,most\n");
    go<200>(a, b, index, t); go<400>(a, b, index, t); go<600>(a, b, index, t); go<700>(a, b, index, t); go<800>(a, b, index, t);
    go<900>(a, b, index, t); go<1000>(a, b, index, t); go<1200>(a, b, index, t);
    return cudaDeviceSynchronize();
}
