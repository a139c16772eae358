"""Register banks of a scheduler: one read port each, and a small cache that keeps what an instruction marks for reuse.

An instruction of arithmetic takes as many cycles as its busiest bank has registers to read, and nothing else is issued meanwhile. The
cache has one place for each bank and source slot; it serves the same warp, register and slot, once: any read replaces what it had.
"""

from sim.reference.decode import Instruction


class RegisterBanks:
    """The ports and the reuse cache."""

    def __init__(self, banks: int) -> None:
        self.banks = banks
        self.kept: dict[tuple[int, int], tuple[int, int]] = {}  # (bank, source slot) -> (warp slot, register)

    def read(self, instruction: Instruction, warp_slot: int) -> int:
        """Read an instruction's registers; return the cycles that this takes."""
        reads: list[list[int]] = [[] for _ in range(self.banks)]
        for slot, registers in enumerate(instruction.sources):
            for register in registers:
                bank = register % self.banks
                if self.kept.get((bank, slot)) != (warp_slot, register) and register != (reads[bank] or [-1])[-1]:
                    reads[bank].append(register)
                if instruction.reuse >> slot & 1:
                    self.kept[bank, slot] = (warp_slot, register)
                else:
                    self.kept.pop((bank, slot), None)
        return max([1, *map(len, reads)])
