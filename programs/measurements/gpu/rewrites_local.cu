// Which rows of local memory does L1 lose when a warp stores to them twice? As rewrites.cu, each lane to a row of its own.
#include <cstdio>
#include <utility>
const int ROWS = 64, MOST = 28, IDLE = 700;  // idle: dependent multiply-adds, four cycles each
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
__device__ int idle(int x) {
    #pragma unroll 1
    for (int k = 0; k < IDLE; k++) asm volatile("mad.lo.u32 %0, %0, %0, 7;" : "+r"(x) :: "memory");
    return x;
}
template <int N> __global__ void rewrite(const int *first, const int *second, int *t, int zero) {
    volatile int kept[ROWS];
    __shared__ int took[ROWS];
    int lane = threadIdx.x, x = 0, p = first[lane], q = second[lane];
    bool stores = p >= 0;
    for (int k = 0; k < ROWS; k++) kept[k] = k;
    #pragma unroll 1
    for (int round = 0; round < 2; round++) {  // the second finds its instructions in the caches
        #pragma unroll 1
        for (int k = 0; k < ROWS; k++) x += kept[k + zero];
        WAIT_FOR(x)
        x = idle(x);
        if (stores) {
            kept[p] = zero;
            #pragma unroll
            for (int k = 0; k < N; k++) asm volatile("mad.lo.u32 %0, %0, %0, 7;" : "+r"(x) :: "memory");
            kept[q] = x;
        }
        x = idle(x);
        __syncwarp();
        #pragma unroll 1
        for (int k = 0; k < ROWS; k++) {
            int from, to;
            CLOCK(from)
            int y = kept[k + zero];
            WAIT_FOR(y)
            CLOCK(to)
            if (lane == 0) took[k] = to - from;
        }
        __syncwarp();
    }
    if (lane == 0) {
        for (int k = 0; k < ROWS; k++) t[k] = took[k];
        t[ROWS] = x;
    }
}
int *places, *t;
template <int N> void measure(const char *pattern, int lanes) {
    int took[ROWS + 1];
    rewrite<N><<<1, 32>>>(places, places + 32, t, 0);
    cudaMemcpy(took, t, sizeof took, cudaMemcpyDeviceToHost);
    printf("%s,%d,%d,", pattern, lanes, N);
    const char *space = "";
    for (int k = 0; k < ROWS; k++) if (took[k] > 110) printf("%s%d", space, k), space = " ";
    printf("\n");
}
template <int... N> void all(const char *pattern, int lanes, std::integer_sequence<int, N...>) { (measure<N>(pattern, lanes), ...); }
void pattern(const char *name, int lanes, int further) {
    int h[64];
    for (int l = 0; l < 32; l++) h[l] = l < lanes ? l : -1, h[32 + l] = l < lanes ? (l + further) % lanes : -1;
    cudaMemcpy(places, h, sizeof h, cudaMemcpyHostToDevice);
    all(name, lanes, std::make_integer_sequence<int, MOST + 1>());
}
int main() {
    cudaMalloc(&places, 256), cudaMalloc(&t, 4096);
    printf("pattern,lanes,between,lost\n");
    for (int lanes : {4, 8, 16, 24, 28, 30, 32}) pattern("the same rows", lanes, 0);
    for (int lanes : {4, 8, 16, 24, 28, 30, 32}) pattern("the next lane's row", lanes, 1);
}
