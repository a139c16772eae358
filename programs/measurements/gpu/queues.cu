// How many memory instructions a warp issues before it has to wait, and how often ULDC issues.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o queues queues.cu && ./queues > queues.csv
#include <algorithm>
#include <cstdio>
const int COUNT = 32, WARPS = 32;
// Read by lanes of which the compiler does not know that they are all: else it takes the slow uniform path.
#define CLOCK(c) asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, %2; @p mov.u32 %0, %%clock; }" : "+r"(c) : "r"(lane), "r"(never) : "memory");
typedef unsigned u32;
__constant__ float matrix[256];

enum Kind { STORE_16, STORE_32, LOAD_32, SHARED_32, SHARED_STORE_32 };
const char *NAMES[] = {"stg_16", "stg_32", "ldg_32", "lds_32", "sts_32"};
// Bytes from the first lane's word to another's: 16 or 32 lines of 128 bytes.
__device__ u32 place(int kind, int lane) { return kind == STORE_16 ? lane / 2 * 128 + lane % 2 * 64 : lane * 128; }
// Bytes from the first access to the k-th: other words of the same lines, as long as they have some.
__device__ constexpr int step(int kind, int k) { return kind == STORE_16 ? k % 16 * 4 + k / 16 * 2048 : k * 4; }
template <int KIND> __device__ __forceinline__ void access(float *global, u32 shared, float &x, int k) {
    global += step(KIND, k) / 4, shared += step(KIND, k);
    if (KIND <= STORE_32) asm volatile("st.global.f32 [%0], %1;" :: "l"(global), "f"(1.0f) : "memory");
    else if (KIND <= LOAD_32) asm volatile("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(global) : "memory");
    else if (KIND <= SHARED_32) asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(x) : "r"(shared) : "memory");
    else if (KIND == SHARED_STORE_32) asm volatile("st.volatile.shared.f32 [%0], %1;" :: "r"(shared), "f"(1.0f) : "memory");
}
__device__ __forceinline__ void use(float &x) { asm volatile("add.f32 %0, %0, 0f3f800000;" : "+f"(x) :: "memory"); }

// Warps named in `mask` issue COUNT accesses one after the other, and read the clock before the first and behind each.
template <int KIND> __global__ void __launch_bounds__(256) accept(float *a, u32 *t, u32 mask, int never) {
    extern __shared__ float s[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float *p = a + warp * 2048 + place(KIND, lane) / 4;
    u32 q = (u32)__cvta_generic_to_shared(s) + place(KIND, lane), c[COUNT + 1] = {};
    float x[COUNT], warm;
    for (int k = 0; k < COUNT; k++) x[k] = 0;
    asm volatile("ld.global.f32 %0, [%1];" : "=f"(warm) : "l"(p) : "memory");
    use(warm);
    for (int again = 0; again < 2; again++) {
        __syncthreads();
        if (!(mask >> warp & 1)) continue;
        CLOCK(c[0])
        #pragma unroll
        for (int k = 0; k < COUNT; k++) { access<KIND>(p, q, x[k], k); CLOCK(c[k + 1]) }
        #pragma unroll
        for (int k = 0; k < COUNT; k++) use(x[k]);
    }
    if (lane == 0 && mask >> warp & 1) for (int k = 0; k <= COUNT; k++) t[warp * 64 + k] = c[k];
    if (warm == 123.5f) a[0] = warm;
    float sum = 0;
    for (int k = 0; k < COUNT; k++) sum += x[k];
    if (sum == 123.5f) a[1] = sum;
}
// A vector of 16 times the matrix, again and again: nvcc makes FFMAs of it, and a ULDC.64 for two of them.
__global__ void __launch_bounds__(1024) product(float *a, u32 *t, int loops, int never) {
    float x[16], y[16];
    for (int k = 0; k < 16; k++) x[k] = a[threadIdx.x % 32 + 32 * k];
    __syncthreads();
    u32 begin = 0, end = 0;
    int lane = threadIdx.x % 32;
    CLOCK(begin)
    #pragma unroll 1
    for (int n = 0; n < loops; n++) {
        #pragma unroll
        for (int i = 0; i < 16; i++) {
            y[i] = 0;
            #pragma unroll
            for (int j = 0; j < 16; j++) y[i] += x[j] * matrix[16 * i + j];
        }
        #pragma unroll
        for (int i = 0; i < 16; i++) x[i] = y[i];
    }
    CLOCK(end)
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += x[k];
    if (sum == 123.5f) a[0] = sum;
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 32 * 64] = begin, t[threadIdx.x / 32 * 64 + 1] = end;
}
float *a;
u32 *t, h[WARPS * 64];
void take() { cudaMemcpy(h, t, sizeof h, cudaMemcpyDeviceToHost); }
template <int KIND> void accepted() {
    for (u32 mask : {0x1u, 0x3u, 0xfu, 0x11u, 0xffu}) {
        int threads = 32 * (32 - __builtin_clz(mask));
        for (int run = 0; run < 2; run++) {
            accept<KIND><<<1, threads, 8192>>>(a, t, mask, 99);
            take();
        }
        u32 begin = ~0u;
        for (int w = 0; w < WARPS; w++) if (mask >> w & 1) begin = std::min(begin, h[64 * w]);
        for (int w = 0; w < WARPS; w++) if (mask >> w & 1) {
            printf("%s,%x,%d,%u", NAMES[KIND], mask, w, h[64 * w] - begin);
            for (int k = 1; k <= COUNT; k++) printf(" %u", h[64 * w + k] - begin);
            puts("");
        }
    }
}
int main() {
    puts("access,mask,warp,cycles");
    cudaMalloc(&a, 1 << 20), cudaMalloc(&t, sizeof h), cudaMemset(a, 0, 1 << 20);
    for (int warps : {1, 2, 4, 8, 16, 32}) {
        u32 best = ~0u;
        for (int run = 0; run < 4; run++) {
            product<<<1, 32 * warps>>>(a, t, 200, 99);
            take();
            u32 begin = ~0u, end = 0;
            for (int w = 0; w < warps; w++) begin = std::min(begin, h[64 * w]), end = std::max(end, h[64 * w + 1]);
            best = std::min(best, end - begin);
        }
        printf("product,%x,0,%u\n", warps == 32 ? ~0u : (1u << warps) - 1, best);
    }
    accepted<STORE_16>(), accepted<STORE_32>(), accepted<LOAD_32>(), accepted<SHARED_32>(), accepted<SHARED_STORE_32>();
    return cudaDeviceSynchronize();
}
