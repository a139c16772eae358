"""CUDA sources that measure products of warpgroups (wgmma): `python -m programs.measurements.gpu.warpgroups results|chains`.

results: one kernel for each type, size and layout; each block fills shared memory with numbers hashed from its index, multiplies once with
the descriptors that it is given, and stores the sums (`../conformance/warpgroups.csv`). chains: products one behind another in one chain
of sums, between two clocks, their factors rows of 128 bytes, swizzled (`../h100/warpgroups.csv`). nvcc -cubin -gencode
arch=compute_90a,code=sm_90a of CUDA 13.0 made the cubins beside these tables.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple


class Kind(NamedTuple):
    """Types of a product: PTX's names, and the terms of each sum."""

    sums: str
    left: str
    right: str
    terms: int

    @property
    def name(self) -> str:
        return f"{self.sums}_{self.left}_{self.right}"

    @property
    def c_type(self) -> str:
        return "float" if self.sums == "f32" else "unsigned"


HALVES = Kind("f32", "f16", "f16", 16)
KINDS = (
    HALVES,
    Kind("f16", "f16", "f16", 16),
    Kind("f32", "bf16", "bf16", 16),
    Kind("f32", "tf32", "tf32", 8),
    Kind("f32", "e4m3", "e5m2", 32),
    Kind("f32", "e5m2", "e4m3", 32),
    Kind("f16", "e4m3", "e4m3", 32),
    Kind("s32", "s8", "u8", 32),
    Kind("s32", "u8", "s8", 32),
)
CHAINED = (HALVES, KINDS[3], Kind("f32", "e4m3", "e4m3", 32), Kind("s32", "s8", "s8", 32))
LENGTHS, COLUMNS = (1, 12), (8, 32, 64, 128, 192, 256)
HEAD = """#include <cstdint>
__device__ unsigned mixed(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; return x ^ x >> 16; }
__device__ unsigned word(unsigned seed, unsigned i, unsigned ones, unsigned set, unsigned special) {
    unsigned h = mixed(seed * 0x9e3779b9u + i);
    return special && !(mixed(h) & 255u) ? mixed(h + 1u) : (h & ones) | set;
}
extern __shared__ __align__(1024) char shared[];
__device__ uint64_t matrix(unsigned at) {
    return ((uint32_t)__cvta_generic_to_shared(shared) + at & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#define WAIT asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
"""


def registers(kind: Kind, columns: int) -> int:
    """Return how many registers of a thread the sums take."""
    return columns // (4 if kind.sums == "f16" else 2)


def product(kind: Kind, columns: int, in_registers: bool, turns: str, scaled: str) -> str:
    """Return one product: d += a b, where `scaled` is not 0; turns: PTX's last operands, or a modifier."""
    count = registers(kind, columns)
    names = [f"%{i}" for i in range(count + 7)]
    left = f"{{{', '.join(names[count : count + 4])}}}" if in_registers else names[count]
    behind = count + (4 if in_registers else 1)
    given = ", ".join(f'"r"(r[{i}])' for i in range(4)) if in_registers else '"l"(left)'
    sums = ", ".join(f'"+{"f" if kind.sums == "f32" else "r"}"(d[{i}])' for i in range(count))
    saturated, turns = (turns, "") if turns.startswith(".") else ("", turns)
    shape = f"m64n{columns}k{kind.terms}.{kind.sums}.{kind.left}.{kind.right}{saturated}"
    return (
        f'asm volatile("{{ .reg .pred p; setp.ne.b32 p, {names[behind + 1]}, 0; wgmma.mma_async.sync.aligned.{shape} '
        f'{{{", ".join(names[:count])}}}, {left}, {names[behind]}, p{turns}; }}" : {sums} : {given}, "l"(right), "r"({scaled}));'
    )


