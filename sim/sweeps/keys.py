"""What makes a point the same point in another process, on another day: a digest of the program, its launch, the GPU and the simulator."""

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import isa
from sim.gpus.model import Gpu
from sim.kernel import ROOT, SOURCES
from sim.launch import Launch

RUN = ("*.py", "gpus/*.py")  # beside the kernels' own sources: what turns a launch and a GPU into tables and counters


@functools.cache
def sources() -> bytes:
    """Return a digest of the simulator's sources: results of another version are not taken for this one's."""
    digest = hashlib.sha256()
    files = {path for pattern in (*SOURCES, *RUN) for path in ROOT.glob(pattern)}
    for path in sorted(files | set(Path(isa.__file__).parent.rglob("*.py")) | set(Path(isa.__file__).parent.rglob("*.toml"))):
        digest.update(path.read_bytes())
    return digest.digest()


def launch_key(launch: Launch) -> bytes:
    """Return a digest of a launch: its program, its sizes, and what its arguments hold."""
    program = launch.program
    digest = hashlib.sha256(sources())
    for table in (program.encoded, program.control or ()):
        for array in table:
            digest.update(np.ascontiguousarray(array).tobytes())
    words = (program.registers, program.shared_bytes, program.parameters, program.parameter_base, program.constants, program.architecture)
    sizes = (launch.grid, launch.block, launch.shared_dynamic, launch.registers, launch.shared_static, launch.preset, launch.iterations)
    digest.update(repr((words, program.markers, program.addresses, program.labels, sizes)).encode())
    for value in (*launch.args, *launch.constants.values()):
        array = np.asarray(value)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def gpu_key(gpu: Gpu) -> bytes:
    """Return a digest of what a GPU does; where its numbers come from does not matter."""
    return hashlib.sha256(gpu.model_dump_json(exclude={"source", "note", "name", "chip"}).encode()).digest()


def point_key(launch: bytes, gpu: bytes, changes: Mapping[str, Any]) -> str:
    """Return the name of a point in a table of results."""
    return hashlib.sha256(launch + gpu + repr(sorted(changes.items())).encode()).hexdigest()[:32]
