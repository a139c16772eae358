"""CUDA source that measures other instructions beside products: `python -m programs.measurements.gpu.beside > beside.cu`.

`nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o beside beside.cu && ./beside > beside.csv`. Of one block, the first four warps
multiply (as a warpgroup, four products, then a wait; or each for itself, one or four chains of 16 products, then a look whether the others
are done), others execute 4,096 instructions of one kind each, with and without the products beside them; the least of four launches.
product: cycles of each product beside them. Beside FP32 at full rate products take up to seven times as long.
"""

import sys

from programs.measurements.gpu.warpgroups import HALVES, HEAD, product, registers, variants

KINDS = {
    "none": "",
    "fmul_imm": "f[i] = __fmul_rn(f[i], 1.0001f);",
    "fadd": "f[i] = __fadd_rn(f[i], f[i + 1 & 15]);",
    "ffma": "f[i] = __fmaf_rn(f[i], f[i + 3 & 15], f[i + 6 & 15]);",
    "ffma_reuse": "f[i] = __fmaf_rn(f[i], g, h);",
    "fmnmx": 'asm volatile("max.f32 %0, %0, %1;" : "+f"(f[i]) : "f"(f[i + 1 & 15]));',
    "ex2": 'asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));',
    "pack": 'asm volatile("{ .reg .b32 t; cvt.rn.f16x2.f32 t, %0, %1; mov.b32 %0, t; }" : "+f"(f[i]) : "f"(f[i + 1 & 15]));',
    "imad": "u[i] = u[i] * u[i + 3 & 15] + u[i + 6 & 15];",
    "iadd3": "u[i] = u[i] + u[i + 3 & 15] + u[i + 6 & 15];",
    "lop3": 'asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(u[i]) : "r"(u[i + 3 & 15]), "r"(u[i + 6 & 15]));',
    "shfl": "f[i] = __shfl_xor_sync(~0u, f[i], 1);",
    "hfma2": 'asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(u[i]) : "r"(u[i + 3 & 15]), "r"(u[i + 6 & 15]));',
    "mix": "f[i] = i & 1 ? __fmaf_rn(f[i], g, h) : fmaxf(f[i], f[i + 2 & 15]);",
    "ex2_fma4": 'if (i % 5) f[i] = __fmaf_rn(f[i], g, h); else asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));',
    "fadd_chain": 'asm volatile("add.f32 %0, %0, %1;" : "+f"(f[0]) : "f"(f[12 + i % 4]));',
    "fadd_2chains": 'asm volatile("add.f32 %0, %0, %1;" : "+f"(f[i % 2]) : "f"(f[12 + i % 4]));',
    "fadd_3chains": 'asm volatile("add.f32 %0, %0, %1;" : "+f"(f[j % 3]) : "f"(f[12 + i % 4]));',
    "fadd_4chains": 'asm volatile("add.f32 %0, %0, %1;" : "+f"(f[i % 4]) : "f"(f[12 + i % 4]));',
    "fmnmx_chain": 'asm volatile("max.f32 %0, %0, %1;" : "+f"(f[0]) : "f"(f[1 + i % 15]));',
    "fmnmx_2chains": 'asm volatile("max.f32 %0, %0, %1;" : "+f"(f[i % 2]) : "f"(f[2 + i % 14]));',
    "imad_chain": 'asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(u[0]) : "r"(u[1 + i % 15]), "r"(u[1 + (i + 3) % 15]));',
    "ex2_chain": 'asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[0]));',
    "ex2_fadd3": 'if (i % 4) asm volatile("add.f32 %0, %0, %1;" : "+f"(f[4 + i % 8]) : "f"(f[12 + i % 4]));\n'
    '                else asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i / 4]));',
    "ex2_max4": 'if (i % 5) f[i] = fmaxf(f[i], f[i + 5 & 15]); else asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));',
}
LOADED = (
    "{{ unsigned p, q, r, t;\n"
    '                asm volatile("{load} {{%0, %1, %2, %3}}, [%4];" : "=r"(p), "=r"(q), "=r"(r), "=r"(t) : "r"(at + {place}));\n'
    "                {use} }}"
)
MATRICES, WORDS = "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ld.shared.v4.b32"
SPREAD = "u[i] ^= p; u[i + 1 & 15] ^= q; u[i + 2 & 15] ^= r; u[i + 3 & 15] ^= t;"
OF_WARPS = KINDS | {  # beside products of warps these, too
    "ldsm4": LOADED.format(load=MATRICES, place="512 * i", use=SPREAD),
    "lds128": LOADED.format(load=WORDS, place="512 * i", use=SPREAD),
    "ldsm4_chain": LOADED.format(load=MATRICES, place="(u[0] & 4) * 8", use="u[0] = p & q & r & t;"),
    "shfl_chain": "f[0] = __shfl_xor_sync(~0u, f[0], 1);",
}
WARPGROUP = """uint64_t left = matrix(0), right = matrix(65536);
        unsigned r[4] = {{0, 0, 0, 0}};
        float d[{sums}];
        for (int i = 0; i < {sums}; i++) d[i] = 0;
        CLOCK(from)
        for (int n = 0; n < beside; n += 4) {{  // as many in all warps: a product needs the four
            FENCE {product} {product} {product} {product} COMMIT WAIT
            if (threadIdx.x == 0 && !done) {{ CLOCK(to) count = n + 4; }}
        }}
        for (int i = 0; i < {sums}; i++) sum += d[i];"""