def variants(kind: Kind, in_registers: bool) -> tuple[str, ...]:
    """Return the signs and layouts that are tried."""
    if kind.sums == "s32":
        return "", ".satfinite"
    if kind.terms != 16:
        return ", 1, 1", ", -1, 1"
    return (", 1, 1, 0", ", -1, -1, 1") if in_registers else (", 1, 1, 0, 0", ", -1, 1, 0, 1", ", 1, -1, 1, 0", ", 1, 1, 1, 1")


def results(columns: int = 8) -> Iterator[str]:
    """Yield the kernels whose results are compared."""
    for kind in KINDS:
        for in_registers in (False, True):
            for number, turns in enumerate(variants(kind, in_registers)):
                count, place = registers(kind, columns), "rs" if in_registers else "ss"
                value = "__uint_as_float(v)" if kind.sums == "f32" else "v"
                masks = ", ".join(f"unsigned {side}{what}" for side in "abc" for what in "10")
                yield f"""extern "C" __global__ void __launch_bounds__(128) {kind.name}_n{columns}_{place}_{number}(
    {kind.c_type} *c, const uint64_t *given, unsigned seed, {masks}, unsigned special) {{
    __shared__ __align__(1024) unsigned m[12032];
    unsigned b = blockIdx.x, t = threadIdx.x, r[4];
    for (unsigned i = t; i < 12032u; i += 128u)
        m[i] = i < 6016u ? word(seed + b * 3u, i, a1, a0, special) : word(seed + b * 3u, i, b1, b0, special);
    {kind.c_type} d[{count}];
    for (int i = 0; i < {count}; i++) {{ unsigned v = word(seed + b * 3u + 1u, t * {count}u + i, c1, c0, special); d[i] = {value}; }}
    for (int i = 0; i < 4; i++) r[i] = word(seed + b * 3u + 2u, t * 4u + i, a1, a0, special);
    uint64_t base = ((uint32_t)__cvta_generic_to_shared(m) & 0x3ffffu) >> 4, left = given[b * 2u] + base, right = given[b * 2u + 1u] + base;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    FENCE {product(kind, columns, in_registers, turns, "(int)((b & 7u) != 5u)")} COMMIT WAIT
    for (int i = 0; i < {count}; i++) c[(b * 128u + t) * {count}u + i] = d[i];
}}
"""


def chains() -> Iterator[str]:
    """Yield the kernels that are timed: the last of three rounds counts."""
    for kind in CHAINED:
        for columns in COLUMNS if kind is HALVES else (128,):
            for in_registers in (False, True):
                for length in LENGTHS:
                    one = product(kind, columns, in_registers, variants(kind, in_registers)[0], "1")
                    name = f"{kind.name}_n{columns}_{'rs' if in_registers else 'ss'}_x{length}"
                    yield f"""extern "C" __global__ void __launch_bounds__(128) {name}(int *clocks, float *out) {{
    for (int i = threadIdx.x; i < 40960; i += 128) ((int *)shared)[i] = 0;
    uint64_t left = matrix(0), right = matrix(65536);
    unsigned r[4] = {{0, 0, 0, 0}};
    {kind.c_type} d[{registers(kind, columns)}];
    for (int i = 0; i < {registers(kind, columns)}; i++) d[i] = 0;
    int from = 0, to = 0;
    for (int again = 0; again < 3; again++) {{
        __syncthreads();
        asm volatile("mov.u32 %0, %%clock;" : "=r"(from) :: "memory");
        FENCE
        {(chr(10) + " " * 8).join([one] * length)}
        COMMIT WAIT
        asm volatile("mov.u32 %0, %%clock;" : "=r"(to) :: "memory");
    }}
    float sum = 0;
    for (int i = 0; i < {registers(kind, columns)}; i++) sum += d[i];
    out[threadIdx.x] = sum;
    if (threadIdx.x == 0) clocks[0] = to - from;
}}
"""


if __name__ == "__main__":
    wanted = {"results": results, "chains": chains}.get(sys.argv[1] if len(sys.argv) == 2 else "")
    if not wanted:
        sys.exit("usage: python -m programs.measurements.gpu.warpgroups results|chains")
    sys.stdout.write(HEAD + "".join(wanted()))
