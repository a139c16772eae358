"""Functions as the disassembler printed them: text split into parts, raw words, nothing understood."""

from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from isa.architecture import FAMILIES, Family, number


class RawInstruction(NamedTuple):
    """One instruction as printed."""

    address: int  # bytes from the start of the section of code
    guard: str  # "", "@P0", "@!PT", "@UP1"
    opcode: str  # with modifiers: "LDG.E.128"
    operands: tuple[str, ...]  # blanks inside an operand removed: "c[0x0][0x8].H1"
    targets: tuple[str, ...]  # labels that the disassembler names beside an indirect jump
    word: int | None  # the encoding, 64 bits or 128; None when the listing shows none
    line: int  # 1-based line of the listing

    @property
    def text(self) -> str:
        """Return the instruction without braces and semicolon: "@P0 LDG.E R4, [R2+0x4]"."""
        return " ".join(part for part in (self.guard, self.opcode, ", ".join(self.operands)) if part)


@dataclass(frozen=True)
class RawFunction:
    """One function of a listing."""

    name: str  # as printed, mangled or not
    architecture: str  # "sm_75", "sm_90a"
    instructions: tuple[RawInstruction, ...] = field(repr=False)
    labels: dict[str, int] = field(default_factory=dict, repr=False)  # name -> instruction index (may be n: the end)
    braces: tuple[int, ...] = ()  # first instruction of each pair that the disassembler put in braces
    control_words: dict[int, int] = field(default_factory=dict, repr=False)  # address -> word, before Volta
    line: int = 0  # 1-based line of its first instruction

    def __len__(self) -> int:
        return len(self.instructions)

    @property
    def family(self) -> Family:
        """How this architecture lays out instructions and control words."""
        return FAMILIES[number(self.architecture)]

    @property
    def has_words(self) -> bool:
        """True when the listing shows the encoding, and with it the control fields."""
        return bool(self.instructions) and self.instructions[0].word is not None

    @cached_property
    def addresses(self) -> list[int]:
        """The address of each instruction, ascending."""
        return [instruction.address for instruction in self.instructions]

    def index_at(self, address: int) -> int | None:
        """Return the instruction at an address, n for the end, None elsewhere.

        Before Volta a branch may name the control word of a group: execution goes on behind it.
        """
        index = bisect_left(self.addresses, address)
        if index == len(self):
            return index if self.instructions and address - self.addresses[-1] <= 2 * self.family.instruction_bytes else None
        ahead = self.addresses[index] - address
        is_control_word = self.family.group_bytes > 0 and address % self.family.group_bytes == 0 and ahead == self.family.instruction_bytes
        return index if ahead == 0 or is_control_word else None
