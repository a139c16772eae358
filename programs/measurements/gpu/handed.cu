// How the dispatcher hands out blocks as places come free: when each of some waves of blocks begins and ends, by their time, threads and places.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o handed handed.cu && ./handed, which writes rows.bin: for each launch eight words (blocks noted,
// threads, life, spread, places, waves, 0, blocks), then four for each block (clocks of its SM as it begins and ends, SM, block).
#include <algorithm>
#include <cstdio>
#include <vector>
struct Row { unsigned start, end; int sm, block; };
__device__ unsigned now() { unsigned t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
// One warp waits for `life` cycles, or up to as many more by its number; the others wait for it.
extern "C" __global__ void noted(int life, int spread, unsigned sparse, Row *rows) {
    unsigned start = now();
    if (threadIdx.x < 32) {
        unsigned h = blockIdx.x * 2654435761u;
        unsigned until = life + (spread ? (h >> 16) % spread : 0);
        while (now() - start < until);
        if (threadIdx.x == 0 && ((h >> 8) & sparse) == 0) {
            int sm;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
            rows[blockIdx.x] = {start, now(), sm, (int)blockIdx.x + 1};
        }
    }
    if (life) __syncthreads();
}
int main() {
    Row *rows;
    cudaMalloc(&rows, 65536 * sizeof(Row));
    FILE *f = fopen("rows.bin", "wb");
    cudaFuncSetAttribute(noted, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
    cudaFuncSetAttribute(noted, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    struct Case { int threads, places; };
    for (int life : {0, 300, 700, 1400, 3000}) for (int spread : {0, 1})
    for (Case c : {Case{32, 32}, {64, 32}, {96, 21}, {128, 16}, {256, 8}, {512, 4}, {1024, 2}, {32, 16}, {32, 8}, {32, 4}, {32, 2}, {32, 1}, {64, 16}, {64, 8}, {128, 8}})
    for (int waves : {1, 2, 4}) {
        if (spread && life < 300) continue;
        int full = std::min(32, 2048 / c.threads), grid = 132 * c.places * waves;
        int dynamic = (c.places < full ? 227 * 1024 / c.places - 1024 - 64 : 0) / 128 * 128;  // so much shared memory leaves so many places
        if (waves == 1 && c.places != full) continue;
        for (int again = 0; again < 2; again++) {
            cudaMemset(rows, 0, grid * sizeof(Row));
            noted<<<grid, c.threads, dynamic>>>(life, spread ? life : 0, 0, rows);
            std::vector<Row> r(grid);
            cudaMemcpy(r.data(), rows, grid * sizeof(Row), cudaMemcpyDeviceToHost);
            if (again == 0) continue;
            for (auto &row : r) row.block--;
            int head[8] = {grid, c.threads, life, spread, c.places, waves, 0, grid};
            fwrite(head, 4, 8, f); fwrite(r.data(), sizeof(Row), grid, f);
        }
    }
    fclose(f);
    return cudaDeviceSynchronize();
}
