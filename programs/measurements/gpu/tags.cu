// How many lines of L1 does an SM look up in a cycle, and which of them at once? Loads whose lanes want a word each, that hit or wait for L2.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o tags tags.cu && ./tags
// It prints what ../h200/tags.csv holds. All arrays are of zeros.
#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int APART = 1 << 20;  // words: beyond all patterns
__device__ __forceinline__ int load(const int *p) {
    int value;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(p));
    return value;
}
// Each warp loads 32 words of four arrays again and again; step: 0, which the compiler does not know.
__global__ void rate(const int *a, const int *words, long long *times, int *out, int loops, int step) {
    const int *p = a + words[threadIdx.x & 31];
    int sum = 0;
    for (int k = 0; k < 4; k++) sum |= load(p + k * APART);
    if (sum == 77) *out = 1;
    __syncthreads();
    long long start = clock64();
    #pragma unroll 1
    for (int loop = 0; loop < loops; loop++, p += step) {
        #pragma unroll
        for (int k = 0; k < 4; k++) sum |= load(p + k * APART);
    }
    if (sum == 77) *out = 1;
    long long stop = clock64();
    if ((threadIdx.x & 31) == 0) times[threadIdx.x / 32 * 2] = start, times[threadIdx.x / 32 * 2 + 1] = stop;
}
// One warp: each load's address comes from the load before.
__global__ void chain(const int *a, const int *words, long long *times, int *out) {
    const int *p = a + words[threadIdx.x & 31];
    int sum = load(p);
    p += sum;
    long long start = clock64();
    #pragma unroll
    for (int k = 0; k < 32; k++) p += load(p);
    if (p == a + 77777777) *out = 1;
    long long stop = clock64();
    if (threadIdx.x == 0) times[0] = start, times[1] = stop;
}

// Each warp of a block loads the same 32 words once, which are in L2.
__global__ void wait(const int *a, const int *words, long long *times, int *out) {
    const int *p = a + words[threadIdx.x & 31];
    __syncthreads();
    long long start = clock64();
    int sum = load(p);
    if (sum == 77) *out = 1;
    long long stop = clock64();
    if ((threadIdx.x & 31) == 0) times[threadIdx.x / 32 * 2] = start, times[threadIdx.x / 32 * 2 + 1] = stop;
}

int *a, *words, *out;
long long *times;

void measure(const char *what, int number, const std::vector<int> &at) {
    cudaMemcpy(words, at.data(), 128, cudaMemcpyHostToDevice);
    long long host[64];
    double best[2] = {1e9, 1e9};
    for (int again = 0; again < 3; again++) {
        rate<<<1, 1024>>>(a, words, times, out, 80, 0);
        cudaMemcpy(host, times, sizeof host, cudaMemcpyDeviceToHost);
        long long first = host[0], last = host[1];
        for (int w = 0; w < 32; w++) first = std::min(first, host[2 * w]), last = std::max(last, host[2 * w + 1]);
        best[0] = std::min(best[0], (last - first) / (80. * 4 * 32));
        chain<<<1, 32>>>(a, words, times, out);
        cudaMemcpy(host, times, 16, cudaMemcpyDeviceToHost);
        best[1] = std::min(best[1], (host[1] - host[0]) / 32.);
    }
    double span[2] = {1e9, 1e9};
    for (int several = 0; several < 2; several++)
        for (int again = 0; again < 9; again++) {
            int warps = several ? 32 : 8;
            wait<<<1, 32 * warps>>>(a, words, times, out);
            cudaMemcpy(host, times, 16 * warps, cudaMemcpyDeviceToHost);
            long long least = host[1], most = host[1];
            for (int w = 0; w < warps; w++) least = std::min(least, host[2 * w + 1]), most = std::max(most, host[2 * w + 1]);
            span[several] = std::min(span[several], (most - least) / (warps - 1.));
        }
    printf("%s,%d,%.3f,%.2f,%.2f,%.2f,", what, number, best[0], best[1], span[0], span[1]);
    for (int k = 0; k < 32; k++) printf("%d%s", at[k], k < 31 ? " " : "\n");
}
unsigned state = 1;
int draw(int below) { return (state = state * 1664525u + 1013904223u, int((state >> 8) % below)); }

int main() {
    cudaMalloc(&a, 1 << 26), cudaMalloc(&words, 128), cudaMalloc(&out, 4), cudaMalloc(&times, 1024);
    cudaMemset(a, 0, 1 << 26);
    std::vector<int> at(32);
    printf("what,number,rate,chain,wait_8,wait_32,words\n");
    for (int bit = 2; bit < 15; bit++)
        for (int more = 0; more < 4; more++) {
            int number = (1 << bit) + more;
            for (int k = 0; k < 32; k++) at[k] = 32 * (k / 16 * number) + k;  // two lines, so many apart
            measure("pair", number, at);
        }
    for (int number : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32, 64, 128}) {
        for (int k = 0; k < 32; k++) at[k] = 32 * k * number + k;  // a line for each lane, in banks of their own
        measure("lines", number, at);
    }
    for (int number : {1, 2, 3, 4, 5, 7, 8, 16}) {
        for (int k = 0; k < 32; k++) at[k] = 32 * (k % 4 * number) + k;  // four lines in turn
        measure("four", number, at);
        for (int k = 0; k < 32; k++) at[k] = 32 * (k / 8 * number) + k;  // one after another
        measure("four in order", number, at);
    }
    for (int lines : {4, 8, 16, 32, 64, 256, 1024})
        for (int number = 0; number < 6; number++) {
            for (int k = 0; k < 32; k++) at[k] = 32 * draw(lines) + k;  // lines at random, no conflict of banks
            measure("random lines", lines, at);
        }
    for (int lines : {1, 2, 4, 8, 16, 32, 64, 256, 1024})
        for (int number = 0; number < 6; number++) {
            for (int k = 0; k < 32; k++) at[k] = draw(32 * lines);  // words at random
            measure("random words", lines, at);
        }
    return cudaDeviceSynchronize();
}
