// How blocks are handed out: when each begins and ends on its SM, by grid, threads, work and stores.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o dispatch dispatch.cu && ./dispatch > dispatch_blocks.csv, which prints a row per block; and
// ncu --csv --page raw --cache-control all --clock-control none -k work --metrics sm__cycles_active.max,sm__cycles_elapsed.max ./dispatch launches
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>
struct Row { long long start, end, begun, over; int sm, pad; };  // clocks of the SM; nanoseconds of the chip

__device__ float body(float x, float b, int loops) {
    #pragma unroll 1
    for (int n = 0; n < loops; n++)
        #pragma unroll
        for (int k = 0; k < 8; k++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(b));
    return x;
}
__device__ void stored(float *out, float x, int stores) {
    #pragma unroll 1
    for (int k = 0; k < stores; k++) out[((size_t)k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = x;
}
extern "C" __global__ void work(float *out, float b, int loops, int stores) {
    float x = body(threadIdx.x, b, loops);
    stored(out, x, stores);
    if (x == 1234.5f) out[0] = x;
}
extern "C" __global__ void noted(float *out, float b, int loops, int stores, Row *rows) {
    long long start = clock64(), begun;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begun));
    float x = body(threadIdx.x, b, loops);
    stored(out, x, stores);
    if (threadIdx.x == 0) {
        int sm;
        long long over;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(over));
        rows[blockIdx.x] = {start, clock64(), begun, over, sm, x == 1234.5f};
    }
}
int main(int count, char **words) {
    float *out;
    Row *rows;
    cudaMalloc(&out, 1 << 29), cudaMalloc(&rows, 65536 * sizeof(Row));
    if (count > 1 && !strcmp(words[1], "launches")) {
        for (int loops : {0, 50, 400}) for (int stores : {0, 1, 8}) for (int threads : {32, 64, 256, 1024}) for (int grid : {1, 132, 528, 2112, 16896})
            if (loops < 400 || stores == 0) work<<<grid, threads>>>(out, 0.5f, loops, stores);
        return cudaDeviceSynchronize();
    }
    printf("grid,threads,loops,stores,block,sm,start,end,begun,over\n");
    for (int loops : {0, 50}) for (int stores : {0, 8}) for (int threads : {32, 64, 256}) for (int grid : {132, 2112, 6336}) {
        std::vector<Row> found(grid);
        for (int again = 0; again < 2; again++) noted<<<grid, threads>>>(out, 0.5f, loops, stores, rows);
        cudaMemcpy(found.data(), rows, grid * sizeof(Row), cudaMemcpyDeviceToHost);
        long long first = found[0].begun;
        for (Row &row : found) first = std::min(first, row.begun);
        for (int i = 0; i < grid; i++)
            printf("%d,%d,%d,%d,%d,%d,%lld,%lld,%lld,%lld\n", grid, threads, loops, stores, i, found[i].sm, found[i].start, found[i].end, found[i].begun - first, found[i].over - first);
    }
    return cudaDeviceSynchronize();
}
