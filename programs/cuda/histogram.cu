// Counts of 64 values, first per block in shared memory, then added to the whole.
extern "C" __global__ void histogram(const unsigned *values, unsigned *counts, int n) {
    __shared__ unsigned local[64];
    if (threadIdx.x < 64) local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[values[i] & 63], 1u + (i & 1));
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
