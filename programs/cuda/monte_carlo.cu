// Points of a square that lie in the quarter circle, counted in whole numbers; xorshift generators, one per thread.
__device__ unsigned next(unsigned &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

extern "C" __global__ void monte_carlo(unsigned long long *inside, unsigned seed, int draws) {
    unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u ^ seed;
    unsigned hits = 0;
    for (int draw = 0; draw < draws; draw++) {
        unsigned long long x = next(state), y = next(state);
        hits += (x * x >> 1) + (y * y >> 1) < 1ull << 63;
    }
    for (int distance = 16; distance > 0; distance >>= 1) hits += __shfl_down_sync(0xffffffff, hits, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(inside, (unsigned long long)hits);
}
