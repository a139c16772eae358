"""Which architectures are read, and how each lays out its instructions and control words."""

import re
from typing import NamedTuple


class Family(NamedTuple):
    """One encoding. Sizes in bytes; a group is a control word and the instructions that it schedules."""

    name: str
    instruction_bytes: int
    group_bytes: int  # 0 = the control fields are inside each instruction
    control_bits: int  # per instruction


KEPLER = Family("Kepler", 8, 64, 8)  # one word before 7 instructions
MAXWELL = Family("Maxwell", 8, 32, 21)  # one word before 3 instructions
VOLTA = Family("Volta", 16, 0, 21)  # bits 105 to 125 of the instruction

FAMILIES = {
    **dict.fromkeys((35, 37), KEPLER),
    **dict.fromkeys((50, 52, 53, 60, 61, 62), MAXWELL),
    **dict.fromkeys((70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 107, 110, 120, 121), VOLTA),
}
KNOWN = f"sm_{min(FAMILIES)} to sm_{max(FAMILIES)}"
CONSTANT_BANK_BYTES = 1 << 16  # at most: an instruction has 16 bits for an offset
NAME = re.compile(r"sm_(\d+)[af]?")


def number(architecture: str) -> int:
    """Return 90 for "sm_90" or "sm_90a". Raises ValueError for anything else."""
    match = NAME.fullmatch(architecture)
    if match is None:
        raise ValueError(f"{architecture!r} is not the name of an architecture")
    return int(match[1])


def family(architecture: str) -> Family | None:
    """Return how an architecture encodes its instructions; None when it is not known."""
    match = NAME.fullmatch(architecture)
    return FAMILIES.get(int(match[1])) if match else None


def era(architecture: str) -> str:
    """Return which section of opcodes.toml an architecture's opcodes are looked up in first: "volta" or "before_volta"."""
    return "volta" if number(architecture) >= 70 else "before_volta"


def parameter_base(architecture: str) -> int:
    """Return where kernel parameters start in c[0x0]: what compilers of CUDA 11.8 to 13.5 chose."""
    found = number(architecture)
    return 0x380 if found >= 100 else 0x210 if found >= 90 else 0x160 if found >= 70 else 0x140
