// How fast code comes to warps that each run straight code at a place of their own, by how much of it there is and how many SMs run.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o code_ports code_ports.cu && ./code_ports > code_ports.csv
#include <algorithm>
#include <cstdio>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
const int SMS = 132, WORDS = 65, REGION = 3800;  // words of t for each SM; FADDs of a region, 60 KB with what is around them
template <int LENGTH> __device__ __forceinline__ void segment(float (&x)[8], float b) {
    #pragma unroll
    for (int k = 0; k < LENGTH; k++) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x[k % 8]) : "f"(b));
}
#define SEGMENT(n) case n: if (n == stop) break; segment<58>(x, b);
#define X4(M, n) M(n) M(n + 1) M(n + 2) M(n + 3)
#define X16(M, n) X4(M, n) X4(M, n + 4) X4(M, n + 8) X4(M, n + 12)
#define X64(M, n) X16(M, n) X16(M, n + 16) X16(M, n + 32) X16(M, n + 48)
// Warp w of an SM that is on runs segments of 1 KB from begins[w] to ends[w], rounds times, the first time from starts[w].
__global__ void __launch_bounds__(1024) line(const int *begins, const int *ends, const int *starts, const char *on, int *t, float b, int rounds) {
    int sm, from, to, w = threadIdx.x / 32;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    t[blockIdx.x * WORDS] = sm;
    if (!on[sm]) return;
    float x[8];
    #pragma unroll
    for (int k = 0; k < 8; k++) x[k] = k + threadIdx.x;
    int place = __shfl_sync(~0u, starts[w], 0), begin = __shfl_sync(~0u, begins[w], 0), stop = __shfl_sync(~0u, ends[w], 0);
    __syncthreads();
    CLOCK(from)
    #pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        switch (place) { X64(SEGMENT, 0) X64(SEGMENT, 64) X64(SEGMENT, 128) default: break; }
        place = begin;
    }
    CLOCK(to)
    float s = 0;
    for (int k = 0; k < 8; k++) s += x[k];
    if (threadIdx.x % 32 == 0) t[blockIdx.x * WORDS + 1 + 2 * w] = from, t[blockIdx.x * WORDS + 2 + 2 * w] = to;
    if (s == 1234.5f) t[0] = 0;
}
template <int R> __device__ __noinline__ float region(float x) {
    float y[8];
    #pragma unroll
    for (int k = 0; k < 8; k++) y[k] = x + k;
    segment<REGION>(y, R);
    #pragma unroll
    for (int k = 0; k < 8; k++) x += y[k];
    return x;
}
#define CALL(n) case n: x = region<n>(x); break;
// Each warp runs a region of its own; rank: of each SM that is on, else -1.
__global__ void regions(const signed char *rank, int *t, int rounds) {
    int sm, from, to, w = threadIdx.x / 32;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    t[blockIdx.x * WORDS] = sm;
    if (rank[sm] < 0) return;
    float x = threadIdx.x;
    int which = __shfl_sync(~0u, (4 * rank[sm] + w) % 32, 0);
    __syncthreads();
    CLOCK(from)
    #pragma unroll 1
    for (int k = 0; k < rounds; k++) switch (which) { X16(CALL, 0) X16(CALL, 16) }
    CLOCK(to)
    if (threadIdx.x % 32 == 0) t[blockIdx.x * WORDS + 1 + 2 * w] = from, t[blockIdx.x * WORDS + 2 + 2 * w] = to;
    if (x == 1234.5f) t[0] = 0;
}
__global__ void where(int *t) {
    int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0) t[blockIdx.x] = sm;
    long long from = clock64();
    while (clock64() - from < 20000);
}
int *t, *places;
char *on;
std::vector<int> h(SMS * WORDS), p(96);
// Returns cycles of a launch on the SMs that are on, in order, from the first warp's begin to the last one's end.
std::vector<double> read(const std::vector<char> &which, int warps) {
    std::vector<double> took;
    cudaMemcpy(h.data(), t, h.size() * 4, cudaMemcpyDeviceToHost);
    for (int s = 0; s < SMS; s++) for (int b = 0; b < SMS; b++) {
        int *o = &h[b * WORDS], first = o[1], last = o[2];
        if (o[0] != s || which[s] <= 0) continue;
        for (int w = 0; w < warps; w++) first = std::min(first, o[1 + 2 * w]), last = std::max(last, o[2 + 2 * w]);
        took.push_back(last - first);
    }
    return took;
}
enum { SAME, APART, OWN, REGIONS };  // where warps begin: together; evenly apart; each in its part of the code; each in a region of its own
const char *NAMES[] = {"same", "apart", "own", "regions"};
// Prints cycles of a round, over the SMs that are on: what a launch of 8 rounds takes longer than one of 2, a sixth of it; of regions 4 and 1.
void measure(const char *who, int mode, const std::vector<char> &which, int kb, int warps) {
    std::vector<signed char> rank(SMS, -1);
    for (int s = 0, r = 0; s < SMS; s++) if (which[s]) rank[s] = r++;
    for (int w = 0; w < 32; w++) {
        p[w] = mode == OWN ? w * kb / warps : 0;
        p[32 + w] = mode == OWN ? (w + 1) * kb / warps : kb;
        p[64 + w] = mode == SAME ? 0 : w * kb / warps % kb;
    }
    cudaMemcpy(places, p.data(), 384, cudaMemcpyHostToDevice), cudaMemcpy(on, mode == REGIONS ? (char *)rank.data() : which.data(), SMS, cudaMemcpyHostToDevice);
    std::vector<double> took[2];
    for (int k : {0, 0, 1}) {  // the first brings the code
        if (mode == REGIONS) regions<<<SMS, warps * 32>>>((signed char *)on, t, k ? 4 : 1);
        else line<<<SMS, warps * 32>>>(places, places + 32, places + 64, on, t, 0.5f, k ? 8 : 2);
        took[k] = read(which, warps);
    }
    for (size_t s = 0; s < took[0].size(); s++) took[1][s] = (took[1][s] - took[0][s]) / (mode == REGIONS ? 3 : 6);
    std::sort(took[1].begin(), took[1].end());
    size_t n = took[1].size();
    printf("%s,%s,%d,%d,%d,%.0f,%.0f,%.0f\n", who, NAMES[mode], kb, warps, (int)n, took[1][0], took[1][n / 2], took[1][n - 1]);
}
int main() {
    cudaMalloc(&t, SMS * WORDS * 4), cudaMalloc(&places, 384), cudaMalloc(&on, SMS);
    std::vector<char> which(SMS);
    printf("sms_of,places,kb,warps,sms,least,median,most\n");
    for (int mode : {SAME, APART, OWN})
        for (int kb : {16, 32, 48, 64, 80, 96, 112, 128, 192})
            for (int warps : {1, 2, 4, 8, 16})
                for (int sms : {1, 8, 16, 33, 66, 132}) {
                    if (mode == OWN && kb % warps) continue;
                    for (int s = 0; s < SMS; s++) which[s] = sms > 66 || s % (SMS / sms) == 0;
                    measure("chip", mode, which, kb, warps);
                }
    // SMs that a cluster has together are of one GPC.
    std::vector<int> gpc(SMS), members;
    for (int k = 0; k < SMS; k++) gpc[k] = k;
    cudaFuncSetAttribute(where, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 << 10);
    for (int size : {8, 16})
        for (int again = 0; again < 20; again++) {
            cudaLaunchConfig_t config = {};
            cudaLaunchAttribute shape[1];
            shape[0].id = cudaLaunchAttributeClusterDimension;
            shape[0].val.clusterDim.x = size, shape[0].val.clusterDim.y = shape[0].val.clusterDim.z = 1;
            config.gridDim = 112, config.blockDim = 64, config.dynamicSmemBytes = 100 << 10, config.attrs = shape, config.numAttrs = 1;
            cudaLaunchKernelEx(&config, where, t);
            cudaMemcpy(h.data(), t, 448, cudaMemcpyDeviceToHost);
            for (int b = 0; b < 112; b++) {
                int x = gpc[h[b]], y = gpc[h[b - b % size]];
                for (int &g : gpc) if (g == x) g = y;
            }
        }
    for (int k = 0; k < SMS; k++) if (gpc[k] == gpc[2]) members.push_back(k);
    for (int n = 1; n <= (int)members.size(); n++) {
        std::fill(which.begin(), which.end(), 0);
        for (int k = 0; k < n; k++) which[members[k]] = 1;
        for (int kb : {64, 128, 192}) for (int warps : {1, 4, 16}) measure("gpc", APART, which, kb, warps);
        for (int warps : {1, 2, 4}) if (n <= 8) measure("gpc", REGIONS, which, 60, warps);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
