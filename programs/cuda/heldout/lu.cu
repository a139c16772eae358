// LU factors with partial pivoting of n x n matrices in double precision, one per warp; the pivot is found by shuffles.
extern "C" __global__ void lu(double *matrices, int *pivots, int count, int n) {
    int matrix = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (matrix >= count) return;
    double *a = matrices + matrix * n * n; // lane i holds row i
    for (int k = 0; k < n; k++) {
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
