// Steps of z = z^2 + c until |z| > 2, at most `most`. Rounding is spelled out, so that every count is exact.
extern "C" __global__ void mandelbrot(int *steps, int width, int height, float left, float top, float pixel, int most) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float cx = __fmaf_rn(column, pixel, left), cy = __fmaf_rn(row, -pixel, top), x = 0, y = 0;
    int step = 0;
    while (step < most) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f) break;
        y = __fmaf_rn(__fadd_rn(x, x), y, cy);
        x = __fadd_rn(__fadd_rn(xx, -yy), cx);
        step++;
    }
    steps[row * width + column] = step;
}
