"""The memory system that all SMs share: L2 slices, each with a DRAM channel, and what is counted on the way."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sim.launch.placement import lines_of
from sim.lowering.memory import hierarchy
from sim.lowering.slices import gpcs_of, number_of, place_of, sides_of
from sim.reference.memory.coalescer import Addresses
from sim.reference.memory.fills import Fills
from sim.reference.memory.l2 import Slice
from sim.reference.memory.mbarriers import Barriers
from sim.reference.memory.request_coalescer import RequestCoalescer
from sim.reference.memory.rows import Rows
from sim.result.causes import Tally
from sim.traces.trace import PHASE_SHIFT, SCATTERED

if TYPE_CHECKING:
    from sim.reference.machine import Machine
    from sim.reference.memory.network import RequestPort


class MemorySystem:
    """Everything beyond the SMs, in its state before cycle 0."""

    def __init__(self, machine: Machine) -> None:
        gpu, launch = machine.gpu, machine.trace.launch
        self.machine, self.env, self.gpu = machine, machine.env, gpu
        shared = (launch.shared_per_block + gpu.limits.shared_reserved) * machine.occupancy.blocks
        self.numbers = hierarchy(gpu, 0, shared)  # latencies and rates less what each contains of the others
        self.tallies: Counter[Tally] = Counter()
        self.rows = Rows(self)
        self.gpcs, self.sides = gpcs_of(gpu, launch).tolist(), sides_of(gpu, launch).tolist()
        self.coalescer, self.fills = RequestCoalescer(self), Fills(self)
        self.slices = [Slice(self, number) for number in range(gpu.dram.channels)]
        self.answers = 0
        self.ports: list[RequestPort] = []  # of the SMs, once they are there
        self.barriers = Barriers(machine.phases, gpu)
        start = gpu.l2.start if gpu.l2 else "cold"
        lines = lines_of(launch).tolist() if start == "warm" else []
        fits_twice = 2 * len(lines) <= int(self.numbers.channels * self.numbers.l2_sets * self.numbers.l2_ways)
        for line in lines:
            self.slice_of(line).warm(line, fits_twice)
        for one in self.slices:
            one.is_dirty = start == "dirty"

    def number_of(self, line: int) -> int:
        """Return the number of a line among those of L2."""
        channels = int(self.numbers.channels)
        return int(number_of(line, place_of(line, channels), channels, int(self.numbers.lanes), int(self.numbers.lane_cycle)))

    def slice_of(self, line: int) -> Slice:
        """Return the slice of a line; its channel is the same."""
        return self.slices[self.number_of(line) % len(self.slices)]

    @property
    def busy(self) -> bool:
        """Whether requests are on their way to L2."""
        return any(sm.lsu and sm.lsu.requests.packets for sm in self.machine.sms)

    def step(self) -> None:
        """Let requests reach L2, SM by SM; no SM is always the first."""
        ports = self.ports or self._find_ports()
        first = int(self.env.now) % len(ports)
        for port in ports[first:] + ports[:first] if first else ports:
            if port.packets and port.packets[0].arrived:
                port.enter_l2()

    def _find_ports(self) -> list[RequestPort]:
        """Return the ports of all SMs towards L2, which are put together after this."""
        self.ports = [sm.lsu.requests for sm in self.machine.sms if sm.lsu]
        return self.ports

    def next_answer(self) -> int:
        """Return the place of an answer in the order of service."""
        self.answers += 1
        return self.answers

    def phase_of(self, access: int) -> int:
        """Return the phase that an access of the trace counts or waits for; 0 = none."""
        return int(self.machine.trace.arrays.access_base[access] >> PHASE_SHIFT)

    def further_pieces(self, access: int, mask: int) -> int:
        """Return how many pieces the lines of a copy to shared memory have beyond one each."""
        arrays, lane = self.machine.trace.arrays, (mask & -mask).bit_length() - 1
        stride = int(arrays.access_stride[access])
        return (int(arrays.access_base[access]) + (0 if stride == SCATTERED else lane * stride)) >> int(PHASE_SHIFT)

    def addresses(self, access: int, mask: int) -> Addresses:
        """Return the byte addresses of the lanes that take part in an access of the trace."""
        return self.machine.trace.addresses(access, mask)
