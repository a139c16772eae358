"""LDC: constant banks at each lane's address. The log keeps the addresses that a register names (`trace.names_lanes`)."""

import numpy as np

from sim.compiled.kernel import inner
from sim.functional.addresses import addresses, names_lanes, spacing
from sim.functional.memory import ONE, keep_access, room_for_access, transfer
from sim.functional.stack import fault
from sim.functional.state import Code, Fault, Log, Machine, Memory, Progress, Report, Status, Store
from sim.traces.trace import SCATTERED


@inner
def load_constant(
    i: int, w: int, mask: int, code: Code, machine: Machine, memory: Memory, log: Log, store: Store, progress: Progress
) -> int:
    """Execute LDC: read a constant bank at register + offset, in the lanes of `mask`; return as `access` does."""
    keeps = names_lanes(i, code)
    if keeps:
        room = room_for_access(w, log, store)
        if room != Status.RUNNING:
            return room
    addresses(i, w, code, machine)
    bank, width, executing = code.bank[i], code.width[i], mask
    mask |= code.spread[i] if mask else 0
    for k in range(machine.lanes[0]):
        address = machine.target[k]
        if (mask >> k) & 1 and (address < 0 or address + width > memory.bank_bytes[bank] or address & (width - 1)):
            progress.report[Report.ADDRESS] = address
            inside = address >= 0 and address + width <= memory.bank_bytes[bank]
            return fault(Fault.MISALIGNED if inside else Fault.OUT_OF_RANGE, w, k, i, progress)
        machine.index[k] = memory.bank_start[bank] + (address >> 2)
        if (mask >> k) & 1 and not memory.known[machine.index[k]]:
            progress.report[Report.ADDRESS] = address
            return fault(Fault.UNKNOWN_CONSTANT, w, k, i, progress)
    transfer(i, w, mask, SCATTERED, ONE, memory.constants, code, machine)
    if keeps:
        base, stride = spacing(executing, machine) if executing else (np.int64(0), np.int64(0))
        keep_access(w, executing, base, stride, machine, log, store)
    return Status.RUNNING
