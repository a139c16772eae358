// Do loads wait where others store? Some SMs read lines, which DRAM or L2 has, others store whole lines that stay in L2; bytes per cycle of each for a fixed time.
// nvcc -O3 -arch=sm_90 -std=c++17 -o ports ports.cu && ./ports
#include <cstdio>
#include <vector>
const int T = 200000;
__global__ void __launch_bounds__(1024) ports(const uint4 *cold, const uint4 *warm, uint4 *out, int *count, int readers, int from_dram, int writers) {
    long long begin = clock64();
    int n = 0;
    uint4 sum = {0, 0, 0, 0};
    if (blockIdx.x < readers) {
        if (from_dram) {
            long at = (long)blockIdx.x * 8192 + threadIdx.x;
            while (clock64() - begin < T) {
                uint4 v[8];
                #pragma unroll
                for (int k = 0; k < 8; k++) asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w) : "l"(cold + at + k * 1024));
                #pragma unroll
                for (int k = 0; k < 8; k++) sum.x += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
                at += readers * 8192l, n++;
            }
        } else {
            const uint4 *mine = warm + blockIdx.x * 8192 + threadIdx.x;
            while (clock64() - begin < T) {
                uint4 v[8];
                #pragma unroll
                for (int k = 0; k < 8; k++) asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w) : "l"(mine + k * 1024));
                #pragma unroll
                for (int k = 0; k < 8; k++) sum.x += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
                n++;
            }
        }
    } else if (blockIdx.x < readers + writers) {
        uint4 *mine = out + (blockIdx.x - readers) * 8192 + threadIdx.x;
        while (clock64() - begin < T) {
            #pragma unroll
            for (int k = 0; k < 8; k++) asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(mine + k * 1024), "r"(n) : "memory");
            n++;
        }
    }
    if (sum.x == 12345) out[1 << 22] = sum;
    if (threadIdx.x % 32 == 0) atomicAdd(&count[blockIdx.x], n);
}
int main() {
    uint4 *cold, *warm, *out; int *count;
    cudaMalloc(&cold, 8l << 30), cudaMalloc(&warm, 32 << 20), cudaMalloc(&out, 128 << 20), cudaMalloc(&count, 4096);
    cudaMemset(cold, 1, 8l << 30), cudaMemset(warm, 1, 32 << 20);
    printf("readers,from,writers,bytes_read_per_cycle,bytes_stored_per_cycle\n");
    int cases[][2] = {{132, 0}, {0, 132}, {99, 0}, {66, 0}, {33, 0}, {0, 99}, {0, 66}, {0, 33}, {99, 33}, {66, 66}, {33, 99}, {66, 33}, {66, 16}, {99, 16}, {116, 16}};
    std::vector<int> h(1024);
    for (int from = 0; from < 2; from++) for (auto &c : cases) {
        if (from && !c[0]) continue;
        double best[2] = {0, 0};
        for (int k = 0; k < 3; k++) {
            cudaMemset(count, 0, 4096);
            ports<<<132, 1024>>>(cold, warm, out, count, c[0], !from, c[1]);
            cudaMemcpy(h.data(), count, 4096, cudaMemcpyDeviceToHost);
            double r = 0, w = 0;
            for (int b = 0; b < 132; b++) (b < c[0] ? r : w) += h[b] * 4096.0 / T;
            if (k) best[0] += r / 2, best[1] += w / 2;
        }
        printf("%d,%s,%d,%.1f,%.1f\n", c[0], from ? "l2" : "dram", c[1], best[0], best[1]);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
