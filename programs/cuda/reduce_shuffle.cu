// The sum of n floats: a grid-stride loop, shuffles within a warp, shared memory between warps, one atomic per block.
extern "C" __global__ void reduce_shuffle(const float *x, float *total, int n) {
    __shared__ float warps[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int distance = 16; distance > 0; distance >>= 1) sum += __shfl_down_sync(0xffffffff, sum, distance);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warps[lane] : 0;
        for (int distance = 16; distance > 0; distance >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, distance);
        if (lane == 0) atomicAdd(total, sum);
    }
}
