"""`sim.triton`: kernels of Triton, compiled ahead of time, right against NumPy without a GPU. Needs the extra `triton`."""

# ruff: noqa: N803  # constants of Triton kernels are written in capitals

import numpy as np
import pytest

import sim
from isa.errors import UserError

triton = pytest.importorskip("triton")
import triton.language as tl  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])]
RANDOM = np.random.default_rng(0)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * n + at, power / tl.sum(power, axis=0), mask=at < n)


@triton.jit
def layer_norm(x, weight, bias, out, n, eps, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * n + at, mask=at < n, other=0.0)
    mean = tl.sum(value, axis=0) / n
    centred = tl.where(at < n, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    result = centred * scale * tl.load(weight + at, mask=at < n) + tl.load(bias + at, mask=at < n)
    tl.store(out + row * n + at, result, mask=at < n)


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0), axis=0))


@triton.jit
def largest(x, value, where, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    numbers = tl.load(x + row * BLOCK + at)
    tl.store(value + row, tl.max(numbers, axis=0))
    tl.store(where + row, tl.argmax(numbers, axis=0))


@triton.jit
def scan(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), axis=0))


@triton.jit
def histogram(x, out, BLOCK: tl.constexpr, BINS: tl.constexpr):
    counts = tl.histogram(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


@triton.jit
def gather(x, index, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + tl.load(index + at)))


@triton.jit
def transpose(x, out, m, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(out + tl.trans(columns * m + rows), tl.trans(tl.load(x + rows * n + columns)))


@triton.jit
def matmul(a, b, c, K, BLOCK: tl.constexpr):
    rows, columns, inner = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + rows[:, None] * K + k + inner[None, :])
        sums += tl.sum(left[:, :, None] * tl.load(b + (k + inner[:, None]) * BLOCK + columns[None, :])[None, :, :], axis=1)
    tl.store(c + rows[:, None] * BLOCK + columns[None, :], sums)


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_vector_add(architecture: str) -> None:
    x, y, out = floats(1000), floats(1000), np.zeros(1000, np.float32)
    sim.execute(sim.triton(add, architecture)(4, x, y, out, 1000, BLOCK=256))
    assert np.array_equal(out, x + y)


def test_softmax(architecture: str) -> None:
    x, out = floats(8, 100), np.zeros((8, 100), np.float32)
    sim.execute(sim.triton(softmax, architecture)(8, x, out, 100, BLOCK=128))
    power = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(out, power / power.sum(1, keepdims=True), rtol=1e-5)


def test_layer_norm(architecture: str) -> None:
    x, weight, bias, out = floats(8, 100), floats(100), floats(100), np.zeros((8, 100), np.float32)
    sim.execute(sim.triton(layer_norm, architecture)(8, x, weight, bias, out, 100, 1e-5, BLOCK=128, num_warps=2))
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias
    assert np.allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_reductions(architecture: str) -> None:
    x, out = RANDOM.integers(0, 100, 5000).astype(np.int32), np.zeros(1, np.int32)
    sim.execute(sim.triton(total, architecture)(5, x, out, 5000, BLOCK=1024))
    assert out[0] == x.sum()
    y, value, where = floats(4, 256), np.zeros(4, np.float32), np.zeros(4, np.int32)
    sim.execute(sim.triton(largest, architecture)(4, y, value, where, BLOCK=256))
    assert np.array_equal(value, y.max(1))
    assert np.array_equal(where, y.argmax(1))


def test_scan(architecture: str) -> None:
    x, out = RANDOM.integers(0, 100, 1024).astype(np.int32), np.zeros(1024, np.int32)
    sim.execute(sim.triton(scan, architecture)(2, x, out, BLOCK=512))
    assert np.array_equal(out, x.reshape(2, 512).cumsum(1).reshape(-1))


def test_histogram(architecture: str) -> None:
    x, out = RANDOM.integers(0, 32, 1024).astype(np.int32), np.zeros(32, np.int32)
    sim.execute(sim.triton(histogram, architecture)(2, x, out, BLOCK=512, BINS=32))
    assert np.array_equal(out, np.bincount(x, minlength=32))


def test_dropout(architecture: str) -> None:
    x, out = np.ones(4096, np.float32), np.zeros(4096, np.float32)
    sim.execute(sim.triton(dropout, architecture)(16, x, out, 4096, 0.25, 123, BLOCK=256))
    assert set(np.unique(out)) == {np.float32(0), np.float32(1) / np.float32(0.75)}
    assert abs((out == 0).mean() - 0.25) < 0.03


