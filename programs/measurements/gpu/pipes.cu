// The core's open questions: which of the two FP32 halves takes an instruction, and what else shares them. See plans/pipes.toml.
typedef long long clock_type;
#define BEGIN __syncthreads(); clock_type start = clock64();
#define END clock_type stop = clock64(); unsigned i = threadIdx.x; t[2 * i] = start, t[2 * i + 1] = stop;

#define F(k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[k]) : "f"(b));
#define I(k) asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(y[k]) : "r"(c));
#define L(k) asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(z[k]) : "r"(c));
#define D(k) asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(w[k]) : "d"(d));
#define A(k) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x[k]) : "f"(b));

#define KERNEL(NAME, BODY) extern "C" __global__ void __launch_bounds__(1024) NAME(float *out, clock_type *t, float b, int c, double d, int loops) { \
    float x[8]; int y[8], z[8]; double w[8]; \
    _Pragma("unroll") for (int k = 0; k < 8; k++) x[k] = k + threadIdx.x, y[k] = k + threadIdx.x, z[k] = k * threadIdx.x, w[k] = k + threadIdx.x; \
    BEGIN \
    _Pragma("unroll 1") for (int n = 0; n < loops; n++) { BODY BODY BODY BODY BODY BODY BODY BODY } \
    END \
    float sum = 0; _Pragma("unroll") for (int k = 0; k < 8; k++) sum += x[k] + y[k] + z[k] + (float)w[k]; \
    out[threadIdx.x] = sum; }

KERNEL(f8, F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7))
KERNEL(i8, I(0) I(1) I(2) I(3) I(4) I(5) I(6) I(7))
KERNEL(fi, F(0) I(0) F(1) I(1) F(2) I(2) F(3) I(3))
KERNEL(ffi, F(0) F(1) I(0) F(2) F(3) I(1) F(4) F(5) I(2))
KERNEL(fffi, F(0) F(1) F(2) I(0) F(3) F(4) F(5) I(1))
KERNEL(fii, F(0) I(0) I(1) F(1) I(2) I(3) F(2) I(4) I(5))
KERNEL(ffii, F(0) F(1) I(0) I(1) F(2) F(3) I(2) I(3))
KERNEL(fl, F(0) L(0) F(1) L(1) F(2) L(2) F(3) L(3))
KERNEL(il, I(0) L(0) I(1) L(1) I(2) L(2) I(3) L(3))
KERNEL(fil, F(0) I(0) L(0) F(1) I(1) L(1) F(2) I(2) L(2))
KERNEL(af, A(0) F(1) A(2) F(3) A(4) F(5) A(6) F(7))
KERNEL(d8, D(0) D(1) D(2) D(3) D(4) D(5) D(6) D(7))
KERNEL(d1, D(0) D(0) D(0) D(0) D(0) D(0) D(0) D(0))
KERNEL(df, D(0) F(0) D(1) F(1) D(2) F(2) D(3) F(3))
KERNEL(f1, F(0) F(0) F(0) F(0) F(0) F(0) F(0) F(0))
KERNEL(i1, I(0) I(0) I(0) I(0) I(0) I(0) I(0) I(0))
KERNEL(l1, L(0) L(0) L(0) L(0) L(0) L(0) L(0) L(0))
KERNEL(a1, A(0) A(0) A(0) A(0) A(0) A(0) A(0) A(0))

// Divergence: lanes below k take one chain, the others another; no join, one join, and two levels.
extern "C" __global__ void __launch_bounds__(1024) halves(float *out, clock_type *t, float b, int k, int length, int loops) {
    float x = threadIdx.x;
    int lane = threadIdx.x & 31;
    BEGIN
    #pragma unroll 1
    for (int n = 0; n < loops; n++) {
        if (lane < k) {
            #pragma unroll 1
            for (int m = 0; m < length; m++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(b));
        } else {
            #pragma unroll 1
            for (int m = 0; m < length; m++) asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(b));
        }
        __syncwarp();
    }
    END
    out[threadIdx.x] = x;
}
