// When does L1 give a line up? A warp's three loads or stores of a line's parts, some cycles apart; then each sector of it is loaded.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o races races.cu && ./races
// It prints what ../h100/races.csv holds; ../h100/races.sm_90.cubin is its code. The arrays are of zeros, and in L2.
#include <cstdio>
#include <vector>
const int SECTORS = 48, OPERATIONS = 3, IDLE = 50, REGION = 2048;  // idle: rounds of a loop of some 29 cycles; bytes
#define WAIT_FOR(x) asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");

// kind: 1 = load, 2 = store, of 8 bytes at place + lane * stride; wait: rounds of the loop before it; there: bit k = sector k is in L1 at first
struct Operation { int kind, place, wait; };
struct Race { Operation operations[OPERATIONS]; int lanes, stride; unsigned there[2]; };

__device__ int load(const char *p) { int x; asm volatile("ld.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory"); return x; }
// zero stays zero: the compiler does not know, so what depends on it comes after the loop
__device__ int wait(int zero, int rounds) {
    #pragma unroll 1
    for (int k = 0; k < rounds; k++) asm volatile("mad.lo.u32 %0, %0, %0, %0;" : "+r"(zero) :: "memory");
    return zero;
}
extern "C" __global__ void race(char *a, const Race *races, int *lost) {
    __shared__ int took[SECTORS];
    int lane = threadIdx.x, zero = lost[blockIdx.x * SECTORS], got[2 * OPERATIONS] = {};
    Race own = races[blockIdx.x];
    #pragma unroll 1
    for (int round = 0; round < 2; round++) {  // the second finds its instructions in the caches
        char *region = a + (2 * blockIdx.x + round) * REGION;
        #pragma unroll 1
        for (int k = 0; k < SECTORS; k++) if (lane == 0 && (own.there[k / 32] >> k % 32 & 1)) zero += load(region + 32 * k);
        zero = wait(zero, IDLE);
        __syncwarp();
        #pragma unroll
        for (int k = 0; k < OPERATIONS; k++) {
            zero = wait(zero, own.operations[k].wait);
            int kind = lane < own.lanes ? own.operations[k].kind : 0;
            const char *p = region + own.operations[k].place + lane * own.stride + zero;
            asm volatile("{ .reg .pred p, q; setp.eq.s32 p, %3, 1; setp.eq.s32 q, %3, 2; @p ld.global.v2.u32 {%0, %1}, [%2]; @q st.global.v2.u32 [%2], {%4, %4}; }"
                : "+r"(got[2 * k]), "+r"(got[2 * k + 1]) : "l"(p), "r"(kind), "r"(zero) : "memory");
        }
        zero = wait(zero, IDLE);
        for (int k = 0; k < 2 * OPERATIONS; k++) zero += got[k];
        zero = wait(zero, IDLE);
        __syncwarp();
        if (lane == 0) {
            #pragma unroll 1
            for (int k = 0; k < SECTORS; k++) {
                int from, to;
                CLOCK(from)
                int x = load(region + 32 * k + zero);
                WAIT_FOR(x)
                CLOCK(to)
                took[k] = to - from;
            }
        }
        __syncwarp();
    }
    if (lane == 0) for (int k = 0; k < SECTORS; k++) lost[blockIdx.x * SECTORS + k] = took[k];
}
const int BATCH = 128;  // one on an SM
const int WAITS[] = {1, 60};  // before anything can come from L2, and after it has
std::vector<Race> races;
std::vector<const char *> names;
// every three of the operations at all waits; sectors that are there: those of the first `columns` times 8 bytes of each lane
void all(const char *name, int lanes, int stride, int columns, std::vector<Operation> operations) {
    unsigned long long there = 0;
    for (int l = 0; l < lanes; l++) for (int c = 0; c < columns; c++) there |= 1ull << (l * stride + 8 * c) / 32;
    size_t n = operations.size();
    for (size_t i = 0; i < n * n * n; i++) for (int w = 0; w < 4; w++) {
        Race one = {{operations[i / n / n], operations[i / n % n], operations[i % n]}, lanes, stride, {(unsigned)there, (unsigned)(there >> 32)}};
        one.operations[0].wait = 1, one.operations[1].wait = WAITS[w / 2], one.operations[2].wait = WAITS[w % 2];
        races.push_back(one), names.push_back(name);
    }
}
int main() {
    char *a; Race *d; int *lost;
    size_t bytes = BATCH * 2 * REGION;
    cudaMalloc(&a, bytes), cudaMalloc(&d, BATCH * sizeof(Race)), cudaMalloc(&lost, BATCH * SECTORS * 4);
    cudaMemset(a, 0, bytes);
    all("one lane", 1, 0, 1, {{1, 32}, {1, 48}, {2, 0}, {2, 32}, {2, 64}});
    all("rows of 112 bytes", 13, 112, 2, {{1, 16}, {1, 24}, {2, 0}, {2, 8}, {2, 16}});
    printf("pattern,first,wait_1,second,wait_2,third,lost\n");
    for (size_t from = 0; from < races.size(); from += BATCH) {
        int n = (int)(races.size() - from < BATCH ? races.size() - from : BATCH), took[BATCH * SECTORS];
        cudaMemcpy(d, &races[from], n * sizeof(Race), cudaMemcpyHostToDevice);
        cudaMemset(lost, 0, sizeof took);
        race<<<n, 32>>>(a, d, lost);
        cudaMemcpy(took, lost, n * SECTORS * 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            Race &r = races[from + i];
            printf("%s", names[from + i]);
            for (int k = 0; k < OPERATIONS; k++) {
                if (k) printf(",%d", r.operations[k].wait);
                printf(",%s %d", r.operations[k].kind == 1 ? "load" : "store", r.operations[k].place);
            }
            unsigned long long mask = 0;
            for (int k = 0; k < SECTORS; k++) if (took[i * SECTORS + k] > 150) mask |= 1ull << k;
            printf(",%llx\n", r.lanes > 1 ? mask : mask & 15);
        }
    }
    return cudaDeviceSynchronize();
}
