// What branches, calls and jump tables cost, code in the SM's cache: cycles of a loop's round.
#include <cstdio>
#include <vector>
#include <algorithm>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
#define ADD(x) asm volatile("add.rn.f32 %0, %0, 0f3F800000;" : "+f"(x));
#define KERNEL(name, BODY)                                                       \
    extern "C" __global__ void name(int *t, float *out, int rounds, int which) {  \
        float x = threadIdx.x; int c0, c1, s = which;                            \
        for (int warm = 0; warm < 2; warm++) {                                   \
            CLOCK(c0)                                                            \
            _Pragma("unroll 1") for (int r = 0; r < rounds; r++) { BODY }        \
            CLOCK(c1)                                                            \
        }                                                                        \
        if (threadIdx.x == 0) t[blockIdx.x] = c1 - c0;                            \
        if (x == 1234.5f) *out = x + s;                                            \
    }
template <int N> __device__ __noinline__ float f(float x) {
    #pragma unroll
    for (int k = 0; k < N; k++) ADD(x)
    return x;
}
template <int N, int K> __device__ __noinline__ float g(float x) {
    #pragma unroll
    for (int k = 0; k < N; k++) ADD(x)
    return x + K;
}
KERNEL(loop_1, ADD(x))
KERNEL(loop_8, ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x))
KERNEL(call_1, x = f<1>(x);)
KERNEL(call_2, x = f<1>(x); x = f<2>(x);)
KERNEL(call_4, x = f<1>(x); x = f<2>(x); x = f<1>(x); x = f<2>(x);)
KERNEL(call_40, x = f<40>(x);)
KERNEL(taken_1, if (s & 1) { ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) } ADD(x))
#define SKIP(n) if (s & (1 << n)) { ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) ADD(x) } ADD(x)
KERNEL(taken_4, SKIP(0) SKIP(1) SKIP(2) SKIP(3))
KERNEL(taken_8, SKIP(0) SKIP(1) SKIP(2) SKIP(3) SKIP(4) SKIP(5) SKIP(6) SKIP(7))
#define CASE(n) case n: x = x * 1.5f + n; ADD(x) ADD(x) ADD(x) break;
KERNEL(table_8, switch (s & 7) { CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) } s = s * 5 + 3;)
KERNEL(table_none, x = x * 1.5f; ADD(x) ADD(x) ADD(x) s = s * 5 + 3;)
typedef float (*fn)(float);
__device__ fn table[4] = {f<1>, f<2>, g<1, 1>, g<1, 2>};
KERNEL(pointer, x = table[s & 3](x); s = s * 5 + 3;)
KERNEL(pointer_same, x = table[which](x);)
int main() {
    int *t; float *out;
    cudaMalloc(&t, 1024), cudaMalloc(&out, 64);
    struct { const char *n; void (*k)(int *, float *, int, int); } all[] = {
#define K(n) {#n, n},
        K(loop_1) K(loop_8) K(call_1) K(call_2) K(call_4) K(call_40) K(taken_1) K(taken_4) K(taken_8) K(table_8) K(table_none) K(pointer) K(pointer_same)};
    printf("kernel,threads,cycles of a round\n");
    for (auto &a : all) for (int threads : {32, 128, 256, 512}) {
        std::vector<int> v;
        for (int again = 0; again < 5; again++) {
            int h;
            a.k<<<1, threads>>>(t, out, 64, 0);
            cudaMemcpy(&h, t, 4, cudaMemcpyDeviceToHost);
            v.push_back(h);
        }
        std::sort(v.begin(), v.end());
        printf("%s,%d,%.2f\n", a.n, threads, v[2] / 64.0);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
