"""Constant banks: what c[bank][offset] holds. Bank 0 has the grid, the block and the kernel's parameters."""

import math
import struct
from typing import Any

import numpy as np

from isa.errors import UserError
from isa.program import Parameter, Program
from sim.functional.state import LOCAL_BYTES
from sim.launch import Launch
from sim.parameters import POINTER
from sim.placement import VARIABLES, Placed

# First parameter -> byte offsets of blockDim, gridDim and the stack pointer. Two generations share 0x140.
PLACES = {
    0x140: (("block", 0x28), ("grid", 0x34), ("stack", 0x44), ("block", 0x8), ("grid", 0x14), ("stack", 0x20)),  # sm_35; sm_50 to sm_61
    0x160: (("block", 0x0), ("grid", 0xC), ("stack", 0x28)),  # sm_70 to sm_86
    0x210: (("block", 0x0), ("grid", 0xC), ("stack", 0x28)),  # sm_90
    0x380: (("block", 0x360), ("grid", 0x370), ("stack", 0x37C)),  # sm_100, sm_120
}
FORMATS = {"u8": "<B", "s8": "<b", "u16": "<H", "s16": "<h", "u32": "<I", "s32": "<i", "f32": "<f"}
FORMATS |= {"u64": "<Q", "s64": "<q", "f64": "<d", "ptr": "<Q"}
BANKS = 32  # c[0x0] to c[0x1f]
KINDS = {"u": "an unsigned integer", "s": "an integer", "f": "a float", "p": "an array"}


class Banks:
    """The bytes of every constant bank."""

    def __init__(self, images: dict[int, bytes]) -> None:
        self.images = images

    def word(self, bank: int, offset: int, where: tuple[Program, int]) -> int:
        """Return the word at an offset. Raises UserError outside the bank."""
        image = self.images.get(bank, b"")
        if offset < 0 or offset + 4 > len(image):
            program, i = where
            contents = f"give the bank's contents: Launch(constants={{{bank}: array}})"
            hint = "parameters: .param lines of the listing, or the launch's arguments" if bank == 0 else contents
            raise UserError(
                f"c[{bank:#x}][{offset:#x}] is outside the bank, which has {len(image)} bytes",
                path=program.path,
                line=program.instructions[i].line,
                hint=hint,
            )
        return int.from_bytes(image[offset : offset + 4], "little")

    def flat(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the words of all banks, the first word of each bank, and the bytes of each bank."""
        banks = [self.images.get(bank, b"") for bank in range(BANKS)]
        padded = [image + bytes(-len(image) % 16) for image in banks]
        starts = np.cumsum([0, *(len(image) // 4 for image in padded[:-1])])
        return (
            np.frombuffer(bytearray(b"".join(padded) + bytes(16)), np.uint32),
            starts.astype(np.int64),
            np.array([len(image) for image in banks], np.int64),
        )


def build(launch: Launch, placed: list[Placed]) -> Banks:
    """Return the constant banks of a launch whose arrays have been placed."""
    program = launch.program
    given = {bank: np.ascontiguousarray(array).tobytes() for bank, array in launch.constants.items()}
    images = program.constants | {bank: image + program.constants.get(bank, b"")[len(image) :] for bank, image in given.items()}
    named = [*images, *(int(bank) for bank in program.encoded.source_bank.max(axis=1, initial=0))]
    if not all(0 <= bank < BANKS for bank in named):
        raise UserError(f"constant bank {max(named)}: banks are 0 to {BANKS - 1}", path=program.path)
    size = max([program.parameter_base, *(p.offset + p.size for p in program.parameters)])
    bank = bytearray(images.get(0, b"").ljust(size, b"\0"))
    for what, offset in PLACES.get(program.parameter_base, ()):
        put(bank, what, offset, launch)
    addresses = {item.name: item.address for item in placed}
    for parameter, value in zip(program.parameters, launch.args, strict=True):
        pack = struct.pack(
            FORMATS[parameter.type], addresses[parameter.name] if parameter.type == "ptr" else scalar(parameter, value, program)
        )
        bank[parameter.offset : parameter.offset + parameter.size] = pack[: parameter.size]
    images[0] = bytes(bank)
    for number, offset, where in program.variables.banks if program.variables else ():
        image = images.get(number, b"").ljust(offset + POINTER, b"\0")
        images[number] = image[:offset] + (addresses[VARIABLES] + where).to_bytes(POINTER, "little") + image[offset + POINTER :]
    return Banks(images)


def put(bank: bytearray, what: str, offset: int, launch: Launch) -> None:
    """Write blockDim, gridDim or the stack pointer, which starts at the end of a thread's local memory."""
    sizes = {"block": launch.block, "grid": launch.grid, "stack": (LOCAL_BYTES,)}[what]
    values = sizes if what == "stack" else (*sizes, 1, 1)[:3]
    struct.pack_into(f"<{len(values)}I", bank, offset, *values)


def scalar(parameter: Parameter, value: Any, program: Program) -> int | float:
    """Return a scalar argument as the parameter's type. Raises UserError when it is not that type or does not fit."""
    kind, bits = parameter.type[0], int(parameter.type[1:])
    expected = f"parameter {parameter.name} is {parameter.type}, {KINDS[kind]} of {bits} bits"
    if isinstance(value, np.ndarray) and value.ndim:
        raise UserError(f"{expected}; an array was given", path=program.path)
    if kind == "f":
        right = isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)
        if isinstance(value, np.floating) and not isinstance(value, float):
            right = right and value.dtype.itemsize * 8 <= bits
        if not right:
            raise UserError(
                f"{expected}; {type(value).__name__} {value} was given", path=program.path, hint=f"pass np.float{bits}({value})"
            )
        return float(value) if bits == 64 or not math.isfinite(value) else float(np.float32(value))
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise UserError(
            f"{expected}; {type(value).__name__} {value} was given", path=program.path, hint=f"pass np.{numpy_name(parameter)}(...)"
        )
    lowest, highest = (0, 2**bits - 1) if kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not lowest <= int(value) <= highest:
        raise UserError(f"{expected}; {value} is outside {lowest}..{highest}", path=program.path)
    return int(value)


def numpy_name(parameter: Parameter) -> str:
    """Return the NumPy scalar type of a parameter."""
    return {"u": "uint", "s": "int", "f": "float"}[parameter.type[0]] + parameter.type[1:]
