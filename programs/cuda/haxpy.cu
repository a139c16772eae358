#include <cuda_fp16.h>
// y = a x + y in half precision, two elements at once.
extern "C" __global__ void haxpy(int pairs, float a, const __half2 *x, __half2 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 530
    if (i < pairs) y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
#else // no half-precision arithmetic: in single, rounded at the end
    if (i < pairs) {
        float2 xs = __half22float2(x[i]), ys = __half22float2(y[i]);
        y[i] = __floats2half2_rn(fmaf(a, xs.x, ys.x), fmaf(a, xs.y, ys.y));
    }
#endif
}
