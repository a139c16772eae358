// What the launches of the population are made of: one template per mechanism; `cases.py` draws their parameters from a seed.
#include <cuda_fp16.h>

template <int W> struct vector_of;
template <> struct vector_of<1> { using type = float; };
template <> struct vector_of<2> { using type = float2; };
template <> struct vector_of<4> { using type = float4; };
__device__ float sum_of(float v) { return v; }
__device__ float sum_of(float2 v) { return v.x + v.y; }
__device__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }
template <class V> __device__ V filled(float x);
template <> __device__ float filled<float>(float x) { return x; }
template <> __device__ float2 filled<float2>(float x) { return make_float2(x, x); }
template <> __device__ float4 filled<float4>(float x) { return make_float4(x, x, x, x); }

#define ARGUMENTS const float *__restrict__ a, float *__restrict__ b, const int *__restrict__ index, int n, int p
#define NEVER(it) if ((it) == 1.2345e30f) b[threadIdx.x] = (it);
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

// Streams: E vectors of W floats per thread. KIND 0: read only, 1: copy, 2: a * x, 3: a + x * a2.
template <int W, int E, int KIND> __device__ void stream(ARGUMENTS) {
    using V = typename vector_of<W>::type;
    const V *from = (const V *)a, *second = (const V *)(a + n / 2);
    int base = blockIdx.x * blockDim.x * E + threadIdx.x;
    V v[E], w[E];
#pragma unroll
    for (int e = 0; e < E; e++) v[e] = from[base + e * blockDim.x];
    if (KIND == 3)
#pragma unroll
        for (int e = 0; e < E; e++) w[e] = second[base + e * blockDim.x];
    float sum = 0;
#pragma unroll
    for (int e = 0; e < E; e++) {
        if (KIND == 0) sum += sum_of(v[e]);
        if (KIND == 1) ((V *)b)[base + e * blockDim.x] = v[e];
        if (KIND == 2) ((V *)b)[base + e * blockDim.x] = filled<V>(sum_of(v[e]) * 3.0f);
        if (KIND == 3) ((V *)b)[base + e * blockDim.x] = filled<V>(sum_of(v[e]) + p * sum_of(w[e]));
    }
    NEVER(sum)
}
// The same by a grid that goes on until n is done.
template <int W> __device__ void grid_stride(ARGUMENTS) {
    using V = typename vector_of<W>::type;
    for (int i = HERE; i < n / W; i += gridDim.x * blockDim.x) ((V *)b)[i] = filled<V>(sum_of(((const V *)a)[i]) * p);
}
template <int E> __device__ void gather(ARGUMENTS) {
    int base = blockIdx.x * blockDim.x * E + threadIdx.x, at[E];
    float v[E];
#pragma unroll
    for (int e = 0; e < E; e++) at[e] = index[base + e * blockDim.x];
#pragma unroll
    for (int e = 0; e < E; e++) v[e] = a[at[e]];
#pragma unroll
    for (int e = 0; e < E; e++) b[base + e * blockDim.x] = v[e];
}
__device__ void scatter(ARGUMENTS) { b[index[HERE]] = a[HERE]; }
// Loads that overlap: K of them, STEP floats apart, from OFF on.
template <int K, int STEP, int OFF> __device__ void taps(ARGUMENTS) {
    int i = HERE;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < K; k++) sum += a[i + k * STEP + OFF] * (k + 1);
    b[i] = sum;
}
template <int E> __device__ void strided(ARGUMENTS) {
    int i = HERE;
    float v[E];
#pragma unroll
    for (int e = 0; e < E; e++) v[e] = a[(i * E + e) * p];
#pragma unroll
    for (int e = 0; e < E; e++) b[i + e * gridDim.x * blockDim.x] = v[e];
}
// Square matrices of n; blocks of 32 by R threads. COLUMNS: reads along rows, writes columns, or the other way.
template <int R, int COLUMNS> __device__ void transpose_naive(ARGUMENTS) {
    int wide = n / 32, x = blockIdx.x % wide * 32 + threadIdx.x % 32, y = blockIdx.x / wide * 32 + threadIdx.x / 32;
    for (int k = 0; k < 32; k += R) {
        if (COLUMNS) b[x * n + y + k] = a[(y + k) * n + x];
        else b[(y + k) * n + x] = a[x * n + y + k];
    }
}
template <int R, int PAD> __device__ void transpose_tile(ARGUMENTS) {
    __shared__ float tile[32][32 + PAD];
    int wide = n / 32, bx = blockIdx.x % wide * 32, by = blockIdx.x / wide * 32, tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    for (int k = 0; k < 32; k += R) tile[ty + k][tx] = a[(by + ty + k) * n + bx + tx];
    __syncthreads();
    for (int k = 0; k < 32; k += R) b[(bx + ty + k) * n + by + tx] = tile[tx][ty + k];
}
// Stencils on rows of p floats; the arrays have a border.
template <int KIND> __device__ void stencil(ARGUMENTS) {
    int i = HERE + 2 * p * (KIND == 3 ? 64 : 1) + 2;
    float c = a[i];
    if (KIND == 0) b[i] = c + a[i - 1] + a[i + 1] + a[i - p] + a[i + p];
    if (KIND == 1) b[i] = c + a[i - 1] + a[i + 1] + a[i - p] + a[i + p] + a[i - p - 1] + a[i - p + 1] + a[i + p - 1] + a[i + p + 1];
    if (KIND == 2) b[i] = c + a[i - 1] + a[i - 2] + a[i + 1] + a[i + 2] + a[i - p] + a[i + p] + a[i - 2 * p] + a[i + 2 * p];
    if (KIND == 3) b[i] = c + a[i - 1] + a[i + 1] + a[i - p] + a[i + p] + a[i - 64 * p] + a[i + 64 * p];
}
__device__ float warp_sum(float x) {
    for (int k = 16; k; k >>= 1) x += __shfl_xor_sync(~0u, x, k);
    return x;
}
// KIND 0: tree in shared memory, 1: shuffles, a float per block out, 2: shuffles and an atomic per block.
template <int E, int KIND> __device__ void reduce(ARGUMENTS) {
    __shared__ float part[1024];
    int base = blockIdx.x * blockDim.x * E + threadIdx.x;
    float x = 0;
#pragma unroll
    for (int e = 0; e < E; e++) x += a[base + e * blockDim.x];
    if (KIND == 0) {
        part[threadIdx.x] = x;
        for (int k = blockDim.x / 2; k; k >>= 1) {
            __syncthreads();
            if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
        }
        if (threadIdx.x == 0) b[blockIdx.x] = part[0];
        return;
    }
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    x = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) {
        if (KIND == 1) b[blockIdx.x] = x;
        else atomicAdd(b, x);
    }
}
// A warp reduces rows of p floats, then scales them, as in a softmax.
__device__ void rows(ARGUMENTS) {
    int row = HERE / 32, lane = threadIdx.x % 32;
    float most = -1e30f, sum = 0;
    for (int i = lane; i < p; i += 32) most = fmaxf(most, a[row * p + i]);
    for (int k = 16; k; k >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    for (int i = lane; i < p; i += 32) sum += __expf(a[row * p + i] - most);
    sum = warp_sum(sum);
    for (int i = lane; i < p; i += 32) b[row * p + i] = __expf(a[row * p + i] - most) / sum;
}
__device__ void scan(ARGUMENTS) {
    __shared__ float part[2][1024];
    int t = threadIdx.x, side = 0;
    part[0][t] = a[HERE];
    for (int k = 1; k < blockDim.x; k *= 2, side ^= 1) {
        __syncthreads();
        part[side ^ 1][t] = part[side][t] + (t >= k ? part[side][t - k] : 0.0f);
    }
    __syncthreads();
    b[HERE] = part[side][t];
}
// Shared memory: R rounds of loads of W floats, lanes STRIDE vectors apart. KIND 0: loads, 1: loads and stores, 2: lanes of four share a place.
template <int W, int STRIDE, int R, int KIND> __device__ void shared(ARGUMENTS) {
    using V = typename vector_of<W>::type;
    __shared__ V kept[2048 / W * 2];
    const int PLACES = 2048 / W * 2;
    for (int i = threadIdx.x; i < PLACES; i += blockDim.x) kept[i] = filled<V>((float)i);
    __syncthreads();
    int lane = KIND == 2 ? threadIdx.x / 4 : threadIdx.x, at = lane * STRIDE % PLACES;
    float sum = 0;
    for (int r = 0; r < R; r++) {
        V v = kept[at];
        sum += sum_of(v);
        if (KIND == 1) kept[at] = filled<V>(sum);
        at = (at + STRIDE * 32 + (sum > 1e30f)) % PLACES;
    }
    b[HERE] = sum;
}
// Atomics, R per thread. KIND 0: RED to one address, 1: RED to random ones, 2: with a result, 3: in shared memory, 4: RED side by side, 5: max.
template <int R, int KIND> __device__ void atomics(ARGUMENTS) {
    __shared__ int bins[1024];
    int *out = (int *)b, sum = 0;
    if (KIND == 3) {
        for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0;
        __syncthreads();
    }
    for (int r = 0; r < R; r++) {
        int i = HERE + r * gridDim.x * blockDim.x, at = KIND == 0 || KIND == 4 ? 0 : index[i] % p;
        if (KIND == 0) atomicAdd(out, 1);
        if (KIND == 1) atomicAdd(out + at, 1);
        if (KIND == 2) sum += atomicAdd(out + at, 1);
        if (KIND == 3) atomicAdd(bins + at % 1024, 1);
        if (KIND == 4) atomicAdd(b + i, 1.0f);
        if (KIND == 5) atomicMax(out + at, i);
    }
    if (KIND == 2) NEVER((float)sum)
    if (KIND == 3) {
        __syncthreads();
        for (int i = threadIdx.x; i < 1024; i += blockDim.x) atomicAdd(out + i, bins[i]);
    }
}
__constant__ float table[8192];
// Constants at an address per lane (KIND 0), per warp (1), the same for all (2); p places, a power of two.
template <int R, int KIND> __device__ void constants(ARGUMENTS) {
    int at = KIND == 0 ? index[HERE] : KIND == 1 ? HERE / 32 * 37 : blockIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int r = 0; r < R; r++) sum += table[(at + r * 61) & (p - 1)];
    b[HERE] = sum;
}
// Code: N instructions in a line, R rounds.
template <int N> __device__ void line(ARGUMENTS) {
    float x = a[HERE], y = x + 1, z = x + 2, w = x + 3;
#pragma unroll 1
    for (int r = 0; r < p; r++) {
#pragma unroll
        for (int k = 0; k < N / 4; k++)
            asm volatile("fma.rn.f32 %0, %0, %0, %3; fma.rn.f32 %1, %1, %2, %0; fma.rn.f32 %2, %2, %2, %1; fma.rn.f32 %3, %3, %1, %3;" : "+f"(x), "+f"(y), "+f"(z), "+f"(w));
    }
    b[HERE] = x + y + z + w;
}
template <int N, int K> __device__ __noinline__ float body(float x, float y) {
#pragma unroll
    for (int k = 0; k < N; k++) x = k % 3 == K % 3 ? x * y + K : k % 3 == 1 ? fmaxf(x, y * (k + 1)) : x + y * k;
    return x;
}
// Eight functions of about N instructions, called in turn or chosen by data.
template <int N, int CHOSEN> __device__ void functions(ARGUMENTS) {
    float x = a[HERE], y = x + 1;
#pragma unroll 1
    for (int r = 0; r < p; r++) {
        int which = CHOSEN ? index[(HERE / 32 + r * 7) % 1024] % 8 : r % 8;
        switch (which) {
            case 0: x = body<N, 0>(x, y); break;
            case 1: x = body<N, 1>(x, y); break;
            case 2: x = body<N, 2>(x, y); break;
            case 3: x = body<N, 3>(x, y); break;
            case 4: x = body<N, 4>(x, y); break;
            case 5: x = body<N, 5>(x, y); break;
            case 6: x = body<N, 6>(x, y); break;
            default: x = body<N, 7>(x, y);
        }
    }
    b[HERE] = x;
}
// Lanes part D ways, N multiplications each.
template <int D, int N> __device__ void diverge(ARGUMENTS) {
    float x = a[HERE];
#pragma unroll 1
    for (int r = 0; r < p; r++)
#pragma unroll
        for (int d = 0; d < D; d++)
            if (threadIdx.x % D == d) {
#pragma unroll
                for (int k = 0; k < N; k++) x = x * (d + 2) + k;
                asm volatile("" : "+f"(x));
            }
    b[HERE] = x;
}
// Each lane loops as often as its datum says.
__device__ void trips(ARGUMENTS) {
    float x = a[HERE];
    int most = index[HERE] % p;
#pragma unroll 1
    for (int r = 0; r < most; r++) x = x * 1.5f + r;
    b[HERE] = x;
}
template <int KIND> struct value { using type = float; };
template <> struct value<1> { using type = int; };
template <> struct value<2> { using type = unsigned; };
template <> struct value<3> { using type = double; };
template <> struct value<4> { using type = unsigned long long; };
template <> struct value<5> { using type = __half2; };
template <> struct value<6> { using type = int; };
template <> struct value<7> { using type = unsigned; };
template <> struct value<11> { using type = unsigned; };
template <> struct value<12> { using type = double; };
template <> struct value<13> { using type = unsigned long long; };
// 0 ffma, 1 imad, 2 logic, 3 dfma, 4 64-bit product, 5 half2, 6 division, 7 remainder, 8 exp2, 9 root, 10 sine, 11 bits, 12 dadd, 13 hash
template <int KIND> __device__ typename value<KIND>::type step(typename value<KIND>::type x, typename value<KIND>::type y) {
    if constexpr (KIND == 0) return x * y + x;
    if constexpr (KIND == 1) return x * y + 3;
    if constexpr (KIND == 2) return ((x ^ y) << 3) | (x >> 7);
    if constexpr (KIND == 3) return x * y + x;
    if constexpr (KIND == 4) return x * y + 12345;
    if constexpr (KIND == 5) return __hfma2(x, y, x);
    if constexpr (KIND == 6) return x / (y | 1) + 1000003;
    if constexpr (KIND == 7) return x % (y | 1) + 1000003;
    if constexpr (KIND == 8) return exp2f(x) * y;
    if constexpr (KIND == 9) return sqrtf(x) + y;
    if constexpr (KIND == 10) return __sinf(x) + y;
    if constexpr (KIND == 11) return __popc(x) + __brev(y) + x;
    if constexpr (KIND == 12) return x + y;
    if constexpr (KIND == 13) return (x ^ (x >> 33)) * 0xff51afd7ed558ccdull + y;
}
template <class T> __device__ T made(float x) { return (T)x; }
template <> __device__ __half2 made<__half2>(float x) { return __float2half2_rn(x); }
template <class T> __device__ bool alike(T x, T y) { return x == y; }
template <> __device__ bool alike<__half2>(__half2 x, __half2 y) { return __hbeq2(x, y); }
template <int KIND, int CHAINS, int N> __device__ void arithmetic(ARGUMENTS) {
    using T = typename value<KIND>::type;
    T x[CHAINS], y = made<T>(threadIdx.x + p);
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = made<T>(threadIdx.x * 7 + c);
#pragma unroll 1
    for (int r = 0; r < p; r++)
#pragma unroll
        for (int k = 0; k < N; k++)
#pragma unroll
            for (int c = 0; c < CHAINS; c++) x[c] = step<KIND>(x[c], y);
    float sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sum += alike<T>(x[c], y);
    b[HERE] = sum;
}
// Loads L floats per thread, M multiplications each, a turn through shared memory, S stores.
template <int L, int M, int S, int SHARED> __device__ void mix(ARGUMENTS) {
    __shared__ float turn[1024];
    float v[L], sum = 0;
#pragma unroll 1
    for (int r = 0; r < p; r++) {
        int base = (blockIdx.x * p + r) * blockDim.x * L + threadIdx.x;
#pragma unroll
        for (int l = 0; l < L; l++) v[l] = a[base + l * blockDim.x];
#pragma unroll
        for (int l = 0; l < L; l++)
#pragma unroll
            for (int m = 0; m < M; m++) v[l] = v[l] * 1.0001f + m;
        for (int l = 0; l < L; l++) sum += v[l];
        if (SHARED) {
            __syncthreads();
            turn[threadIdx.x] = sum;
            __syncthreads();
            sum += turn[(threadIdx.x + 33) % blockDim.x];
        }
#pragma unroll
        for (int s = 0; s < S; s++) b[((blockIdx.x * p + r) * S + s) * blockDim.x + threadIdx.x] = sum + s;
    }
    if (S == 0) b[HERE] = sum;
}
// A product of square matrices of n in tiles of T by T, each thread U by U results; loads of shared memory of four floats where WIDE.
template <int T, int U, int WIDE> __device__ void product(ARGUMENTS) {
    __shared__ __align__(16) float left[16][T], right[16][T];
    const int SIDE = T / U;
    int wide = n / T, bx = blockIdx.x % wide * T, by = blockIdx.x / wide * T, tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    float sum[U][U] = {};
    for (int k = 0; k < p; k += 16) {
        for (int i = threadIdx.x; i < 16 * T; i += SIDE * SIDE) {
            left[i / T][i % T] = a[(k + i / T) * n + by + i % T];
            right[i / T][i % T] = a[(k + i / T) * n + bx + i % T];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 16; j++) {
            float l[U], r[U];
            if constexpr (WIDE && U % 4 == 0) {
#pragma unroll
                for (int u = 0; u < U; u += 4) *(float4 *)&l[u] = *(float4 *)&left[j][ty * U + u], *(float4 *)&r[u] = *(float4 *)&right[j][tx * U + u];
            } else {
#pragma unroll
                for (int u = 0; u < U; u++) l[u] = left[j][ty + u * SIDE], r[u] = right[j][tx + u * SIDE];
            }
#pragma unroll
            for (int u = 0; u < U; u++)
#pragma unroll
                for (int w = 0; w < U; w++) sum[u][w] += l[u] * r[w];
        }
        __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
        for (int w = 0; w < U; w++) b[(by + ty + u * SIDE) * n + bx + tx + w * SIDE] = sum[u][w];
}
// Stores alone: E vectors of W floats, lanes p vectors apart.
template <int W, int E> __device__ void fill(ARGUMENTS) {
    using V = typename vector_of<W>::type;
    int base = blockIdx.x * blockDim.x * E + threadIdx.x;
#pragma unroll
    for (int e = 0; e < E; e++) ((V *)b)[(base + e * blockDim.x) * p] = filled<V>((float)e);
}
// Each thread follows the index p times.
template <int CHAINS> __device__ void chase(ARGUMENTS) {
    int at[CHAINS], sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) at[c] = (HERE * CHAINS + c) % n;
    for (int r = 0; r < p; r++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++) at[c] = index[at[c]];
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sum += at[c];
    b[HERE] = sum;
}
// An array of N floats per thread in local memory.
template <int N> __device__ void local(ARGUMENTS) {
    float kept[N], x = a[HERE];
    for (int k = 0; k < N; k++) kept[k] = x + k;
    for (int r = 0; r < p; r++) {
        int at = (index[HERE] + r * 5) % N;
        kept[at] += x;
        x = kept[(at + 3) % N];
    }
    b[HERE] = x;
}
// An element per thread, blocks of any size: y += s * x.
__device__ void saxpy(ARGUMENTS) {
    int i = HERE;
    if (i < n) b[i] = p * a[i] + b[i];
}

