// exp(x - max) / sum of each row, one block of 128 threads per row.
__device__ float over_block(float value, float *warps, bool maximum) {
    for (int distance = 16; distance > 0; distance >>= 1) {
        float other = __shfl_xor_sync(0xffffffff, value, distance);
        value = maximum ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    float all = warps[0];
    for (int warp = 1; warp < 4; warp++) all = maximum ? fmaxf(all, warps[warp]) : all + warps[warp];
    return all;
}

extern "C" __global__ void softmax(const float *in, float *out, int columns) {
    __shared__ float warps[4];
    in += blockIdx.x * columns, out += blockIdx.x * columns;
    float largest = __int_as_float(0xff800000), sum = 0;
    for (int i = threadIdx.x; i < columns; i += 128) largest = fmaxf(largest, in[i]);
    largest = over_block(largest, warps, true);
    for (int i = threadIdx.x; i < columns; i += 128) sum += expf(in[i] - largest);
    sum = over_block(sum, warps, false);
    for (int i = threadIdx.x; i < columns; i += 128) out[i] = expf(in[i] - largest) / sum;
}
