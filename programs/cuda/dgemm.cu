// C = A B in double precision, n x n for any n: 16 x 16 tiles, zeros beyond the border.
extern "C" __global__ void dgemm(const double *a, const double *b, double *c, int n) {
    __shared__ double as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0;
        bs[ty][tx] = k + ty < n && column < n ? b[(k + ty) * n + column] : 0;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += as[ty][j] * bs[j][tx];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
