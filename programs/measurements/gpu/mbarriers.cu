// What mbarriers hold in memory, how long those that wait take to go on, and pipelines of bulk copies between one producer and its consumers.
// A program by itself: nvcc -O3 -gencode arch=compute_90a,code=sm_90a -std=c++17 -o mbarriers mbarriers.cu && ./mbarriers
#include <algorithm>
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory")
typedef unsigned long long u64;
__device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(u64 *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(u64 *b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at(b)) : "memory"); }
__device__ void expect(u64 *b, int n) { asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" :: "r"(at(b)), "r"(n) : "memory"); }
__device__ int try_wait(u64 *b, int parity) {
    int ok;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(at(b)), "r"(parity) : "memory");
    return ok;
}
__device__ void wait(u64 *b, int parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra done; bra again; done: }" :: "r"(at(b)), "r"(parity) : "memory");
}
__device__ void load_bulk(void *to, const void *from, int n, u64 *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(at(to)), "l"(from), "r"(n), "r"(at(b)) : "memory");
}
extern __shared__ __align__(1024) char shared[];
// the 64 bits of a barrier after each operation, one thread
#define SAY(text) o[n++] = *(volatile u64 *)b
#define OP(text, ...) asm volatile(text __VA_ARGS__); SAY()
__global__ void words(u64 *o, const char *from) {
    __shared__ u64 b[2];
    int n = 0;
    u64 s = 0;
    uint32_t a = at(b);
    if (threadIdx.x) return;
    for (int count : {1, 5, 32, 1000}) { init(b, count); SAY(); }
    init(b, 3); SAY();
    OP("mbarrier.arrive.shared.b64 %0, [%1];", : "=l"(s) : "r"(a) : "memory"); o[n++] = s;
    OP("mbarrier.arrive.shared.b64 %0, [%1], %2;", : "=l"(s) : "r"(a), "r"(2) : "memory"); o[n++] = s;  // the phase is over
    OP("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;", :: "r"(a), "r"(100) : "memory");
    OP("mbarrier.arrive.shared.b64 %0, [%1], %2;", : "=l"(s) : "r"(a), "r"(3) : "memory"); o[n++] = s;  // 100 bytes are missing
    OP("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], %1;", :: "r"(a), "r"(60) : "memory");
    OP("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], %1;", :: "r"(a), "r"(40) : "memory");  // the phase is over
    OP("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], %1;", :: "r"(a), "r"(16) : "memory");  // before anybody expects them
    OP("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], %2;", : "=l"(s) : "r"(a), "r"(16) : "memory"); o[n++] = s;
    OP("mbarrier.arrive_drop.shared.b64 %0, [%1];", : "=l"(s) : "r"(a) : "memory"); o[n++] = s;
    OP("mbarrier.arrive.shared.b64 %0, [%1];", : "=l"(s) : "r"(a) : "memory"); o[n++] = s;  // the phase is over; two are expected now
    OP("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;", : "=l"(s) : "r"(a), "r"(1) : "memory"); o[n++] = s;
    OP("cp.async.mbarrier.arrive.shared.b64 [%0];", :: "r"(a) : "memory");
    for (int k = 0; k < 1000; k++) __nanosleep(100);
    SAY();
    OP("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];", :: "r"(a) : "memory");
    for (int k = 0; k < 1000; k++) __nanosleep(100);
    SAY();
    OP("mbarrier.arrive_drop.expect_tx.shared.b64 %0, [%1], %2;", : "=l"(s) : "r"(a), "r"(32) : "memory"); o[n++] = s;
    OP("mbarrier.arrive.shared.b64 %0, [%1];", : "=l"(s) : "r"(a) : "memory"); o[n++] = s;
    OP("mbarrier.complete_tx.relaxed.cta.shared.b64 [%0], %1;", :: "r"(a), "r"(32) : "memory");
    init(b, 1); OP("mbarrier.expect_tx.relaxed.cta.shared.b64 [%0], %1;", :: "r"(a), "r"((1 << 20) - 1) : "memory");
    OP("mbarrier.inval.shared.b64 [%0];", :: "r"(a) : "memory");
    o[63] = n;
}
// warp 0 arrives after `delay` cycles; others have waited: polls, cycles from before the arrival until they go on
__global__ void waits(int *t, int delay) {
    __shared__ u64 b;
    __shared__ int when;
    int from, to, now, n = 0;
    if (threadIdx.x == 0) init(&b, 1);
    __syncthreads();
    CLOCK(from);
    if (threadIdx.x / 32 == 0) {
        do { CLOCK(now); } while (now - from < delay);
        if (threadIdx.x == 0) { CLOCK(when); arrive(&b); }
    } else {
        while (!try_wait(&b, 0)) n++;
        CLOCK(to);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0 && threadIdx.x) t[2 * (threadIdx.x / 32 - 1)] = n, t[2 * (threadIdx.x / 32 - 1) + 1] = to - when;
}
// warps pass a token round: each waits for the one before it
__global__ void ring(int *t, int rounds) {
    __shared__ u64 b[8];
    int from, to, w = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x < warps) init(b + threadIdx.x, 1);
    __syncthreads();
    CLOCK(from);
    for (int k = 0; k < rounds; k++) {
        if (w || k) wait(b + w, (w ? k : k - 1) & 1);
        if (threadIdx.x % 32 == 0) arrive(b + (w + 1) % warps);
    }
    CLOCK(to);
    if (threadIdx.x == 0) t[0] = to - from;
}
// a producer warp fills `stages` buffers by bulk copies; four warps add up what they hold: the pipeline that every product of matrices has
__global__ void pipeline(float *out, const float *from, int *t, int stages, int bytes, int tiles) {
    u64 *full = (u64 *)shared, *empty = full + 8;
    float *buffer = (float *)(shared + 1024);
    int begin, end;
    if (threadIdx.x == 0) for (int k = 0; k < stages; k++) init(full + k, 1), init(empty + k, 4);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    CLOCK(begin);
    from += (u64)blockIdx.x * tiles * (bytes / 4);
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0)
            for (int k = 0, s = 0, phase = 1; k < tiles; k++) {
                wait(empty + s, phase);
                expect(full + s, bytes);
                load_bulk(buffer + s * (bytes / 4), from + (u64)k * (bytes / 4), bytes, full + s);
                if (++s == stages) s = 0, phase ^= 1;
            }
    } else {
        float sum = 0;
        int me = threadIdx.x - 32;
        for (int k = 0, s = 0, phase = 0; k < tiles; k++) {
            wait(full + s, phase);
            for (int j = me; j < bytes / 4; j += 128) sum += buffer[s * (bytes / 4) + j];
            __syncwarp();
            if (threadIdx.x % 32 == 0) arrive(empty + s);
            if (++s == stages) s = 0, phase ^= 1;
        }
        out[blockIdx.x * 128 + me] = sum;
    }
    CLOCK(end);
    if (threadIdx.x == 32) t[blockIdx.x] = end - begin;
}
int main(int argc, char **argv) {
    u64 *o, h[64];
    int *t, c[1024];
    float *x, *out, *flush;
    cudaMalloc(&o, sizeof h); cudaMalloc(&t, sizeof c); cudaMalloc(&x, 1 << 28); cudaMalloc(&out, 1 << 20); cudaMalloc(&flush, 1 << 28);
    cudaMemset(x, 0, 1 << 28);
    printf("what,size,count,value_1,value_2,value_3,value_4,value_5,value_6\n");
    words<<<1, 32>>>(o, (char *)x); cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost);
    for (int k = 0; k < (int)h[63]; k++) printf("words,%d,0,%016llx\n", k, h[k]);
    for (int delay : {0, 100, 500, 1000, 2000, 5000, 20000, 200000}) for (int w : {1, 3, 7}) {
        waits<<<1, 32 + 32 * w>>>(t, delay); waits<<<1, 32 + 32 * w>>>(t, delay); cudaMemcpy(c, t, sizeof c, cudaMemcpyDeviceToHost);
        printf("waits,%d,%d", delay, w); for (int k = 0; k < std::min(w, 3); k++) printf(",%d,%d", c[2 * k], c[2 * k + 1]); printf("\n");
    }
    for (int w : {2, 4, 8}) for (int r : {100, 200}) { ring<<<1, 32 * w>>>(t, r); ring<<<1, 32 * w>>>(t, r); cudaMemcpy(c, t, 4, cudaMemcpyDeviceToHost); printf("ring,%d,%d,%d\n", w, r, c[0]); }
    cudaFuncSetAttribute(pipeline, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    for (int blocks : {1, 132}) for (int bytes : {2048, 8192, 32768}) for (int stages : {1, 2, 3, 4, 6}) {
        int tiles = 48;
        cudaMemset(flush, 1, 1 << 28);
        int cold[132], warm[132];
        pipeline<<<blocks, 160, 200 << 10>>>(out, x, t, stages, bytes, tiles); cudaMemcpy(cold, t, 4 * blocks, cudaMemcpyDeviceToHost);
        pipeline<<<blocks, 160, 200 << 10>>>(out, x, t, stages, bytes, 16); cudaDeviceSynchronize();
        pipeline<<<blocks, 160, 200 << 10>>>(out, x, t, stages, bytes, 16); cudaMemcpy(warm, t, 4 * blocks, cudaMemcpyDeviceToHost);
        std::sort(cold, cold + blocks); std::sort(warm, warm + blocks);
        printf("pipeline_%d,%d,%d,%d,%d,%d,%d,%s\n", blocks, bytes, stages, cold[blocks / 2], cold[blocks - 1], warm[blocks / 2], warm[blocks - 1], cudaGetErrorString(cudaGetLastError()));
    }
}
