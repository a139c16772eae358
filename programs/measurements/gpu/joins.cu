// What becomes of stores in an SM, one question each; plans/joins.toml says with which sizes they run.
// Kernels that read clocks write each thread's first and last one to t[2 * thread].
typedef long long clock_type;

// Which stores are joined before they leave?  Each store of a warp writes a word, or 32 / lines neighbouring columns of words, of
// `lines` lines; `lines` such stores fill them. `groups` of lines take turns, `sets` times: 42 to 150 cycles from store to store.
extern "C" __global__ void joins(float *a, clock_type *t, int lines, int groups, int sets) {
    int lane = threadIdx.x & 31, per = 32 / lines;
    float *p = a + (size_t)(threadIdx.x / 32) * sets * groups * lines * 32 + lane / per * 32 + lane % per * lines;
    __syncthreads();
    clock_type start = clock64();
    #pragma unroll 1
    for (int set = 0; set < sets; set++) {
        #pragma unroll 1
        for (int j = 0; j < lines; j++)
            #pragma unroll 1
            for (int g = 0; g < groups; g++) *(volatile float *)(p + g * lines * 32 + j) = 1.0f;
        p += groups * lines * 32;
    }
    clock_type stop = clock64();
    t[2 * threadIdx.x] = start, t[2 * threadIdx.x + 1] = stop;
}

// How long does a store keep the unit, by the lines and sectors that it touches?
// Lane i writes word i % (32 / LINES) * STEP + j of line i / (32 / LINES).
template <int LINES, int STEP> __device__ void touch(float *a, clock_type *t) {
    constexpr int PER = 32 / LINES;
    int lane = threadIdx.x & 31;
    float *p = a + (threadIdx.x / 32) * LINES * 32 + lane / PER * 32 + lane % PER * STEP;
    __syncthreads();
    clock_type start = clock64();
    #pragma unroll 1
    for (int round = 0; round < 32; round++) {
        #pragma unroll
        for (int j = 0; j < 8; j++) *(volatile float *)(p + (j < STEP ? j : 0)) = 1.0f;
    }
    clock_type stop = clock64();
    t[2 * threadIdx.x] = start, t[2 * threadIdx.x + 1] = stop;
}
#define TOUCH(LINES, STEP) extern "C" __global__ void touch_##LINES##_##STEP(float *a, clock_type *t) { touch<LINES, STEP>(a, t); }
TOUCH(1, 1) TOUCH(2, 1) TOUCH(2, 2) TOUCH(4, 1) TOUCH(4, 4) TOUCH(8, 1) TOUCH(8, 8) TOUCH(16, 1) TOUCH(16, 16) TOUCH(32, 32)

// Bursts of 16 stores that fill 16 lines, column by column; warp w begins `offset` * w cycles after the first, every `period` cycles.
extern "C" __global__ void bursts(float *a, clock_type *t, int offset, int period, int sets) {
    __shared__ clock_type begin;
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    float *p = a + (size_t)warp * sets * 512 + lane / 2 * 32 + lane % 2 * 16;
    if (threadIdx.x == 0) begin = clock64() + 1000;
    __syncthreads();
    clock_type next = begin + offset * warp, start = next;
    #pragma unroll 1
    for (int set = 0; set < sets; set++) {
        while (clock64() < next) {}
        #pragma unroll
        for (int j = 0; j < 16; j++) *(volatile float *)(p + j) = 1.0f;
        next += period;
        p += 512;
    }
    clock_type stop = clock64();
    t[2 * threadIdx.x] = start, t[2 * threadIdx.x + 1] = stop;
}

// Each thread multiplies vectors of 16 with a matrix, loads and stores them word by word: which of the stores are joined?
__constant__ float matrix[16][16];
extern "C" __global__ void vectors(const float *__restrict__ source, float *__restrict__ out, int count) {
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < count; v += gridDim.x * blockDim.x) {
        float x[16], y[16];
        #pragma unroll
        for (int j = 0; j < 16; j++) x[j] = source[v * 16 + j];
        #pragma unroll
        for (int i = 0; i < 16; i++) {
            y[i] = 0;
            #pragma unroll
            for (int j = 0; j < 16; j++) y[i] += matrix[i][j] * x[j];
        }
        #pragma unroll
        for (int i = 0; i < 16; i++) out[v * 16 + i] = y[i];
    }
}
