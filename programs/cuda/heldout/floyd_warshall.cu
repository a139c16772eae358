// Shortest paths between all nodes of graphs of n <= 30 nodes, one graph per block of n x n threads; a negative length is no edge.
extern "C" __global__ void floyd_warshall(const int *edges, int *paths, int n) {
    extern __shared__ int length[];
    int from = threadIdx.y, to = threadIdx.x, own = from * n + to, base = blockIdx.x * n * n;
    int edge = edges[base + own];
    length[own] = from == to ? 0 : edge < 0 ? 1 << 29 : edge;
    __syncthreads();
    for (int middle = 0; middle < n; middle++) {
        int detour = length[from * n + middle] + length[middle * n + to];
        __syncthreads();
        if (detour < length[own]) length[own] = detour;
        __syncthreads();
    }
    paths[base + own] = length[own] >= 1 << 29 ? -1 : length[own];
}
