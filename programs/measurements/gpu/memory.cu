// Memory, launch and fetch experiments, one question each; plans/*.toml says with which sizes they run.
// Kernels that read clocks write each thread's first and last one to t[2 * thread].
typedef long long clock_type;

// How fast does cold DRAM fill L2 and the SMs, by size?  One or eight float4 per thread, a block's own contiguous.
template <int N> __device__ void read_many(const float4 *a, float *out) {
    a += (size_t)blockIdx.x * blockDim.x * N + threadIdx.x;
    float4 v[N];
    #pragma unroll
    for (int k = 0; k < N; k++) v[k] = a[k * blockDim.x];
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < N; k++) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    if (sum == 12345.0f) *out = sum;
}
extern "C" __global__ void read_1(const float4 *a, float *out) { read_many<1>(a, out); }
extern "C" __global__ void read_8(const float4 *a, float *out) { read_many<8>(a, out); }

// The same for stores: whole sectors, and one word of each.
extern "C" __global__ void write_1(float4 *a) { a[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = make_float4(1, 2, 3, 4); }
extern "C" __global__ void write_part(float *a) { a[((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8] = 1; }
extern "C" __global__ void copy_1(const float4 *a, float4 *b) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
}

// What does a launch cost that does nothing?
extern "C" __global__ void empty() {}

// How long does code take the first time, N FFMAs in a line, and the second?
template <int N> __device__ void line(float *out, clock_type *t, float b) {
    float x = threadIdx.x;
    clock_type at[4];
    #pragma unroll 1
    for (int round = 0; round < 3; round++) {
        at[round] = clock64();
        #pragma unroll
        for (int k = 0; k < N; k++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(b));
        t[(round * blockDim.x + threadIdx.x) * 2] = at[round];
        t[(round * blockDim.x + threadIdx.x) * 2 + 1] = clock64();
    }
    out[threadIdx.x] = x;
}
#define LINE(N) extern "C" __global__ void line_##N(float *out, clock_type *t, float b) { line<N>(out, t, b); }
LINE(32) LINE(128) LINE(512) LINE(1024) LINE(2048) LINE(4096) LINE(8192)

// How fast do stores leave a warp and an SM?  N stores of W words per lane, to lines of their own; then one load that follows them.
template <typename V, int N> __device__ void stores(V *a, clock_type *t, V value) {
    V *p = a + (size_t)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 32 * N + (threadIdx.x & 31);
    __syncthreads();
    clock_type start = clock64();
    #pragma unroll
    for (int k = 0; k < N; k++) p[k * 32] = value;
    clock_type stop = clock64();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    t[2 * i] = start, t[2 * i + 1] = stop;
}
#define STORES(W, V, N) extern "C" __global__ void stores_##W##_##N(V *a, clock_type *t, V value) { stores<V, N>(a, t, value); }
STORES(1, float, 1) STORES(1, float, 4) STORES(1, float, 16) STORES(1, float, 64)
STORES(2, double, 16)

// How fast do loads return to a warp and an SM?  N independent loads of W words per lane.
template <typename V, int N> __device__ void loads(const V *a, clock_type *t, float *out) {
    const V *p = a + (size_t)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 32 * N + (threadIdx.x & 31);
    V v[N];
    __syncthreads();
    clock_type start = clock64();
    #pragma unroll
    for (int k = 0; k < N; k++) v[k] = __ldcg(p + k * 32);
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < N * (int)sizeof(V) / 4; k++) sum += ((float *)v)[k];
    if (sum == 12345.0f) *out = sum;
    clock_type stop = clock64();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    t[2 * i] = start, t[2 * i + 1] = stop;
}
#define LOADS(W, V, N) extern "C" __global__ void loads_##W##_##N(const V *a, clock_type *t, float *out) { loads<V, N>(a, t, out); }
LOADS(1, float, 1) LOADS(1, float, 4) LOADS(1, float, 16) LOADS(4, float4, 1) LOADS(4, float4, 4) LOADS(4, float4, 16)

// Constants: how long does a kernel wait for its first constant, cold, and for one of a line of its own?
__constant__ int table[4096];
extern "C" __global__ void constants(int *out, clock_type *t, int stride) {
    int at = 0, sum = 0;
    for (int k = 0; k < 16; k++) {
        clock_type start = clock64();
        int got = table[at];
        asm volatile("" :: "r"(got + 1) : "memory");
        t[2 * k] = start, t[2 * k + 1] = clock64();
        at += stride + got, sum += got;
    }
    *out = sum;
}
