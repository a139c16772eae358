// Reductions by bulk copies and TMA (UBLKRED, UTMAREDG): what each leaves in memory, and how long it takes, by clock.
// A program by itself: nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o reductions reductions.cu
//   && ./reductions results > reductions.csv && ./reductions times > reduction_times.csv
// Cases that the GPU refuses end their process; each case that follows begins in a new one.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <algorithm>
#include <vector>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda.h>
#include <cuda_runtime.h>
extern __shared__ __align__(1024) char shared[];
__device__ __forceinline__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory")
#define COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define READ asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define DONE asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define FENCE asm volatile("fence.proxy.async;" ::: "memory")
#define GLOBAL(O, to, from, n) asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." O " [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(n) : "memory")
#define NEAR(O, to, from, n, b) asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." O " [%0], [%1], %2, [%3];" ::"r"(to), "r"(from), "r"(n), "r"(b) : "memory")
#define TILE(O, map, from, x, y) asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." O ".tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from), "l"(map), "r"(x), "r"(y) : "memory")
#define STORE(to, from, n) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(n) : "memory")
#define STORE_TILE(map, from, x, y) asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from), "l"(map), "r"(x), "r"(y) : "memory")
#define FORMS(X) X(add, u32, "add.u32") X(add, s32, "add.s32") X(add, u64, "add.u64") X(add, f16, "add.noftz.f16") X(add, bf16, "add.noftz.bf16") X(add, f32, "add.f32") X(add, f64, "add.f64") \
    X(min, u32, "min.u32") X(min, s32, "min.s32") X(min, u64, "min.u64") X(min, s64, "min.s64") X(min, f16, "min.f16") X(min, bf16, "min.bf16") \
    X(max, u32, "max.u32") X(max, s32, "max.s32") X(max, u64, "max.u64") X(max, s64, "max.s64") X(max, f16, "max.f16") X(max, bf16, "max.bf16") \
    X(inc, u32, "inc.u32") X(dec, u32, "dec.u32") X(and, b32, "and.b32") X(or, b32, "or.b32") X(xor, b32, "xor.b32") X(and, b64, "and.b64") X(or, b64, "or.b64") X(xor, b64, "xor.b64")
#define NEAR_FORMS(X) X(add, u32, "add.u32") X(add, s32, "add.s32") X(add, u64, "add.u64") X(min, u32, "min.u32") X(min, s32, "min.s32") X(max, u32, "max.u32") X(max, s32, "max.s32") \
    X(inc, u32, "inc.u32") X(dec, u32, "dec.u32") X(and, b32, "and.b32") X(or, b32, "or.b32") X(xor, b32, "xor.b32")
