// Matrix product of n x n floats: tiles of both factors come by asynchronous copies, two stages deep.
#include <cuda_pipeline.h>
constexpr int TILE = 16;

extern "C" __global__ void async_tile(float* c, const float* a, const float* b, int n) {
    __shared__ float as[2][TILE][TILE], bs[2][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    auto fetch = [&](int stage, int k) {
        __pipeline_memcpy_async(&as[stage][y][x], &a[row * n + k * TILE + x], sizeof(float));
        __pipeline_memcpy_async(&bs[stage][y][x], &b[(k * TILE + y) * n + column], sizeof(float));
        __pipeline_commit();
    };
    float sum = 0;
    int tiles = n / TILE;
    fetch(0, 0);
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) {
            fetch((k + 1) & 1, k + 1);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        for (int j = 0; j < TILE; ++j) sum += as[k & 1][y][j] * bs[k & 1][j][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
