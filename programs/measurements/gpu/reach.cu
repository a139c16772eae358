// How far each SM is from each slice of L2: one warp's loads of lines, one after another, from every SM in turn. cudaMemset leaves lines in one part of
// L2 alone; a second pass finds copies in the part that the SM is near.
// A program by itself: nvcc -O3 -arch=sm_90 -o reach reach.cu && ./reach FOLDER
#include <cstdio>
#include <vector>
__global__ void reach(const unsigned *a, int lines, int step, unsigned target, unsigned short *out, int passes) {
    unsigned sm; asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (sm != target || threadIdx.x) return;
    for (int pass = 0; pass < passes; pass++)
        for (int k = 0; k < lines; k++) {
            unsigned c0, c1, x;
            asm volatile("mov.u32 %0, %%clock;" : "=r"(c0) :: "memory");
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(a + (long)k * step) : "memory");
            asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0x7fffff01; @p exit; }" :: "r"(x) : "memory");
            asm volatile("mov.u32 %0, %%clock;" : "=r"(c1) :: "memory");
            out[pass * lines + k] = min(c1 - c0, 65535u);
        }
}
int main(int argc, char **argv) {
    unsigned *a; unsigned short *o; const int lines = 2048, passes = 4;
    cudaMalloc(&a, 64 << 20); cudaMalloc(&o, 132L * passes * lines * 2);
    for (int step : {32, 1024}) {
        for (int sm = 0; sm < 132; sm++) {
            cudaMemset(a, 1, (long)lines * step * 4); cudaDeviceSynchronize();
            reach<<<528, 32>>>(a, lines, step, sm, o + (long)sm * passes * lines, passes);
            cudaDeviceSynchronize();
        }
        std::vector<unsigned short> h(132L * passes * lines);
        cudaMemcpy(h.data(), o, h.size() * 2, cudaMemcpyDeviceToHost);
        char name[200]; sprintf(name, "%s/reach_%d.u16", argv[1], step);
        FILE *f = fopen(name, "wb"); fwrite(h.data(), 2, h.size(), f); fclose(f);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
