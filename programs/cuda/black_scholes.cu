// European call and put by Black and Scholes; the normal distribution by the polynomial of Abramowitz and Stegun, 26.2.17.
__device__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) * k
        * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes(const float *price, const float *strike, const float *years, float *call, float *put,
                                         float rate, float volatility, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float deviation = volatility * sqrtf(years[i]);
    float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / deviation;
    float d2 = d1 - deviation, discounted = strike[i] * expf(-rate * years[i]);
    float n1 = normal(d1), n2 = normal(d2);
    call[i] = price[i] * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - price[i] * (1.0f - n1);
}
