// What do loads from L1 cost whose lanes are far apart? Latency and rate of hits, and of loads that wait for the same line of L2.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o banks banks.cu && ./banks
// It prints what ../h100/banks.csv holds; ../h100/banks.sm_90.cubin is its code. All arrays are of zeros.
#include <algorithm>
#include <cstdio>
typedef long long cycles_type;

// Words from one lane to the next, or for the last ones lanes of a line, a word each in banks of their own.
enum Pattern { SAME, NEXT, WIDE_2, WIDE_4, STRIDE_2, STRIDE_4, STRIDE_8, STRIDE_16, STRIDE_32, STRIDE_33, LINES_2, LINES_4, LINES_8, LINES_16, PATTERNS };
const char *NAMES[] = {"same word", "next words", "8 bytes", "16 bytes", "stride 2", "stride 4", "stride 8", "stride 16", "stride 32", "stride 33", "2 lines", "4 lines", "8 lines", "16 lines"};

__device__ int place(int pattern, int lane) {
    if (pattern == SAME) return 0;
    if (pattern <= WIDE_4) return lane << (pattern - NEXT);
    if (pattern <= STRIDE_32) return lane << (pattern - STRIDE_2 + 1);
    if (pattern == STRIDE_33) return lane * 33;
    return (lane >> (5 - (pattern - LINES_2 + 1))) * 32 + lane;
}
template <int P> __device__ int get(const int *p) {
    if (P == WIDE_4) { int4 v = *(const int4 *)p; return v.x | v.y | v.z | v.w; }
    if (P == WIDE_2) { int2 v = *(const int2 *)p; return v.x | v.y; }
    return *p;
}
// 32 loads that hit, each of an address that the one before gave.
template <int P> __global__ void chain(const int *a, cycles_type *t, int *out) {
    const int *p = a + place(P, threadIdx.x & 31);
    int s = 0;
    for (int k = 0; k < 16; k++) s |= get<P>(p + k * 32);
    if (s == 77) *out = 1;
    cycles_type start = clock64();
    #pragma unroll
    for (int k = 0; k < 32; k++) { s = get<P>(p); p += s; }
    if (s == 77) *out = 1;
    cycles_type stop = clock64();
    if (threadIdx.x == 0) t[0] = start, t[1] = stop;
}
// Loads that hit, 16 at a time.
template <int P> __global__ void rate(const int *a, cycles_type *t, int *out, int loops, int step) {
    const int *p = a + place(P, threadIdx.x & 31);
    int s = 0;
    for (int k = 0; k < 16; k++) s |= get<P>(p + k * 32);
    if (s == 77) *out = 1;
    __syncthreads();
    cycles_type start = clock64();
    #pragma unroll 1
    for (int loop = 0; loop < loops; loop++, p += step) {
        #pragma unroll
        for (int k = 0; k < 16; k++) s |= get<P>(p + k * 32);
    }
    if (s == 77) *out = 1;
    cycles_type stop = clock64();
    if ((threadIdx.x & 31) == 0) t[threadIdx.x / 32 * 2] = start, t[threadIdx.x / 32 * 2 + 1] = stop;
}
// One load of each warp, all of the same lines, which are in L2.
template <int P> __global__ void wait(const int *a, cycles_type *t, int *out) {
    const int *p = a + place(P, threadIdx.x & 31);
    __syncthreads();
    cycles_type start = clock64();
    int s = get<P>(p);
    if (s == 77) *out = 1;
    cycles_type stop = clock64();
    if ((threadIdx.x & 31) == 0) t[threadIdx.x / 32 * 2] = start, t[threadIdx.x / 32 * 2 + 1] = stop;
}

struct Times { cycles_type first_start, first_stop, last_stop; };
template <typename Kernel, typename... Rest> Times times(Kernel kernel, int warps, int *a, cycles_type *t, int *out, Rest... rest) {
    cycles_type host[64];
    kernel<<<1, warps * 32>>>(a, t, out, rest...);
    cudaMemcpy(host, t, warps * 16, cudaMemcpyDeviceToHost);
    Times found = {host[0], host[1], host[1]};
    for (int w = 0; w < warps; w++) {
        found.first_start = std::min(found.first_start, host[2 * w]);
        found.first_stop = std::min(found.first_stop, host[2 * w + 1]), found.last_stop = std::max(found.last_stop, host[2 * w + 1]);
    }
    return found;
}
template <int P> void measure(int *a, cycles_type *t, int *out) {
    times(chain<P>, 1, a, t, out);
    Times found = times(chain<P>, 1, a, t, out);
    printf("chain,%s,1,%.2f,\n", NAMES[P], (found.last_stop - found.first_start) / 32.);
    for (int warps : {1, 2, 4, 8, 16, 32}) {
        times(rate<P>, warps, a, t, out, 40, 0);
        found = times(rate<P>, warps, a, t, out, 40, 0);
        printf("rate,%s,%d,%.3f,\n", NAMES[P], warps, double(found.last_stop - found.first_start) / (40 * 16 * warps));
    }
    for (int warps : {1, 2, 4, 8, 16, 32}) {
        cudaMemset(a, 0, 1 << 16);  // now L2 has it
        times(wait<P>, warps, a + (1 << 16), t, out);  // and the instruction cache the code
        found = times(wait<P>, warps, a, t, out);
        printf("wait,%s,%d,%lld,%lld\n", NAMES[P], warps, found.first_stop - found.first_start, found.last_stop - found.first_start);
    }
    if constexpr (P + 1 < PATTERNS) measure<P + 1>(a, t, out);
}
int main() {
    int *a, *out;
    cycles_type *t;
    cudaMalloc(&a, 1 << 20), cudaMalloc(&out, 4), cudaMalloc(&t, 1024);
    cudaMemset(a, 0, 1 << 20);
    measure<SAME>(a, t, out);
    return cudaDeviceSynchronize();
}
