// How often each opcode issues, and after how long its result may be used: chains of one operation, and two in turn, and branches.
// A program by itself: nvcc -O3 -arch=sm_90 -std=c++17 -o opcodes opcodes.cu && ./opcodes > opcodes.csv
#include <algorithm>
#include <cstdio>
const int UNROLLED = 64, LOOPS = 32;
#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");
typedef unsigned u32;
typedef unsigned long long u64;
#define OPERATION(NAME, TYPE, LETTER, TEXT) struct NAME { typedef TYPE type; static const char *name() { return #NAME; } \
    static __device__ __forceinline__ void apply(TYPE &x, TYPE c, TYPE d) { asm volatile(TEXT : "+" LETTER(x) : LETTER(c), LETTER(d)); } };
#define WIDE(NAME, TEXT) OPERATION(NAME, u64, "l", "{ .reg .u32 a, b, c, e; mov.b64 {a, b}, %0; mov.b64 {c, e}, %1; " TEXT " }")
OPERATION(imad, u32, "r", "mad.lo.u32 %0, %0, %1, %2;")
WIDE(imad_wide, "mul.wide.u32 %0, a, b;")
WIDE(imad_wide_sum, "mad.wide.u32 %0, a, b, %0;")
OPERATION(imad_hi, u32, "r", "mad.hi.u32 %0, %0, %1, %2;")
OPERATION(mul_lo64, u64, "l", "mul.lo.u64 %0, %0, %1;")
OPERATION(mul_hi64, u64, "l", "mul.hi.u64 %0, %0, %1;")
OPERATION(mad_lo64, u64, "l", "mad.lo.u64 %0, %0, %1, %2;")
OPERATION(add64, u64, "l", "add.u64 %0, %0, %1;")
OPERATION(shl64, u64, "l", "{ shl.b64 %0, %0, 13; xor.b64 %0, %0, %1; }")
OPERATION(setp64, u64, "l", "{ .reg .pred p; setp.lt.u64 p, %0, %1; @p add.u64 %0, %0, %2; }")
OPERATION(iadd3, u32, "r", "{ add.u32 %0, %0, %1; add.u32 %0, %0, %2; }")
OPERATION(lop3, u32, "r", "lop3.b32 %0, %0, %1, %2, 0x96;")
OPERATION(shift, u32, "r", "shf.l.wrap.b32 %0, %0, %1, 7;")
OPERATION(shift_by, u32, "r", "shf.l.wrap.b32 %0, %1, %2, %0;")
OPERATION(permute, u32, "r", "prmt.b32 %0, %0, %1, %2;")
OPERATION(popc, u32, "r", "popc.b32 %0, %0;")
OPERATION(find, u32, "r", "bfind.u32 %0, %0;")
OPERATION(reverse, u32, "r", "brev.b32 %0, %0;")
OPERATION(minimum, u32, "r", "{ min.u32 %0, %0, %1; }")
OPERATION(compare, u32, "r", "{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %1, %2, p; }")
OPERATION(vote, u32, "r", "{ .reg .pred p; setp.lt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1; }")
OPERATION(shuffle, u32, "r", "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;")
OPERATION(dot4, u32, "r", "dp4a.u32.u32 %0, %0, %1, %2;")
OPERATION(divide, u32, "r", "div.u32 %0, %1, %0;")
OPERATION(divide_signed, int, "r", "div.s32 %0, %1, %0;")
OPERATION(remainder_, u32, "r", "rem.u32 %0, %1, %0;")
OPERATION(hfma2, u32, "r", "fma.rn.f16x2 %0, %0, %1, %2;")
OPERATION(hadd2, u32, "r", "add.rn.f16x2 %0, %0, %1;")
OPERATION(hmul2, u32, "r", "mul.rn.f16x2 %0, %0, %1;")
OPERATION(fused, float, "f", "fma.rn.f32 %0, %0, %1, %2;")
OPERATION(total, float, "f", "add.rn.f32 %0, %0, %1;")
OPERATION(product, float, "f", "mul.rn.f32 %0, %0, %1;")
OPERATION(lesser, float, "f", "min.f32 %0, %0, %1;")
OPERATION(fcompare, float, "f", "{ .reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %1, %2, p; }")
OPERATION(dfma, double, "d", "fma.rn.f64 %0, %0, %1, %2;")
OPERATION(dtotal, double, "d", "add.rn.f64 %0, %0, %1;")
OPERATION(dcompare, double, "d", "{ .reg .pred p; setp.lt.f64 p, %0, %1; selp.f64 %0, %1, %2, p; }")
OPERATION(ex2, float, "f", "ex2.approx.ftz.f32 %0, %0;")
OPERATION(logarithm, float, "f", "lg2.approx.ftz.f32 %0, %0;")
OPERATION(quotient, float, "f", "div.rn.f32 %0, %1, %0;")
OPERATION(i2f, u32, "r", "{ .reg .f32 f; cvt.rn.f32.u32 f, %0; mov.b32 %0, f; }")
OPERATION(f2i, u32, "r", "{ .reg .f32 f; mov.b32 f, %0; cvt.rzi.u32.f32 %0, f; }")
OPERATION(f2h, u32, "r", "{ .reg .f32 f; .reg .b16 h; mov.b32 f, %0; cvt.rn.f16.f32 h, f; mov.b32 %0, {h, h}; }")
OPERATION(h2f, u32, "r", "{ .reg .f32 f; .reg .b16 h, g; mov.b32 {h, g}, %0; cvt.f32.f16 f, h; mov.b32 %0, f; }")
OPERATION(f2d, double, "d", "{ .reg .f32 f; cvt.rn.f32.f64 f, %0; cvt.f64.f32 %0, f; }")
OPERATION(none, u32, "r", "")

