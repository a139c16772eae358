"""Register banks of a scheduler: one read port each, and a small cache that keeps what an instruction marks for reuse.

An instruction of arithmetic reads all its registers within `read_window` cycles, each port one register per cycle, in the order of
issue. While the ports are too far behind for that, it waits, and the scheduler issues nothing else until it has begun; from there its stall
count counts. The cache has one place for each bank and source slot; it serves the same warp, register and slot, once: any read replaces
what it had. A product of matrices takes all ports for `units.*.reads` cycles.
"""

from sim.gpus.model import Core
from sim.reference.decode import Instruction


class RegisterBanks:
    """The ports and the reuse cache. Cycles are those in which an instruction that need not wait begins to read."""

    def __init__(self, core: Core) -> None:
        self.window = core.read_window
        self.free = [0] * core.register_banks  # first cycle in which each port is free
        self.next = 0  # first cycle in which another instruction may begin
        self.kept: dict[tuple[int, int], tuple[int, int]] = {}  # (bank, source slot) -> (warp slot, register)

    def take(self, instruction: Instruction, warp_slot: int, now: int) -> int:
        """Read the registers of an instruction that issues now; return for how many cycles the scheduler issues nothing else."""
        wanted = self._missing(instruction, warp_slot)
        in_time = [free + min(len(reads) - self.window, 0) for free, reads in zip(self.free, wanted, strict=True) if reads]
        begins = max([now, self.next, *in_time])
        for bank, reads in enumerate(wanted):
            if reads:
                self.free[bank] = max(self.free[bank], begins) + len(reads)
        self.next = begins + instruction.reads
        return begins + 1 - now

    def _missing(self, instruction: Instruction, warp_slot: int) -> list[list[int]]:
        """Return the registers to read from each bank, without those that the cache has; update the cache."""
        reads: list[list[int]] = [[] for _ in self.free]
        for slot, registers in enumerate(instruction.sources):
            for register in registers:
                bank = register % len(self.free)
                if self.kept.get((bank, slot)) != (warp_slot, register) and register != (reads[bank] or [-1])[-1]:
                    reads[bank].append(register)
                if instruction.reuse >> slot & 1:
                    self.kept[bank, slot] = (warp_slot, register)
                else:
                    self.kept.pop((bank, slot), None)
        return reads
