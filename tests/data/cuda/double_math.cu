// The double-precision library.
extern "C" __global__ void double_math(double* out, int* exponents, const double* x, const double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = x[i], b = y[i], r = 0;
    r += exp(a) + log(fabs(b) + 1) + sin(a * 10) + cos(b * 1000);
    r += pow(fabs(a), b) + sqrt(fabs(a)) + rsqrt(fabs(b) + 0.1) + cbrt(a);
    r += erf(a) + tanh(b) + atan2(a, b) + fma(a, b, 1.0) + a / b + hypot(a, b);
    r += floor(a * 3) + rint(b * 7) + fmod(a * 100, 3.0) + fmin(a, b) + (double)(float)a + (double)(long long)(b * 1e12);
    int e;
    r += frexp(a, &e);
    exponents[i] = e + (int)(b * 100) + (a < b) + (isnan(r) ? 1000 : 0);
    out[i] = r;
}
