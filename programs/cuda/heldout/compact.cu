// The elements of each block that are above a threshold, in order, by ballots; block b's results start at b * blockDim.x.
extern "C" __global__ void compact(const short *in, short *out, int *counts, int n, int threshold) {
    __shared__ int warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool keep = i < n && in[i] > threshold;
    unsigned kept = __ballot_sync(0xffffffff, keep);
    if (lane == 0) warps[warp] = __popc(kept);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < blockDim.x / 32; w++) {
        if (w < warp) before += warps[w];
        all += warps[w];
    }
    if (keep) out[blockIdx.x * blockDim.x + before + __popc(kept & ((1u << lane) - 1))] = in[i];
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}
