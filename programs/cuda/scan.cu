// Inclusive prefix sums of each block's elements: within a warp by shuffles, then over the warps' sums. sums holds each block's total.
extern "C" __global__ void scan(const int *in, int *out, int *sums, int n) {
    __shared__ int warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int value = i < n ? in[i] : 0;
    for (int distance = 1; distance < 32; distance <<= 1) {
        int before = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance) value += before;
    }
    if (lane == 31) warps[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int total = warps[lane];
        for (int distance = 1; distance < 32; distance <<= 1) {
            int before = __shfl_up_sync(0xffffffff, total, distance);
            if (lane >= distance) total += before;
        }
        warps[lane] = total;
    }
    __syncthreads();
    if (warp > 0) value += warps[warp - 1];
    if (i < n) out[i] = value;
    if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = value;
}
