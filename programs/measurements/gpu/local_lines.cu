// W warps of a block each store R rows of 128 bytes of local or global memory, then load a word of each, the last first: which are in L1?
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o local_lines local_lines.cu && ./local_lines
// ../h200/local_lines.csv has how many are not; the program also prints which.
#include <cstdio>
#include <vector>
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
template <int R> __global__ void local(int *t, int *sink) {
    volatile int kept[R];
    int w = threadIdx.x / 32, n = blockDim.x / 32, lane = threadIdx.x % 32;
    #pragma unroll 1
    for (int k = 0; k < R; k++) kept[k] = k;
    __syncthreads();
    #pragma unroll 1
    for (int turn = n - 1; turn >= 0; turn--) {
        if (w == turn && lane == 0) {
            #pragma unroll 1
            for (int k = R - 1; k >= 0; k--) {
                int from, to;
                CLOCK(from)
                int y = kept[k];
                WAIT_FOR(y)
                CLOCK(to)
                t[w * R + k] = to - from;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 5000) sink[0] = kept[t[0]];
}
__global__ void global(int R, int stride, char *g, int *t) {
    int w = threadIdx.x / 32, n = blockDim.x / 32, lane = threadIdx.x % 32;
    #pragma unroll 1
    for (int k = 0; k < R; k++) asm volatile("st.global.u32 [%0], %1;" :: "l"(g + ((size_t)w * stride + k) * 128 + lane * 4), "r"(k) : "memory");
    __syncthreads();
    #pragma unroll 1
    for (int turn = n - 1; turn >= 0; turn--) {
        if (w == turn && lane == 0) {
            #pragma unroll 1
            for (int k = R - 1; k >= 0; k--) {
                int from, to, y;
                CLOCK(from)
                asm volatile("ld.global.u32 %0, [%1];" : "=r"(y) : "l"(g + ((size_t)w * stride + k) * 128) : "memory");
                WAIT_FOR(y)
                CLOCK(to)
                t[w * R + k] = to - from;
            }
        }
        __syncthreads();
    }
}
int *t, *sink; char *g;
void report(const char *name, int W, int R, int stride) {
    std::vector<int> h(W * R);
    cudaMemcpy(h.data(), t, 4 * W * R, cudaMemcpyDeviceToHost);
    int all = 0;
    for (int v : h) all += v > 150;
    printf("%s;%d;%d;%d;%d;", name, W, R, stride, all);
    for (int w = 0; w < W; w++) {
        bool any = false;
        for (int k = 0; k < R; k++) if (h[w * R + k] > 150) {
            int e = k; while (e + 1 < R && h[w * R + e + 1] > 150) e++;
            printf(any ? " " : " w%d:", w); any = true;
            printf(e > k ? "%d-%d" : "%d", k, e); k = e;
        }
    }
    printf("\n");
}
template <int R> void l(int W) { local<R><<<1, 32 * W>>>(t, sink); local<R><<<1, 32 * W>>>(t, sink); report("local", W, R, 0); }
void gl(int W, int R, int stride) { global<<<1, 32 * W>>>(R, stride, g, t); global<<<1, 32 * W>>>(R, stride, g, t); report("global", W, R, stride); }
int main() {
    cudaMalloc(&t, 1 << 20), cudaMalloc(&sink, 64), cudaMalloc(&g, 64 << 20);
    cudaMemset(g, 0, 64 << 20);
    for (int W : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12}) l<200>(W);
    for (int W : {1, 2, 3, 4, 5}) l<400>(W);
    for (int W : {8, 12, 16, 18, 20, 24}) l<100>(W);
    for (int W : {8, 16, 24, 28, 32}) l<64>(W);
    for (int W : {1, 2}) l<1000>(W), l<1700>(W), l<2100>(W);
    for (int W : {1, 4, 8, 9, 10}) gl(W, 200, 200);
    for (int W : {4, 8}) for (int stride : {256, 512, 1024, 2048}) gl(W, 200, stride);
    for (int R : {1600, 1700, 1800, 1900, 1950, 2000, 2040}) gl(1, R, R);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
