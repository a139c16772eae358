// The sum of each block's 256 elements, in shared memory: log2(256) steps, each with half as many threads.
extern "C" __global__ void reduce(const float *x, float *sums) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    partial[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) partial[t] += partial[t + half];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = partial[0];
}
