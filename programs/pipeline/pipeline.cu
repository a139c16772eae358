// C = A B, halves with float sums, on Hopper: one warp copies (cp.async.bulk), two groups of four multiply (wgmma), with one to eight buffers
// between them (mbarriers), for 128 rows of C per block and 64, 128 or 256 columns. 64 terms per buffer: 16 KB of A, 8, 16 or 32 KB of B.
// A and B lie packed: [128 rows of A, or as many columns of B as a tile has][8 terms][row][8 halves]. As ../cuda/hgemm_packed.cu, which never
// ends with one buffer: here a group gives a buffer back before it waits for the next one.
// nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -cubin -o pipeline.cubin pipeline.cu && cuobjdump -sass pipeline.cubin > pipeline.sm_90.sass
typedef unsigned short half_bits;
extern __shared__ __align__(1024) char shared[];
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra over; bra again; over: }" ::"r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void copy(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}
// d += a b^T of one group of four warps: 64 rows of as many sums, 16 terms
__device__ __forceinline__ void multiply(float (&d)[32], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b));
}
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b));
}
__device__ __forceinline__ void multiply(float (&d)[128], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, %128, %129, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
                 : "l"(a), "l"(b));
}
// 8 rows of 16 bytes together, the next 8 terms `leading` bytes further, the next 8 rows 128
__device__ __forceinline__ unsigned long long matrix(unsigned at, unsigned leading) {
    return (unsigned long long)((at & 0x3ffff) >> 4) | (unsigned long long)(leading >> 4) << 16 | 128ull >> 4 << 32;
}
template <int COLUMNS> __device__ __forceinline__ void product(const half_bits *a, const half_bits *b, float *c, int n, int k, int stages) {
    const unsigned A_BYTES = 16384, B_BYTES = COLUMNS * 128, BYTES = A_BYTES + B_BYTES;
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, tiles = k / 64;
    unsigned full = at(shared), empty = full + 64, buffers = full + 1024;
    if (threadIdx.x < stages) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full + 8 * threadIdx.x));
        asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(empty + 8 * threadIdx.x));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    a += blockIdx.y * 128 * k, b += blockIdx.x * COLUMNS * k;
    if (warp == 8) {
        if (lane == 0)
            for (unsigned tile = 0, stage = 0, round = 0; tile < tiles; tile++) {
                if (round) wait(empty + 8 * stage, round - 1 & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(full + 8 * stage), "r"(BYTES) : "memory");
                copy(buffers + stage * BYTES, a + tile * A_BYTES / 2, A_BYTES, full + 8 * stage);
                copy(buffers + stage * BYTES + A_BYTES, b + tile * B_BYTES / 2, B_BYTES, full + 8 * stage);
                if (++stage == stages) stage = 0, round++;
            }
        return;
    }
    unsigned group = warp / 4, row = warp * 16 + lane / 4;
    c += (blockIdx.y * 128 + row) * n + blockIdx.x * COLUMNS + lane % 4 * 2;
    float sum[COLUMNS / 2];
    for (int i = 0; i < COLUMNS / 2; i++) sum[i] = 0;
    for (unsigned tile = 0, stage = 0, last = 0, round = 0; tile < tiles; tile++) {
        if (stages == 1 && tile) { // nothing is to be had before the only buffer is given back
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            if (threadIdx.x % 128 == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(empty) : "memory");
        }
        wait(full + 8 * stage, round & 1);
        unsigned left = buffers + stage * BYTES + group * 1024, right = buffers + stage * BYTES + A_BYTES;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < 4; step++) multiply(sum, matrix(left + step * 4096, 2048), matrix(right + step * COLUMNS * 32, COLUMNS * 16));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (stages > 1 && tile && threadIdx.x % 128 == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(empty + 8 * last) : "memory");
        last = stage;
        if (++stage == stages) stage = 0, round++;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int j = 0; j < COLUMNS / 8; j++)
        for (int h = 0; h < 2; h++) *reinterpret_cast<float2 *>(c + h * 8 * n + j * 8) = make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
}
#define KERNEL(name, COLUMNS) \
    extern "C" __global__ void __launch_bounds__(288) name(const half_bits *a, const half_bits *b, float *c, int n, int k, int stages) { product<COLUMNS>(a, b, c, n, k, stages); }
KERNEL(tiles_of_64, 64)
KERNEL(tiles_of_128, 128)
KERNEL(tiles_of_256, 256)
