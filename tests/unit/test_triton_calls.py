"""Calls as Triton's tutorials make them: the same parameters, options that are parameters too, locks, host descriptors set by a pre_hook.

The tutorials' names are kept, which their users look for; the kernels are ours.
"""

# ruff: noqa: N803  # constants of Triton kernels are written in capitals

from typing import Any

import numpy as np
import pytest

import sim
from isa.errors import UserError

triton = pytest.importorskip("triton")
import triton.language as tl  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

pytestmark = pytest.mark.slow
both = pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
RANDOM = np.random.default_rng(3)


@triton.jit
def softmax_kernel(
    output_ptr, input_ptr, input_row_stride, output_row_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr, num_stages: tl.constexpr
):
    row_start, row_step, cols = tl.program_id(0), tl.num_programs(0), tl.arange(0, BLOCK_SIZE)
    for row in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        value = tl.load(input_ptr + row * input_row_stride + cols, mask=cols < n_cols, other=-float("inf"))
        power = tl.exp(value - tl.max(value, axis=0))
        tl.store(output_ptr + row * output_row_stride + cols, power / tl.sum(power, axis=0), mask=cols < n_cols)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


MATMUL_CONFIGS = [
    triton.Config({"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": n, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 8}, num_stages=s, num_warps=w)
    for m, n, s, w in ((32, 32, 4, 2), (64, 32, 3, 4))
]


@triton.autotune(configs=MATMUL_CONFIGS, key=["M", "N", "K"])
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
    ACTIVATION: tl.constexpr,
):  # fmt: skip
    tile, wide = tl.program_id(axis=0), tl.cdiv(N, BLOCK_SIZE_N)
    first = tile // (GROUP_SIZE_M * wide) * GROUP_SIZE_M
    height = min(tl.cdiv(M, BLOCK_SIZE_M) - first, GROUP_SIZE_M)
    pid_m, pid_n = first + tile % (GROUP_SIZE_M * wide) % height, tile % (GROUP_SIZE_M * wide) // height
    tl.assume(stride_am > 0)
    rows, columns = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M), pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    inner = tl.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (rows % M)[:, None] * stride_am + inner[None, :] * stride_ak
    b_ptrs = b_ptr + inner[:, None] * stride_bk + (columns % N)[None, :] * stride_bn
    accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    at = c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    tl.store(at, accumulator.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


def set_tiles(nargs: dict[str, Any]) -> None:
    for name, tile in (("a_desc", "MK"), ("b_desc", "NK"), ("c_desc", "MN")):
        if isinstance(nargs[name], TensorDescriptor):
            nargs[name].block_shape = [nargs[f"BLOCK_SIZE_{side}"] for side in tile]


TILES = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64}


@triton.autotune([triton.Config(TILES, num_stages=2, pre_hook=set_tiles), triton.Config(TILES, num_stages=3)], key=["M", "N", "K"])
@triton.jit
def matmul_kernel_persistent(
    a_desc, b_desc, c_desc, M, N, K,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, NUM_SMS: tl.constexpr,
):  # fmt: skip
    wide = tl.cdiv(N, BLOCK_SIZE_N)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BLOCK_SIZE_M) * wide, NUM_SMS, flatten=True):
        row, column = tile // wide * BLOCK_SIZE_M, tile % wide * BLOCK_SIZE_N
        accumulator = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
        for k in range(tl.cdiv(K, BLOCK_SIZE_K)):
            a, b = a_desc.load([row, k * BLOCK_SIZE_K]), b_desc.load([column, k * BLOCK_SIZE_K])
            accumulator = tl.dot(a, b.T, accumulator)
        c_desc.store([row, column], accumulator.to(tl.float16))


@triton.jit
def copied(source, target):
    target.store([0, 0], source.load([0, 0]))


@triton.jit
def _layer_norm_fwd_fused(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    sums = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for first in range(0, N, BLOCK_SIZE):
        cols = first + tl.arange(0, BLOCK_SIZE)
        sums += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / N
    squares = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for first in range(0, N, BLOCK_SIZE):
        cols = first + tl.arange(0, BLOCK_SIZE)
        x = tl.where(cols < N, tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32) - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for first in range(0, N, BLOCK_SIZE):
        cols = first + tl.arange(0, BLOCK_SIZE)
        x = (tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32) - mean) * rstd
        tl.store(Y + cols, x * tl.load(W + cols, mask=cols < N) + tl.load(B + cols, mask=cols < N), mask=cols < N)


