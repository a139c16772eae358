// What the start of a launch takes by where its code lies: copies of kernels of one, two, four and sixteen lines, launched in random order.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o places places.cu, under ncu --csv --page raw --cache-control all --clock-control none
// --metrics sm__cycles_active.max,smsp__average_warp_latency_issue_stalled_no_instruction.ratio ./places
#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)
template <int K, int ADDS> __device__ void added(float *b, int p) {
    unsigned x = p;
#pragma unroll
    for (int k = 0; k < ADDS; k++) asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(p) : "memory");
    b[HERE * p] = x;
}
template <int K> __global__ void one(float *b, int p) {}
template <int K> __global__ void two(float *b, int p) { b[HERE * p] = p; }
template <int K> __global__ void four(float *b, int p) { added<K, 16>(b, p); }
template <int K> __global__ void sixteen(float *b, int p) { added<K, 112>(b, p); }
typedef void (*Kernel)(float *, int);
std::vector<Kernel> kernels;
template <int... K> void ones(std::integer_sequence<int, K...>) { (kernels.push_back(one<K>), ...); }
template <int... K> void twos(std::integer_sequence<int, K...>) { (kernels.push_back(two<K>), ...); }
template <int... K> void fours(std::integer_sequence<int, K...>) { (kernels.push_back(four<K>), ...); }
template <int... K> void sixteens(std::integer_sequence<int, K...>) { (kernels.push_back(sixteen<K>), ...); }
int main() {
    float *b;
    cudaMalloc(&b, 1 << 22), cudaMemset(b, 0, 1 << 22);
    twos(std::make_integer_sequence<int, 40>()), ones(std::make_integer_sequence<int, 12>());
    fours(std::make_integer_sequence<int, 20>()), sixteens(std::make_integer_sequence<int, 8>());
    std::mt19937 random(1);
    for (int again = 0; again < 7; again++)
        for (int many = 0; many < 2; many++) {
            std::shuffle(kernels.begin(), kernels.end(), random);
            for (Kernel kernel : kernels) kernel<<<many ? 33 : 1, many ? 128 : 32>>>(b, 1);
        }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
