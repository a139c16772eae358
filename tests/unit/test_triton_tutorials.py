"""Kernels in the style of Triton's tutorials on tensor cores: a tiled product, attention forward; on sm_90 by groups of four warps (wgmma).

Vector add, softmax, layer norm and dropout, which need no tensor cores, run on both: `test_triton.py`.
"""

# ruff: noqa: N803  # constants of Triton kernels are written in capitals

import numpy as np
import pytest

import sim

triton = pytest.importorskip("triton")
import triton.language as tl  # noqa: E402

pytestmark = pytest.mark.slow
RANDOM = np.random.default_rng(7)


@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    """One tile of c = a b; tiles are numbered in groups of rows, so that neighbours share what L2 holds; edges are masked."""
    tile, wide = tl.program_id(0), tl.cdiv(n, N)
    first = tile // (GROUP * wide) * GROUP
    height = min(tl.cdiv(m, M) - first, GROUP)
    row, column = first + tile % (GROUP * wide) % height, tile % (GROUP * wide) // height
    rows, columns, inner = row * M + tl.arange(0, M), column * N + tl.arange(0, N), tl.arange(0, K)
    left, right = a + rows[:, None] * k + inner[None, :], b + inner[:, None] * n + columns[None, :]
    sums = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        x = tl.load(left, mask=(rows[:, None] < m) & (inner[None, :] < k - start), other=0.0)
        y = tl.load(right, mask=(inner[:, None] < k - start) & (columns[None, :] < n), other=0.0)
        sums = tl.dot(x, y, sums)
        left += K
        right += K * n
    tl.store(c + rows[:, None] * n + columns[None, :], sums.to(tl.float16), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def attention(q, k, v, out, scale, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr):
    """M queries of a head against all keys, N at a time; weights are corrected when a larger score comes. scale: with log2(e)."""
    start, head = tl.program_id(0), tl.program_id(1) * n * D
    rows, width = start * M + tl.arange(0, M), tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + width[None, :])
    most, weight = tl.full((M,), -1e30, tl.float32), tl.zeros((M,), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    for first in range(0, (start + 1) * M if CAUSAL else n, N):
        keys = first + tl.arange(0, N)
        scores = tl.dot(queries, tl.load(k + head + keys[None, :] * D + width[:, None])) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -1e30)
        top = tl.maximum(most, tl.max(scores, 1))
        powers = tl.exp2(scores - top[:, None])
        less = tl.exp2(most - top)
        weight = weight * less + tl.sum(powers, 1)
        sums = tl.dot(powers.to(tl.float16), tl.load(v + head + keys[:, None] * D + width[None, :]), sums * less[:, None])
        most = top
    tl.store(out + head + rows[:, None] * D + width[None, :], sums / weight[:, None])


def halves(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float16)


def product_launch(architecture: str, tile: int = 32) -> tuple[sim.Launch, np.ndarray, np.ndarray]:
    a, b, c = halves(100, 80), halves(80, 96), np.zeros((100, 96), np.float16)
    tiles = triton.cdiv(100, tile) * triton.cdiv(96, tile)
    launch = sim.triton(product, architecture)(tiles, a, b, c, 100, 96, 80, M=tile, N=tile, K=32, GROUP=2, num_stages=3)
    return launch, c, a.astype(np.float64) @ b.astype(np.float64)


def attention_launch(architecture: str, causal: bool) -> tuple[sim.Launch, np.ndarray, np.ndarray]:
    q, k, v = (halves(2, 128, 32) for _ in range(3))
    out = np.zeros((2, 128, 32), np.float32)
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) / np.sqrt(32)
    powers = np.exp(np.where(np.tri(128) if causal else 1, scores, -np.inf))
    given = (q, k, v, out, float(np.log2(np.e) / np.sqrt(32)), 128)
    launch = sim.triton(attention, architecture)((2, 2), *given, D=32, M=64, N=32, CAUSAL=causal, num_stages=2)
    return launch, out, powers / powers.sum(2, keepdims=True) @ v.astype(np.float64)


def opcodes(launch: sim.Launch) -> set[str]:
    return {instruction.opcode.split(".")[0] for instruction in launch.program.instructions}


@pytest.mark.parametrize(("architecture", "tile"), [("sm_80", 32), ("sm_80", 64), ("sm_90", 32)])
def test_a_product_of_tiles(architecture: str, tile: int) -> None:
    """Tiles of fewer than 64 rows are products of a warp on sm_90, too."""
    launch, c, expected = product_launch(architecture, tile)
    assert {"HMMA", "LDSM", "LDGSTS"} <= opcodes(launch)
    sim.execute(launch)
    assert np.allclose(c, expected, rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal: bool) -> None:
    launch, out, expected = attention_launch("sm_80", causal)
    assert {"HMMA", "LDSM", "MUFU"} <= opcodes(launch)
    sim.execute(launch)
    assert np.allclose(out, expected, rtol=2e-3, atol=2e-3)


def test_in_time() -> None:
    launch, c, expected = product_launch("sm_80")
    result = sim.run(launch, sim.gpu("a100"))
    assert np.allclose(c, expected, rtol=2e-3, atol=2e-2)
    assert result.cycles > 0


def test_products_of_four_warps() -> None:
    """Of tiles of 64 rows Triton makes products of groups of warps on sm_90."""
    launch, c, expected = product_launch("sm_90", 64)
    assert {"HGMMA", "WARPGROUP"} <= opcodes(launch)
    result = sim.run(launch, sim.gpu("h100"))
    assert np.allclose(c, expected, rtol=2e-3, atol=2e-2)
    assert result.cycles > 0


@pytest.mark.parametrize("causal", [False, True])
def test_attention_of_four_warps(causal: bool) -> None:
    launch, out, expected = attention_launch("sm_90", causal)
    assert {"HGMMA", "WARPGROUP"} <= opcodes(launch)
    sim.execute(launch)
    assert np.allclose(out, expected, rtol=2e-3, atol=2e-3)
