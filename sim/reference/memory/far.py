"""The port of an SM towards the others of a cluster: accesses to their shared memory, copies to it, arrivals at the cluster's barrier.

Each 32 bytes keep the port for 32 / `clusters.bytes_per_cycle` cycles; what is sent is `clusters.latency` later where it goes than it would
be in the own shared memory. An access to other SMs is taken by the load/store unit when the port is free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.gpus.path import SECTOR, TICKS, cycles
from sim.lowering.phases import CLUSTER_ARRIVES, COPY_NEAR
from sim.reference.decode import Kind
from sim.traces.trace import BYTES, PHASE, RANK_SHIFT

if TYPE_CHECKING:
    from sim.reference.memory.access import Access
    from sim.reference.memory.coalescer import Addresses
    from sim.reference.memory.lsu import LoadStoreUnit
    from sim.reference.moments import Moment
    from sim.reference.wakeup import Warp


class FarPort:
    """The port of one SM."""

    def __init__(self, lsu: LoadStoreUnit) -> None:
        self.lsu = lsu
        clusters = lsu.memory.gpu.clusters
        self.arrival_cycles = clusters.arrival_cycles if clusters else 0
        self.free = 0  # ticks
        self.left = lsu.sm.machine.record.origin  # the moment from which it may take an access
        self.arrives = 0  # first cycle in which another warp may arrive at the barrier of its cluster

    @property
    def ready(self) -> bool:
        """Whether it may take an access now."""
        return self.free // TICKS <= int(self.lsu.env.now)

    def take(self, start: int, packets: int, moment: Moment) -> int:
        """Send so many times 32 bytes from cycle `start` on; return the cycle before which the last has left. moment: that is so far."""
        self.free = max(self.free, start * TICKS) + packets * int(self.lsu.numbers.far_ticks)
        self.left = moment.then(self.free // TICKS, "clusters.bytes_per_cycle", note=f"{packets} times 32 bytes")
        self.lsu.env.timeout(cycles(self.free) - int(self.lsu.env.now))  # something is due: nobody may take the machine for stuck
        return cycles(self.free)

    def send(self, access: Access) -> Moment:
        """Send an access that is taken now; return the moment from which on it is as one to the own shared memory.

        A load sends what it asks for, and as much as it asks for others, an atomic what it brings, too: as if each SM asked for as much as
        it is asked for.
        """
        asks, brings = access.kind is not Kind.STORE, access.kind is not Kind.LOAD
        self.take(access.taken.cycle, access.far * (asks + brings) + asks, access.taken)
        if access.phase:
            return access.taken.then(access.taken.cycle + int(self.lsu.numbers.far_one_way), "clusters.one_way_latency")
        return access.taken.then(access.taken.cycle + int(self.lsu.numbers.far_latency), "clusters.latency")

    def use(self, warp: Warp, access: int) -> None:
        """A warp issues an arrival at its cluster's barrier, or a copy to another block's shared memory; an access of the trace."""
        memory, numbers = self.lsu.memory, self.lsu.numbers
        if warp.instruction.copies == CLUSTER_ARRIVES:
            when = max(warp.issued.cycle, self.arrives)
            self.arrives = when + self.arrival_cycles
            memory.barriers.count(memory.phase_of(access), warp.issued.then(when, "clusters.arrival_cycles"))
        elif warp.instruction.copies == COPY_NEAR:
            arrays = memory.machine.trace.arrays
            row = arrays.scattered[int(arrays.access_base[access])].tolist()
            left = self.take(warp.issued.cycle + int(numbers.copy_latency), -(-row[BYTES] // SECTOR), warp.issued)
            if row[PHASE]:
                memory.barriers.count(row[PHASE], warp.issued.then(left + int(numbers.far_one_way), "clusters.one_way_latency"))


def is_far(address: int) -> bool:
    """Return whether an address in shared memory is of another block."""
    return bool(address >> int(RANK_SHIFT) & 0xFF)


def packets(addresses: Addresses) -> int:
    """Return how many 32 bytes of other blocks' shared memory the lanes touch."""
    return len({address // SECTOR for address in addresses.values() if is_far(address)})
