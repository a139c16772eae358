// What atomics cost, by operation, addresses, with and without a result. Every thread makes `times` of them.
// nvcc -O3 -arch=sm_90 -std=c++17 -o atomics atomics.cu && ncu --csv --page raw --cache-control all --clock-control none
// --metrics sm__cycles_active.max,sm__cycles_elapsed.max,lts__t_sectors_op_red.sum,lts__t_sectors_op_atom.sum ./atomics; it prints a row per launch, in order.
// `./atomics hot` makes those of hot_atomics.csv.
#include <cstdio>
#include <cuda_runtime.h>
enum Pattern { ONE, LANES, SECTORS, RANDOM, WARPS };
#define OPERATION(NAME, TYPE, CODE) struct NAME { typedef TYPE type; static __device__ __forceinline__ void apply(TYPE *at, TYPE &v) { CODE } };
OPERATION(red_add, unsigned, asm volatile("red.global.add.u32 [%0], %1;" :: "l"(at), "r"(v) : "memory");)
OPERATION(red_max, unsigned, asm volatile("red.global.max.u32 [%0], %1;" :: "l"(at), "r"(v) : "memory");)
OPERATION(red_add64, unsigned long long, asm volatile("red.global.add.u64 [%0], %1;" :: "l"(at), "l"(v) : "memory");)
OPERATION(red_addf, float, asm volatile("red.global.add.f32 [%0], %1;" :: "l"(at), "f"(v) : "memory");)
OPERATION(red_addd, double, asm volatile("red.global.add.f64 [%0], %1;" :: "l"(at), "d"(v) : "memory");)
OPERATION(atom_add, unsigned, unsigned old; asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory"); v += old & 1;)
OPERATION(atom_addf, float, float old; asm volatile("atom.global.add.f32 %0, [%1], %2;" : "=f"(old) : "l"(at), "f"(v) : "memory"); v += old;)
OPERATION(atom_exch, unsigned, unsigned old; asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(v) : "memory"); v += old & 1;)
OPERATION(atom_cas, unsigned, unsigned old; asm volatile("atom.global.cas.b32 %0, [%1], %2, %2;" : "=r"(old) : "l"(at), "r"(v) : "memory"); v += old & 1;)

template <class O> __global__ void many(typename O::type *data, unsigned elements, int pattern, int times) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i * 2654435761u + 12345u;
    typename O::type v = 1;
    #pragma unroll 1
    for (int n = 0; n < times; n++) {
        unsigned at = 0;
        if (pattern == LANES) at = i + n * gridDim.x * blockDim.x;
        if (pattern == SECTORS) at = (i + n * gridDim.x * blockDim.x) * 8;
        if (pattern == RANDOM) x = x * 1664525u + 1013904223u, at = x >> 8;
        if (pattern == WARPS) at = (i / 32 + n) * 32;
        O::apply(data + (at & (elements - 1)), v);
    }
    if (v == (typename O::type)123456) data[0] = 0;
}
void *data;
template <class O> void launch(const char *name, int grid, int threads, unsigned elements, int pattern, int times) {
    static const char *names[] = {"one", "lanes", "sectors", "random", "warps"};
    many<O><<<grid, threads>>>((typename O::type *)data, elements, pattern, times);
    printf("%s,%d,%d,%u,%s,%d\n", name, grid, threads, elements, names[pattern], times);
}
template <class O> void all(const char *name, bool is_main) {
    for (int pattern : {ONE, LANES, SECTORS, RANDOM, WARPS}) {
        launch<O>(name, 1, 32, 1 << 20, pattern, 64);
        launch<O>(name, 1, 1024, 1 << 20, pattern, 16);
        launch<O>(name, 528, 256, 1 << 20, pattern, pattern == ONE ? 1 : 16);
    }
    if (!is_main) return;
    for (unsigned elements : {1u << 5, 1u << 8, 1u << 11, 1u << 14, 1u << 17, 1u << 22}) launch<O>(name, 528, 256, elements, RANDOM, 16);
    for (int threads : {32, 256}) launch<O>(name, 16384 / threads, threads, 1 << 20, ONE, 1);
    launch<O>(name, 132, 1024, 1 << 20, RANDOM, 16);
    launch<O>(name, 132, 128, 1 << 20, RANDOM, 64);
}
void hot() {  // tables on one, two, eight slices of L2, and more: 128 bytes, 1 KB, 4 KB
    for (unsigned elements : {8u, 32u, 256u, 1024u, 4096u, 1u << 14, 1u << 17, 1u << 20})
        for (int times : {1, 4, 16, 64}) launch<red_add>("red_add", 132, 64, elements, LANES, times);
    for (unsigned elements : {32u, 1024u, 1u << 14, 1u << 20})
        for (int times : {1, 4, 16}) launch<red_add>("red_add", 132, 512, elements, LANES, times);
    for (unsigned elements : {32u, 1024u, 1u << 14, 1u << 20})
        for (int grid : {1, 8, 33}) launch<red_add>("red_add", grid, 64, elements, LANES, 64);
    for (unsigned elements : {32u, 1024u, 1u << 14, 1u << 20})
        for (int times : {4, 16}) launch<red_add>("red_add", 132, 64, elements, SECTORS, times);
}
int main(int argc, char **) {
    cudaMalloc(&data, 1 << 26), cudaMemset(data, 0, 1 << 26);
    puts("operation,grid,threads,elements,pattern,times");
    if (argc > 1) return hot(), cudaDeviceSynchronize();
    all<red_add>("red_add", true), all<atom_add>("atom_add", true), all<red_addf>("red_addf", true);
    all<red_max>("red_max", false), all<red_add64>("red_add64", false), all<red_addd>("red_addd", false);
    all<atom_addf>("atom_addf", false), all<atom_exch>("atom_exch", false), all<atom_cas>("atom_cas", false);
    return cudaDeviceSynchronize();
}
