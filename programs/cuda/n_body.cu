// The acceleration of each body (x, y, z, mass) by all others, which pass through shared memory 128 at a time.
extern "C" __global__ void n_body(const float4 *bodies, float4 *accelerations, int n, float softening) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 own = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += 128) {
        tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 128; j++) {
            float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float pull = tile[j].w * inverse * inverse * inverse;
            ax += pull * dx, ay += pull * dy, az += pull * dz;
        }
        __syncthreads();
    }
    if (i < n) accelerations[i] = make_float4(ax, ay, az, 0);
}
