// y = A x for rows of n floats: one lane of a warp that only copies (cp.async.bulk) fills a ring of `stages` tiles of four rows, four warps multiply a row
// of each; mbarriers say which tiles are full and which are empty. Every block does `rows` rows; 128 + 4 n (1 + 4 stages) bytes of shared memory.
typedef unsigned long long barrier;
extern __shared__ __align__(128) char shared[];
__device__ __forceinline__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(barrier *b, int arrivals) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(arrivals) : "memory"); }
__device__ __forceinline__ void arrive(barrier *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ __forceinline__ void expect(barrier *b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void wait(barrier *b, int parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra done; bra again; done: }" ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void copy(void *to, const void *from, int bytes, barrier *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
__device__ __forceinline__ bool elected() {
    unsigned yes;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(yes));
    return yes;
}
extern "C" __global__ void __launch_bounds__(160) matvec_bulk(const float *a, const float *x, float *y, int n, int rows, int stages) {
    barrier *full = (barrier *)shared, *empty = full + 8;
    float *vector = (float *)(shared + 128), *ring = vector + n;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int k = 0; k < stages; k++) init(full + k, 1), init(empty + k, 4);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    for (int k = threadIdx.x; k < n; k += blockDim.x) vector[k] = x[k];
    __syncthreads();
    a += (long long)blockIdx.x * rows * n, y += blockIdx.x * rows;
    if (warp == 4) {
        if (elected())
            for (int tile = 0, stage = 0, parity = 1; tile < rows / 4; tile++) {
                wait(empty + stage, parity);
                expect(full + stage, 16 * n);
                copy(ring + stage * 4 * n, a + tile * 4 * n, 16 * n, full + stage);
                if (++stage == stages) stage = 0, parity ^= 1;
            }
    } else {
        for (int tile = 0, stage = 0, parity = 0; tile < rows / 4; tile++) {
            wait(full + stage, parity);
            const float *row = ring + (stage * 4 + warp) * n;
            float sum = 0;
            for (int k = lane; k < n; k += 32) sum += row[k] * vector[k];
            __syncwarp();
            if (lane == 0) arrive(empty + stage);
            for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
            if (lane == 0) y[tile * 4 + warp] = sum;
            if (++stage == stages) stage = 0, parity ^= 1;
        }
    }
}
