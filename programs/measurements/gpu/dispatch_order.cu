// In which order SMs get the blocks of a launch: which SM each block ran on, of launches of 1 to 264 blocks that keep their place for 30,000 cycles, the second of two alike;
// and of 256 blocks in clusters, one block per SM: a cluster of 16 lies in one GPC, so which SMs share one.
// A program by itself: nvcc -O3 -gencode arch=compute_90a,code=sm_90a -o dispatch_order dispatch_order.cu && ./dispatch_order > dispatch_order.csv
#include <cstdio>
__global__ void where(int *sm, int cycles) {
    unsigned id; asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    if (threadIdx.x == 0) sm[blockIdx.x] = id;
    long long begin = clock64();
    while (clock64() - begin < cycles) {}
}
static int *sm, found[264];
void print(int threads, int shared, int cluster, int grid) {
    cudaMemcpy(found, sm, grid * 4, cudaMemcpyDeviceToHost);
    printf("%d,%d,%d,%d,", threads, shared, cluster, grid);
    for (int i = 0; i < grid; i++) printf(i ? " %d" : "%d", found[i]);
    printf("\n");
}
int main() {
    cudaMalloc(&sm, sizeof found);
    cudaFuncSetAttribute(where, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    cudaFuncSetAttribute(where, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    printf("threads,shared,cluster,grid,sms\n");
    for (int threads : {128, 288})
        for (int grid : {1, 2, 4, 8, 16, 20, 33, 48, 64, 66, 80, 100, 132, 200, 264}) {
            int shared = threads == 288 ? 66 << 10 : 0;
            for (int again = 0; again < 2; again++) where<<<grid, threads, shared>>>(sm, 30000);
            print(threads, shared, 0, grid);
        }
    for (int cluster : {1, 2, 8, 16}) {
        cudaLaunchAttribute size = {cudaLaunchAttributeClusterDimension};
        size.val.clusterDim.x = cluster, size.val.clusterDim.y = size.val.clusterDim.z = 1;
        cudaLaunchConfig_t launch = {256, 128, 200 << 10};
        launch.attrs = &size, launch.numAttrs = 1;
        cudaLaunchKernelEx(&launch, where, sm, 30000);
        print(128, 200 << 10, cluster, 256);
    }
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
