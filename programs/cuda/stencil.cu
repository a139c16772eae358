// One Jacobi step of the heat equation on a width x height grid; the border stays.
extern "C" __global__ void stencil(const float *in, float *out, int width, int height, float weight) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    float centre = in[i];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        float around = in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
        centre = centre + weight * (around - 4.0f * centre);
    }
    out[i] = centre;
}
