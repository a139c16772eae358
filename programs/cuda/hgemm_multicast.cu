// C = A B as in hgemm_tma.cu, by clusters of two blocks side by side: both need the same rows of A, of which each loads half, for both (TMA
// multicast). A buffer is empty when the groups of both blocks have done with it.
// Maps: of A boxes of 64 x 64, of B of 64 x 64 halves, of C of 32 x 64 floats (columns x rows), each with 128 bytes swizzled.
struct alignas(64) tensor_map { unsigned long long words[16]; };
extern __shared__ __align__(1024) char shared[];
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra over; bra again; over: }" ::"r"(barrier), "r"(parity) : "memory");
}
__device__ __forceinline__ void load(unsigned to, const tensor_map *map, int column, int row, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(barrier) : "memory");
}
__device__ __forceinline__ void load_for_both(unsigned to, const tensor_map *map, int column, int row, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to), "l"(map), "r"(column), "r"(row), "r"(barrier), "h"((unsigned short)3) : "memory");
}
// arrives at a barrier of both blocks
__device__ __forceinline__ void arrive_at_both(unsigned barrier) {
    for (unsigned rank = 0; rank < 2; rank++) {
        unsigned there;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(barrier), "r"(rank));
        asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    }
}
__device__ __forceinline__ void meet() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ __forceinline__ void store(unsigned from, const tensor_map *map, int column, int row) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from), "l"(map), "r"(column), "r"(row) : "memory");
}
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
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(384, 1) hgemm_multicast(const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, const __grid_constant__ tensor_map c, int k, int stages) {
    unsigned rank = blockIdx.x % 2, group = threadIdx.x / 128, lane = threadIdx.x % 32, tiles = k / 64;
    unsigned full = at(shared), empty = full + 64, buffers = full + 1024;
    if (threadIdx.x < stages) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full + 8 * threadIdx.x));
        asm volatile("mbarrier.init.shared.b64 [%0], 4;" ::"r"(empty + 8 * threadIdx.x));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    meet();
    if (group == 2) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 256)
            for (unsigned tile = 0, stage = 0, round = 0; tile < tiles; tile++) {
                unsigned buffer = buffers + stage * 32768, barrier = full + 8 * stage;
                if (round) wait(empty + 8 * stage, round - 1 & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 32768;" ::"r"(barrier) : "memory");
                load_for_both(buffer + rank * 8192, &a, tile * 64, blockIdx.y * 128 + rank * 64, barrier);
                load(buffer + 16384, &b, blockIdx.x * 128, tile * 64, barrier);
                load(buffer + 24576, &b, blockIdx.x * 128 + 64, tile * 64, barrier);
                if (++stage == stages) stage = 0, round++;
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float sum[64];
        for (int i = 0; i < 64; i++) sum[i] = 0;
        for (unsigned tile = 0, stage = 0, last = 0, round = 0; tile < tiles; tile++) {
            wait(full + 8 * stage, round & 1);
            unsigned left = buffers + stage * 32768 + group * 8192, right = buffers + stage * 32768 + 16384;
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int step = 0; step < 4; step++) multiply(sum, matrix(left + step * 32, 16, 1024), matrix(right + step * 2048, 8192, 1024));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
            if (tile && threadIdx.x % 128 == 0) arrive_at_both(empty + 8 * last);
            last = stage;
            if (++stage == stages) stage = 0, round++;
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        unsigned tile = buffers + stages * 32768 + group * 32768, row = threadIdx.x % 128 / 32 * 16 + lane / 4;
        for (int j = 0; j < 16; j++)
            for (int h = 0; h < 2; h++) {
                unsigned to = tile + j / 4 * 8192 + (row + 8 * h) * 128 + ((j % 4 * 2 + lane % 4 / 2) ^ row % 8) * 16 + lane % 2 * 8;
                asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(sum[4 * j + 2 * h]), "f"(sum[4 * j + 2 * h + 1]) : "memory");
            }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        if (group) asm volatile("bar.sync 2, 128;" ::: "memory");
        else asm volatile("bar.sync 1, 128;" ::: "memory");
        if (threadIdx.x % 128 == 0) {
            for (int j = 0; j < 4; j++) store(tile + j * 8192, &c, blockIdx.x * 128 + j * 32, blockIdx.y * 128 + group * 64);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
    }
    meet();
}
