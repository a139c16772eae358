// Attention, forward: out = softmax(q k' / 8) v for each head, rows of 64 halves, sums in floats. A block has 64 queries, a warp 16 of them; keys
// and values come 64 at a time by cp.async (on Turing by loads and stores) while those before are used. Scores never leave registers: the sums of one product are
// the left factor of the next, and the weights of a row are corrected when a larger score comes (Milakov and Gimelshein, arXiv 1805.02867).
#define FOUR(r, p) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p))
#define FOUR_TURNED(r, p) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(p))
#if __CUDA_ARCH__ >= 800
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from))
#define COMMIT asm volatile("cp.async.commit_group;")
#define WAIT asm volatile("cp.async.wait_group 1;")
#define MULTIPLY(c, a, b0, b1) asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
#else  // Turing: copies through registers, products of 8 terms
#define COPY(to, from) { uint4 x = *reinterpret_cast<const uint4 *>(from); asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w)); }
#define COMMIT
#define WAIT
#define HALF(c, a0, a1, b) asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(b))
#define MULTIPLY(c, a, b0, b1) HALF(c, a[0], a[1], b0); HALF(c, a[2], a[3], b1)
#endif
typedef unsigned short half_bits;
__shared__ __align__(16) half_bits ks[2][64][72], vs[2][64][72];
__device__ __forceinline__ unsigned at(const half_bits *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void fetch(int buffer, const half_bits *k, const half_bits *v) {
    for (int part = threadIdx.x; part < 512; part += 128) {
        COPY(at(&ks[buffer][part / 8][part % 8 * 8]), k + part * 8);
        COPY(at(&vs[buffer][part / 8][part % 8 * 8]), v + part * 8);
    }
    COMMIT;
}
__device__ __forceinline__ float power(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ unsigned packed(float low, float high) { unsigned r; asm("{ .reg .f16 x, y; cvt.rn.f16.f32 x, %2; cvt.rn.f16.f32 y, %1; mov.b32 %0, {x, y}; }" : "=r"(r) : "f"(high), "f"(low)); return r; }
__device__ __forceinline__ float of_row(float x, bool largest) {  // over the four lanes that hold it
    for (int far = 1; far < 4; far *= 2) {
        float other = __shfl_xor_sync(~0u, x, far);
        x = largest ? fmaxf(x, other) : x + other;
    }
    return x;
}
extern "C" __global__ void __launch_bounds__(128) attention_mma(const half_bits *q, const half_bits *k, const half_bits *v, float *out, int n) {
    const float SCALE = 0.18033688f;  // log2(e) / 8
    int lane = threadIdx.x % 32, row = blockIdx.x * 64 + threadIdx.x / 32 * 16 + lane / 4;
    long head = (long)blockIdx.y * n * 64;
    q += head, k += head, v += head, out += head;
    unsigned queries[4][4];
    float sum[8][4] = {}, most[2] = {-1e30f, -1e30f}, weight[2] = {};
    fetch(0, k, v);
    #pragma unroll
    for (int step = 0; step < 4; step++)
        for (int r = 0; r < 4; r++)
            queries[step][r] = *reinterpret_cast<const unsigned *>(q + (row + r % 2 * 8) * 64 + step * 16 + r / 2 * 8 + lane % 4 * 2);
    for (int key = 0, now = 0; key < n; key += 64, now ^= 1) {
        if (key + 64 < n) fetch(now ^ 1, k + (key + 64) * 64, v + (key + 64) * 64);
        else COMMIT;
        WAIT;
        __syncthreads();
        float score[8][4] = {};
        unsigned right[4], left[4];
        #pragma unroll
        for (int step = 0; step < 4; step++)
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                FOUR(right, at(&ks[now][16 * j + lane % 8 + lane / 16 * 8][16 * step + lane / 8 % 2 * 8]));
                MULTIPLY(score[2 * j], queries[step], right[0], right[1]);
                MULTIPLY(score[2 * j + 1], queries[step], right[2], right[3]);
            }
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float top = most[h];
            for (int j = 0; j < 8; j++) top = fmaxf(top, fmaxf(score[j][2 * h], score[j][2 * h + 1]));
            top = of_row(top, true);
            float less = power((most[h] - top) * SCALE), base = top * SCALE;
            most[h] = top, weight[h] *= less;
            for (int j = 0; j < 8; j++)
                for (int i = 2 * h; i < 2 * h + 2; i++) {
                    score[j][i] = power(score[j][i] * SCALE - base);
                    weight[h] += score[j][i], sum[j][i] *= less;
                }
        }
        #pragma unroll
        for (int step = 0; step < 4; step++) {
            for (int r = 0; r < 4; r++) left[r] = packed(score[2 * step + r / 2][r % 2 * 2], score[2 * step + r / 2][r % 2 * 2 + 1]);
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                FOUR_TURNED(right, at(&vs[now][16 * step + lane % 16][16 * j + lane / 16 * 8]));
                MULTIPLY(sum[2 * j], left, right[0], right[1]);
                MULTIPLY(sum[2 * j + 1], left, right[2], right[3]);
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        float share = 1 / of_row(weight[h], false);
        for (int j = 0; j < 8; j++)
            *reinterpret_cast<float2 *>(out + (row + 8 * h) * 64 + 8 * j + lane % 4 * 2) = make_float2(sum[j][2 * h] * share, sum[j][2 * h + 1] * share);
    }
}
