"""Traces without one of their costs: the same program on the same data, with some instructions free or some addresses ideal.

What no field of a GPU can express (an access without bank conflicts, a barrier that nobody waits at) is a change of the trace, so that
every engine times it as it times any other.
"""

import dataclasses

import numpy as np

from isa.program import Program
from isa.vocabulary import Operation, Space, Unit
from sim.analysis import banks
from sim.gpus.path import SECTOR
from sim.traces.trace import ACCESSES, ADDRESS, SCATTERED, Trace, instruction_of, logged

GLOBAL = (Space.GLOBAL, Space.GENERIC)
LANES = 32
PERIOD = 256  # bytes; two accesses to shared memory that differ by a multiple of it meet in the same banks


def touches(program: Program, spaces: tuple[Space, ...], operations: tuple[Operation, ...] = ACCESSES) -> np.ndarray:
    """Return bool [n]: instructions that access one of `spaces`."""
    return np.isin(program.encoded.operation, operations) & np.isin(program.encoded.space, spaces)


def free(trace: Trace, chosen: np.ndarray) -> Trace:
    """Return the trace with the chosen instructions costing no more than their issue; bool [n]. Their results are there at once."""
    encoded, arrays = trace.program.encoded, trace.arrays
    changed = encoded._replace(
        unit=np.where(chosen, Unit.NONE, encoded.unit).astype(encoded.unit.dtype),
        operation=np.where(chosen, Operation.MOV, encoded.operation).astype(encoded.operation.dtype),
    )
    program = dataclasses.replace(trace.program, encoded=changed)
    if not (chosen & logged(trace.program)).any():
        return _of(trace, program)
    kept = ~chosen[instruction_of(trace)[0]]
    counts = np.append(0, np.cumsum(kept))
    return _of(
        trace,
        program,
        access_start=counts[arrays.access_start],
        access_base=arrays.access_base[kept],
        access_stride=arrays.access_stride[kept],
    )


def coalesced(trace: Trace) -> Trace:
    """Return the trace with every global load and store by neighbouring lanes, aligned; one that moves as little already stays."""
    arrays, warp = trace.arrays, trace.launch.warp_size
    instruction, mask = instruction_of(trace)
    width = trace.program.encoded.width[instruction].astype(np.int64)
    chosen = touches(trace.program, GLOBAL, (Operation.LOAD, Operation.STORE))[instruction]
    even = arrays.access_stride != SCATTERED
    chosen &= np.where(even, arrays.access_stride != 0, _wasteful(trace, mask, width, ~even & chosen))
    lowest = np.where(even, arrays.access_base + np.minimum(arrays.access_stride, 0) * (warp - 1) * even, 0)
    lowest[~even] = _lowest(trace, mask, ~even)
    base = lowest - lowest % (warp * np.maximum(width, 1))  # a bulk copy has no width
    return _of(
        trace,
        trace.program,
        access_base=np.where(chosen, base, arrays.access_base),
        access_stride=np.where(chosen, width, arrays.access_stride),
    )


def without_conflicts(trace: Trace, rule: banks.Rule) -> Trace:
    """Return the trace with every shared-memory load and store that has a bank conflict moved to neighbouring words."""
    arrays = trace.arrays
    instruction, mask = instruction_of(trace)
    width = trace.program.encoded.width[instruction].astype(np.int64)
    chosen = touches(trace.program, (Space.SHARED,), (Operation.LOAD, Operation.STORE))[instruction] & (mask != 0)
    even = arrays.access_stride != SCATTERED
    base, stride = arrays.access_base.copy(), arrays.access_stride.copy()
    for places in (np.flatnonzero(chosen & even), np.flatnonzero(chosen & ~even)):
        moved = places[_conflicting(trace, places, mask[places], width[places], rule)]
        base[moved], stride[moved] = 0, width[moved]
    return _of(trace, trace.program, access_base=base, access_stride=stride)


def _conflicting(trace: Trace, places: np.ndarray, mask: np.ndarray, width: np.ndarray, rule: banks.Rule) -> np.ndarray:
    """Return bool [places]: accesses, all evenly spaced or all scattered, that take more passes than they need."""
    if not len(places):
        return np.zeros(0, bool)
    arrays = trace.arrays
    base, stride = arrays.access_base[places], arrays.access_stride[places]
    pattern = base[:, None] if stride[0] == SCATTERED else np.column_stack([base % PERIOD, stride])
    _, first, which = np.unique(np.column_stack([width, mask.astype(np.int64), pattern]), axis=0, return_index=True, return_inverse=True)
    rows = _addresses(trace, places[first])
    found = [_conflicts(row, int(bits), int(size), rule) for row, bits, size in zip(rows, mask[first], width[first], strict=True)]
    return np.array(found, bool)[which.reshape(-1)]


def _of(trace: Trace, program: Program, **changes: np.ndarray) -> Trace:
    launch = dataclasses.replace(trace.launch, program=program)
    return dataclasses.replace(trace, launch=launch, arrays=trace.arrays._replace(**changes))


def _addresses(trace: Trace, places: np.ndarray) -> np.ndarray:
    """Return int64 [places, LANES]: the addresses of some accesses; those of idle lanes mean nothing."""
    arrays = trace.arrays
    base, stride = arrays.access_base[places], arrays.access_stride[places]
    even = stride != SCATTERED
    rows = np.where(even, base, 0)[:, None] + np.where(even, stride, 0)[:, None] * np.arange(LANES)
    rows[~even] = arrays.scattered[base[~even] & ADDRESS]
    return rows


def _active(mask: np.ndarray) -> np.ndarray:
    return (mask[:, None].astype(np.int64) >> np.arange(LANES)) & 1 == 1


def _lowest(trace: Trace, mask: np.ndarray, places: np.ndarray) -> np.ndarray:
    rows = _addresses(trace, np.flatnonzero(places))
    return np.where(_active(mask[places]), rows, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)


def _wasteful(trace: Trace, mask: np.ndarray, width: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return bool [accesses]: of `places`, those that touch more sectors than their lanes need side by side."""
    active = _active(mask[places])
    sectors = np.sort(np.where(active, _addresses(trace, np.flatnonzero(places)) // SECTOR, -1), axis=1)
    distinct = (np.diff(sectors, axis=1) != 0).sum(axis=1) + 1 - (sectors[:, 0] < 0)
    found = np.zeros(len(mask), bool)
    found[places] = distinct > np.ceil(active.sum(axis=1) * width[places] / SECTOR)
    return found


def _conflicts(addresses: np.ndarray, mask: int, width: int, rule: banks.Rule) -> bool:
    return banks.wavefronts(addresses, mask, width, rule) > banks.fewest(mask, width, rule)
