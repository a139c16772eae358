// Each tile of 8 threads sums its part of a row that a block fetches by cooperative_groups::memcpy_async.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void group_copy(float* sums, int* largest, const float* x, const int* v, int per_block) {
    extern __shared__ float4 room[];
    float* part = reinterpret_cast<float*>(room);
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, part, x + blockIdx.x * per_block, sizeof(float) * per_block);
    auto tile = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    int most = cg::reduce(warp, v[blockIdx.x * blockDim.x + threadIdx.x], cg::greater<int>());
    cg::wait(block);
    int each = per_block / (blockDim.x / 8);
    float sum = 0;
    for (int k = tile.thread_rank(); k < each; k += tile.size()) sum += part[tile.meta_group_rank() * each + k];
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) sums[blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()] = sum;
    if (warp.thread_rank() == 0) atomicMax(largest, most);
}
