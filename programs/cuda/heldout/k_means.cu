// Nearest of k centres for each point of the plane; the points of each cluster and the largest squared distance are counted by atomics.
extern "C" __global__ void k_means(const float2 *points, const float2 *centres, unsigned char *nearest, int *sizes, int *farthest, int n, int k) {
    __shared__ int local[32];
    __shared__ float2 close[32];
    if (threadIdx.x < k) local[threadIdx.x] = 0, close[threadIdx.x] = centres[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 point = points[i];
        float best = 3.4e38f;
        int which = -1;
        for (int c = 0; c < k; c++) {
            float dx = __fadd_rn(point.x, -close[c].x), dy = __fadd_rn(point.y, -close[c].y);
            float square = __fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy));
            if (square < best) best = square, which = c;
        }
        nearest[i] = which;
        atomicAdd(&local[which], 1);
        atomicMax(farthest, __float_as_int(best)); // of floats that are not negative the bits have the same order
    }
    __syncthreads();
    if (threadIdx.x < k) atomicAdd(&sizes[threadIdx.x], local[threadIdx.x]);
}
