// Philox4x32-10 (Salmon et al. 2011): four random words per counter, as numbers from 0 to 1 with 24 bits.
extern "C" __global__ void philox(float4 *numbers, unsigned long long seed, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 counter = make_uint4(i, 0, 7, 0);
    uint2 key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    for (int round = 0; round < 10; round++) {
        unsigned low0 = 0xD2511F53u * counter.x, high0 = __umulhi(0xD2511F53u, counter.x);
        unsigned low1 = 0xCD9E8D57u * counter.z, high1 = __umulhi(0xCD9E8D57u, counter.z);
        counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
    }
    const float unit = 1.0f / 16777216;
    numbers[i] = make_float4((counter.x >> 8) * unit, (counter.y >> 8) * unit, (counter.z >> 8) * unit, (counter.w >> 8) * unit);
}