@triton.jit
def _layer_norm_bwd_dx_fused(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK_SIZE_N)
    mask, group = cols < N, row % GROUP_SIZE_M
    x = (tl.load(X + row * stride + cols, mask=mask, other=0).to(tl.float32) - tl.load(Mean + row)) * tl.load(Rstd + row)
    dy = tl.load(DY + row * stride + cols, mask=mask, other=0).to(tl.float32)
    x, wdy = tl.where(mask, x, 0.0), tl.where(mask, tl.load(W + cols, mask=mask).to(tl.float32) * dy, 0.0)
    dx = (wdy - (x * (tl.sum(x * wdy, axis=0) / N) + tl.sum(wdy, axis=0) / N)) * tl.load(Rstd + row)
    tl.store(DX + row * stride + cols, dx, mask=mask)
    dw, db = dy * x, dy
    while tl.atomic_cas(Lock + group, 0, 1) == 1:  # rows of a group add to the same sums
        pass
    DW += group * N + cols
    DB += group * N + cols
    if tl.load(Lock + GROUP_SIZE_M + group) == 0:
        tl.atomic_xchg(Lock + GROUP_SIZE_M + group, 1)
    else:
        dw += tl.load(DW, mask=mask)
        db += tl.load(DB, mask=mask)
    tl.store(DW, dw, mask=mask)
    tl.store(DB, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock + group, 0)


@triton.jit
def _seeded_dropout(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, mask=offsets < n_elements)
    output = tl.where(tl.rand(seed, offsets) > p, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=offsets < n_elements)


def halves(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float16)


