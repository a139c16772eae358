"""CUDA C++ in a string, or in a kernel of CuPy -> launches: `sim.cuda(source, "sm_90").kernel("saxpy")(grid, block, *args)`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import isa
from isa.errors import UserError
from isa.program import Program
from sim.launch.launch import Launch

compiled = lru_cache(maxsize=64)(isa.compile)  # of a text; a file, and what it includes, may change


@dataclass(frozen=True)
class Kernel:
    """A kernel that is called as a launch is written: sizes, then arguments."""

    program: Program

    def __call__(self, grid: int | tuple[int, ...], block: int | tuple[int, ...], *args: Any, **options: Any) -> Launch:
        """Return the launch. options: of `sim.Launch`, as shared_dynamic=4096 or symbols={...}. Raises UserError."""
        return Launch(self.program, grid, block, args, name=self.program.name, **options)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Source:
    """CUDA C++ for one architecture. name: of the kernel that is meant when none is named."""

    text: str | Path
    architecture: str
    options: tuple[str, ...] = ()
    name: str | None = None

    def kernel(self, name: str | None = None) -> Kernel:
        """Return a kernel by its name in the source, or the only one. Raises UserError, with the compiler's words when it refuses."""
        compile_ = compiled if isa.compiler.is_text(self.text) else isa.compile
        return Kernel(compile_(self.text, self.architecture, name or self.name, self.options))


def cuda(source: Any, architecture: str, options: Sequence[str] = ()) -> Source:
    """Return a CUDA C++ source, a file or the text itself, whose kernels are launched from Python: no GPU, no toolkit.

    source: also a `cupy.RawKernel` or a `cupy.RawModule`, whose options come before those given. architecture: such as "sm_90".
    options: further ones for NVRTC, as "-DN=4". Needs the extra `cuda`. Raises UserError, when a kernel is asked for, with the compiler's
    own words.

    >>> import numpy as np, sim
    >>> source = sim.cuda("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }", "sm_90")
    >>> x = np.arange(32, dtype=np.float32)
    >>> result = sim.run(source.kernel("twice")(1, 32, x), sim.gpu("h100"))
    >>> float(x[31]), result.counters["warp_instructions"] > 0
    (62.0, True)
    """
    if isinstance(source, str | Path):
        return Source(source, architecture, tuple(options))
    if not isinstance(code := getattr(source, "code", None), str):
        message = f"{type(source).__name__} holds no CUDA C++"
        raise UserError(message, hint="pass its text, a file of it, or a cupy.RawKernel or RawModule made of text")
    if getattr(source, "name_expressions", None):
        raise UserError(
            "a RawModule with name_expressions", hint="instantiate the templates in the source, or pass the text and name a kernel"
        )
    return Source(code, architecture, (*getattr(source, "options", ()), *options), getattr(source, "name", None))
