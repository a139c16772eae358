"""`Program`: a decoded listing as structure of arrays, the only form in which the simulator sees code.

The parser and the readers of real SASS make one through `isa.encode`; the executor reads `Program.encoded`,
`sim.lowering.core` turns it into the tables of the timing engines, reports print `Program.instructions`.
"""

from dataclasses import dataclass, field

from isa.control_text import fields
from isa.records import READS, SOURCES, WRITES, Control, Encoded, Instruction, Parameter, Variable, Variables

__all__ = ["READS", "SOURCES", "WRITES", "Control", "Encoded", "Instruction", "Parameter", "Program", "Variable", "Variables"]


@dataclass(frozen=True)
class Program:
    """A kernel, decoded. `encoded` is for machines, `instructions` for people; they have the same length."""

    name: str
    encoded: Encoded = field(repr=False)
    instructions: tuple[Instruction, ...] = field(repr=False)
    labels: dict[str, int]  # label -> instruction index (may be n: the end)
    registers: int  # registers per thread that a launch must allocate
    shared_bytes: int = 0  # static shared memory per block, bytes
    parameters: tuple[Parameter, ...] = ()
    parameter_base: int = 0x140  # byte offset of the first parameter in c[0x0]
    path: str = ""  # listing file, "" when parsed from text
    source: str = field(default="", repr=False)  # the text
    markers: bool = False  # True when lanes meet by SSY/SYNC or BSSY/BSYNC, as in all compiled code from Volta on; not by post-dominator
    control: Control | None = field(default=None, repr=False)  # None: a listing without control words
    architecture: str = ""  # "sm_90"; "" = mini-SASS, which is for any
    addresses: tuple[int, ...] = field(default=(), repr=False)  # of each instruction, bytes, for jumps to what a register holds
    constants: dict[int, bytes] = field(default_factory=dict, repr=False)  # what the compiler put into each constant bank
    variables: Variables | None = field(default=None, repr=False)
    symbols: tuple[Variable, ...] = field(default=(), repr=False)  # what a launch may set by name
    driver_functions: tuple[tuple[int, str], ...] = field(default=(), repr=False)  # byte offset in c[0x4] of the address, name
    cluster: tuple[int, ...] = ()  # __cluster_dims__: x, y, z; none: a launch may say it
    is_open: bool = False  # True when the listing does not say its parameters: a launch's arguments do

    def __len__(self) -> int:
        return len(self.instructions)

    def listing(self, with_control: bool = False) -> str:
        """Return the program as text that `isa.parse` reads back to an equal program; its control words only on demand."""
        lines = [f".kernel {self.name}", f".registers {self.registers}"]
        if self.shared_bytes:
            lines.append(f".shared {self.shared_bytes}")
        if self.architecture:
            lines.append(f".target {self.architecture}")
        lines.append(f".parameter_base {self.parameter_base:#x}")
        lines += [f".param {parameter.type} {parameter.name}" for parameter in self.parameters if parameter.type]
        labels: dict[int, list[str]] = {}
        for label, index in self.labels.items():
            labels.setdefault(index, []).append(f"{label}:")
        for instruction in self.instructions:
            lines += labels.get(instruction.index, [])
            words = f"{fields(self.control, instruction.index, self.architecture)} " if with_control and self.control else ""
            lines.append(f"    {words}{instruction.text}")
        lines += labels.get(len(self), [])
        return "\n".join(lines) + "\n"
