// Which lanes of a warp run together, and in which order: one warp, whose lanes log their active mask and the clock.
// trace[lane][entry] = (active mask, site << 26 | clock); programs.measurements.gpu.convergence runs them and sorts the entries.
#define LOG(site) { int at = count[threadIdx.x]; count[threadIdx.x] = at + 1; unsigned m = __activemask(); \
  if (at < 1000) { trace[(threadIdx.x * 1000 + at) * 2] = m; trace[(threadIdx.x * 1000 + at) * 2 + 1] = (site << 26) | ((unsigned)clock() & 0x3ffffff); } }
extern __shared__ volatile int count[];

__device__ __noinline__ int rec1(unsigned *trace, int d) {
    LOG(1u)
    if (d <= 0) return 0;
    int r = rec1(trace, d - 1);
    LOG(2u)
    return r + 1;
}
extern "C" __global__ void one(const int *in, unsigned *out, unsigned *trace) {
    count[threadIdx.x] = 0;
    __syncthreads();
    LOG(0u)
    int r = rec1(trace, in[threadIdx.x]);
    LOG(5u)
    out[threadIdx.x] = r;
}
__device__ __noinline__ int rec2(unsigned *trace, int d, unsigned x) {
    LOG(1u)
    if (d <= 0) return 1;
    int a = rec2(trace, d - 1 - (x & 1), x >> 1);
    LOG(2u)
    int b = rec2(trace, d - 2 + (x & 1), x >> 2);
    LOG(3u)
    return a + b;
}
extern "C" __global__ void two(const int *in, unsigned *out, unsigned *trace) {
    count[threadIdx.x] = 0;
    __syncthreads();
    LOG(0u)
    int r = rec2(trace, in[threadIdx.x] & 7, in[threadIdx.x] >> 3);
    LOG(5u)
    out[threadIdx.x] = r;
}
__device__ __noinline__ int sort(unsigned *trace, unsigned *keys, int low, int high) {
    LOG(1u)
    if (low >= high) return 0;
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
    LOG(2u)
    int right = sort(trace, keys, i, high);
    LOG(3u)
    return 1 + (left > right ? left : right);
}
extern "C" __global__ void quick(const int *in, unsigned *out, unsigned *trace) {
    count[threadIdx.x] = 0;
    __syncthreads();
    int t = threadIdx.x;
    unsigned keys[16];
    for (int k = 0; k < 16; k++) keys[k] = in[16 * t + k];
    LOG(0u)
    out[t] = sort(trace, keys, 0, 15);
    LOG(5u)
    for (int k = 0; k < 16; k++) out[32 + 16 * t + k] = keys[k];
}
extern "C" __global__ void side(const int *in, unsigned *out, unsigned *trace) {
    int t = threadIdx.x; count[t] = 0;
    __syncthreads();
    for (int k = 0; k < 64; k++) {
        if ((in[k] >> t) & 1) { LOG(1u) out[t] = 1; } else { LOG(2u) out[t] = 2; }
        LOG(3u)
    }
}
