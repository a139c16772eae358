// Local arrays of N words per thread, stored, then p times loaded and stored at random: as the population's, its loads alone, its stores alone.
// nvcc -O3 -arch=sm_90 -std=c++17 -o local local.cu; ncu --csv --metrics (the columns of ../h200/local.csv) ./local
#include <cstdio>
#include <cstdlib>
#include <vector>
template <int N> __global__ void plain(const int *index, float *b, float x, int p) {
    float kept[N];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    for (int k = 0; k < N; k++) kept[k] = x + k;
    for (int r = 0; r < p; r++) {
        int at = (index[i] + r * 5) % N;
        kept[at] += x;
        x = kept[(at + 3) % N];
    }
    b[i] = x;
}
template <int N> __global__ void only_loads(const int *index, float *b, float x, int p) {
    float kept[N];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    for (int k = 0; k < N; k++) kept[k] = x + k;
    for (int r = 0; r < p; r++) { int at = (index[i] + r * 5 + (int)x) % N; x = kept[(at + 3) % N] * 1e-30f; }
    b[i] = x;
}
template <int N> __global__ void only_stores(const int *index, float *b, float x, int p) {
    float kept[N];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    for (int k = 0; k < N; k++) kept[k] = x + k;
    for (int r = 0; r < p; r++) { int at = (index[i] + r * 5) % N; ((volatile float *)kept)[at] = x + r; }
    b[i] = kept[(int)x];
}
int main() {
    int *index_; float *b;
    cudaMalloc(&index_, 1 << 20), cudaMalloc(&b, 1 << 20);
    std::vector<int> h(1 << 18);
    srand(5);
    for (int &v : h) v = rand() % 60000;
    cudaMemcpy(index_, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
    for (int grid : {1, 33, 132}) for (int block : {32, 128, 256}) for (int p : {0, 4, 16}) {
        plain<64><<<grid, block>>>(index_, b, 0.0f, p);
        plain<200><<<grid, block>>>(index_, b, 0.0f, p);
        if (p) only_loads<200><<<grid, block>>>(index_, b, 0.0f, p), only_stores<200><<<grid, block>>>(index_, b, 0.0f, p);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
