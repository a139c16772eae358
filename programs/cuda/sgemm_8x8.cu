// C = alpha A B + beta C, n x n, 64 x 64 of C per block and 8 x 8 per thread: eight values of A and eight of B in registers serve 64 FMAs.
extern "C" __global__ void __launch_bounds__(64) sgemm_8x8(const float *a, const float *b, float *c, int n, float alpha, float beta) {
    __shared__ __align__(16) float as[8][64], bs[8][64];
    int t = threadIdx.x, tx = t % 8, ty = t / 8;
    a += blockIdx.y * 64 * n, b += blockIdx.x * 64, c += blockIdx.y * 64 * n + blockIdx.x * 64;
    float sum[8][8] = {};
    for (int k = 0; k < n; k += 8) {
        const float4 *row = reinterpret_cast<const float4 *>(a + t * n + k);
        float4 low = row[0], high = row[1];
        as[0][t] = low.x, as[1][t] = low.y, as[2][t] = low.z, as[3][t] = low.w;
        as[4][t] = high.x, as[5][t] = high.y, as[6][t] = high.z, as[7][t] = high.w;
#pragma unroll
        for (int j = 0; j < 8; j++) bs[j][t] = b[(k + j) * n + t];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float x[8], y[8];
#pragma unroll
            for (int i = 0; i < 8; i += 4) {
                *reinterpret_cast<float4 *>(x + i) = *reinterpret_cast<float4 *>(&as[j][ty * 8 + i]);
                *reinterpret_cast<float4 *>(y + i) = *reinterpret_cast<float4 *>(&bs[j][tx * 8 + i]);
            }
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int l = 0; l < 8; l++) sum[i][l] += x[i] * y[l];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int l = 0; l < 8; l++) {
            float *to = c + (ty * 8 + i) * n + tx * 8 + l;
            *to = alpha * sum[i][l] + beta * *to;
        }
}
