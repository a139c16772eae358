// Which sectors of L1 does a warp lose that stores to the same lines twice? By the multiply-adds between its two stores: about 4 cycles each.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o rewrites rewrites.cu && ./rewrites
// It prints what ../h100/rewrites.csv holds; ../h100/rewrites.sm_90.cubin is its code. Arrays are of zeros at first.
#include <cstdio>
#include <utility>
const int SECTORS = 160, MOST = 28, IDLE = 700;  // idle: dependent multiply-adds, four cycles each
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");

__device__ int load(const char *p) { int x; asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory"); return x; }
__device__ int idle(int x) {
    #pragma unroll 1
    for (int k = 0; k < IDLE; k++) asm volatile("mad.lo.u32 %0, %0, %0, 7;" : "+r"(x) :: "memory");
    return x;
}
// Lane l stores 8 bytes at first[l], then, after N multiply-adds, at second[l], if it takes part; then lane 0 loads a word of each sector.
template <int N> __global__ void rewrite(char *a, const int *first, const int *second, int *t) {
    __shared__ int took[SECTORS];
    int lane = threadIdx.x, x = 0;
    char *p = a + first[lane], *q = a + second[lane];
    bool stores = first[lane] >= 0;
    #pragma unroll 1
    for (int round = 0; round < 2; round++) {  // the second finds its instructions in the caches
        #pragma unroll 1
        for (int k = lane; k < SECTORS; k += 32) x += load(a + 32 * k);
        WAIT_FOR(x)
        x = idle(x);
        if (stores) {
            asm volatile("st.global.v2.u32 [%0], {%1, %1};" :: "l"(p), "r"(0) : "memory");
            #pragma unroll
            for (int k = 0; k < N; k++) asm volatile("mad.lo.u32 %0, %0, %0, 7;" : "+r"(x) :: "memory");
            asm volatile("st.global.v2.u32 [%0], {%1, %1};" :: "l"(q), "r"(x) : "memory");
        }
        x = idle(x);
        __syncwarp();
        if (lane == 0) {
            #pragma unroll 1
            for (int k = 0; k < SECTORS; k++) {
                int from, to;
                CLOCK(from)
                int y = load(a + 32 * k);
                WAIT_FOR(y)
                CLOCK(to)
                took[k] = to - from;
            }
        }
        __syncwarp();
    }
    if (lane == 0) {
        for (int k = 0; k < SECTORS; k++) t[k] = took[k];
        t[SECTORS] = x;
    }
}
char *a;
int *places, *t;
template <int N> void measure(const char *pattern, int lanes) {
    int took[SECTORS + 1];
    rewrite<N><<<1, 32>>>(a, places, places + 32, t);
    cudaMemcpy(took, t, sizeof took, cudaMemcpyDeviceToHost);
    printf("%s,%d,%d,", pattern, lanes, N);
    const char *space = "";
    for (int k = 0; k < SECTORS; k++) if (took[k] > 150) printf("%s%d", space, k), space = " ";
    printf("\n");
}
template <int... N> void all(const char *pattern, int lanes, std::integer_sequence<int, N...>) { (measure<N>(pattern, lanes), ...); }
// lanes of them, so many bytes apart from `start` on; the second store so many bytes further
void pattern(const char *name, int start, int lanes, int step, int further) {
    int h[64];
    for (int l = 0; l < 32; l++) h[l] = l < lanes ? start + l * step : -1, h[32 + l] = h[l] + further;
    cudaMemcpy(places, h, sizeof h, cudaMemcpyHostToDevice);
    all(name, lanes, std::make_integer_sequence<int, MOST + 1>());
}
int main() {
    cudaMalloc(&a, 1 << 16), cudaMalloc(&places, 256), cudaMalloc(&t, 4096);
    cudaMemset(a, 0, 1 << 16);
    printf("pattern,lanes,between,lost\n");
    pattern("one place", 0, 1, 8, 0);
    pattern("112 bytes again", 64, 14, 8, 0);
    pattern("112 bytes and the next", 64, 14, 8, 112);
    for (int lanes : {4, 8, 16, 24, 28, 32}) pattern("128 bytes apart", 0, lanes, 128, 8);
    pattern("112 bytes apart", 0, 13, 112, 8);
    for (int lanes : {14, 28}) pattern("136 bytes apart", 0, lanes, 136, 8);
    return cudaDeviceSynchronize();
}
