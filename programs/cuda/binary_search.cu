// The first place in a sorted array whose element is not less than the key.
extern "C" __global__ void binary_search(const double *sorted, const double *keys, unsigned *places, unsigned size, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double key = keys[i];
    unsigned low = 0, high = size;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (sorted[middle] < key) low = middle + 1;
        else high = middle;
    }
    places[i] = low;
}
