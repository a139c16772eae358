// For ncu: -k walk --metrics lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_read.max; nvcc -O3 -gencode arch=compute_90a,code=sm_90a.
// How consecutive lines lie on the slices of L2: blocks of one warp read `lines` lines, one after another, `rounds` times, past L1. For ncu: .max and .sum over slices.
#include <cstdio>
__global__ void __launch_bounds__(32) walk(const int *from, int lines, int stride, int rounds, int *out) {
    int sum = 0;
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < lines; k++) {
            int v; long at = (long)((k + blockIdx.x * 37) % lines) * stride + threadIdx.x;
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(from + at) : "memory");
            sum += v;
        }
    if (sum == 12345) *out = sum;
}
__global__ void touch(const int *p, long n, int *o) {
    int x = 0;
    for (long k = blockIdx.x * (long)blockDim.x + threadIdx.x; k < n; k += (long)gridDim.x * blockDim.x) x += __ldcg(p + k);
    if (x == 12345) *o = x;
}
int main() {
    int *from, *out;
    cudaMalloc(&from, 64 << 20), cudaMalloc(&out, 1 << 16), cudaMemset(from, 1, 64 << 20);
    touch<<<264, 256>>>(from, 16 << 20, out);
    for (int blocks : {1, 132})
        for (int offset : {0, 5 << 18})
            for (int stride : {1, 2, 8, 32, 1024})
                for (int lines : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096}) {
                    if ((long)stride * lines > 100000 || (blocks == 132 && (stride != 1 || offset))) continue;
                    int rounds = 4096 * 4 / lines; if (blocks == 132) rounds = rounds / 16 + 1;
                    walk<<<blocks, 32>>>(from + offset, lines, stride * 32, rounds, out);
                    printf("%d,%d,%d,%d,%d\n", blocks, offset, stride, lines, rounds);
                }
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
