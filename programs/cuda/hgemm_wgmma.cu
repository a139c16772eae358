// C = A B, n x n, halves with float sums, on Hopper: 128 x 128 of C per block, two groups of four warps multiply 64 x 128 each (wgmma), both
// factors from shared memory, rows of 128 bytes swizzled; tiles of 64 terms copied by cp.async two ahead, in four buffers of 32 KB.
#define COPY(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from))
typedef unsigned short half_bits;
extern __shared__ __align__(1024) char shared[];
// d += a b^T of one group of four warps: 64 x 128 sums, 16 terms
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
                   "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
                   "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
                 : "l"(a), "l"(b));
}
// where a matrix begins, how far apart pieces of 64 columns and of 8 rows are; rows of 128 bytes, swizzled
__device__ __forceinline__ unsigned long long matrix(unsigned at, unsigned leading, unsigned stride) {
    return (unsigned long long)((at & 0x3ffff) >> 4) | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 | 1ull << 62;
}
__device__ __forceinline__ void fetch(unsigned buffer, const half_bits *a, const half_bits *b, int k, int n) {
    for (int part = threadIdx.x; part < 1024; part += 256) {
        int row = part / 8, at = part % 8, line = part / 16, column = part % 16;
        COPY(buffer + row * 128 + (at ^ row % 8) * 16, a + row * n + k + at * 8);
        COPY(buffer + 16384 + column / 8 * 8192 + line * 128 + (column % 8 ^ line % 8) * 16, b + (k + line) * n + column * 8);
    }
    asm volatile("cp.async.commit_group;");
}
extern "C" __global__ void __launch_bounds__(256) hgemm_wgmma(const half_bits *a, const half_bits *b, float *c, int n) {
    unsigned group = threadIdx.x / 128, lane = threadIdx.x % 32, row = group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
    unsigned start = (unsigned)__cvta_generic_to_shared(shared);
    a += blockIdx.y * 128 * n, b += blockIdx.x * 128, c += (blockIdx.y * 128 + row) * n + blockIdx.x * 128 + lane % 4 * 2;
    float sum[64];
    for (int i = 0; i < 64; i++) sum[i] = 0;
    fetch(start, a, b, 0, n);
    if (n > 64) fetch(start + 32768, a, b, 64, n);
    else asm volatile("cp.async.commit_group;");
    for (int k = 0; k < n; k += 64) {
        asm volatile("cp.async.wait_group 1;");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        unsigned left = start + k / 64 % 4 * 32768 + group * 8192, right = start + k / 64 % 4 * 32768 + 16384;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < 4; step++)
            multiply(sum, matrix(left + step * 32, 16, 1024), matrix(right + step * 2048, 8192, 1024));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (k + 128 < n) fetch(start + (k / 64 + 2) % 4 * 32768, a, b, k + 128, n);
        else asm volatile("cp.async.commit_group;");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int j = 0; j < 16; j++)
        for (int h = 0; h < 2; h++) *reinterpret_cast<float2 *>(c + h * 8 * n + j * 8) = make_float2(sum[4 * j + 2 * h], sum[4 * j + 2 * h + 1]);
}
