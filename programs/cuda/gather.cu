// out[i] = in[index[i]] for 64-bit elements; an index outside leaves 0.
extern "C" __global__ void gather(const long long *in, const int *index, long long *out, int n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int from = index[i];
    out[i] = from >= 0 && from < size ? in[from] : 0;
}
