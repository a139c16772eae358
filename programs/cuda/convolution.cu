// 5 x 5 filter from constant memory over an image; pixels beyond the border count as the nearest one.
__constant__ float weights[5][5] = {{1, 4, 6, 4, 1}, {4, 16, 24, 16, 4}, {6, 24, 36, 24, 6}, {4, 16, 24, 16, 4}, {1, 4, 6, 4, 1}};

extern "C" __global__ void convolution(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += weights[dy + 2][dx + 2] * in[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
    out[y * width + x] = sum / 256.0f;
}
