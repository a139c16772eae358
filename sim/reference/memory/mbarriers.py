"""Barriers in shared memory: when a phase is over, and the warps that wait for that.

An instruction that counts does so when its data would be there. A phase is over when the last of them has; a look at it has its result
`shared.barrier_latency` later than data of shared memory, or than the end of the phase, if that comes later.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from sim.reference.moments import Moment, latest

if TYPE_CHECKING:
    from sim.gpus.model import Gpu
    from sim.reference.memory.access import Access


class Barriers:
    """The phases of a launch, by number; 0 = none, which is over."""

    def __init__(self, counts: np.ndarray, gpu: Gpu) -> None:
        self.left = counts.tolist()  # instructions that are still to count for each
        self.over: dict[int, Moment] = {}  # when the last of those so far counted
        self.waiting: defaultdict[int, list[tuple[Access, Moment]]] = defaultdict(
            list
        )  # and when each could have its result at the earliest
        self.latency = gpu.shared.barrier_latency

    def count(self, phase: int, moment: Moment) -> None:
        """Count for a phase at a moment that is known; when that was the last to count, let those go on that wait."""
        self.left[phase] -= 1
        self.over[phase] = latest(self.over[phase], moment) if phase in self.over else moment
        if not self.left[phase]:
            for access, ready in self.waiting.pop(phase, []):
                self._answer(access, ready)

    def wait(self, access: Access, ready: Moment) -> None:
        """Let an access have its result at that moment, or when its phase is over."""
        if self.left[access.phase]:
            self.waiting[access.phase].append((access, ready))
        else:
            self._answer(access, ready)

    def _answer(self, access: Access, ready: Moment) -> None:
        over = latest(ready, self.over[access.phase]) if access.phase in self.over else ready
        access.results_at(over.then(over.cycle + self.latency, "shared.barrier_latency", ready.work))