WARP = """float d[{chains}][4];
        unsigned a[4] = {{0, 0, 0, 0}}, b[2] = {{0, 0}};
        for (int i = 0; i < {chains}; i++) for (int j = 0; j < 4; j++) d[i][j] = 0;
        CLOCK(from)
        #pragma unroll 1
        for (int n = 0; n < 625 * beside && !done; n += 16) {{
            #pragma unroll
            for (int i = 0; i < 16; i++) {{
                float *c = d[i % {chains}];
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                    "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
                    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
            }}
            if (!done) {{ CLOCK(to) count = n + 16; }}
        }}
        for (int i = 0; i < {chains}; i++) for (int j = 0; j < 4; j++) sum += d[i][j];"""
KERNEL = """extern "C" __global__ void __launch_bounds__(384, 1)
{name}(int *clocks, float *out, int beside, int workers, float g, float h) {{
    for (int i = threadIdx.x; i < 40960; i += blockDim.x) ((int *)shared)[i] = 0;
    __shared__ volatile int done;
    if (threadIdx.x == 0) done = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(shared) + threadIdx.x % 32 * 16;
    int from = 0, to = 0, count = 0;
    float sum = 0;
    if (threadIdx.x < 128) {{
        {multiply}
        if (threadIdx.x == 0) clocks[1] = to - from, clocks[2] = count;
    }} else {{
        float f[16];
        unsigned u[16];
        for (int i = 0; i < 16; i++) f[i] = g * i + threadIdx.x, u[i] = threadIdx.x * i + (int)g;
        u[0] = 0;
        CLOCK(from)
        do CLOCK(to) while (to - from < 3000);
        asm volatile("bar.sync 1, 256;" ::: "memory");
        CLOCK(from)
        if ((int)threadIdx.x / 32 - 4 < workers)
            #pragma unroll 1
            for (int k = 0; k < 64; k++)
                #pragma unroll
                for (int j = 0; j < 64; j++) {{ const int i = j % 16; {kind} }}
        CLOCK(to)
        for (int i = 0; i < 16; i++) sum += f[i] + u[i];
        asm volatile("bar.sync 1, 256;" ::: "memory");
        if (threadIdx.x == 128) clocks[0] = to - from, done = 1;
    }}
    out[threadIdx.x] = sum;
}}
"""
MAIN = """typedef void (*Kernel)(int *, float *, int, int, float, float);
void measured(Kernel kernel, const char *name, int warps) {
    int *clocks, h[3], best[2] = {1 << 30, 1 << 30};
    float *out, product = 1e9f;
    cudaMalloc(&clocks, 64), cudaMalloc(&out, 4096);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 163840);
    for (int again = 0; again < 4; again++) for (int beside = 0; beside < 2; beside++) {
        kernel<<<1, 384, 163840>>>(clocks, out, 1600 * beside, warps, 1.5f, 2.5f);
        if (cudaError_t error = cudaDeviceSynchronize()) fprintf(stderr, "%s: %s\\n", name, cudaGetErrorString(error)), exit(1);
        cudaMemcpy(h, clocks, 12, cudaMemcpyDeviceToHost);
        best[beside] = std::min(best[beside], h[0]);
        if (h[2]) product = std::min(product, (float)h[1] / h[2]);
    }
    printf("%s,%d,%d,%d,%.2f\\n", name, warps, best[0], best[1], product);
    cudaFree(clocks), cudaFree(out);
}
"""


def added(text: str, calls: list[str], place: str, multiply: str, kinds: dict[str, str]) -> tuple[str, list[str]]:
    """Return the program and its calls with every kind beside one way to multiply. place: the first columns of their rows."""
    for kind, body in kinds.items():
        name = f"beside_{place.replace(',', '_')}_{kind}"
        text += KERNEL.format(name=name, multiply=multiply, kind=body)
        calls = calls + [f'    measured({name}, "{place},{kind}", {warps});\n' for warps in (4, 8)]
    return text, calls


def source() -> str:
    """Return the program."""
    text = HEAD.replace("#include <cstdint>", "#include <algorithm>\n#include <cstdint>\n#include <cstdio>")
    text += '#define CLOCK(c) asm volatile("mov.u32 %0, %%clock;" : "=r"(c) :: "memory");\n'
    calls: list[str] = []
    for columns in (64, 128):
        for in_registers in (False, True):
            one = product(HALVES, columns, in_registers, variants(HALVES, in_registers)[0], "1")
            together = WARPGROUP.format(sums=registers(HALVES, columns), product=one)
            text, calls = added(text, calls, f"{columns},{'rs' if in_registers else 'ss'}", together, KINDS)
    for chains in (1, 4):
        text, calls = added(text, calls, f"mma,{chains}", WARP.format(chains=chains), OF_WARPS)
    end = "    return cudaDeviceSynchronize() != cudaSuccess;\n}\n"
    return f'{text}{MAIN}int main() {{\n    puts("columns,left,kind,warps,alone,beside,product");\n{"".join(calls)}{end}'


if __name__ == "__main__":
    sys.stdout.write(source())
