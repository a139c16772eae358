// Attention, forward, on Hopper, in the manner of FlashAttention-3 (Shah et al., arXiv 2407.08608): out = softmax(q k' / 8) v for each head, rows of
// 64 halves, sums in floats. A block has 128 queries, a group of four warps 64 of them; one warp asks for the queries and for tiles of 128 keys or
// values (TMA, rows swizzled), mbarriers say which buffers are full and which are empty. Scores stay in registers; weights are the left factor of the
// second product. A group asks for the scores of a tile and for the sums over the last one together, and takes exponentials of the scores while the
// sums come; by two named barriers the groups ask in turn, so one multiplies while the other takes exponentials. At least two buffers.
// Maps of q, k, v [heads, n, 64]: boxes of 1 x 128 x 64 halves, 128 bytes swizzled. n: a multiple of 128.
struct alignas(64) tensor_map { unsigned long long words[16]; };
extern __shared__ __align__(1024) char shared[];
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra over; bra again; over: }" ::"r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void load(unsigned to, const tensor_map *map, int row, int head, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to), "l"(map), "r"(0), "r"(row), "r"(head), "r"(barrier) : "memory");
}
#define EIGHT(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
// d = (or, if more, +=) a b' of one group of four warps: 64 x 128 sums, 16 terms, both factors in shared memory
__device__ __forceinline__ void scores(float (&d)[64], unsigned long long a, unsigned long long b, int more) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0; }"
                 : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56) : "l"(a), "l"(b), "r"(more));
}
// d += a b: 64 x 64 sums, 16 terms, a in registers
__device__ __forceinline__ void add(float (&d)[32], const unsigned *a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;" : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define TURN(what, number) asm volatile("bar." #what " " #number ", 256;" ::: "memory")
template <int N> __device__ __forceinline__ void ready(float (&d)[N]) {  // from here on the compiler may read what products wrote
    #pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i])::"memory");
}
// where a matrix begins, pieces of 8 rows 1024 bytes apart; rows of 128 bytes, swizzled
__device__ __forceinline__ unsigned long long matrix(unsigned at) { return (unsigned long long)((at & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62; }
__device__ __forceinline__ float power(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ unsigned packed(float low, float high) { unsigned r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r; }
__device__ __forceinline__ float of_row(float x, bool largest) {  // over the four lanes that hold it
    for (int far = 1; far < 4; far *= 2) {
        float other = __shfl_xor_sync(~0u, x, far);
        x = largest ? fmaxf(x, other) : x + other;
    }
    return x;
}
extern "C" __global__ void __launch_bounds__(384, 1) attention_wgmma(const __grid_constant__ tensor_map q, const __grid_constant__ tensor_map k, const __grid_constant__ tensor_map v, float *out, int n, int stages) {
    const float SCALE = 0.18033688f;  // log2(e) / 8
    unsigned group = threadIdx.x / 128, lane = threadIdx.x % 32, tiles = n / 128;
    unsigned full = at(shared), empty = full + 128, queries = full + 1024, buffers = queries + 16384;
    if (threadIdx.x < stages) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full + 8 * threadIdx.x));
        asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(empty + 8 * threadIdx.x));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    if (group == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 256)
            for (unsigned i = 0, stage = 0, round = 0; i < 2 * tiles; i++) {  // keys 0, keys 1, values 0, keys 2, values 1, and so on
                bool keys = !i || i % 2 && i < 2 * tiles - 1;
                unsigned barrier = full + 8 * stage;
                if (round) wait(empty + 8 * stage, round - 1 & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(i ? 16384 : 32768) : "memory");
                if (!i) load(queries, &q, blockIdx.x * 128, blockIdx.y, barrier);
                load(buffers + stage * 16384, keys ? &k : &v, (keys ? i + 1 : i - 1) / 2 * 128, blockIdx.y, barrier);
                if (++stage == stages) stage = 0, round++;
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float score[64], sum[32] = {}, most[2] = {-1e30f, -1e30f}, weight[2] = {}, less[2];
    unsigned left[32], stage = stages - 1, parity = 1, keys, values;
    auto take = [&] {
        if (++stage == stages) stage = 0, parity ^= 1;
        wait(full + 8 * stage, parity);
        return stage;
    };
    auto give = [&](unsigned stage) {
        if (threadIdx.x % 128 == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(empty + 8 * stage) : "memory");
    };
    auto ask_scores = [&] {
        FENCE;
        #pragma unroll
        for (int step = 0; step < 4; step++) scores(score, matrix(queries + group * 8192 + step * 32), matrix(buffers + keys * 16384 + step * 32), step);
        COMMIT;
    };
    auto weigh = [&] {  // scores become weights; those before them shrink when a larger score comes
        ready(score);
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            float top = most[h];
            for (int j = 0; j < 16; j++) top = fmaxf(top, fmaxf(score[4 * j + 2 * h], score[4 * j + 2 * h + 1]));
            top = of_row(top, true);
            float base = top * SCALE;
            less[h] = power((most[h] - top) * SCALE), most[h] = top, weight[h] *= less[h];
            for (int j = 0; j < 16; j++)
                for (int i = 4 * j + 2 * h; i < 4 * j + 2 * h + 2; i++) score[i] = power(score[i] * SCALE - base), weight[h] += score[i];
        }
    };
    auto shrink = [&] {  // once the last sums are there; weights become the left factor
        WAIT(0);
        ready(sum);
        #pragma unroll
        for (int i = 0; i < 32; i++) sum[i] *= less[i / 2 % 2], left[i] = packed(score[2 * i], score[2 * i + 1]);
    };
    auto ask_sums = [&] {
        FENCE;
        #pragma unroll
        for (int step = 0; step < 8; step++) add(sum, left + 4 * step, matrix(buffers + values * 16384 + step * 2048));
        COMMIT;
    };
    keys = take();
    ask_scores();
    WAIT(0);
    give(keys);
    weigh();
    for (unsigned tile = 1; tile < tiles; tile++) {
        keys = take();
        shrink();
        if (tile > 1) give(values);
        if (group) TURN(sync, 2);
        else if (tile > 1) TURN(sync, 1);
        ask_scores();
        values = take();
        ask_sums();
        if (!group) TURN(arrive, 2);
        else if (tile + 1 < tiles) TURN(arrive, 1);
        WAIT(1);
        give(keys);
        weigh();
    }
    values = take();
    shrink();
    ask_sums();
    WAIT(0);
    ready(sum);
    float *row = out + ((size_t)blockIdx.y * n + blockIdx.x * 128 + threadIdx.x / 32 * 16 + lane / 4) * 64 + lane % 4 * 2;
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        float share = 1 / of_row(weight[h], false);
        for (int j = 0; j < 8; j++) *reinterpret_cast<float2 *>(row + h * 512 + 8 * j) = make_float2(sum[4 * j + 2 * h] * share, sum[4 * j + 2 * h + 1] * share);
    }
}
