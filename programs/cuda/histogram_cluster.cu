// A histogram of 4096 bins for each cluster of blocks: each block has a part of the bins in its shared memory and counts in those of the others, too.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram_cluster(int n, const int *in, int *out) {
    __shared__ int bins[1024];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) bins[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int value = in[i] & 4095;
        atomicAdd(cluster.map_shared_rank(bins, value >> 10) + (value & 1023), 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) atomicAdd(out + cluster.block_rank() * 1024 + i, bins[i]);
}
