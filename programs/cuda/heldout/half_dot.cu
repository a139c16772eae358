#include <cuda_fp16.h>
// Dot products of rows in half precision, one warp per row: exact products of whole numbers, and the larger of two sums.
extern "C" __global__ void half_dot(const __half2 *a, const __half2 *b, __half *dots, int rows, int pairs) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    a += row * pairs, b += row * pairs;
#if __CUDA_ARCH__ >= 530
    __half2 sum = __float2half2_rn(0);
    for (int i = threadIdx.x; i < pairs; i += 32) sum = __hfma2(a[i], b[i], sum);
    for (int distance = 16; distance > 0; distance /= 2) sum = __hadd2(sum, __shfl_xor_sync(0xffffffff, sum, distance));
    __half low = __low2half(sum), high = __high2half(sum);
    if (threadIdx.x == 0) dots[row] = __hgt(low, high) ? low : high;
#else
    float low = 0, high = 0;
    for (int i = threadIdx.x; i < pairs; i += 32) {
        low += __low2float(a[i]) * __low2float(b[i]);
        high += __high2float(a[i]) * __high2float(b[i]);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        low += __shfl_xor_sync(0xffffffff, low, distance);
        high += __shfl_xor_sync(0xffffffff, high, distance);
    }
    if (threadIdx.x == 0) dots[row] = __float2half(low > high ? low : high);
#endif
}
