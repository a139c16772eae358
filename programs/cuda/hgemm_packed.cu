// C = A B, halves with float sums, on Hopper, as kernels of today are built: one warp copies (cp.async.bulk), two groups of four multiply
// (wgmma), mbarriers between them say which of the buffers are full and which are empty. 128 x 128 of C per block, 64 terms per buffer.
// A and B lie packed: [128 rows of A or columns of B][8 terms][row][8 halves], so that a tile is 16 KB in a row, and needs no swizzle.
typedef unsigned short half_bits;
extern __shared__ __align__(1024) char shared[];
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra over; bra again; over: }" ::"r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void copy(unsigned to, const void *from, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16384, [%2];" ::"r"(to), "l"(from), "r"(barrier) : "memory");
}
// d += a b^T of one group of four warps: 64 x 128 sums, 16 terms
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                   "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                   "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b));
}
// 8 rows of 16 bytes together, the next 8 terms 2048 bytes further, the next 8 rows 128
__device__ __forceinline__ unsigned long long matrix(unsigned at) {
    return (unsigned long long)((at & 0x3ffff) >> 4) | 2048ull >> 4 << 16 | 128ull >> 4 << 32;
}
extern "C" __global__ void __launch_bounds__(288) hgemm_packed(const half_bits *a, const half_bits *b, float *c, int n, int k, int stages) {
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = k / 64;
    unsigned full = at(shared), empty = full + 64, buffers = full + 1024;
    if (threadIdx.x < stages) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full + 8 * threadIdx.x));
        asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(empty + 8 * threadIdx.x));
    }
    __syncthreads();
    a += blockIdx.y * 128 * k, b += blockIdx.x * 128 * k;
    if (warp == 8) {
        if (lane == 0)
            for (unsigned tile = 0, stage = 0, round = 0; tile < tiles; tile++) {
                if (round) wait(empty + 8 * stage, round - 1 & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 32768;" ::"r"(full + 8 * stage) : "memory");
                copy(buffers + stage * 32768, a + tile * 8192, full + 8 * stage);
                copy(buffers + stage * 32768 + 16384, b + tile * 8192, full + 8 * stage);
                if (++stage == stages) stage = 0, round++;
            }
        return;
    }
    unsigned group = warp / 4, row = warp * 16 + lane / 4;
    c += (blockIdx.y * 128 + row) * n + blockIdx.x * 128 + lane % 4 * 2;
    float sum[64];
    for (int i = 0; i < 64; i++) sum[i] = 0;
    for (unsigned tile = 0, stage = 0, last = 0, round = 0; tile < tiles; tile++) {
        wait(full + 8 * stage, round & 1);
        unsigned left = buffers + stage * 32768 + group * 1024, right = buffers + stage * 32768 + 16384;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < 4; step++) multiply(sum, matrix(left + step * 4096), matrix(right + step * 4096));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (tile && threadIdx.x % 128 == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(empty + 8 * last) : "memory");
        last = stage;
        if (++stage == stages) stage = 0, round++;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int j = 0; j < 16; j++)
        for (int h = 0; h < 2; h++) *reinterpret_cast<float2 *>(c + h * 8 * n + j * 8) = make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
}
