// Latencies that a warp sees: special registers, constants, code that was never fetched, first loads on many SMs. See plans/latency.toml.
typedef long long clock_type;

// Special registers, one after the other, each waited for.
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x));
#define READ(k, NAME) { clock_type start = clock64(); unsigned x; \
    asm volatile("mov.u32 %0, %%" NAME ";" : "=r"(x)); WAIT_FOR(x) \
    clock_type stop = clock64(); t[2 * (k)] = start, t[2 * (k) + 1] = stop; sum += x; }
extern "C" __global__ void special(int *out, clock_type *t) {
    unsigned sum = 0;
    READ(0, "tid.x") READ(1, "tid.x") READ(2, "tid.y") READ(3, "ctaid.x") READ(4, "ctaid.x") READ(5, "laneid") READ(6, "lanemask_lt") READ(7, "ntid.x")
    if (sum == 12345) *out = sum;
}

// Sixteen functions of N instructions that return at once; called in turn, three rounds.
template <int K, int N> __device__ __noinline__ float early(float x, int never) {
    if (never == K) {
        #pragma unroll
        for (int k = 0; k < N; k++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    }
    return x + K;
}
template <int N> __device__ void calls(float *out, clock_type *t, int never) {
    float x = threadIdx.x;
    #pragma unroll 1
    for (int round = 0; round < 3; round++) {
        clock_type at[17];
        at[0] = clock64();
        #define CALL(K) x = early<K, N>(x, never); at[K + 1] = clock64();
        CALL(0) CALL(1) CALL(2) CALL(3) CALL(4) CALL(5) CALL(6) CALL(7) CALL(8) CALL(9) CALL(10) CALL(11) CALL(12) CALL(13) CALL(14) CALL(15)
        if (threadIdx.x == 0)
            #pragma unroll
            for (int k = 0; k < 16; k++) t[(round * 16 + k) * 2] = at[k], t[(round * 16 + k) * 2 + 1] = at[k + 1];
    }
    out[threadIdx.x] = x;
}
#define CALLS(N) extern "C" __global__ void calls_##N(float *out, clock_type *t, int never) { calls<N>(out, t, never); }
CALLS(8) CALLS(64) CALLS(256) CALLS(1024)

// The first load of every block: its own line (step words apart), with clocks of the first warp.
template <int N> __device__ void first(const float *a, clock_type *t, float *out, int step) {
    const float *p = a + (size_t)blockIdx.x * step + threadIdx.x;
    float v[N], sum = 0;
    clock_type start = clock64();
    #pragma unroll
    for (int k = 0; k < N; k++) v[k] = __ldcg(p + k * blockDim.x);
    #pragma unroll
    for (int k = 0; k < N; k++) sum += v[k];
    if (sum == 12345.0f) *out = sum;
    clock_type stop = clock64();
    if (threadIdx.x == 0) t[2 * blockIdx.x] = start, t[2 * blockIdx.x + 1] = stop;
}
extern "C" __global__ void first_1(const float *a, clock_type *t, float *out, int step) { first<1>(a, t, out, step); }
extern "C" __global__ void first_8(const float *a, clock_type *t, float *out, int step) { first<8>(a, t, out, step); }

// Loads behind stores to the same line: does the line stay in L1?
extern "C" __global__ void store_load(float *a, clock_type *t, int stride) {
    float *p = a + threadIdx.x * stride, x;
    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
    clock_type at[9];
    WAIT_FOR(__float_as_uint(x))
    at[0] = clock64();
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        asm volatile("st.global.f32 [%0], %1;" :: "l"(p), "f"(x + 1) : "memory");
        asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
        WAIT_FOR(__float_as_uint(x))
        at[k + 1] = clock64();
    }
    if (threadIdx.x == 0)
        for (int k = 0; k < 8; k++) t[2 * k] = at[k], t[2 * k + 1] = at[k + 1];
    p[0] = x;
}
// The same with loads alone.
extern "C" __global__ void load_again(const float *a, clock_type *t, int stride) {
    const float *p = a + threadIdx.x * stride;
    float x;
    clock_type at[9];
    at[0] = clock64();
    #pragma unroll
    for (int k = 0; k < 8; k++) {
        asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
        WAIT_FOR(__float_as_uint(x))
        at[k + 1] = clock64();
    }
    if (threadIdx.x == 0)
        for (int k = 0; k < 8; k++) t[2 * k] = at[k], t[2 * k + 1] = at[k + 1];
}
// Loads that hit L1 in a dependent chain, 4 and 8 bytes wide, and double-precision arithmetic in between.
extern "C" __global__ void chase_l1(int *a, clock_type *t, int *out) {
    int at = a[threadIdx.x];
    at = a[at];
    clock_type c[9];
    c[0] = clock64();
    #pragma unroll
    for (int k = 0; k < 8; k++) { at = a[at]; c[k + 1] = clock64(); }
    if (threadIdx.x == 0)
        for (int k = 0; k < 8; k++) t[2 * k] = c[k], t[2 * k + 1] = c[k + 1];
    *out = at;
}
extern "C" __global__ void chase_l1_wide(const double *a, clock_type *t, double *out) {
    double x = a[threadIdx.x];
    clock_type c[9];
    c[0] = clock64();
    #pragma unroll
    for (int k = 0; k < 8; k++) { x += a[(int)x + threadIdx.x]; c[k + 1] = clock64(); }
    if (threadIdx.x == 0)
        for (int k = 0; k < 8; k++) t[2 * k] = c[k], t[2 * k + 1] = c[k + 1];
    *out = x;
}
