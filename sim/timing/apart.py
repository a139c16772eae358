"""The parts of the engine that are compiled and kept by themselves (`sim.compiled.apart`), when a run needs them."""

from collections.abc import Iterable

import numpy as np

from sim.compiled.apart import Apart
from sim.lowering.core import CLUSTER_WAIT, Code, Hardware
from sim.timing.clusters import deliver, wait_for_cluster
from sim.timing.issue import issue_further
from sim.timing.memory.copies import ask_for_lines, land, start_copy
from sim.timing.memory.mbarriers import count_for_phase, look_at_phase
from sim.timing.parts import Part, What
from sim.timing.state import Machine
from sim.traces.trace import TraceArrays


def further(m: int, slot: int, first: int, now: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> int:
    """Call `issue_further` for the warp in a slot, which has issued instruction `first`, or ~`first` where that was its last."""
    warp, alive = sm.warps[m, slot], first >= 0
    op = code.ops[first if alive else ~first]
    return np.int64(issue_further(sm.schedulers[m, warp.scheduler], warp, op, now, alive, hw, code, sm, trace))


def exchanged(what: int, m: int, which: int, cycle: int, hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> int:
    """Do `what`. which: a warp's slot; of LAND an MSHR, of LOOK_AT_PHASE an entry of a queue, of COUNT_FOR_PHASE a phase."""
    if what == What.START_COPY:
        warp = sm.warps[m, which]
        start_copy(warp, code.ops[warp.instruction], cycle, hw, code, sm, trace)
    elif what == What.ASK_FOR_LINES:
        ask_for_lines(m, cycle, hw, code, sm, trace)
    elif what == What.LAND:
        land(m, which, cycle, hw, code, sm, trace)
    elif what == What.LOOK_AT_PHASE:
        look_at_phase(m, sm.memory.entries[m, which // hw.memory[0].depth, which % hw.memory[0].depth], cycle, hw, code, sm)
    elif what == What.COUNT_FOR_PHASE:
        count_for_phase(m, which, cycle, hw, code, sm)
    elif what == What.WAIT_FOR_CLUSTER:
        wait_for_cluster(sm.warps[m, which], sm.warps[m, which].earliest, cycle, hw, code, sm, trace)
    elif what == What.DELIVER:
        deliver(cycle, hw, code, sm)
    return np.int64(0)


PARTS = {Part.FURTHER: Apart("timing.further", further), Part.EXCHANGE: Apart("timing.exchange", exchanged)}


def needed(hw: Hardware, code: Code, sm: Machine) -> list[Part]:
    """Return the parts that a run needs."""
    exchanges = code.ops["copies"].any() or code.ops["phase"].any() or (code.ops["flow"] == CLUSTER_WAIT).any() or sm.homes.size
    wanted = {Part.FURTHER: hw.issue_width > 1, Part.EXCHANGE: exchanges}
    return [part for part, is_needed in wanted.items() if is_needed]


def link(parts: Iterable[Part], hw: Hardware, code: Code, sm: Machine, trace: TraceArrays) -> None:
    """Write the addresses of parts to the machine."""
    for part in parts:
        sm.parts[part] = PARTS[part].address(0, 0, 0, 0, hw, code, sm, trace)
