"""`sim.numba`: kernels of numba-cuda, compiled without a device, right against NumPy. Needs the extra `numba-cuda`."""

import math

import numpy as np
import pytest

import sim
from isa.errors import UserError

pytest.importorskip("numba_cuda")
from numba import cuda, float32

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])]
RANDOM = np.random.default_rng(0)


@cuda.jit
def saxpy(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] += a * x[i]


@cuda.jit
def transpose(x, out):
    tile = cuda.shared.array((16, 17), float32)
    row, column = cuda.blockIdx.y * 16 + cuda.threadIdx.y, cuda.blockIdx.x * 16 + cuda.threadIdx.x
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[row, column]
    cuda.syncthreads()
    out[cuda.blockIdx.x * 16 + cuda.threadIdx.y, cuda.blockIdx.y * 16 + cuda.threadIdx.x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


@cuda.jit
def histogram(x, counts):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


@cuda.jit(device=True)
def wave(x):
    return math.sqrt(math.exp(x))


@cuda.jit
def total(x, out):
    parts = cuda.shared.array(0, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    parts[t] = wave(x[i])
    cuda.syncthreads()
    step = cuda.blockDim.x // 2
    while step:
        if t < step:
            parts[t] += parts[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, parts[0])


@cuda.jit
def mixed(out, scale, pair, is_on, small):
    i = cuda.grid(1)
    if is_on and i < out.size:
        out[i] = out[i] * scale + pair[0] + pair[1][i] + small


def floats(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_saxpy(architecture: str) -> None:
    x, y = floats(1000), floats(1000)
    expected, kernel = y + np.float32(2) * x, sim.numba(saxpy, architecture)
    launch = kernel(4, 256, x, y, np.float32(2))
    assert (launch.name, launch.grid, launch.block) == ("saxpy", (4,), (256,))
    sim.execute(launch)
    assert np.allclose(y, expected, rtol=1e-6)
    kernel(4, 256, x, y, np.float32(3))
    assert len(kernel.made) == 1


def test_shared_memory_in_two_dimensions(architecture: str) -> None:
    x, out = floats(32, 48), np.zeros((48, 32), np.float32)
    sim.execute(sim.numba(transpose, architecture)((3, 2), (16, 16), x, out))
    assert np.array_equal(out, x.T)


def test_atomics(architecture: str) -> None:
    x, counts = RANDOM.integers(0, 16, 1000).astype(np.int32), np.zeros(16, np.int32)
    sim.execute(sim.numba(histogram, architecture)(4, 256, x, counts))
    assert np.array_equal(counts, np.bincount(x, minlength=16))


def test_dynamic_shared_memory_and_a_device_function(architecture: str) -> None:
    x, out = floats(512), np.zeros(1, np.float32)
    sim.execute(sim.numba(total, architecture)(4, 128, x, out, shared_dynamic=4 * 128))
    assert np.isclose(out[0], np.sqrt(np.exp(x)).sum(), rtol=1e-4)


def test_numbers_tuples_and_complex_ones(architecture: str) -> None:
    out, more = np.ones(64, np.complex64), floats(64)
    sim.execute(sim.numba(mixed, architecture)(2, 32, out, np.complex64(2 + 1j), (3, more), True, np.int16(-1)))
    assert np.allclose(out, (2 + 1j) + 3 + more - 1)


def test_time_is_simulated(architecture: str) -> None:
    x, kernel = floats(100_000), sim.numba(saxpy, architecture)
    gpu = sim.gpu({"sm_80": "a100", "sm_90": "h100"}[architecture])
    table = sim.sweep(lambda block: kernel(-(-x.size // block), block, x, x.copy(), np.float32(2)), gpu, {"block": [32, 256]})
    assert table["error"].isna().all()
    assert table["cycles"][0] != table["cycles"][1]


def test_mistakes(architecture: str) -> None:
    kernel = sim.numba(saxpy, architecture)
    with pytest.raises(UserError, match="pass NumPy arrays, numbers and tuples"):
        kernel(1, 32, object(), floats(4), np.float32(1))
    with pytest.raises(UserError, match="kernel saxpy: an array that is not C-contiguous"):
        kernel(1, 32, floats(8)[::2], floats(4), np.float32(1))
    with pytest.raises(UserError, match="Numba refuses kernel saxpy"):
        kernel(1, 32, np.float32(1), floats(4), np.float32(1))
    with pytest.raises(UserError, match="a kernel is a function of numba"):
        sim.numba(wave.py_func, architecture)
