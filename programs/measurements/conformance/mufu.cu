// What the multi-function unit gives for consecutive bit patterns, and which divisions FCHK sends the slow way.
// SIN and COS are preceded by a multiplication by 0.15915494, whose factor mufu.py replaces by 1 in the compiled code.
#define FUNCTION(NAME, PTX)                                                                                   \
    extern "C" __global__ void mufu_##NAME(unsigned* out, unsigned first, unsigned step, unsigned count) {           \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                   \
        if (i >= count) return;                                                                               \
        float x = __uint_as_float(first + i * step), y;                                                       \
        asm volatile(PTX " %0, %1;" : "=f"(y) : "f"(x));                                                      \
        out[i] = __float_as_uint(y);                                                                          \
    }
FUNCTION(rcp, "rcp.approx.ftz.f32")
FUNCTION(rsq, "rsqrt.approx.ftz.f32")
FUNCTION(sqrt, "sqrt.approx.ftz.f32")
FUNCTION(ex2, "ex2.approx.ftz.f32")
FUNCTION(lg2, "lg2.approx.ftz.f32")
FUNCTION(sin, "sin.approx.ftz.f32")
FUNCTION(cos, "cos.approx.ftz.f32")
FUNCTION(tanh, "tanh.approx.f32")
#define HIGH(NAME, PTX)                                                                                       \
    extern "C" __global__ void mufu_##NAME(unsigned* out, unsigned first, unsigned step, unsigned count) {           \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                                   \
        if (i >= count) return;                                                                               \
        double x = __hiloint2double(first + i * step, 0), y;                                                  \
        asm volatile(PTX " %0, %1;" : "=d"(y) : "d"(x));                                                      \
        out[i] = __double2hiint(y);                                                                           \
    }
HIGH(rcp64h, "rcp.approx.ftz.f64")
HIGH(rsq64h, "rsqrt.approx.ftz.f64")
#define PAIR(NAME, PTX)                                                                                       \
    extern "C" __global__ void mufu_##NAME(unsigned* out, unsigned first, unsigned step, unsigned count) {           \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x, y;                                                \
        if (i >= count) return;                                                                               \
        asm volatile(PTX " %0, %1;" : "=r"(y) : "r"(first + i * step));                                       \
        out[i] = y;                                                                                           \
    }
PAIR(ex2_f16, "ex2.approx.f16x2")
PAIR(tanh_f16, "tanh.approx.f16x2")
PAIR(ex2_bf16, "ex2.approx.ftz.bf16x2")
PAIR(tanh_bf16, "tanh.approx.bf16x2")

// One lane divides numbers of every pair of exponents; out: the fewest cycles of three divisions.
extern "C" __global__ void divisions(unsigned short* out, unsigned mantissa_a, unsigned mantissa_b) {
    unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (threadIdx.x & 31) return;
    float a = __uint_as_float((i >> 8 & 255) << 23 | mantissa_a), b = __uint_as_float((i & 255) << 23 | mantissa_b), sum = 0;
    unsigned fewest = 65535;
    #pragma unroll 1
    for (int n = 0; n < 3; n++) {
        unsigned start, stop;
        float q;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(start) :: "memory");
        asm volatile("div.rn.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b) : "memory");
        sum += q;
        asm volatile("mov.u32 %0, %%clock;" : "=r"(stop) : : "memory");
        if (stop - start < fewest) fewest = stop - start;
    }
    out[i] = sum == 12345.678f ? 0 : fewest;
}
