// Which lanes run together, and in which order, in functions that call themselves: one warp, whose lanes log their active mask and the clock.
// nvcc -O3 -arch=sm_90 -std=c++17 -cubin; its YIELDs were then replaced by NOPs, as programs.measurements.gpu.convergence does:
// ../h100/groups.sm_90.cubin. ../h100/groups.csv has the lanes' numbers and what they logged, in order of the clock, as site:mask.
#define N 512
#define LOG(site) { int at = count[threadIdx.x]; count[threadIdx.x] = at + 1; unsigned m = __activemask(); \
  at &= N - 1; trace[(threadIdx.x * N + at) * 2] = m; trace[(threadIdx.x * N + at) * 2 + 1] = (site << 26) | ((unsigned)clock() & 0x3ffffff); }
extern __shared__ volatile int count[];
__device__ __noinline__ int rec1(unsigned *trace, int d) {
    int v = 0;
    if (d > 0) { v = rec1(trace, d - 1) + 1; LOG(2u) }
    LOG(3u)
    return v;
}
extern "C" __global__ void one(const int *in, unsigned *out, unsigned *trace) {
    count[threadIdx.x] = 0;
    __syncthreads();
    int r = rec1(trace, in[threadIdx.x]);
    LOG(5u)
    out[threadIdx.x] = r;
}
__device__ __noinline__ int rec2(unsigned *trace, int d, unsigned x) {
    int v = 1;
    if (d > 0) {
    int a = rec2(trace, d - 1 - (x & 1), x >> 1);
    LOG(1u)
    int b = rec2(trace, d - 2 + (x & 1), x >> 2);
    LOG(2u)
    v = a + b * 3; }
    LOG(3u)
    return v;
}
extern "C" __global__ void two(const int *in, unsigned *out, unsigned *trace) {
    count[threadIdx.x] = 0;
    __syncthreads();
    int r = rec2(trace, in[threadIdx.x] % 6, in[32 + threadIdx.x]);
    LOG(5u)
    out[threadIdx.x] = r;
}

__device__ __noinline__ int sort(unsigned *trace, unsigned *keys, int low, int high) {
    int v = 0;
    if (low < high) {
    unsigned pivot = keys[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (keys[i] < pivot) i++;
        while (keys[j] > pivot) j--;
        if (i <= j) {
            unsigned swapped = keys[i];
            keys[i++] = keys[j];
            keys[j--] = swapped;
        }
    }
    LOG(4u)
    int left = sort(trace, keys, low, j);
    LOG(1u)
    int right = sort(trace, keys, i, high);
    LOG(2u)
    v = 1 + (left > right ? left : right); }
    LOG(3u)
    return v;
}
extern "C" __global__ void full(const int *in, unsigned *out, unsigned *trace) {
    count[threadIdx.x] = 0;
    __syncthreads();
    int t = threadIdx.x;
    unsigned x = in[32 + t];
    unsigned keys[16];
    for (int k = 0; k < 16; k++) { x = x * 1664525u + 1013904223u; keys[k] = x >> 8; }
    int r = sort(trace, keys, 0, 15);
    LOG(5u)
    out[t] = r + keys[0];
}
