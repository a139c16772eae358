// One warp that stores and loads rows of local memory at random: cycles of each step, begun `wait` multiply-adds after its array was filled; of 16 steps without clocks.
// nvcc -O3 -arch=sm_90 -std=c++17 -o local_steps local_steps.cu; ./local_steps > local_steps.csv
#include <cstdio>
#include <cstdlib>
#include <vector>
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
const int P = 40;
template <int N, int CLOCKED> __global__ void steps(const int *index, float *b, int *t, int wait, int step) {
    float kept[N], x = 0;
    int i = threadIdx.x + blockIdx.x * blockDim.x, at = index[i], c[P + 1];
    for (int k = 0; k < N; k++) kept[k] = x + k;
    #pragma unroll 1
    for (int k = 0; k < wait; k++) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x) :: "memory");
    x *= 1e-30f;
    CLOCK(c[0])
    if (CLOCKED) {
        #pragma unroll
        for (int r = 0; r < P; r++) {
            int here = (at + r * step) % N;
            kept[here] += x;
            x = kept[(here + 3) % N];
            CLOCK(c[r + 1])
        }
        if (i == 0) for (int r = 0; r <= P; r++) t[r] = c[r];
    } else {
        #pragma unroll 1
        for (int r = 0; r < 16; r++) {
            int here = (at + r * step) % N;
            kept[here] += x;
            x = kept[(here + 3) % N];
        }
        asm volatile("{ .reg .pred p; setp.eq.f32 p, %0, 0f7f000001; @p exit; }" :: "f"(x) : "memory");
        CLOCK(c[1])
        if (i == 0) t[0] = c[0], t[1] = c[1];
    }
    b[i] = x;
}
int *index_, *t; float *b;
template <int N> void rows() {
    int h[P + 1];
    for (int wait : {0, 1500}) {
        for (int again = 0; again < 5; again++) {
            steps<N, 1><<<1, 32>>>(index_, b, t, wait, 5);
            cudaMemcpy(h, t, sizeof h, cudaMemcpyDeviceToHost);
            printf("%d,%d,each,", N, wait);
            for (int r = 0; r < P; r++) printf("%s%d", r ? " " : "", h[r + 1] - h[r]);
            printf("\n");
        }
        printf("%d,%d,16,", N, wait);
        for (int again = 0; again < 12; again++) {
            steps<N, 0><<<1, 32>>>(index_, b, t, wait, 5);
            cudaMemcpy(h, t, sizeof h, cudaMemcpyDeviceToHost);
            printf("%s%d", again ? " " : "", h[1] - h[0]);
        }
        printf("\n");
    }
}
int main() {
    cudaMalloc(&index_, 1 << 20), cudaMalloc(&b, 1 << 20), cudaMalloc(&t, 4096);
    std::vector<int> h(1 << 18);
    srand(5);
    for (int &v : h) v = rand() % 60000;
    cudaMemcpy(index_, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
    puts("words,wait,of,cycles");
    rows<32>(), rows<64>(), rows<96>(), rows<128>(), rows<200>();
    return cudaDeviceSynchronize();
}
