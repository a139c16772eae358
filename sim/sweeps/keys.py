"""What makes a point the same point in another process, on another day: a digest of the program, its launch, the GPU and the simulator."""

import functools
import hashlib
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import isa
from isa.errors import UserError
from sim.gpus.model import Gpu
from sim.launch.launch import Launch
from sim.launch.placement import Places
from sim.launch.pointers import Pointer
from sim.sweeps.work import Failure

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (
    *("*.py", "compiled/*.py", "control_words/*.py", "functional/*.py", "gpus/**/*.py", "gpus/**/*.toml"),
    *("launch/*.py", "lowering/*.py", "policies/*.py", "result/*.py", "timing/**/*.py", "traces/trace.py", "traces/ensemble.py"),
)  # all that a result can depend on


@functools.cache
def sources() -> bytes:
    """Return a digest of the simulator's sources: results of another version are not taken for this one's."""
    digest = hashlib.sha256()
    files = {path for pattern in SOURCES for path in ROOT.glob(pattern)}
    files |= {path for pattern in ("*.py", "*.toml", "*.csv") for path in Path(isa.__file__).parent.rglob(pattern)}
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.digest()


def launch_key(launch: Launch | Failure) -> bytes:
    """Return a digest of a launch: its program, its sizes, and what its arguments hold; of one that could not be made, why."""
    if isinstance(launch, Failure):
        return hashlib.sha256(sources() + launch.message.encode()).digest()
    program = launch.program
    digest = hashlib.sha256(sources())
    for table in (program.encoded, program.control or ()):
        for array in table:
            digest.update(np.ascontiguousarray(array).tobytes())
    words = (program.registers, program.shared_bytes, program.parameters, program.parameter_base, program.constants, program.architecture)
    shared = (launch.shared_dynamic, launch.registers, launch.shared_static)
    sizes = (
        launch.grid,
        launch.block,
        *shared,
        launch.preset,
        launch.iterations,
        launch.control_words,
        launch.placement,
        launch.cluster_shape,
        launch.warp_size,
    )
    digest.update(repr((words, program.markers, program.addresses, program.labels, sizes)).encode())
    for table in (*itertools.chain.from_iterable(launch.constants.items()), *contents(launch)):
        array = np.asarray(table)
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()


def contents(launch: Launch) -> Iterator[Any]:
    """Yield what a launch's memory holds and where, its arguments and its symbols; of one that cannot be placed, why."""
    try:
        places = Places(launch)
    except UserError as error:
        yield str(error)
        return
    for item in places.allocations:
        yield from (item.address, item.array)
    yield from (places.seen, np.frombuffer(launch.parameters or b"", np.uint8))
    for value in launch.args:
        is_pointer = value is None or isinstance(value, Pointer) or (isinstance(value, np.ndarray) and value.ndim)
        yield places.address(value) if is_pointer else np.frombuffer(places.bytes_of(np.asarray(value), ""), np.uint8)
    for name, value in launch.symbols.items():
        yield from (name, np.frombuffer(places.bytes_of(np.asarray(value), name), np.uint8))


def gpu_key(gpu: Gpu) -> bytes:
    """Return a digest of what a GPU does; where its numbers come from does not matter."""
    return hashlib.sha256(gpu.model_dump_json(exclude={"source", "note", "name", "chip"}).encode()).digest()


def point_key(launch: bytes, gpu: bytes, changes: Mapping[str, Any]) -> str:
    """Return the name of a point in a table of results."""
    return hashlib.sha256(launch + gpu + repr(sorted(changes.items())).encode()).hexdigest()[:32]