def test_gather(architecture: str) -> None:
    x, index, out = floats(500), RANDOM.integers(0, 500, 256).astype(np.int64), np.zeros(256, np.float32)
    sim.execute(sim.triton(gather, architecture)(2, x, index, out, BLOCK=128))
    assert np.array_equal(out, x[index])


def test_transpose(architecture: str) -> None:
    x, out = floats(64, 96), np.zeros((96, 64), np.float32)
    sim.execute(sim.triton(transpose, architecture)((2, 3), x, out, 64, 96, BLOCK=32))
    assert np.array_equal(out, x.T)


def test_matmul(architecture: str) -> None:
    a, b, c = floats(16, 64), floats(64, 16), np.zeros((16, 16), np.float32)
    sim.execute(sim.triton(matmul, architecture)(1, a, b, c, 64, BLOCK=16))
    assert np.allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_autotuning(architecture: str) -> None:
    """The configurations of `triton.autotune` in, a table of simulated times out; one that Triton refuses is a row with an error."""
    configurations = [triton.Config({"BLOCK": 1024}, num_warps=warps) for warps in (1, 8)] + [triton.Config({"BLOCK": 1000})]
    kernel = sim.triton(triton.autotune(configurations, key=["n"])(softmax), architecture)
    assert [one["BLOCK"] for one in kernel.configurations] == [1024, 1024, 1000]
    x, gpu = floats(264, 1000), sim.gpu({"sm_80": "a100", "sm_90": "h100"}[architecture])
    table = sim.sweep(lambda **configuration: kernel(264, x, np.zeros_like(x), 1000, **configuration), gpu, kernel.configurations)
    assert table["num_warps"].tolist() == [1, 8, 4]
    assert table["error"].isna().tolist() == [True, True, False]
    assert "Triton refuses kernel softmax" in table["error"][2]
    assert table["cycles"][0] > table["cycles"][1] > 0
    assert table["cycles"][0] == sim.run(kernel(264, x, np.zeros_like(x), 1000, BLOCK=1024, num_warps=1), gpu).cycles


def test_a_kernel_is_compiled_once(architecture: str) -> None:
    kernel = sim.triton(gather, architecture)
    x, index, out = floats(500), np.zeros(256, np.int64), np.zeros(256, np.float32)
    first, second = (kernel(2, x, index, out, BLOCK=128) for _ in range(2))
    assert len(kernel.made) == 1
    assert first.program.encoded is second.program.encoded


def test_a_view_that_is_no_multiple_of_16_bytes_away_is_not_said_to_be(architecture: str) -> None:
    x, out = floats(1025), np.zeros(1024, np.float32)
    sim.execute(sim.triton(add, architecture)(1, x[:-1], x[1:], out, 1024, BLOCK=1024))
    assert np.array_equal(out, x[:-1] + x[1:])


def test_a_grid_of_the_parameters(architecture: str) -> None:
    x, out = floats(1024), np.zeros(1024, np.float32)
    launch = sim.triton(add, architecture)(lambda given: (triton.cdiv(given["n"], given["BLOCK"]),), x, x, out, 1024, BLOCK=256)
    assert launch.grid == (4,)
    assert sim.triton(add, architecture)(np.int64(4), x, x, out, 1024, BLOCK=256).grid == (4,)


def test_mistakes(architecture: str) -> None:
    with pytest.raises(UserError, match="argument y: Triton has no type complex64"):
        sim.triton(add, architecture)(1, floats(8), np.zeros(8, np.complex64), floats(8), 8, BLOCK=8)
    with pytest.raises(UserError, match="does not fit into 64 bits"):
        sim.triton(add, architecture)(1, floats(8), floats(8), floats(8), 2**64, BLOCK=8)
    assert len(sim.triton(add, architecture)(1, floats(8), floats(8), floats(8), 2**63, BLOCK=8).args) >= 4
    with pytest.raises(UserError, match="num_ctas = 2: only 1 is taken"):
        sim.triton(add, "sm_90")(1, floats(8), floats(8), floats(8), 8, BLOCK=8, num_ctas=2)
    with pytest.raises(UserError, match="missing a required argument"):
        sim.triton(add, architecture)(1, floats(8), BLOCK=8)
    with pytest.raises(UserError, match="argument y is str"):
        sim.triton(add, architecture)(1, floats(8), "y", floats(8), 8, BLOCK=8)
    with pytest.raises(UserError, match="Triton refuses kernel add"):
        sim.triton(add, architecture)(1, floats(8), floats(8), floats(8), 8, BLOCK=7)
