// C = A B, n x n, halves with float sums: 64 x 64 of C per block, tiles of 32 terms copied by cp.async while the ones before are multiplied,
// fragments by ldmatrix; rows are padded by 16 bytes, so that eight of them lie in different banks.
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from))
#define FOUR(r, p) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p))
#define FOUR_TURNED(r, p) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p))
typedef unsigned short half_bits;
__shared__ __align__(16) half_bits as[2][64][40], bs[2][32][72];
__device__ __forceinline__ void fetch(int buffer, const half_bits *a, const half_bits *b, int k, int n) {
    for (int part = threadIdx.x; part < 256; part += 128) {
        int row = part / 4, at = part % 4 * 8, line = part / 8, column = part % 8 * 8;
        COPY((unsigned)__cvta_generic_to_shared(&as[buffer][row][at]), a + row * n + k + at);
        COPY((unsigned)__cvta_generic_to_shared(&bs[buffer][line][column]), b + (k + line) * n + column);
    }
    asm volatile("cp.async.commit_group;");
}
extern "C" __global__ void __launch_bounds__(128) hgemm_async(const half_bits *a, const half_bits *b, float *c, int n) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, rows = warp / 2 * 32, columns = warp % 2 * 32;
    a += blockIdx.y * 64 * n, b += blockIdx.x * 64, c += blockIdx.y * 64 * n + blockIdx.x * 64;
    float sum[2][4][4] = {};
    fetch(0, a, b, 0, n);
    for (int k = 0, now = 0; k < n; k += 32, now ^= 1) {
        if (k + 32 < n) fetch(now ^ 1, a, b, k + 32, n);
        else asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        for (int step = 0; step < 32; step += 16) {
            unsigned left[2][4], right[2][4];
            for (int i = 0; i < 2; i++)
                FOUR(left[i], (unsigned)__cvta_generic_to_shared(&as[now][rows + 16 * i + lane % 16][step + lane / 16 * 8]));
            for (int j = 0; j < 2; j++)
                FOUR_TURNED(right[j], (unsigned)__cvta_generic_to_shared(&bs[now][step + lane % 16][columns + 16 * j + lane / 16 * 8]));
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
                                 : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j / 2][j % 2 * 2]), "r"(right[j / 2][j % 2 * 2 + 1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 2; h++)
                *reinterpret_cast<float2 *>(c + (rows + 16 * i + 8 * h + lane / 4) * n + columns + 8 * j + lane % 4 * 2) =
                    make_float2(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
}