template <class A, class B, int CHAINS> __global__ void __launch_bounds__(1024) chains(int *t, int zero) {
    typename A::type x[CHAINS];
    typename B::type y[CHAINS];
    for (int k = 0; k < CHAINS; k++) x[k] = (typename A::type)(threadIdx.x + k + 1), y[k] = (typename B::type)(threadIdx.x * 3 + k + 1);
    typename A::type a = (typename A::type)(zero + 3), c = (typename A::type)(zero + 1);
    typename B::type b = (typename B::type)(zero + 3), d = (typename B::type)(zero + 1);
    int begin, end;
    __syncthreads();
    CLOCK(begin)
    #pragma unroll 1
    for (int n = 0; n < LOOPS; n++)
        #pragma unroll
        for (int k = 0; k < UNROLLED; k++) A::apply(x[k % CHAINS], a, c), B::apply(y[k % CHAINS], b, d);
    CLOCK(end)
    bool odd = false;
    for (int k = 0; k < CHAINS; k++) odd |= x[k] == (typename A::type)12345 || y[k] == (typename B::type)12345;
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 16] = begin, t[threadIdx.x / 16 + 1] = end;
    if (odd) t[64] = 1;
}
// Branches: what a loop of `n` FADDs costs, and forward branches taken by all lanes, by some, by none.
template <int BODY, int WAY> __global__ void __launch_bounds__(1024) branches(int *t, int limit, float b) {
    float x = threadIdx.x;
    int begin, end, lane = threadIdx.x % 32;
    __syncthreads();
    CLOCK(begin)
    #pragma unroll 1
    for (int n = 0; n < 256; n++) {
        if (WAY == 1) { if (lane < limit) asm volatile("ex2.approx.ftz.f32 %0, %0;\n sin.approx.ftz.f32 %0, %0;\n ex2.approx.ftz.f32 %0, %0;\n sin.approx.ftz.f32 %0, %0;\n ex2.approx.ftz.f32 %0, %0;\n bar.warp.sync %1;" : "+f"(x) : "r"(limit == 32 ? -1 : (1 << limit) - 1)); }
        #pragma unroll
        for (int k = 0; k < BODY; k++) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(b));
    }
    CLOCK(end)
    if (threadIdx.x % 32 == 0) t[threadIdx.x / 16] = begin, t[threadIdx.x / 16 + 1] = end;
    if (x == 1234.5f) t[64] = 1;
}
int *d;
template <class F> void report(const char *first, const char *second, int chains, F launch) {
    for (int threads : {32, 128, 256, 512, 1024}) {
        int best = 1 << 30, h[64];
        for (int again = 0; again < 4; again++) {
            launch(threads);
            cudaMemcpy(h, d, 256, cudaMemcpyDeviceToHost);
            int begin = h[0], end = h[1];
            for (int w = 1; w < threads / 32; w++) begin = std::min(begin, h[2 * w]), end = std::max(end, h[2 * w + 1]);
            best = std::min(best, end - begin);
        }
        printf("%s,%s,%d,%d,%d\n", first, second, chains, threads, best);
    }
}
template <class A> void one() {
    report(A::name(), "", 1, [](int threads) { chains<A, none, 1><<<1, threads>>>(d, 0); });
    report(A::name(), "", 4, [](int threads) { chains<A, none, 4><<<1, threads>>>(d, 0); });
}
template <class A, class B> void two() { report(A::name(), B::name(), 4, [](int threads) { chains<A, B, 4><<<1, threads>>>(d, 0); }); }
template <class... A> void each() { (one<A>(), ...); }
template <class B, class... A> void beside() { (two<A, B>(), ...); }
template <int BODY, int WAY> void branch(int limit) {
    char name[32] = "loop";
    if (WAY) snprintf(name, 32, "if_%d", limit);
    report(name, "", BODY, [=](int threads) { branches<BODY, WAY><<<1, threads>>>(d, limit, 0.5f); });
}
int main() {
    cudaMalloc(&d, 1024);
    puts("first,second,chains,threads,cycles");
    each<imad, imad_wide, imad_wide_sum, imad_hi, mul_lo64, mul_hi64, mad_lo64, add64, shl64, setp64, iadd3, lop3, shift, shift_by, permute, popc, find, reverse>();
    each<minimum, compare, vote, shuffle, dot4, divide, divide_signed, remainder_, hfma2, hadd2, hmul2, fused, total, product, lesser, fcompare>();
    each<dfma, dtotal, dcompare, ex2, logarithm, quotient, i2f, f2i, f2h, h2f, f2d>();
    beside<imad, iadd3, lop3, shift, hfma2, fused, dfma, imad_wide, imad_hi, popc, ex2, i2f>();
    beside<lop3, iadd3, shift, hfma2, hadd2, imad_wide, imad_hi, popc, ex2, dfma, compare, shuffle, vote>();
    beside<fused, total, hfma2, hadd2, imad_wide, imad_hi, popc, ex2, i2f, f2i, dfma, compare, shift>();
    beside<ex2, popc, i2f, dfma, shuffle>();
    branch<1, 0>(0), branch<2, 0>(0), branch<4, 0>(0), branch<8, 0>(0), branch<16, 0>(0), branch<32, 0>(0), branch<128, 0>(0);
    branch<4, 1>(0), branch<4, 1>(32), branch<4, 1>(16), branch<4, 1>(1);
    return cudaDeviceSynchronize();
}
