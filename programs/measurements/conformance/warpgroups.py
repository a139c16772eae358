"""Kinds of products of warpgroups (`wgmma`), and the CUDA C++ of each: one block a product, its matrices prepared by `fragments.py`.

The left factor of even products lies in shared memory, of odd ones in registers.
"""

from programs.measurements.conformance.families import Kind
from programs.measurements.gpu import warpgroups as measured

BYTES = [(left, right) for left in ("S8", "U8") for right in ("S8", "U8")]
FLOATS_OF_BYTES = [(left, right) for left in ("E4M3", "E5M2") for right in ("E4M3", "E5M2")]
HALVES = [("F16", "F16", "F32"), ("F16", "F16", "F16"), ("BF16", "BF16", "F32"), ("TF32", "TF32", "F32")]
TYPES = [
    *HALVES,
    *((*factors, sums) for sums in ("F32", "F16") for factors in FLOATS_OF_BYTES),
    *((*factors, sums) for sums in ("S32", "S32.SAT") for factors in BYTES),
]
WIDE = [*HALVES, ("E4M3", "E5M2", "F32"), ("E5M2", "E4M3", "F16"), ("S8", "U8", "S32"), ("U8", "S8", "S32.SAT")]
TERMS = {"F16": 16, "BF16": 16, "TF32": 8}
DESCRIPTOR = 128 >> 4 << 16 | 256 >> 4 << 32  # pieces side by side are 128 bytes apart, those one below the other 256: `fragments.image`


def kind_of(left: str, right: str, sums: str, columns: int, products: int) -> Kind:
    """Return a kind by its types; S32.SAT: sums that stay at the ends."""
    name = f"wgmma_{left}_{right}_{sums.replace('.', '_')}_n{columns}".lower()
    return Kind(name, 64, TERMS.get(left, 32), left, right, sums.removesuffix(".SAT"), columns, products)


KINDS = (
    *(kind_of(*types, columns=8, products=1000) for types in TYPES),
    *(kind_of(*types, columns=columns, products=100) for columns in (24, 64, 256) for types in WIDE),
)


def kernel(kind: Kind) -> str:
    """Return the kernel of a kind."""
    types = measured.Kind(kind.sums.lower(), kind.left.lower(), kind.right.lower(), kind.k)
    turns = ".satfinite" if "_sat_" in kind.name else None
    shared, held = (
        measured.product(types, kind.columns, in_registers, turns or measured.variants(types, in_registers)[0], "1")
        for in_registers in (False, True)
    )
    count = measured.registers(types, kind.columns)
    return f"""extern "C" __global__ void __launch_bounds__(128) {kind.name}(
    {types.c_type} *out, const unsigned *lefts, const unsigned *rights, const {types.c_type} *addends) {{
    __shared__ __align__(1024) unsigned a[512], b[{8 * kind.columns}];
    unsigned t = threadIdx.x, at = (blockIdx.x * 128u + t) * {count}u, r[4];
    {types.c_type} d[{count}];
    for (unsigned i = t; i < 512u; i += 128u) a[i] = lefts[blockIdx.x * 512u + i];
    for (unsigned i = t; i < {8 * kind.columns}u; i += 128u) b[i] = rights[blockIdx.x * {8 * kind.columns}u + i];
    for (int i = 0; i < 4; i++) r[i] = lefts[blockIdx.x * 512u + t * 4u + i];
    for (int i = 0; i < {count}; i++) d[i] = addends[at + i];
    uint64_t left = described(a), right = described(b);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (blockIdx.x & 1u) {{ FENCE {held} COMMIT WAIT }} else {{ FENCE {shared} COMMIT WAIT }}
    for (int i = 0; i < {count}; i++) out[at + i] = d[i];
}}
"""


def source() -> str:
    """Return the CUDA C++ of all kinds."""
    described = f"""__device__ uint64_t described(const unsigned *at) {{
    return ((uint32_t)__cvta_generic_to_shared(at) & 0x3ffffu) >> 4 | {DESCRIPTOR:#x}ull;
}}
"""
    return measured.HEAD + described + "".join(kernel(kind) for kind in KINDS)
