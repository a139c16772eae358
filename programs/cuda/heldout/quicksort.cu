// Each thread sorts 16 numbers in local memory by a quicksort that calls itself, and notes how deep it went.
__device__ __noinline__ int sort(unsigned *keys, int low, int high) {
    if (low >= high) return 0;
    unsigned pivot = keys[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
        while (keys[i] < pivot) i++;
        while (keys[j] > pivot) j--;
        if (i <= j) {
            unsigned swapped = keys[i];
            keys[i++] = keys[j];
            keys[j--] = swapped;
        }
    }
    int left = sort(keys, low, j), right = sort(keys, i, high);
    return 1 + (left > right ? left : right);
}

extern "C" __global__ void quicksort(unsigned *values, int *depths, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    unsigned keys[16];
    for (int k = 0; k < 16; k++) keys[k] = values[16 * t + k];
    depths[t] = sort(keys, 0, 15);
    for (int k = 0; k < 16; k++) values[16 * t + k] = keys[k];
}
