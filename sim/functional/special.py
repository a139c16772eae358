"""Special registers: what S2R reads, as a row."""

import numpy as np

from isa.vocabulary import Special
from sim.compiled.kernel import inner
from sim.functional.state import FULL, SHARED_WINDOW, Machine


@inner
def read_special(which: int, w: int, out: np.ndarray, machine: Machine) -> None:
    """Write special register `which` of warp w. SMID reads 0: placement is the engine's."""
    for k in range(machine.lanes[0]):
        if which <= Special.TID_Z:
            out[k] = machine.thread[which, w, k]
        elif which >= Special.EQMASK and which <= Special.GEMASK:
            out[k] = np.uint32(lane_mask(which, k))
        elif which == Special.LANEID:
            out[k] = np.uint32(k)
        else:
            out[k] = np.uint32(uniform_special(which, w, machine))


@inner
def lane_mask(which: int, lane: int) -> int:
    """Return the lanes equal to, below, above ... a lane."""
    equal = np.int64(1) << lane
    below = equal - 1
    if which == Special.EQMASK:
        return equal
    if which == Special.LTMASK:
        return below
    if which == Special.LEMASK:
        return below | equal
    return FULL & ~(below | equal) if which == Special.GTMASK else FULL & ~below


@inner
def uniform_special(which: int, w: int, machine: Machine) -> int:
    """Return a special register that is the same in every lane."""
    if which >= Special.CTAID_X and which <= Special.CTAID_Z:
        return machine.block[which - Special.CTAID_X]
    if which >= Special.NTID_X and which <= Special.NTID_Z:
        return machine.block_shape[which - Special.NTID_X]
    if which >= Special.NCTAID_X and which <= Special.NCTAID_Z:
        return machine.grid_shape[which - Special.NCTAID_X]
    if which in (Special.WARPID, Special.VIRTID):
        return w << 8 if which == Special.VIRTID else w
    if which in (Special.CLOCKLO, Special.GLOBALTIMERLO):
        return now(w, machine) & FULL
    if which in (Special.CLOCKHI, Special.GLOBALTIMERHI):
        return now(w, machine) >> 32
    if which == Special.NWARPID:
        return machine.pc.size
    if which == Special.CGA_CTAID:
        return machine.rank[0]
    if which == Special.SWINHI:
        return SHARED_WINDOW
    return machine.shared_bytes if which == Special.SMEMSZ else 0


@inner
def now(w: int, machine: Machine) -> int:
    """Return the clock: how many warp instructions of the launch were executed before this one."""
    return machine.clock[0] + machine.length[w]
