"""A capture -> `Launch`, and how the memory that it leaves differs from the GPU's."""

from typing import Any, NamedTuple

import numpy as np

import isa
from isa.program import Program
from sim.captures.file import Capture
from sim.launch.expectation import Expectation, Rule
from sim.launch.launch import Launch

WORD = 4


class Difference(NamedTuple):
    """Memory that is not as the GPU left it: of an allocation, words of 4 bytes, and the largest error were they float32 or float64."""

    address: int
    name: str
    words: int
    different: int
    relative: float  # of the largest number; the smaller of the two readings


def program_of(capture: Capture) -> Program:
    """Return the kernel of a capture. Raises UserError when its code cannot be read."""
    return isa.load_cubin(capture.cubin, capture.table.kernel, str(capture.path))


def launch_of(capture: Capture) -> Launch:
    """Return the launch with memory of its own, at the addresses that the GPU's program had. Raises UserError for what cannot be run."""
    table, program = capture.table, program_of(capture)
    known = {one.name for one in program.symbols}
    symbols: dict[str, Any] = {}
    memory: dict[int, np.ndarray] = {}
    for allocation, data in zip(table.allocations, capture.before, strict=True):
        if allocation.kind == "constant":
            if allocation.name in known:
                symbols[allocation.name] = data.copy()
            continue
        memory[allocation.address] = _as_words(data.copy())
        if allocation.kind == "device" and allocation.name in known:
            symbols[allocation.name] = allocation.address
    return Launch(
        program,
        grid=table.grid,
        block=table.block,
        cluster=table.cluster if table.cluster != (1, 1, 1) else (),
        parameters=bytes.fromhex(table.parameters),
        memory=memory,
        symbols=symbols,
        shared_dynamic=table.shared_dynamic,
        registers=table.attributes.get("registers") or None,
        name=table.kernel,
    )


def expectation_of(capture: Capture) -> Expectation | None:
    """Return what memory should hold afterwards, None where it was not captured."""
    if capture.after is None:
        return None
    found = zip(capture.table.allocations, capture.after, strict=True)
    return {f"memory {one.address:#x}": Rule(_as_words(data), 0.0, 0.0) for one, data in found if one.kind != "constant"}


def differences(capture: Capture, launch: Launch) -> list[Difference]:
    """Return where a launch that was run has left other memory than the GPU did; nothing is known of a capture without `after`."""
    found = []
    for allocation, data in zip(capture.table.allocations, capture.after or [], strict=capture.after is not None):
        if allocation.kind == "constant":
            continue
        got = launch.memory[allocation.address].reshape(-1).view(np.uint8)
        if not np.array_equal(got, data):
            name = allocation.name or f"{allocation.address:#x}"
            words = -(-data.size // WORD)
            different = np.unique(np.flatnonzero(got != data) // WORD).size
            found.append(Difference(allocation.address, name, words, different, relative_error(got, data)))
    return found


def relative_error(got: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest difference over the largest number, bytes read as float32 or float64, whichever is smaller; infinite for NaN."""
    return min(_relative(got, wanted, dtype) for dtype in (np.float32, np.float64))


def _relative(got: np.ndarray, wanted: np.ndarray, dtype: type[np.floating]) -> float:
    whole = got.size // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize
    a, b = got[:whole].copy().view(dtype).astype(np.float64), wanted[:whole].copy().view(dtype).astype(np.float64)
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b) / largest)
    if not np.array_equal(got[whole:], wanted[whole:]) or not np.isfinite(error).all():
        return float("inf")
    return float(error.max(initial=0.0))


def _as_words(data: np.ndarray) -> np.ndarray:
    return data.view(np.uint32) if data.size % WORD == 0 else data
