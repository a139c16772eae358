"""What only registers said, written into the program of a trace for the timing engines: which memory generic addresses led to, which
barrier a BAR stood for. An instruction that found several stays as it is."""

from dataclasses import replace

import numpy as np

from isa.vocabulary import PT, Flag, Kind, Operation, Space, Unit
from sim.launch.launch import Launch
from sim.traces.trace import FAR

UNITS = {Space.SHARED: Unit.SHARED, Space.LOCAL: Unit.LOCAL}


def resolved(launch: Launch, found: np.ndarray) -> Launch:
    """Return a launch of the same program with what was found. found: `Store.found`.

    The low word of an address in a window is the offset in that memory, so the program computes the same as before. An atomic that says
    whether it was done is left alone: it is done in global memory only.
    """
    e = launch.program.encoded
    asks = (e.operation == Operation.ATOM) & (e.predicate_destination[:, 0] != PT)
    space, unit, flags = e.space.copy(), e.unit.copy(), e.flags.copy()
    for one, its in UNITS.items():
        alone = (found[:, 0] & ~(1 << FAR) == 1 << one) & ~asks
        space[alone], unit[alone] = one, its
        flags[alone] &= ~int(Flag.ADDRESS64 | Flag.INDEX64)
    flags[(found[:, 0] >> FAR & 1 == 1) & (space == Space.SHARED)] |= int(Flag.CLUSTER)
    barrier, number, threads, kind = found[:, 1] > 0, e.function.copy(), e.address_offset.copy(), e.source_kind.copy()
    number[barrier] = (found[barrier, 1] - 1) & 0xFFFF
    threads[barrier] = (found[barrier, 1] - 1) >> 16
    kind[barrier] = Kind.NONE
    if not barrier.any() and (space == e.space).all() and (flags == e.flags).all():
        return launch
    encoded = e._replace(space=space, unit=unit, flags=flags, function=number, address_offset=threads, source_kind=kind)
    return replace(launch, program=replace(launch.program, encoded=encoded))
