// (x - mean) / sqrt(variance + epsilon) * scale + shift of each row, one warp per row.
extern "C" __global__ void layer_norm(const float *x, const float *scale, const float *shift, float *y, int rows, int columns, float epsilon) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    x += row * columns, y += row * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += 32) sum += x[i];
    for (int distance = 16; distance > 0; distance >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    float mean = sum / columns;
    for (int i = threadIdx.x; i < columns; i += 32) squares += (x[i] - mean) * (x[i] - mean);
    for (int distance = 16; distance > 0; distance >>= 1) squares += __shfl_xor_sync(0xffffffff, squares, distance);
    float factor = rsqrtf(squares / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += 32) y[i] = (x[i] - mean) * factor * scale[i] + shift[i];
}
