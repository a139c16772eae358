// Tiles of the tensor memory accelerator: what lands where (load1 to load5, store1 to store5, reduce), and how long it takes, by clock.
// One thread copies. nvcc -cubin -gencode arch=compute_90a,code=sm_90a of CUDA 13.0 made ../h100/tiles.sm_90.cubin; a host program gave it maps
// that the driver had encoded, and arrays of `programs.measurements.tiles.words`. The rows of ../h100/tiles.csv are its arguments.
struct alignas(64) tensor_map { unsigned long long words[16]; };
extern __shared__ __align__(1024) char shared[];
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory")
__device__ __forceinline__ void init(unsigned b) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(b) : "memory"); }
__device__ __forceinline__ void expect(unsigned b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory"); }
__device__ __forceinline__ int over(unsigned b, unsigned parity) {
    int done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "r"(parity) : "memory");
    return done;
}
__device__ __forceinline__ void wait(unsigned b, unsigned parity) { while (!over(b, parity)); }
#define LOAD(D, C, to, map, b, x, y, z, v, w) asm volatile("cp.async.bulk.tensor." #D "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" C "}], [%2];" ::"r"(to), "l"(map), "r"(b), "r"(x), "r"(y), "r"(z), "r"(v), "r"(w) : "memory")
#define STORE(D, C, from, map, x, y, z, v, w) asm volatile("cp.async.bulk.tensor." #D "d.global.shared::cta.tile.bulk_group [%1, {" C "}], [%0];" ::"r"(from), "l"(map), "r"(x), "r"(y), "r"(z), "r"(v), "r"(w) : "memory")
#define REDUCE(O, from, map, x, y) asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." #O ".tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from), "l"(map), "r"(x), "r"(y) : "memory")
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define READ asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define DONE asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define FENCE asm volatile("fence.proxy.async;" ::: "memory")
// shared memory, `words` of 4 bytes that were `poison`, after a tile of `bytes` has landed at `to`; out[words]: whether it did
#define LOADS(D, C) extern "C" __global__ void load##D(const __grid_constant__ tensor_map map, unsigned *out, int words, unsigned poison, int bytes, int to, int x, int y, int z, int v, int w) { \
    __shared__ unsigned long long barrier; \
    for (int k = threadIdx.x; k < words; k += 32) ((unsigned *)shared)[k] = poison; \
    if (threadIdx.x == 0) init(at(&barrier)); \
    FENCE; \
    __syncwarp(); \
    if (threadIdx.x == 0) { \
        expect(at(&barrier), bytes); \
        LOAD(D, C, at(shared) + to, &map, at(&barrier), x, y, z, v, w); \
        int landed = 0; \
        for (int k = 0; k < 64 && !landed; k++) landed = over(at(&barrier), 0); \
        out[words] = landed; \
    } \
    __syncwarp(); \
    for (int k = threadIdx.x; k < words; k += 32) out[k] = ((unsigned *)shared)[k]; \
}
LOADS(1, "%3") LOADS(2, "%3, %4") LOADS(3, "%3, %4, %5") LOADS(4, "%3, %4, %5, %6") LOADS(5, "%3, %4, %5, %6, %7")
// `words` of shared memory are given; the tile at `from` is stored
#define STORES(D, C) extern "C" __global__ void store##D(const __grid_constant__ tensor_map map, const unsigned *given, int words, int from, int x, int y, int z, int v, int w) { \
    for (int k = threadIdx.x; k < words; k += 32) ((unsigned *)shared)[k] = given[k]; \
    FENCE; \
    __syncwarp(); \
    if (threadIdx.x == 0) { \
        STORE(D, C, at(shared) + from, &map, x, y, z, v, w); \
        COMMIT; \
        DONE; \
    } \
}
STORES(1, "%2") STORES(2, "%2, %3") STORES(3, "%2, %3, %4") STORES(4, "%2, %3, %4, %5") STORES(5, "%2, %3, %4, %5, %6")
#define REDUCES(O) extern "C" __global__ void reduce_##O(const __grid_constant__ tensor_map map, const unsigned *given, int words, int from, int x, int y) { \
    for (int k = threadIdx.x; k < words; k += 32) ((unsigned *)shared)[k] = given[k]; \
    FENCE; \
    __syncwarp(); \
    if (threadIdx.x == 0) { \
        REDUCE(O, at(shared) + from, &map, x, y); \
        COMMIT; \
        DONE; \
    } \
}
REDUCES(add) REDUCES(min) REDUCES(max) REDUCES(inc) REDUCES(dec) REDUCES(and) REDUCES(or) REDUCES(xor)
// times of `count` tiles of `bytes` each: issue of all, until the first is there, until all; twice, the second time L2 has them.
// Tiles follow each other along y; `prefetched`: the map is, before.
extern "C" __global__ void loads(const __grid_constant__ tensor_map map, int *t, int bytes, int count, int step, int prefetched) {
    __shared__ unsigned long long barriers[8];
    int c[4], place = bytes < 128 ? 128 : bytes;
    if (threadIdx.x) return;
    for (int k = 0; k < count; k++) init(at(barriers + k));
    FENCE;
    if (prefetched) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        CLOCK(c[0]);
        do CLOCK(c[1]); while (c[1] - c[0] < 4000);
    }
    for (int again = 0; again < 2; again++) {
        CLOCK(c[0]);
        for (int k = 0; k < count; k++) {
            expect(at(barriers + k), bytes);
            LOAD(2, "%3, %4", at(shared) + k * place, &map, at(barriers + k), 0, k * step, 0, 0, 0);
        }
        CLOCK(c[1]);
        wait(at(barriers), again);
        CLOCK(c[2]);
        for (int k = 1; k < count; k++) wait(at(barriers + k), again);
        CLOCK(c[3]);
        for (int k = 0; k < 3; k++) t[again * 3 + k] = c[k + 1] - c[0];
    }
}
extern "C" __global__ void stores(const __grid_constant__ tensor_map map, int *t, int bytes, int count, int step) {
    int c[4], place = bytes < 128 ? 128 : bytes;
    if (threadIdx.x) return;
    for (int again = 0; again < 2; again++) {
        CLOCK(c[0]);
        for (int k = 0; k < count; k++) STORE(2, "%2, %3", at(shared) + k * place, &map, 0, k * step, 0, 0, 0);
        COMMIT;
        CLOCK(c[1]);
        READ;
        CLOCK(c[2]);
        DONE;
        CLOCK(c[3]);
        for (int k = 0; k < 3; k++) t[again * 3 + k] = c[k + 1] - c[0];
    }
}
// every block loads `count` tiles, `stages` in flight, those of block b from y = b * count * step on; t: clocks of each block, the second half of its tiles
extern "C" __global__ void flood(const __grid_constant__ tensor_map map, int *t, int bytes, int count, int step, int stages) {
    __shared__ unsigned long long barriers[16];
    int from = 0, to = 0, place = bytes < 128 ? 128 : bytes;
    if (threadIdx.x) return;
    for (int k = 0; k < stages; k++) init(at(barriers + k));
    FENCE;
    int y = blockIdx.x * count * step, stage = 0, parity = 0;
    for (int k = 0; k < count + stages; k++) {
        if (k >= stages) wait(at(barriers + stage), parity ^ 1);
        if (k == count / 2) CLOCK(from);
        if (k < count) {
            expect(at(barriers + stage), bytes);
            LOAD(2, "%3, %4", at(shared) + stage * place, &map, at(barriers + stage), 0, y, 0, 0, 0);
            y += step;
        }
        if (++stage == stages) stage = 0, parity ^= 1;
    }
    CLOCK(to);
    t[blockIdx.x] = to - from;
}
// one group of four warps gives registers away after `delay` cycles, two take them: t: cycles of each
extern "C" __global__ void __launch_bounds__(384, 1) registers(int *t, int delay) {
    int c[3];
    unsigned group = threadIdx.x / 128;
    __syncthreads();
    CLOCK(c[0]);
    if (group == 0) {
        do CLOCK(c[1]); while (c[1] - c[0] < delay);
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;" ::: "memory");
        CLOCK(c[2]);
    } else {
        CLOCK(c[1]);
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;" ::: "memory");
        CLOCK(c[2]);
    }
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 32 * 2] = c[1] - c[0], t[threadIdx.x / 32 * 2 + 1] = c[2] - c[1];
}
