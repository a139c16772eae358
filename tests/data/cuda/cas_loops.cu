// Compare-and-swap loops, 64-bit atomics, and a last block that finishes the sum.
__device__ double add(double* address, double value) {
    unsigned long long* word = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

extern "C" __global__ void cas_loops(float* largest, double* sum, unsigned long long* words, unsigned* ticket, double* partial, const float* x, int n) {
    __shared__ double total;
    __shared__ bool is_last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if (i < n) {
        float v = x[i];
        int* bits = reinterpret_cast<int*>(largest);
        int old = *bits;
        while (v > __int_as_float(old)) {
            int before = atomicCAS(bits, old, __float_as_int(v));
            if (before == old) break;
            old = before;
        }
        add(&total, v);
        atomicAdd(&words[0], (unsigned long long)i << 20);
        atomicMax(&words[1], 0x123456789ull * i);
        atomicXor(&words[2], 0x100000001ull << (i & 31));
        atomicMin(reinterpret_cast<long long*>(&words[3]), -(long long)i * i);
        atomicAdd(sum, 0.5);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
        __threadfence();
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        double all = 0;
        for (int b = 0; b < gridDim.x; ++b) all += *(volatile double*)&partial[b];
        partial[gridDim.x] = all;
    }
}
