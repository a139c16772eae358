// Each block sorts 512 keys in shared memory by a bitonic network.
extern "C" __global__ void bitonic_sort(const int *in, int *out) {
    __shared__ int keys[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    keys[t] = in[base + t];
    keys[t + 256] = in[base + t + 256];
    for (int run = 2; run <= 512; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (distance - 1)), j = i + distance;
            bool up = (i & run) == 0;
            int a = keys[i], b = keys[j];
            if ((a > b) == up) keys[i] = b, keys[j] = a;
        }
    __syncthreads();
    out[base + t] = keys[t];
    out[base + t + 256] = keys[t + 256];
}
