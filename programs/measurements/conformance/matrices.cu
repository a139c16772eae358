// One product of matrices per block of a warp, its fragments in memory as the lanes hold them: `matrices.py` runs it.
typedef unsigned u32;
#define PRODUCT(NAME, TYPE, ND, NA, NB, TEXT, OUTS, INS) \
    extern "C" __global__ void NAME(TYPE *out, const TYPE *left, const TYPE *right, const TYPE *addend) { \
        int t = blockIdx.x * 32 + threadIdx.x; \
        TYPE d[ND], a[NA], b[NB], c[ND]; \
        for (int i = 0; i < NA; i++) a[i] = left[t * NA + i]; \
        for (int i = 0; i < NB; i++) b[i] = right[t * NB + i]; \
        for (int i = 0; i < ND; i++) c[i] = addend[t * ND + i]; \
        asm volatile("mma.sync.aligned." TEXT ";" : OUTS : INS); \
        for (int i = 0; i < ND; i++) out[t * ND + i] = d[i]; \
    }
#define R(x, i) "r"(x[i])
#define D(x, i) "d"(x[i])
#define COMMA ,
#define R2(x) R(x, 0), R(x, 1)
#define R4(x) R2(x), R(x, 2), R(x, 3)
#define D2(x) D(x, 0), D(x, 1)
#define D4(x) D2(x), D(x, 2), D(x, 3)
#define OR2 "=r"(d[0]) COMMA "=r"(d[1])
#define OR4 OR2 COMMA "=r"(d[2]) COMMA "=r"(d[3])
#define OD2 "=d"(d[0]) COMMA "=d"(d[1])
#define OD4 OD2 COMMA "=d"(d[2]) COMMA "=d"(d[3])
#define R1(x) R(x, 0)
#define LIST(...) __VA_ARGS__
#define SMALL(NAME, TYPE) PRODUCT(NAME, u32, 4, 2, 1, TYPE " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10}", LIST(OR4), LIST(R2(a), R1(b), R4(c)))
#define LARGE(NAME, TYPE) PRODUCT(NAME, u32, 4, 4, 2, TYPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}", LIST(OR4), LIST(R4(a), R2(b), R4(c)))
SMALL(f16_1688_f32, "m16n8k8.row.col.f32.f16.f16.f32")
LARGE(f16_16816_f32, "m16n8k16.row.col.f32.f16.f16.f32")
PRODUCT(f16_1688_f16, u32, 2, 2, 1, "m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%5, %6}", LIST(OR2), LIST(R2(a), R1(b), R2(c)))
PRODUCT(f16_16816_f16, u32, 2, 4, 2, "m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9}", LIST(OR2), LIST(R4(a), R2(b), R2(c)))
SMALL(bf16_1688_f32, "m16n8k8.row.col.f32.bf16.bf16.f32")
LARGE(bf16_16816_f32, "m16n8k16.row.col.f32.bf16.bf16.f32")
SMALL(tf32_1684_f32, "m16n8k4.row.col.f32.tf32.tf32.f32")
LARGE(tf32_1688_f32, "m16n8k8.row.col.f32.tf32.tf32.f32")
PRODUCT(s8_s8_8816, u32, 2, 1, 1, "m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5}", LIST(OR2), LIST(R1(a), R1(b), R2(c)))
SMALL(s8_s8_16816, "m16n8k16.row.col.s32.s8.s8.s32")
LARGE(s8_s8_16832, "m16n8k32.row.col.s32.s8.s8.s32")
LARGE(u8_s8_16832, "m16n8k32.row.col.s32.u8.s8.s32")
LARGE(s8_u8_16832, "m16n8k32.row.col.s32.s8.u8.s32")
LARGE(u8_u8_16832, "m16n8k32.row.col.satfinite.s32.u8.u8.s32")
SMALL(s8_s8_16816_sat, "m16n8k16.row.col.satfinite.s32.s8.s8.s32")
PRODUCT(f64_884, double, 2, 1, 1, "m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5}", LIST(OD2), LIST(D(a, 0), D(b, 0), D2(c)))
PRODUCT(f64_1684, double, 4, 2, 1, "m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10}", LIST(OD4), LIST(D2(a), D(b, 0), D4(c)))
PRODUCT(f64_1688, double, 4, 4, 2, "m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}", LIST(OD4), LIST(D4(a), D2(b), D4(c)))
PRODUCT(f64_16816, double, 4, 8, 4, "m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19}", LIST(OD4), LIST(D4(a), D(a, 4), D(a, 5), D(a, 6), D(a, 7), D4(b), D4(c)))
// Every way to move matrices of halves between shared memory and registers; rows in no order. 1,024 words in, 28 + 6 * 32 for each lane out.
extern "C" __global__ void moves(u32 *out, const u32 *in) {
    __shared__ __align__(16) u32 s[1024];
    int t = threadIdx.x, n = 0;
    for (int k = 0; k < 32; k++) s[t + 32 * k] = in[t + 32 * k];
    __syncwarp();
    u32 base = (u32)__cvta_generic_to_shared(s), at = base + (t * 37 + 11) % 256 * 16, r[4] = {0, 0, 0, 0};
#define LOAD1(TURNED) asm volatile("ldmatrix.sync.aligned.m8n8.x1" TURNED ".shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at))
#define LOAD2(TURNED) asm volatile("ldmatrix.sync.aligned.m8n8.x2" TURNED ".shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at))
#define LOAD4(TURNED) asm volatile("ldmatrix.sync.aligned.m8n8.x4" TURNED ".shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at))
#define STORE1(TURNED) asm volatile("stmatrix.sync.aligned.m8n8.x1" TURNED ".shared.b16 [%0], {%1};" :: "r"(at), "r"(r[0]) : "memory")
#define STORE2(TURNED) asm volatile("stmatrix.sync.aligned.m8n8.x2" TURNED ".shared.b16 [%0], {%1, %2};" :: "r"(at), "r"(r[0]), "r"(r[1]) : "memory")
#define STORE4(TURNED) asm volatile("stmatrix.sync.aligned.m8n8.x4" TURNED ".shared.b16 [%0], {%1, %2, %3, %4};" :: "r"(at), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory")
#define KEEP for (int i = 0; i < 4; i++) out[t + 32 * n++] = r[i];
    LOAD1(""); KEEP LOAD2(""); KEEP LOAD4(""); KEEP LOAD1(".trans"); KEEP LOAD2(".trans"); KEEP LOAD4(".trans"); KEEP
    for (int i = 0; i < 4; i++) asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(r[i]));
    KEEP
#define MOVED __syncwarp(); for (int k = 0; k < 32; k++) out[t + 32 * n++] = s[t + 32 * k]; __syncwarp(); at = base + (at - base + 1040) % 4096;
    STORE1("") ; MOVED STORE2("") ; MOVED STORE4("") ; MOVED STORE1(".trans") ; MOVED STORE2(".trans") ; MOVED STORE4(".trans") ; MOVED
}
