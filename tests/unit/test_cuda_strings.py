"""`sim.cuda`: kernels of CUDA C++ in a string, launched from Python."""

from pathlib import Path

import numpy as np
import pytest

import sim
from isa import compiler
from isa.errors import UserError

pytestmark = pytest.mark.skipif(not compiler.is_installed(), reason="needs NVRTC and nvdisasm")
SOURCE = """
__constant__ float scale;
extern "C" __global__ void add(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += scale * x[i];
}
__global__ void fill(int *out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = N; __syncthreads();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}
"""


def test_kernels_of_one_source() -> None:
    source = sim.cuda(SOURCE, "sm_90", ["-DN=7"])
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    launch = source.kernel("add")(4, 32, x, y, np.int32(100), symbols={"scale": np.float32(3)})
    assert (launch.name, launch.grid, launch.block) == ("add", (4,), (32,))
    sim.execute(launch)
    assert np.array_equal(y, 1 + 3 * x)
    out = np.zeros(32, np.int32)
    sim.execute(source.kernel("fill")((1,), (32, 1), out, shared_dynamic=1024 + 128))
    assert out.tolist() == [7] * 32


def test_a_list_of_configurations_is_swept() -> None:
    """Autotuning: block sizes in, a table of simulated times out."""
    kernel, x = sim.cuda(SOURCE, "sm_90", ["-DN=7"]).kernel("add"), np.zeros(1024, np.float32)

    def launch(block: int) -> sim.Launch:
        return kernel(1024 // block, block, x, x.copy(), np.int32(1024), symbols={"scale": np.float32(1)})

    cycles = {block: sim.run(launch(block), sim.gpu("h100")).cycles for block in (32, 1024)}
    assert cycles[32] != cycles[1024]


def test_kernels_of_cupy() -> None:
    """`cupy.RawKernel` and `cupy.RawModule`: their text, options and name; CuPy itself needs no GPU for that."""
    cupy = pytest.importorskip("cupy")
    raw = cupy.RawKernel(SOURCE, "add", options=("-DN=5",))
    x, y, out = np.arange(100, dtype=np.float32), np.ones(100, np.float32), np.zeros(32, np.int32)
    sim.execute(sim.cuda(raw, "sm_90").kernel()((4,), (32,), x, y, np.int32(100), symbols={"scale": np.float32(2)}))
    assert np.array_equal(y, 1 + 2 * x)
    sim.execute(sim.cuda(cupy.RawModule(code=SOURCE), "sm_90", ["-DN=3"]).kernel("fill")(1, 32, out, shared_dynamic=128))
    assert out.tolist() == [3] * 32
    with pytest.raises(UserError, match="RawModule holds no CUDA"):
        sim.cuda(cupy.RawModule(path="kernels.cubin"), "sm_90")


def test_a_file_is_read_again(tmp_path: Path) -> None:
    file, out = tmp_path / "k.cu", np.zeros(1, np.int32)
    for value in (1, 2):
        file.write_text(f"__global__ void f(int *out) {{ *out = {value}; }}")
        sim.execute(sim.cuda(file, "sm_90").kernel()(1, 1, out))
        assert out[0] == value


def test_mistakes_are_the_compilers_words() -> None:
    with pytest.raises(UserError, match=r"(?s)the CUDA compiler refuses this source.*undefined"):
        sim.cuda("__global__ void f(float *x) { *x = y; }", "sm_90").kernel()
    with pytest.raises(UserError, match="no function gone in this file"):
        sim.cuda(SOURCE, "sm_90", ["-DN=1"]).kernel("gone")
    with pytest.raises(UserError, match="knows architecture sm_1"):
        sim.cuda(SOURCE, "sm_1").kernel("add")
    with pytest.raises(UserError, match=r"(?s)int holds no CUDA C\+\+.*cupy.RawKernel"):
        sim.cuda(7, "sm_90")
