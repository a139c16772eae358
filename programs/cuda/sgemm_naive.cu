// C = A B, one element of C per thread, everything from global memory. A is m x k, B is k x n.
extern "C" __global__ void sgemm_naive(const float *a, const float *b, float *c, int m, int n, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int j = 0; j < k; j++) sum += a[row * k + j] * b[j * n + column];
    c[row * n + column] = sum;
}
