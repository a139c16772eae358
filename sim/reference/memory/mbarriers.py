"""Barriers in shared memory: when a phase is over, and the warps that wait for that.

An instruction that counts does so when its data would be there. A phase is over when the last of them has; a look at it has its result
`shared.barrier_latency` later than data of shared memory, or than the end of the phase, if that comes later.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from sim.lowering.phases import phases_of
from sim.reference.clock import after
from sim.reference.moments import Moment, latest
from sim.result.causes import StallCause

if TYPE_CHECKING:
    from sim.gpus.model import Gpu
    from sim.reference.memory.access import Access
    from sim.reference.wakeup import Warp
    from sim.result.result import Phases
    from sim.traces.trace import Trace


class Barriers:
    """The phases of a launch, by number; 0 = none, which is over."""

    def __init__(self, counts: np.ndarray, gpu: Gpu) -> None:
        self.left = counts.tolist()  # instructions that are still to count for each
        self.begun: dict[int, int] = {}  # cycle in which the first of those so far counted
        self.over: dict[int, Moment] = {}  # when the last of them did
        # Accesses that wait for a phase, and when each could have its result at the earliest; warps that wait for their cluster, and the
        # cycle in which their code is there.
        self.waiting: defaultdict[int, list[tuple[Access, Moment]]] = defaultdict(list)
        self.clusters: defaultdict[int, list[tuple[Warp, int]]] = defaultdict(list)
        self.latency = gpu.shared.barrier_latency
        self.cluster_latency = gpu.clusters.barrier_latency if gpu.clusters else 1

    def count(self, phase: int, moment: Moment) -> None:
        """Count for a phase at a moment that is known; when that was the last to count, let those go on that wait."""
        self.left[phase] -= 1
        self.begun[phase] = min(self.begun.get(phase, moment.cycle), moment.cycle)
        self.over[phase] = latest(self.over[phase], moment) if phase in self.over else moment
        if not self.left[phase]:
            for access, ready in self.waiting.pop(phase, []):
                self._answer(access, ready)
            for warp, code in self.clusters.pop(phase, []):
                self._open(warp, code, self.over[phase])

    def phases(self, trace: Trace) -> Phases | None:
        """Return the phases for `Result`."""
        numbers = range(len(self.left))
        over = [self.over[phase].cycle if phase in self.over else 0 for phase in numbers]
        return phases_of(trace, self.left, [self.begun.get(phase, 0) for phase in numbers], over)

    def wait_for_cluster(self, warp: Warp, phase: int, distance: int, fetching: int) -> None:
        """Let a warp that has issued a wait for its cluster go on when all have arrived, not before these cycles."""
        now = int(warp.env.now)
        if phase and self.left[phase]:
            warp.hold_at_barrier()
            self.clusters[phase].append((warp, now + fetching))
            return
        over = self.over[phase].cycle + self.cluster_latency - now if phase else 0
        holds = [(distance, StallCause.WAIT), (over, StallCause.BARRIER), (fetching, StallCause.NO_INSTRUCTION)]
        warp.hold(*max(holds, key=itemgetter(0)))

    def _open(self, warp: Warp, code: int, over: Moment) -> None:
        """Let a warp go on that has waited for its cluster."""
        there, now = over.cycle + self.cluster_latency, int(warp.env.now)
        warp.held_until = max(there, code)
        warp.allowed = over.then(warp.held_until, "clusters.barrier_latency" if code <= there else "fetch.jump")
        late = partial(warp.hold_on, code - there, StallCause.NO_INSTRUCTION) if code > there else warp.allow
        after(warp.env, there - now, late)

    def wait(self, access: Access, ready: Moment) -> None:
        """Let an access have its result at that moment, or when its phase is over."""
        if self.left[access.phase]:
            self.waiting[access.phase].append((access, ready))
        else:
            self._answer(access, ready)

    def _answer(self, access: Access, ready: Moment) -> None:
        over = latest(ready, self.over[access.phase]) if access.phase in self.over else ready
        access.results_at(over.then(over.cycle + self.latency, "shared.barrier_latency", ready.work))
