// How many sectors a cycle L2 takes of stores that each write one sector of eight lines, and come back for the others at once, or not.
// A program by itself: nvcc -O3 -std=c++17 -arch=sm_90 -o stores stores.cu && ./stores > stores.csv
// Each warp has `chunks` groups of eight lines, lines `pitch` floats apart, and stores EACH sectors of each, `rounds` times; then a fence.
#include <algorithm>
#include <cstdio>
template <int EACH> __global__ void vectors(float *to, int pitch, int chunks, int rounds, unsigned *times) {
    unsigned lane = threadIdx.x % 32, warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, from, end, issued;
    __syncthreads();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(from) :: "memory");
    #pragma unroll 1
    for (int r = 0; r < rounds; r++)
        #pragma unroll 1
        for (int c = 0; c < chunks; c++) {
            int group = warp * chunks + c, per = pitch / 32;
            int place = group / per * 8 * pitch + group % per * 32;
            float *at = to + place + (lane / 4) * pitch + lane % 4 * 2;
            #pragma unroll
            for (int s = 0; s < EACH; s++) asm volatile("st.global.v2.f32 [%0], {%1, %1};" :: "l"(at + s * 8), "f"(1.f) : "memory");
        }
    asm volatile("mov.u32 %0, %%clock;" : "=r"(issued) :: "memory");
    __threadfence();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    if (lane == 0) times[warp * 2] = issued - from, times[warp * 2 + 1] = end - from;
}
float *to; unsigned *times;
template <int EACH> void measure(int blocks, int warps, int pitch, int chunks, int rounds) {
    static unsigned h[132 * 32 * 2];
    double best = 1e9, bi = 0, bmed = 0;
    for (int again = 0; again < 5; again++) {
        vectors<EACH><<<blocks, warps * 32>>>(to, pitch, chunks, rounds, times);
        cudaMemcpy(h, times, blocks * warps * 8, cudaMemcpyDeviceToHost);
        double most = 0, issued = 0; static unsigned all[132 * 32];
        for (int w = 0; w < blocks * warps; w++) most = std::max(most, (double)h[2 * w + 1]), issued = std::max(issued, (double)h[2 * w]), all[w] = h[2 * w];
        std::sort(all, all + blocks * warps);
        if (again && most < best) best = most, bi = issued, bmed = all[blocks * warps / 2];
    }
    double sectors = 8.0 * EACH * chunks * rounds * warps * blocks;
    printf("%d,%d,%d,%d,%d,%d,%.0f,%.0f,%.0f,%.2f\n", EACH, blocks, warps, pitch, chunks, rounds, bmed, bi, best, sectors / best);
}
int main() {
    cudaMalloc(&to, 256 << 20), cudaMalloc(&times, 1 << 20); cudaMemset(to, 0, 256 << 20);
    puts("each,blocks,warps,pitch,chunks,rounds,issued_median,issued_most,done,sectors_per_cycle");
    for (int warps : {8, 32}) for (int pitch : {32, 1024}) for (int blocks : {1, 132}) {
        measure<4>(blocks, warps, pitch, 8, 1), measure<4>(blocks, warps, pitch, 8, 16), measure<4>(blocks, warps, pitch, 8, 64);
        measure<2>(blocks, warps, pitch, 8, 1), measure<2>(blocks, warps, pitch, 8, 16);
        measure<1>(blocks, warps, pitch, 8, 1), measure<1>(blocks, warps, pitch, 8, 16), measure<1>(blocks, warps, pitch, 8, 64), measure<1>(blocks, warps, pitch, 32, 4);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
