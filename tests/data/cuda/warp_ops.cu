// What lanes of a warp, and warps of a block, can ask of each other.
extern "C" __global__ void warp_ops(unsigned* out, int* counts, const int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
    unsigned r = __ballot_sync(0xffffffff, v > 3);
    r += __match_any_sync(0xffffffff, v & 3);
    int scan = v;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffff, scan, d);
        if (lane >= d) scan += other;
    }
    r += scan + __shfl_xor_sync(0xffffffff, v, 5, 8) + __shfl_down_sync(0xffffffff, v, 1, 16);
#if __CUDA_ARCH__ >= 800
    r += __reduce_add_sync(0xffffffff, v) + __reduce_max_sync(0xffffffff, v) + __reduce_xor_sync(0xffffffff, (unsigned)v);
#else
    int sum = v, most = v, parity = v;
    for (int d = 16; d; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
        most = max(most, __shfl_xor_sync(0xffffffff, most, d));
        parity ^= __shfl_xor_sync(0xffffffff, parity, d);
    }
    r += sum + most + parity;
#endif
    if (lane < 20) {
        unsigned here = __activemask();
        if (v & 1) {
            unsigned odd = __activemask();
            r += __shfl_sync(odd, v, __ffs(odd) - 1) + __popc(odd);
        }
        __syncwarp(here);
    }
    int all = 0;
    if (__all_sync(0xffffffff, v > -100)) all += 1;
    if (__any_sync(0xffffffff, v == 7)) all += 2;
    int many = __syncthreads_count(v > 2);
    int both = __syncthreads_and(v > -50), some = __syncthreads_or(v == 9);
    __nanosleep(20);
    out[i] = r * 8 + all;
    if (threadIdx.x == 0) counts[blockIdx.x] = many * 4 + (both != 0) * 2 + (some != 0);
}