#define OPERATIONS(X) X(add) X(min) X(max) X(inc) X(dec) X(and) X(or) X(xor)
constexpr int BYTES = 4096, TYPES = 13;  // of an array of results; of the driver's data types
// `given` is reduced into `out`
#define BULK(O, T, S) extern "C" __global__ void bulk_##O##_##T(char *out, const uint32_t *given) { \
    for (int k = threadIdx.x; k < BYTES / 4; k += 32) ((uint32_t *)shared)[k] = given[k]; \
    FENCE; __syncwarp(); \
    if (threadIdx.x == 0) { GLOBAL(S, out, at(shared), BYTES); COMMIT; DONE; } \
}
FORMS(BULK)
#define TILES(O) extern "C" __global__ void tile_##O(const __grid_constant__ CUtensorMap map, const uint32_t *given) { \
    for (int k = threadIdx.x; k < BYTES / 4; k += 32) ((uint32_t *)shared)[k] = given[k]; \
    FENCE; __syncwarp(); \
    if (threadIdx.x == 0) { TILE(#O, &map, at(shared), 0, 0); COMMIT; DONE; } \
}
OPERATIONS(TILES)
__device__ __forceinline__ uint32_t other(const void *p, int rank) { uint32_t far; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at(p)), "r"(rank)); return far; }
__device__ __forceinline__ uint32_t rank() { uint32_t r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ void all() { __syncwarp(); asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ __forceinline__ void init(uint64_t *b) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(b)) : "memory"); }
__device__ __forceinline__ void expect(uint64_t *b, int n) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(uint64_t *b, int parity) {
    int done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(b)), "r"(parity) : "memory"); while (!done);
}
// block 0 reduces `given` into shared memory of block 1, `count` pieces of `bytes`, to one place or to as many; t of both: issue of all; until block 1 has all
#define CLUSTER(O, T, S) extern "C" __global__ void __cluster_dims__(2) near_##O##_##T(char *out, const uint32_t *given, int *t, int bytes, int count, int step) { \
    __shared__ uint64_t barrier; \
    uint32_t *mine = (uint32_t *)shared, *source = mine + 16384; \
    int c[3] = {0, 0, 0}; \
    for (int k = threadIdx.x; k < BYTES / 4; k += 32) mine[k] = ((uint32_t *)out)[k], source[k] = given[k]; \
    if (threadIdx.x == 0) init(&barrier); \
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); FENCE; \
    for (int again = 0; again < (t ? 2 : 1); again++) { \
        if (threadIdx.x == 0 && rank() == 1) expect(&barrier, bytes * count); \
        all(); \
        if (threadIdx.x == 0) { \
            CLOCK(c[0]); \
            if (rank() == 0) for (int k = 0; k < count; k++) NEAR(S, other(shared, 1) + k * step, at(source), bytes, other(&barrier, 1)); \
            CLOCK(c[1]); \
            if (rank() == 1) wait(&barrier, again); \
            CLOCK(c[2]); \
            if (t) t[again * 4 + rank() * 2] = c[1] - c[0], t[again * 4 + rank() * 2 + 1] = c[2] - c[0]; \
        } \
        all(); \
    } \
    if (rank() == 1 && !t) for (int k = threadIdx.x; k < BYTES / 4; k += 32) ((uint32_t *)out)[k] = mine[k]; \
}
NEAR_FORMS(CLUSTER)
// `count` pieces of `bytes` by one thread of each block: issue of all, until shared memory has been read, until all are done, from the start on; twice, the second
// time L2 has them. Pieces are `step` apart and blocks `apart`, 0: all to one place. flood: at most eight in flight; t: clocks of the second half
#define LOOP(NAME, TO, ONE) \
extern "C" __global__ void time_##NAME(TO, int *t, int bytes, int count, int step, int apart) { \
    int c[4]; \
    if (threadIdx.x) return; \
    for (int again = 0; again < 2; again++) { \
        CLOCK(c[0]); \
        for (int k = 0; k < count; k++) { int from = blockIdx.x * apart + k * step; ONE; } \
        COMMIT; CLOCK(c[1]); READ; CLOCK(c[2]); DONE; CLOCK(c[3]); \
        for (int k = 0; k < 3; k++) t[blockIdx.x * 6 + again * 3 + k] = c[k + 1] - c[0]; \
    } \
} \
extern "C" __global__ void flood_##NAME(TO, int *t, int bytes, int count, int step, int apart) { \
    int start = 0, end; \
    if (threadIdx.x) return; \
    for (int k = 0; k < count; k++) { \
        int from = blockIdx.x * apart + k * step; \
        if (k == count / 2) CLOCK(start); \
        ONE; \
        COMMIT; asm volatile("cp.async.bulk.wait_group 7;" ::: "memory"); \
    } \
    DONE; CLOCK(end); \
    t[blockIdx.x] = end - start; \
}
#define SOME(X) X(add, u32, "add.u32") X(add, u64, "add.u64") X(add, f16, "add.noftz.f16") X(add, bf16, "add.noftz.bf16") X(add, f32, "add.f32") X(add, f64, "add.f64") X(min, s32, "min.s32") X(min, f16, "min.f16") X(inc, u32, "inc.u32") X(xor, b64, "xor.b64")
#define LOOP_OF(O, T, S) LOOP(O##_##T, char *to, GLOBAL(S, to + from, at(shared), bytes))
SOME(LOOP_OF)
LOOP(store, char *to, STORE(to + from, at(shared), bytes))
LOOP(tile_add, const __grid_constant__ CUtensorMap map, TILE("add", &map, at(shared), 0, from))
LOOP(tile_min, const __grid_constant__ CUtensorMap map, TILE("min", &map, at(shared), 0, from))
LOOP(tile_store, const __grid_constant__ CUtensorMap map, STORE_TILE(&map, at(shared), 0, from))

