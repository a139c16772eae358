"""Register banks of a scheduler: one read port each, and two small caches that keep what an instruction marks for reuse.

An instruction of arithmetic reads all its registers within `read_window` cycles, each port one register per cycle, in the order of
issue. While the ports are too far behind for that, it waits, and the scheduler stands still, the stall counts of its warps with it, until
it has begun; from there its own counts. A cache has one place for each bank and source slot; it serves the same warp, register and slot,
once: any read replaces what it had. One serves FP64 and the tensor cores, the other all else. A product of matrices takes all ports for
`units.*.reads` cycles; one of a warpgroup takes them again and again for its sums, and leaves them to others for a cycle each time.
"""

from sim.gpus.front_sections import WarpGroup
from sim.gpus.model import Core
from sim.reference.decode import Instruction
from sim.reference.moments import NOBODY, Work


class Standstill:
    """Cycles in which a scheduler has stood still so far, the stall counts of its warps with it."""

    def __init__(self) -> None:
        self.cycles, self.why, self.work = 0, "", NOBODY  # why, whose: the last of it

    def add(self, delay: int, further: int, work: Work) -> list[tuple[int, str]]:
        """Stand still until the registers are read, and for further passes; return how long nothing else issues, with the field why."""
        whole = ((delay, delay, "core.register_banks"), (further, delay + further, "units.imad.wide_passes"))
        for cycles, _, why in whole:
            if cycles:
                self.cycles, self.why, self.work = self.cycles + cycles, why, work
        return [(until + 1, why) for cycles, until, why in whole if cycles]


class RegisterBanks:
    """The ports and the reuse caches. Cycles are those in which an instruction that need not wait begins to read."""

    def __init__(self, core: Core) -> None:
        self.window = core.read_window
        self.free = [0] * core.register_banks  # first cycle in which each port is free
        self.next = 0  # first cycle in which another instruction may begin
        self.kept: dict[tuple[int, int, int], tuple[int, int]] = {}  # (reuse cache, bank, source slot) -> (warp slot, register)

    def take(self, instruction: Instruction, warp_slot: int, now: int) -> tuple[int, int]:
        """Read the registers of an instruction that issues now; return in how many cycles it begins to, and in how many its pipe takes it:
        then, or FP64 and the tensor cores once the first register of each bank has been read.
        """
        wanted = self._missing(instruction, warp_slot)
        in_time = [free + min(len(reads) - self.window, 0) for free, reads in zip(self.free, wanted, strict=True) if reads]
        begins = max([now, self.next, *in_time])
        first = max([begins, *(free for free, reads in zip(self.free, wanted, strict=True) if reads and instruction.collector)])
        for bank, reads in enumerate(wanted):
            if reads:
                self.free[bank] = max(self.free[bank], begins) + len(reads)
        self.next = begins + instruction.reads
        return begins - now, first - now

    def _missing(self, instruction: Instruction, warp_slot: int) -> list[list[int]]:
        """Return the registers to read from each bank, without those that its cache has; update the cache."""
        reads: list[list[int]] = [[] for _ in self.free]
        for slot, registers in enumerate(instruction.sources):
            for register in registers:
                bank = register % len(self.free)
                place = instruction.collector, bank, slot
                if self.kept.get(place) != (warp_slot, register) and register != (reads[bank] or [-1])[-1]:
                    reads[bank].append(register)
                if instruction.reuse >> slot & 1:
                    self.kept[place] = (warp_slot, register)
                else:
                    self.kept.pop(place, None)
        return reads


class ProductPorts:
    """What products of warpgroups take of a scheduler's ports, for the sums that they read and write: cycles in a row, time and again."""

    def __init__(self, group: WarpGroup) -> None:
        self.group = group
        self.products = range(0)  # cycles in which products that follow one another take the ports
        self.owed = 0  # cycles in a row that these take next
        self.last, self.slot = 0, 0  # first cycle after the one in which they left the ports to an instruction last; the slot of its warp

    def multiply(self, begins: int, over: int) -> None:
        """A product takes the ports from one cycle to another."""
        if begins >= self.products.stop:
            self.products, self.owed = range(begins, begins), 0
        self.products = range(self.products.start, over)

    def wait(self, warp_slot: int, begins: int) -> int:
        """Return for how many cycles an instruction of a warp that could begin to read then waits until it has the ports."""
        if begins not in self.products:
            return 0
        turn, owed = max(begins, self.last), 1
        if turn == self.last and warp_slot == self.slot:
            owed = self.owed
        else:
            late = turn - max(self.last, self.products.start) - self.owed  # after the product has left the ports
            turn += -late if late < 0 else -late % (self.group.port_cycles + 1)
        self.slot, self.last = warp_slot, turn + 1
        self.owed = min(owed + self.group.port_cycles - 1, self.group.port_backlog)
        return turn - begins
