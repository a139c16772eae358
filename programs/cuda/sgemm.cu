// C = A B, n x n, 32 x 32 tiles, four rows of C per thread.
extern "C" __global__ void __launch_bounds__(256) sgemm(const float *a, const float *b, float *c, int n) {
    __shared__ float as[32][32], bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
    float sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < n; k += 32) {
        for (int r = 0; r < 4; r++) {
            as[ty + 8 * r][tx] = a[(row + 8 * r) * n + k + tx];
            bs[ty + 8 * r][tx] = b[(k + ty + 8 * r) * n + column];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++)
            for (int r = 0; r < 4; r++) sum[r] += as[ty + 8 * r][j] * bs[j][tx];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) c[(row + 8 * r) * n + column] = sum[r];
}
