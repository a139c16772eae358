// C = A B^T, n x n, signed bytes with 32-bit sums: 64 x 64 of C per block, 32 x 32 per warp, tiles of 64 terms in shared memory by ldmatrix.
#define FOUR(r, p) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p))
__shared__ __align__(16) signed char as[64][80], bs[64][80];
extern "C" __global__ void __launch_bounds__(128) igemm_mma(const signed char *a, const signed char *b, int *c, int n) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rows = warp / 2 * 32, columns = warp % 2 * 32;
    a += blockIdx.y * 64 * n, b += blockIdx.x * 64 * n, c += blockIdx.y * 64 * n + blockIdx.x * 64;
    int sum[2][4][4] = {};
    for (int k = 0; k < n; k += 64) {
        for (int part = threadIdx.x; part < 256; part += 128) {
            int row = part / 4, at = part % 4 * 16;
            *reinterpret_cast<int4 *>(&as[row][at]) = *reinterpret_cast<const int4 *>(a + row * n + k + at);
            *reinterpret_cast<int4 *>(&bs[row][at]) = *reinterpret_cast<const int4 *>(b + row * n + k + at);
        }
        __syncthreads();
        for (int step = 0; step < 64; step += 32) {
            unsigned left[2][4], right[2][4];
            for (int i = 0; i < 2; i++)
                FOUR(left[i], (unsigned)__cvta_generic_to_shared(&as[rows + 16 * i + lane % 16][step + lane / 16 * 16]));
            for (int j = 0; j < 2; j++)
                FOUR(right[j], (unsigned)__cvta_generic_to_shared(&bs[columns + 16 * j + lane / 16 * 8 + lane % 8][step + lane / 8 % 2 * 16]));
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+r"(sum[i][j][0]), "+r"(sum[i][j][1]), "+r"(sum[i][j][2]), "+r"(sum[i][j][3])
                                 : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j / 2][j % 2 * 2]), "r"(right[j / 2][j % 2 * 2 + 1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 2; h++)
                *reinterpret_cast<int2 *>(c + (rows + 16 * i + 8 * h + lane / 4) * n + columns + 8 * j + lane % 4 * 2) =
                    make_int2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
}
