// How the dispatcher hands out blocks as places come free: when each of some waves of blocks begins and ends, by their time, threads and places.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o handed handed.cu && ./handed > handed.csv
#include <algorithm>
#include <cstdio>
#include <vector>
struct Row { unsigned start, end; int sm; };
__device__ unsigned now() { unsigned t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory"); return t; }
// One warp waits for `life` cycles, or up to as many more by its number; the others wait for it.
extern "C" __global__ void noted(int life, int spread, Row *rows) {
    unsigned start = now();
    if (threadIdx.x < 32) {
        unsigned until = life + (spread ? (blockIdx.x * 2654435761u >> 16) % spread : 0);
        while (now() - start < until);
        if (threadIdx.x == 0) {
            int sm;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
            rows[blockIdx.x] = {start, now(), sm};
        }
    }
    if (life) __syncthreads();
}
const int SMS = 132;
// A row of the table. Clocks of an SM count from its first start, which is taken to come 0.19 cycles after that of the block before.
void print(const std::vector<Row> &rows, int threads, int places, int life, int spread, int waves) {
    std::vector<int> starts, ends, turnovers;
    for (int sm = 0; sm < SMS; sm++) {
        std::vector<int> begun, over;
        int first = -1, at = 0;
        for (int b = 0; b < (int)rows.size(); b++)
            if (rows[b].sm == sm && (first < 0 || (int)(rows[b].start - rows[first].start) < 0)) first = b;
        if (first < 0) continue;
        at = first % SMS * 19 / 100;
        for (const Row &row : rows)
            if (row.sm == sm) begun.push_back(row.start - rows[first].start + at), over.push_back(row.end - rows[first].start + at);
        std::sort(begun.begin(), begun.end()), std::sort(over.begin(), over.end());
        for (int k = places; k < (int)begun.size(); k++) turnovers.push_back(begun[k] - over[k - places]);
        starts.insert(starts.end(), begun.begin(), begun.end()), ends.insert(ends.end(), over.begin(), over.end());
    }
    std::sort(starts.begin(), starts.end()), std::sort(ends.begin(), ends.end()), std::sort(turnovers.begin(), turnovers.end());
    int n = starts.size(), t = turnovers.size();
    printf("%d,%d,%d,%d,%d,%d,%d,%d,%d,", threads, places, life, spread, waves, n, starts[places * SMS - 1], ends[0], ends[n - 1]);
    if (t) printf("%d,%d,%d,%d,", turnovers[0], turnovers[t / 10], turnovers[t / 2], turnovers[t * 9 / 10]);
    else printf(",,,,");
    if (waves == 4) printf("%.3f", (starts[n - 1] - starts[n - 1 - n / 4]) / (n / 4.0));
    printf("\n");
}
int main() {
    Row *rows;
    cudaMalloc(&rows, 65536 * sizeof(Row));
    printf("threads,places,life,spread,waves,blocks,first_wave,first_end,last_end,turnover_least,turnover_10,turnover,turnover_90,interval\n");
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
            noted<<<grid, c.threads, dynamic>>>(life, spread ? life : 0, rows);
            std::vector<Row> found(grid);
            cudaMemcpy(found.data(), rows, grid * sizeof(Row), cudaMemcpyDeviceToHost);
            if (again) print(found, c.threads, c.places, life, spread, waves);
        }
    }
    return cudaDeviceSynchronize();
}
