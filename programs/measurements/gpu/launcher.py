"""The process that launches on the GPU: `python -m programs.measurements.gpu.launcher JOBS RESULTS`.

JOBS: a JSON list of {cubin, kernel, listing, file, values, clocks}. Each is launched `repeat` times with its arguments as the launch file
makes them, fresh each time. RESULTS: for each job and launch the clocks that threads wrote, pairs of start and stop, from the first on.
"""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import isa
from isa.errors import UserError
from isa.program import Program
from sim.launch.file import load_launch
from sim.launch.launch import Launch


def main(jobs: str, results: str, repeat: str) -> None:
    """Launch every job, write what its clocks said."""
    done = [_run(job, int(repeat)) for job in json.loads(Path(jobs).read_text(encoding="utf-8"))]
    Path(results).write_text(json.dumps(done), encoding="utf-8")


def _run(job: dict[str, Any], repeat: int) -> list[list[list[int]]]:
    cupy = _cupy()
    launch = launch_of(job)
    kernel = cupy.RawModule(path=job["cubin"]).get_function(launch.program.name)
    if launch.shared_dynamic > 48 * 1024:
        kernel.max_dynamic_shared_size_bytes = launch.shared_dynamic
    device = [cupy.empty_like(cupy.asarray(value)) if isinstance(value, np.ndarray) else value for value in launch.args]
    clocks = []
    for _ in range(repeat):
        for place, value in zip(device, launch.args, strict=True):
            if isinstance(value, np.ndarray):
                place.set(value)
        kernel(_three(launch.grid), _three(launch.block), tuple(device), shared_mem=launch.shared_dynamic)
        cupy.cuda.runtime.deviceSynchronize()
        if job["clocks"]:
            names = [parameter.name for parameter in launch.program.parameters]
            clocks.append(_pairs(device[names.index(job["clocks"])].get()))
    return clocks


def launch_of(job: dict[str, Any]) -> Launch:
    """Return the launch of a job. Raises UserError."""
    program = _program(job["listing"], job["kernel"])
    shape = {name: value for name, value in job["values"].items() if name in ("grid", "block")}
    args = {name: value for name, value in job["values"].items() if name not in shape}
    return load_launch(job["file"], program, args=args, **shape).launch


@cache
def _program(listing: str, kernel: str | None) -> Program:
    return isa.load(listing, kernel)


def _three(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (*sizes, 1, 1)[:3]


def _pairs(clocks: np.ndarray) -> list[list[int]]:
    """Return the pairs that were written, counted from the earliest start; SMs count each from a time of their own."""
    pairs = clocks.reshape(-1, 2)
    written = pairs[pairs[:, 1] > 0]
    return (written - written.min(initial=np.iinfo(np.int64).max)).tolist()


def _cupy() -> Any:
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError:
        raise UserError("launching needs CuPy, which is not installed", hint="pip install 'simtlab[measure]'") from None
    return cupy


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except UserError as error:
        raise SystemExit(str(error)) from None
