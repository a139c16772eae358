// Edit distance of pairs of words, one pair per block of 64 threads: the table's anti-diagonals one after another, three in shared memory.
extern "C" __global__ void levenshtein(const unsigned char *first, const unsigned char *second, const int *lengths, int *distances, int stride) {
    __shared__ unsigned short diagonals[3][65];
    int pair = blockIdx.x, t = threadIdx.x, m = lengths[2 * pair], n = lengths[2 * pair + 1];
    first += pair * stride, second += pair * stride;
    for (int d = 0; d <= m + n; d++) {
        unsigned short *now = diagonals[d % 3], *before = diagonals[(d + 2) % 3], *older = diagonals[(d + 1) % 3];
        for (int i = t; i <= m; i += 64) { // row i, column d - i
            int j = d - i;
            if (j < 0 || j > n) continue;
            if (i == 0 || j == 0) now[i] = d;
            else {
                int change = older[i - 1] + (first[i - 1] != second[j - 1]);
                now[i] = min(change, min(before[i - 1], before[i]) + 1);
            }
        }
        __syncthreads();
    }
    if (t == 0) distances[pair] = diagonals[(m + n) % 3][m];
}