struct Case { const char *what, *operation, *type; const void *kernel; };
#define CASE_BULK(O, T, S) {"bulk", #O, #T, (const void *)bulk_##O##_##T},
#define CASE_NEAR(O, T, S) {"near", #O, #T, (const void *)near_##O##_##T},
const Case bulks[] = {FORMS(CASE_BULK) NEAR_FORMS(CASE_NEAR)};
#define CASE_TILE(O) {"tile", #O, "", (const void *)tile_##O},
const Case tiles[] = {OPERATIONS(CASE_TILE)};
const char *types[TYPES] = {"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz"};
const int sizes[TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

// Numbers of interest by type, twenty of each; all pairs of them come first, then hashed words.
uint64_t special(const char *type, int k) {
    static const uint64_t f16[] = {0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x8400, 0x3C00, 0xBC00, 0x3C01, 0x1000, 0x1001, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7D01, 0x0002};
    static const uint64_t bf16[] = {0, 0x8000, 1, 0x8001, 0x7F, 0x80, 0x8080, 0x3F80, 0xBF80, 0x3F81, 0x3B80, 0x3B81, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFC1, 0x7FA1, 0x0002};
    static const uint64_t f32[] = {0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x80800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x33800000, 0x33800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7FA00001, 2};
    static const uint64_t f64[] = {0, 1ull << 63, 1, 1ull << 63 | 1, 0xFFFFFFFFFFFFFull, 1ull << 52, 1ull << 63 | 1ull << 52, 0x3FFull << 52, 0xBFFull << 52, 0x3FFull << 52 | 1, 0x3CAull << 52, 0x3CAull << 52 | 1,
                                   0x7FEFFFFFFFFFFFFFull, 0xFFEFFFFFFFFFFFFFull, 0x7FFull << 52, 0xFFFull << 52, 0x7FF8ull << 48, 0xFFF8ull << 48 | 1, 0x7FF4ull << 48 | 1, 2};
    static const uint64_t whole[] = {0, 1, 2, 3, ~0ull, ~1ull, ~2ull, 1ull << 31, (1ull << 31) - 1, (1ull << 31) + 1, 1ull << 32, (1ull << 32) - 1, 1ull << 63, (1ull << 63) - 1, 1ull << 63 | 1, 7, 8, 0x55555555AAAAAAAAull, 0xAAAAAAAA55555555ull, 1000};
    if (!strcmp(type, "f16")) return f16[k];
    if (!strcmp(type, "bf16")) return bf16[k];
    if (!strcmp(type, "f64")) return f64[k];
    if (type[0] == 'f' || type[0] == 't') return f32[k];
    return whole[k];
}
uint32_t hashed(uint64_t place, int salt) {  // `programs.measurements.tiles.words`
    uint64_t x = place + salt * 1000003ull;
    for (int k = 0; k < 2; k++) x = (x ^ x >> 16) * 0x45D9F3B & 0xFFFFFFFF;
    return (uint32_t)(x ^ x >> 16);
}
void fill(std::vector<uint8_t> &old, std::vector<uint8_t> &given, const char *type, int size, int salt) {
    for (int k = 0; k < BYTES / 4; k++) {
        uint32_t a = hashed(k, salt), b = hashed(k, salt + 5000);
        memcpy(&old[4 * k], &a, 4), memcpy(&given[4 * k], &b, 4);
    }
    for (int k = 0; k < 400 && k < BYTES / size; k++) {
        uint64_t a = special(type, k / 20), b = special(type, k % 20);
        memcpy(&old[k * size], &a, size), memcpy(&given[k * size], &b, size);
    }
}
CUtensorMap map_of(int number, void *to, int width, uint64_t height, int box_height, int pitch) {
    cudaDriverEntryPointQueryResult found;
    void *entry = nullptr;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
    if (!entry) fprintf(stderr, "the driver encodes no tensor maps\n"), exit(1);
    CUtensorMap map = {};
    cuuint64_t extent[2] = {(cuuint64_t)width, height}, stride[1] = {(cuuint64_t)pitch};
    cuuint32_t box[2] = {(cuuint32_t)width, (cuuint32_t)box_height}, steps[2] = {1, 1};
    CUresult failed = ((decltype(&cuTensorMapEncodeTiled))entry)(&map, (CUtensorMapDataType)number, 2, to, extent, stride, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (failed) fprintf(stderr, "no map of type %d: error %d\n", number, failed), exit(1);
    return map;
}
bool launched(const void *kernel, int grid, int room, void **arguments) {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room);
    cudaLaunchKernel(kernel, grid, 32, arguments, room, 0);
    return !cudaDeviceSynchronize();
}
// what,operation,type,salt,error,words of the array afterwards in hexadecimal
bool result_of(int number) {
    int plain = sizeof bulks / sizeof *bulks, tile = number - plain, data = tile < 0 ? 0 : tile % TYPES;
    Case c = tile < 0 ? bulks[number] : tiles[tile / TYPES];
    if (tile >= 0) c.type = types[data];
    int size = tile >= 0 ? sizes[data] : strstr(c.type, "64") ? 8 : strstr(c.type, "16") ? 2 : 4;
    std::vector<uint8_t> old(BYTES), given(BYTES);
    fill(old, given, c.type, size, number);
    char *out, *source;
    cudaMalloc(&out, BYTES), cudaMalloc(&source, BYTES);
    cudaMemcpy(out, old.data(), BYTES, cudaMemcpyHostToDevice), cudaMemcpy(source, given.data(), BYTES, cudaMemcpyHostToDevice);
    CUtensorMap map = tile >= 0 ? map_of(data, out, 128 / size, BYTES / 128, BYTES / 128, 128) : CUtensorMap{};
    int *none = nullptr, bytes = BYTES, one = 1, zero = 0;
    void *flat[] = {&out, &source, &none, &bytes, &one, &zero}, *tiled[] = {&map, &source};
    bool near = !strcmp(c.what, "near"), right = launched(c.kernel, near ? 2 : 1, near ? 128 << 10 : BYTES, tile >= 0 ? tiled : flat);
    printf("%s,%s,%s,%d,%d,", c.what, c.operation, c.type, number, cudaPeekAtLastError());
    cudaMemcpy(old.data(), out, BYTES, cudaMemcpyDeviceToHost);
    for (int k = 0; right && k < BYTES / 4; k++) printf("%08x", ((uint32_t *)old.data())[k]);
    puts("");
    cudaFree(out), cudaFree(source);
    return right;
}
int results() { return sizeof bulks / sizeof *bulks + sizeof tiles / sizeof *tiles * TYPES; }

struct Timed { const char *name; const void *alone, *flood; int number; };  // number: of the data type of a tile, -1: none
#define TIMED(O, T, S) {#O "_" #T, (const void *)time_##O##_##T, (const void *)flood_##O##_##T, -1},
#define BOTH(NAME) (const void *)time_##NAME, (const void *)flood_##NAME
const Timed timed[] = {SOME(TIMED) {"store", BOTH(store), -1},
    {"tile_add_u32", BOTH(tile_add), 2}, {"tile_add_u64", BOTH(tile_add), 4}, {"tile_add_f16", BOTH(tile_add), 6}, {"tile_add_f32", BOTH(tile_add), 7}, {"tile_add_f64", BOTH(tile_add), 8}, {"tile_add_bf16", BOTH(tile_add), 9},
    {"tile_min_s32", BOTH(tile_min), 3}, {"tile_min_f16", BOTH(tile_min), 6}, {"tile_store_f32", BOTH(tile_store), 7}};
constexpr size_t ROOM = 1 << 30;
// what,name,bytes,count,places,blocks,t...: of one block six times (issue, read, done; again), of a flood the least, the median and the most of the blocks
void time_of(const Timed &c, char *to, int *t, const char *what, int bytes, int count, bool one, int blocks) {
    bool tile = c.number >= 0, flood = !strcmp(what, "flood");
    if (!one && (size_t)bytes * count * blocks > ROOM) return;
    int rows = bytes / 128, step = one ? 0 : tile ? rows : bytes, apart = one ? 0 : step * count, n = flood ? blocks : 6;
    CUtensorMap map = tile ? map_of(c.number, to, 128 / sizes[c.number], ROOM / 128, rows, 128) : CUtensorMap{};
    void *arguments[] = {tile ? (void *)&map : (void *)&to, &t, &bytes, &count, &step, &apart};
    std::vector<int> h(std::max(blocks, 6));
    cudaMemset(to, 0, ROOM);
    if (!launched(flood ? c.flood : c.alone, blocks, 200 << 10, arguments)) { printf("%s,%s,%d,%d,%s,%d,%s\n", what, c.name, bytes, count, one ? "one" : "apart", blocks, cudaGetErrorName(cudaPeekAtLastError())); exit(1); }
    cudaMemcpy(h.data(), t, n * 4, cudaMemcpyDeviceToHost);
    if (flood) std::sort(h.begin(), h.begin() + n), h = {h[0], h[n / 2], h[n - 1]};
    printf("%s,%s,%d,%d,%s,%d", what, c.name, bytes, count, one ? "one" : "apart", blocks);
    for (int k = 0; k < (flood ? 3 : 6); k++) printf(",%d", h[k]);
    puts("");
}
bool times_of(int number) {
    int count = sizeof timed / sizeof *timed;
    char *to; int *t, sms;
    cudaMalloc(&to, ROOM), cudaMalloc(&t, 1 << 16);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    if (number < count) {
        for (bool one : {false, true}) {
            for (int bytes : {16, 128, 1024, 4096, 16384, 32768}) for (int pieces : {1, 2, 8})
                if (bytes >= 128 || timed[number].number < 0) time_of(timed[number], to, t, "alone", bytes, pieces, one, 1);
            for (int bytes : {16, 128, 1024, 8192}) for (int blocks : {1, 2, 8, 33, sms})
                if (bytes >= 128 || timed[number].number < 0) time_of(timed[number], to, t, "flood", bytes, 64, one, blocks);
        }
    } else {
        const void *kernels[] = {(const void *)near_add_u32, (const void *)near_add_u64, (const void *)near_min_s32, (const void *)near_xor_b32};
        const char *names[] = {"add_u32", "add_u64", "min_s32", "xor_b32"};
        for (int k = 0; k < 4; k++) for (int step : {0, 1}) for (int bytes : {16, 128, 1024, 4096, 8192}) for (int pieces : {1, 2, 4}) {
            int apart = step * bytes, h[8];
            void *arguments[] = {&to, &to, &t, &bytes, &pieces, &apart};
            if (!launched(kernels[k], 2, 128 << 10, arguments)) { printf("near,%s,%d,%d,%s,2,%s\n", names[k], bytes, pieces, step ? "apart" : "one", cudaGetErrorName(cudaPeekAtLastError())); exit(1); }
            cudaMemcpy(h, t, sizeof h, cudaMemcpyDeviceToHost);
            printf("near,%s,%d,%d,%s,2", names[k], bytes, pieces, step ? "apart" : "one");
            for (int value : h) printf(",%d", value);  // issue and end of block 0, of block 1; again
            puts("");
        }
    }
    return !cudaDeviceSynchronize();
}
int main(int count, char **words) {
    bool slow = count > 1 && !strcmp(words[1], "times");
    int cases = slow ? sizeof timed / sizeof *timed + 1 : results();
    int *next = (int *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    puts(slow ? "what,name,bytes,count,places,blocks,t0,t1,t2,t3,t4,t5,t6,t7" : "what,operation,type,number,error,words");
    while (*next < cases) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            while (*next < cases) if (int number = (*next)++; slow ? !times_of(number) : !result_of(number)) break;
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, nullptr, 0);
    }
}
