// y = A x, one warp per row.
extern "C" __global__ void matvec(const float *__restrict__ a, const float *__restrict__ x, float *y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int column = lane; column < columns; column += 32) sum += a[row * columns + column] * x[column];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0) y[row] = sum;
}
