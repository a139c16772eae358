"""Kernels in the style of Triton's tutorials on tensor cores: a tiled product, attention forward; on sm_90 by groups of four warps (wgmma).

Vector add, softmax, layer norm and dropout, which need no tensor cores, run on both: `test_triton.py`; calls as the tutorials make them:
`test_triton_calls.py`, and here attention in stages, by descriptors of the host or of the device.
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


@triton.jit
def _attn_fwd_inner(
    acc, l_i, m_i, q, desc_k, desc_v, offset_y, start_m, qk_scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr, offs_m: tl.constexpr, offs_n: tl.constexpr, N_CTX: tl.constexpr,
):  # fmt: skip
    """Stage 1: keys before the diagonal; 2: those on it, masked; 3: all."""
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = tl.multiple_of(start_m * BLOCK_M, BLOCK_M), (start_m + 1) * BLOCK_M
    else:
        lo, hi = 0, N_CTX
    for first in tl.range(lo, hi, BLOCK_N):
        start_n = tl.multiple_of(first, BLOCK_N)
        qk = tl.dot(q, desc_k.load([offset_y + start_n, 0]).T) * qk_scale
        if STAGE == 2:
            qk = tl.where(offs_m[:, None] >= start_n + offs_n[None, :], qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p, alpha = tl.math.exp2(qk - m_ij[:, None]), tl.math.exp2(m_i - m_ij)
        l_i, m_i = l_i * alpha + tl.sum(p, 1), m_ij
        acc = tl.dot(p.to(tl.float16), desc_v.load([offset_y + start_n, 0]), acc * alpha[:, None])
    return acc, l_i, m_i


@triton.jit
def _descriptor(given, rows, columns, block_shape: tl.constexpr):
    if isinstance(given, tl.tensor_descriptor):
        return given
    else:  # without it, Triton compiles both returns
        return tl.make_tensor_descriptor(given, shape=[rows, columns], strides=[columns, 1], block_shape=block_shape)


@triton.jit
def _attn_fwd(
    sm_scale, M, Z, H, desc_q, desc_k, desc_v, desc_o, N_CTX,
    HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, STAGE: tl.constexpr,
):  # fmt: skip
    """STAGE 3: causal, in stages 1 and 2; 1: not, in stage 3."""
    tl.static_assert(BLOCK_N <= HEAD_DIM)
    start_m, off_hz, rows = tl.program_id(0), tl.program_id(1), Z * H * N_CTX
    desc_q = _descriptor(desc_q, rows, HEAD_DIM, [BLOCK_M, HEAD_DIM])
    desc_k = _descriptor(desc_k, rows, HEAD_DIM, [BLOCK_N, HEAD_DIM])
    desc_v = _descriptor(desc_v, rows, HEAD_DIM, [BLOCK_N, HEAD_DIM])
    desc_o = _descriptor(desc_o, rows, HEAD_DIM, [BLOCK_M, HEAD_DIM])
    offset_y = off_hz // H * (N_CTX * H) + off_hz % H * N_CTX
    offs_m, offs_n = start_m * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N)
    m_i, l_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf"), tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    qk_scale = sm_scale * 1.44269504
    q = desc_q.load([offset_y + start_m * BLOCK_M, 0])
    if STAGE & 1:
        acc, l_i, m_i = _attn_fwd_inner(
            acc, l_i, m_i, q, desc_k, desc_v, offset_y, start_m, qk_scale, BLOCK_M, BLOCK_N, 4 - STAGE, offs_m, offs_n, N_CTX
        )
    if STAGE & 2:
        acc, l_i, m_i = _attn_fwd_inner(
            acc, l_i, m_i, q, desc_k, desc_v, offset_y, start_m, qk_scale, BLOCK_M, BLOCK_N, 2, offs_m, offs_n, N_CTX
        )
    tl.store(M + off_hz * N_CTX + offs_m, m_i + tl.math.log2(l_i))
    desc_o.store([offset_y + start_m * BLOCK_M, 0], (acc / l_i[:, None]).to(tl.float16))


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
    cycles = sim.run(launch, sim.gpu("h100")).cycles
    assert np.allclose(out, expected, rtol=2e-3, atol=2e-3)
    assert cycles < 2 * sim.run(attention_launch("sm_80", causal)[0], sim.gpu("a100")).cycles


def staged_launch(architecture: str, stage: int, host: bool) -> tuple[sim.Launch, np.ndarray, np.ndarray]:
    z, heads, n, width = 1, 2, 128, 64
    q, k, v = (halves(z, heads, n, width) for _ in range(3))
    o, m = np.zeros_like(q), np.zeros((z, heads, n), np.float32)
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 1, 3, 2) * 0.5
    powers = np.exp(np.where(np.tri(n) if stage == 3 else 1, scores, -np.inf))
    given = [
        sim.tensor_descriptor(array.reshape(-1, width), [rows, width]) if host else array
        for array, rows in ((q, 64), (k, 32), (v, 32), (o, 64))
    ]
    kernel = sim.triton(_attn_fwd, architecture)
    grid = lambda META: (triton.cdiv(n, META["BLOCK_M"]), z * heads, 1)  # noqa: E731  # as it is written there
    launch = kernel(grid, 0.5, m, z, heads, *given, N_CTX=n, HEAD_DIM=width, BLOCK_M=64, BLOCK_N=32, STAGE=stage, num_stages=2)
    return launch, o, powers / powers.sum(3, keepdims=True) @ v.astype(np.float64)


@pytest.mark.parametrize("stage", [1, 3])
@pytest.mark.parametrize("host", [True, False])
def test_attention_in_stages_by_descriptors(stage: int, host: bool) -> None:
    """Copied by TMA on sm_90, by computed addresses on sm_80; no slower there than twice the cycles here."""
    cycles = {}
    for architecture, gpu in (("sm_80", "a100"), ("sm_90", "h100")):
        launch, o, expected = staged_launch(architecture, stage, host)
        assert ("UTMALDG" in opcodes(launch)) == (architecture == "sm_90")
        cycles[architecture] = sim.run(launch, sim.gpu(gpu)).cycles
        assert np.allclose(o, expected, rtol=4e-3, atol=4e-3)
    assert cycles["sm_90"] < 2 * cycles["sm_80"]
