// 256-point complex FFT, one per block of 128 threads: bit-reversed into shared memory, then eight radix-2 stages.
extern "C" __global__ void fft(const float2 *in, float2 *out) {
    __shared__ float2 points[256];
    int t = threadIdx.x;
    in += blockIdx.x * 256, out += blockIdx.x * 256;
    for (int i = t; i < 256; i += 128) points[__brev(i) >> 24] = in[i];
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int k = t & (half - 1), i = 2 * t - k;
        float sine, cosine;
        sincospif(-float(k) / half, &sine, &cosine);
        float2 a = points[i], b = points[i + half];
        float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
        points[i] = make_float2(a.x + turned.x, a.y + turned.y);
        points[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    for (int i = t; i < 256; i += 128) out[i] = points[i];
}