// Micro-benchmarks of one clock each. The cycles of the last of ROUNDS over a ring of n steps go to b[0].
template <int ROUNDS, int CACHED> __device__ void ring(ARGUMENTS) {
    int at = 0;
    long long start = 0;
    for (int r = 0; r < ROUNDS; r++) {
        start = clock64();
        for (int k = 0; k < n; k++)
            if (CACHED) asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(at) : "l"(index + at));
            else asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(at) : "l"(index + at));
    }
    b[0] = clock64() - start, b[1] = at;
}
// p rounds of loads of 16 bytes past L1 over n floats, all SMs the same ones or each block its own.
template <int ALIKE> __device__ void read_l2(ARGUMENTS) {
    int base = ALIKE ? 0 : blockIdx.x * n;
    float sum = 0;
    for (int r = 0; r < p; r++)
#pragma unroll 8
        for (int i = threadIdx.x * 4; i < n; i += blockDim.x * 4) {
            float4 v;
            asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(a + base + i));
            sum += sum_of(v);
        }
    NEVER(sum)
}
// The cycles of each step of a ring, in order.
__device__ void ring_steps(ARGUMENTS) {
    extern __shared__ int kept[];
    int at = 0;
    for (int k = 0; k < n; k++) {
        long long start = clock64();
        asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(at) : "l"(index + at) : "memory");
        if (at == -1) b[0] = 1;
        kept[k] = (int)(clock64() - start);
    }
    for (int k = 0; k < n; k++) b[k] = kept[k];
}
