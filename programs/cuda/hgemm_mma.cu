// C = A B^T, n x n, halves with float sums: 64 x 64 of C per block, 32 x 32 per warp, fragments straight from global memory.
__device__ __forceinline__ unsigned two(const unsigned short *p) { return *reinterpret_cast<const unsigned *>(p); }
extern "C" __global__ void __launch_bounds__(128) hgemm_mma(const unsigned short *a, const unsigned short *b, float *c, int n) {
    int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, pair = threadIdx.x % 4 * 2;
    int row = blockIdx.y * 64 + warp / 2 * 32 + group, column = blockIdx.x * 64 + warp % 2 * 32 + group;
    float sum[2][4][4] = {};
    for (int k = pair; k < n; k += 16) {
        unsigned left[2][4], right[4][2];
        for (int i = 0; i < 2; i++) {
            const unsigned short *p = a + (row + 16 * i) * n + k;
            left[i][0] = two(p), left[i][1] = two(p + 8 * n), left[i][2] = two(p + 8), left[i][3] = two(p + 8 * n + 8);
        }
        for (int j = 0; j < 4; j++) {
            const unsigned short *p = b + (column + 8 * j) * n + k;
            right[j][0] = two(p), right[j][1] = two(p + 8);
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 4; j++)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
                             : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j][0]), "r"(right[j][1]));
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 2; h++) {
                float2 *p = reinterpret_cast<float2 *>(c + (row + 16 * i + 8 * h) * n + column - group + 8 * j + pair);
                *p = make_float2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
            }
}