def strides(*arrays: np.ndarray) -> list[int]:
    """Return what `tensor.stride(0), tensor.stride(1)` are for arrays."""
    return [step // array.itemsize for array in arrays for step in array.strides]


def philox(seed: int, offsets: np.ndarray) -> np.ndarray:
    """Return the numbers from 0 to 1 of `tl.rand`: Philox 4x32, ten rounds."""
    low, key = np.uint64(0xFFFFFFFF), [seed & 0xFFFFFFFF, seed >> 32]
    c = [offsets.astype(np.uint64), *(np.zeros(offsets.shape, np.uint64) for _ in range(3))]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> np.uint64(32) ^ c[1] ^ np.uint64(key[0]), b & low, a >> np.uint64(32) ^ c[3] ^ np.uint64(key[1]), a & low]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    signed = c[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


@both
def test_an_option_that_is_a_parameter_too_goes_to_both(architecture: str) -> None:
    x, y = RANDOM.standard_normal((19, 100)).astype(np.float32), np.zeros((19, 100), np.float32)
    kernel = sim.triton(softmax_kernel, architecture)
    given = (y, x, 100, 100, 19, 100)
    launch = kernel((8, 1, 1), *given, BLOCK_SIZE=128, num_stages=4, num_warps=8)
    sim.execute(launch)
    power = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(y, power / power.sum(1, keepdims=True), rtol=1e-5)
    assert launch.block == (256,)
    kernel((8, 1, 1), *given, 128, 4, num_warps=8)
    first, second = kernel.made.values()  # by position it is the kernel's alone
    assert (first.metadata.num_stages, second.metadata.num_stages) == (4, 3)


@both
def test_a_product_with_an_activation_for_each_configuration(architecture: str) -> None:
    a, b = halves(70, 96), halves(96, 80)
    kernel, product = sim.triton(matmul_kernel, architecture), a.astype(np.float32) @ b.astype(np.float32)
    given = (70, 80, 96, *strides(a, b, a[:, :80]))
    with pytest.raises(UserError, match=r"(?s)missing a required argument.*configurations\[0\]"):
        kernel(1, a, b, a, *given, ACTIVATION="")
    for configuration in kernel.configurations:
        for activation, expected in (("", product), ("leaky_relu", np.where(product >= 0, product, 0.01 * product))):
            c = np.zeros((70, 80), np.float16)

            def grid(META: dict[str, Any]) -> tuple[int, ...]:
                return (triton.cdiv(70, META["BLOCK_SIZE_M"]) * triton.cdiv(80, META["BLOCK_SIZE_N"]),)

            sim.execute(kernel(grid, a, b, c, 70, 80, 96, *strides(a, b, c), ACTIVATION=activation, **configuration))
            assert np.allclose(c, expected, rtol=2e-3, atol=2e-2)


@both
def test_a_persistent_product_by_descriptors_whose_tiles_a_pre_hook_sets(architecture: str) -> None:
    a, b, c = halves(200, 128), halves(160, 128), np.zeros((200, 160), np.float16)
    descriptors = [sim.tensor_descriptor(array, [1, 1]) for array in (a, b, c)]
    kernel = sim.triton(matmul_kernel_persistent, architecture)
    launch = kernel(lambda META: (min(META["NUM_SMS"], 8),), *descriptors, 200, 160, 128, NUM_SMS=3, **kernel.configurations[0])
    assert [one.block_shape for one in descriptors] == [[64, 64], [128, 64], [64, 128]]
    opcodes = {instruction.opcode.split(".")[0] for instruction in launch.program.instructions}
    assert ({"UTMALDG", "UTMASTG", "HGMMA"} <= opcodes) == (architecture == "sm_90")
    sim.execute(launch)
    assert np.allclose(c, a.astype(np.float32) @ b.T.astype(np.float32), rtol=2e-3, atol=3e-2)


@both
def test_descriptors_of_views_and_what_lies_outside(architecture: str) -> None:
    whole, out = RANDOM.standard_normal((60, 48)).astype(np.float32), np.zeros((64, 64), np.float32)
    kernel = sim.triton(copied, architecture)
    sim.execute(kernel(1, sim.tensor_descriptor(whole[4:, 8:40], [64, 64], padding="nan"), sim.tensor_descriptor(out, [64, 64])))
    assert np.array_equal(out[:56, :32], whole[4:, 8:40])
    assert np.isnan(out[56:]).all()
    assert np.isnan(out[:, 32:]).all()


@both
def test_layer_norm_forward_and_backward(architecture: str) -> None:
    M, N, GROUP = 9, 100, 4
    x, dy = (RANDOM.standard_normal((M, N)).astype(np.float32) for _ in range(2))
    w, b = (RANDOM.random(N).astype(np.float32) for _ in range(2))
    y, dx, mean, rstd = np.zeros_like(x), np.zeros_like(x), np.zeros(M, np.float32), np.zeros(M, np.float32)
    forward = sim.triton(_layer_norm_fwd_fused, architecture)
    sim.execute(forward((M,), x, y, w, b, mean, rstd, N, N, 1e-5, BLOCK_SIZE=64, num_warps=1, num_ctas=1))
    scale = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    normal = (x - x.mean(1, keepdims=True)) * scale
    assert np.allclose(y, normal * w + b, rtol=1e-4, atol=1e-5)
    assert np.allclose(rstd, scale[:, 0], rtol=1e-4)
    locks, dw, db = np.zeros(2 * GROUP, np.int32), np.zeros((GROUP, N), np.float32), np.zeros((GROUP, N), np.float32)
    backward = sim.triton(_layer_norm_bwd_dx_fused, architecture)
    launch = backward((M,), dx, dy, dw, db, x, w, mean, rstd, locks, N, N, BLOCK_SIZE_N=128, GROUP_SIZE_M=GROUP, num_warps=4)
    sim.run(launch, sim.gpu({"sm_80": "a100", "sm_90": "h100"}[architecture]))
    wdy = w * dy
    expected = (wdy - normal * (normal * wdy).mean(1, keepdims=True) - wdy.mean(1, keepdims=True)) * scale
    assert np.allclose(dx, expected, rtol=1e-3, atol=1e-4)
    assert np.allclose(dw.sum(0), (dy * normal).sum(0), rtol=1e-3, atol=1e-4)
    assert np.allclose(db.sum(0), dy.sum(0), rtol=1e-3, atol=1e-4)


@both
@pytest.mark.parametrize("seed", [123, 1 << 40 | 512])
def test_seeded_dropout(architecture: str, seed: int) -> None:
    x, output = RANDOM.standard_normal(1000).astype(np.float32), np.zeros(1000, np.float32)
    grid = lambda meta: (triton.cdiv(1000, meta["BLOCK_SIZE"]),)  # noqa: E731  # as it is written there
    sim.execute(sim.triton(_seeded_dropout, architecture)(grid, x, output, 1000, p=0.5, seed=seed, BLOCK_SIZE=512))
    assert np.array_equal(output, np.where(philox(seed, np.arange(1000)) > 0.5, x / np.float32(0.5), 0))


def test_descriptors_of_other_arrays_and_blocks_are_refused() -> None:
    with pytest.raises(UserError, match="a descriptor of list with a block of 2 dimensions"):
        sim.tensor_descriptor([[1.0]], [1, 1])  # type: ignore[arg-type]
    with pytest.raises(UserError, match="a descriptor of ndarray with a block of 1 dimensions"):
        sim.tensor_descriptor(halves(8, 8), [8])
    kernel = sim.triton(matmul_kernel_persistent, "sm_90")
    descriptors = [sim.tensor_descriptor(halves(64, 65), [1, 1]) for _ in range(3)]
    with pytest.raises(UserError, match="rows without gaps, 16 bytes or a multiple apart"):
        kernel(1, *descriptors, 64, 64, 65, NUM_SMS=1, **kernel.configurations[0])
