// What L1 misses, one step of programs/cuda/heldout/lu.cu after another: a warp factors a matrix of 14 x 14 doubles, or passes over its columns.
// A program by itself, to be run under Nsight Compute: nvcc -O3 -arch=sm_90 -std=c++17 -o lu_steps lu_steps.cu &&
// ncu --csv --page raw --clock-control none --metrics <those that ../h100/lu_steps.csv names> ./lu_steps. ../h100/lu_steps.sm_90.cubin is its code.
#include <cmath>
#include <vector>
// As lu.cu, but the loop over k ends after so many steps.
extern "C" __global__ void lu_steps(double *matrices, int *pivots, int count, int n, int steps) {
    int matrix = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (matrix >= count) return;
    double *a = matrices + matrix * n * n; // lane i holds row i
    for (int k = 0; k < steps; k++) {
        double size = lane >= k && lane < n ? fabs(a[lane * n + k]) : -1.0;
        int row = lane;
        for (int distance = 16; distance > 0; distance /= 2) {
            double other = __shfl_xor_sync(0xffffffff, size, distance);
            int other_row = __shfl_xor_sync(0xffffffff, row, distance);
            if (other > size || (other == size && other_row < row)) size = other, row = other_row;
        }
        if (lane < n) {
            double swapped = a[k * n + lane];
            a[k * n + lane] = a[row * n + lane];
            a[row * n + lane] = swapped;
        }
        __syncwarp();
        if (lane == 0) pivots[matrix * n + k] = row;
        if (lane > k && lane < n) {
            double factor = a[lane * n + k] / a[k * n + k];
            a[lane * n + k] = factor;
            for (int j = k + 1; j < n; j++) a[lane * n + j] -= factor * a[k * n + j];
        }
        __syncwarp();
    }
}
// The loop over the columns alone, again and again; the compiler loads some columns before it stores the one before.
extern "C" __global__ void columns(double *a, const int *factors, int n, int steps) {
    int lane = threadIdx.x % 32;
    double factor = factors[lane];
    for (int k = 0; k < steps; k++) {
        if (lane > 0 && lane < n) for (int j = 1; j < n; j++) a[lane * n + j] -= factor * a[j];
        __syncwarp();
    }
}
// One column at a time: no load is on its way when a store comes.
extern "C" __global__ void columns_in_turn(double *a, const int *factors, int n, int steps) {
    int lane = threadIdx.x % 32;
    double factor = factors[lane];
    for (int k = 0; k < steps; k++) {
        if (lane > 0 && lane < n) {
            #pragma unroll 1
            for (int j = 1; j < n; j++) a[lane * n + j] -= factor * a[j];
        }
        __syncwarp();
    }
}
int main() {
    const int n = 14;
    std::vector<double> h(n * n);
    for (int i = 0; i < n * n; i++) h[i] = std::sin(1.0 + i * i);
    double *a;
    int *other;
    cudaMalloc(&a, n * n * 8), cudaMalloc(&other, 4096), cudaMemset(other, 0, 4096);
    for (int steps = 0; steps <= n; steps++) {
        cudaMemcpy(a, h.data(), n * n * 8, cudaMemcpyHostToDevice);
        lu_steps<<<1, 32>>>(a, other, 1, n, steps);
    }
    cudaMemset(other, 0, 4096);
    for (int steps = 1; steps <= 5; steps++) columns<<<1, 32>>>(a, other, n, steps);
    for (int steps = 1; steps <= 5; steps++) columns_in_turn<<<1, 32>>>(a, other, n, steps);
    return cudaDeviceSynchronize();
}
