"""Kernels compile with a Numba that lacks the classes of `sim.compiled.inlining`, too."""

import os
import subprocess
import sys
from pathlib import Path

WITHOUT = """
import sys
sys.modules["sim.compiled.inlining"] = None  # as with an ImportError in it
from sim.compiled.kernel import PART, bit, first_bit, inner, kernel, outlined
from numba.core.registry import CPUDispatcher

@inner
def twice(x):
    return x + x

@outlined
def thrice(x):
    return twice(x) + x

@kernel
def run(x):
    return thrice(twice(x)) + first_bit(bit(5))

assert isinstance(run, CPUDispatcher)
assert "pipeline_class" not in PART
print(run(7))
"""


def test_kernels_compile_without_undocumented_classes_of_numba(tmp_path: Path) -> None:
    file = tmp_path / "without.py"
    file.write_text(WITHOUT)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "SIMTLAB_CACHE": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run([sys.executable, str(file)], env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("47\n", "")
