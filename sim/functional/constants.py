"""Constant banks: what c[bank][offset] holds. Bank 0 has the grid, the block and the kernel's parameters."""

import math
import struct
from typing import Any

import numpy as np

from isa.errors import UserError
from isa.program import Parameter, Program
from isa.sass.variables import ADDRESS_BANK
from sim.functional.state import CONSTANT_WINDOW, DRIVER_WINDOW, LOCAL_BYTES, LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW, WINDOW_BITS
from sim.launch.launch import Launch
from sim.launch.placement import Places
from sim.launch.pointers import BYTES, check_order, is_structure

# First parameter -> byte offsets of what a driver writes below it; nobody says what stands at others. Two generations share 0x140.
# Of clusters: whether the launch has any, their sizes, the reciprocals of these, how many there are, blocks of each.
CLUSTERS = (("clustered", 0x140), ("cluster", 0x144), ("reciprocals", 0x150), ("clusters", 0x15C), ("ranks", 0x188))
CLUSTERS_BY_SIZE = (
    ("clustered", 0x36C),
    *(("one", at) for at in (0x2A0, 0x2A4, 0x2A8, 0x2CC)),
    ("float_one", 0x2B4),
    ("float_one", 0x2B8),
    ("grid", 0x2C0),
)
PLACES: dict[int, tuple[tuple[str, int], ...]] = {
    0x20: (("block", 0x8), ("grid", 0x14)),  # sm_20
    0x140: (
        *(("block", 0x28), ("grid", 0x34), ("stack", 0x44)),  # sm_35
        *(("block", 0x8), ("grid", 0x14), ("stack", 0x20), ("low_local_window", 0x4)),  # sm_50 to sm_61
    ),
    0x160: (
        *(("block", 0x0), ("grid", 0xC), ("shared_window", 0x18), ("local_window", 0x20), ("stack", 0x28), ("dynamic", 0x2C)),
        *(("constant_window", 0x50), ("descriptor", 0x118)),
    ),  # sm_70 to sm_86
    0x210: (
        *(("block", 0x0), ("grid", 0xC), ("local_window", 0x20), ("stack", 0x28), ("dynamic", 0x2C), ("constant_window", 0xD0)),
        *(*CLUSTERS, ("descriptor", 0x208), ("parameters", 0x198)),
    ),  # sm_90
    0x380: (
        *(("block", 0x360), ("grid", 0x370), ("stack", 0x37C), ("local_window", 0x2F8), ("constant_window", 0x120)),
        *(*CLUSTERS_BY_SIZE, ("dynamic", 0x2AC), ("descriptor", 0x358)),
    ),  # sm_100, sm_120
}
MEANINGS = {
    **{(0x160, 0x10C): "%nsmid", (0x160, 0x30): "%gridid", (0x160, 0x114): "%total_smem_size", (0x160, 0x94): "%envreg"},
    **{(0x210, 0x10C): "%nsmid", (0x210, 0x30): "%gridid", (0x210, 0x114): "%total_smem_size", (0x210, 0x4C): "%envreg"},
    **{(0x210, 0x13C): "%aggr_smem_size", (0x380, 0x2D0): "%nsmid", (0x380, 0x140): "%gridid", (0x380, 0x16C): "%total_smem_size"},
}  # of places that are not known: by what PTX compiles to them
FORMATS = {"u8": "<B", "s8": "<b", "u16": "<H", "s16": "<h", "u32": "<I", "s32": "<i", "f32": "<f"}
FORMATS |= {"u64": "<Q", "s64": "<q", "f64": "<d", "ptr": "<Q"}
BANKS = 32  # c[0x0] to c[0x1f]
KINDS = {"u": "an unsigned integer", "s": "an integer", "f": "a float", "p": "an array"}


class Banks:
    """The bytes of every constant bank. known: which of bank 0 have a value, the rest are a driver's."""

    def __init__(self, images: dict[int, bytes], known: bytes) -> None:
        self.images, self.known = images, known

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
        if bank == 0 and not all(self.known[offset : offset + 4]):
            message, hint = unknown(where[0], offset)
            raise UserError(message, path=where[0].path, line=where[0].instructions[where[1]].line, hint=hint)
        return int.from_bytes(image[offset : offset + 4], "little")

    def flat(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the words of all banks, the first word of each bank, the bytes of each bank, and for each word whether it is known."""
        banks = [self.images.get(bank, b"") for bank in range(BANKS)]
        padded = [image + bytes(-len(image) % 16) for image in banks]
        starts = np.cumsum([0, *(len(image) // 4 for image in padded[:-1])])
        words = np.frombuffer(bytearray(b"".join(padded) + bytes(16)), np.uint32)
        known = np.ones(len(words), np.uint8)
        of_words = np.frombuffer(self.known + b"\1" * (-len(self.known) % 4), np.uint8).reshape(-1, 4).all(axis=1)
        known[: len(of_words)] = of_words
        return words, starts.astype(np.int64), np.array([len(image) for image in banks], np.int64), known


def build(launch: Launch, places: Places) -> Banks:
    """Return the constant banks of a launch whose arrays have been placed."""
    program = launch.program
    for number, array in launch.constants.items():
        check_order(np.asarray(array).dtype, f"constants of bank {number}")
    given = {bank: np.ascontiguousarray(array).tobytes() for bank, array in launch.constants.items()}
    images = program.constants | {bank: image + program.constants.get(bank, b"")[len(image) :] for bank, image in given.items()}
    named = [*images, *(int(bank) for bank in program.encoded.source_bank.max(axis=1, initial=0))]
    if not all(0 <= bank < BANKS for bank in named):
        raise UserError(f"constant bank {max(named)}: banks are 0 to {BANKS - 1}", path=program.path)
    size = max([program.parameter_base + len(launch.parameters or b""), *(p.offset + p.size for p in program.parameters)])
    known = bytearray(b"\1" * len(images.get(0, b"")) + bytes(program.parameter_base))[: program.parameter_base]
    bank = bytearray(images.get(0, b"").ljust(size, b"\0"))
    for what, offset in PLACES.get(program.parameter_base, ()):
        count = put(bank, what, offset, launch)
        known[offset : offset + count] = b"\1" * count
    bank[program.parameter_base : program.parameter_base + len(launch.parameters or b"")] = launch.parameters or b""
    for parameter, value in zip(program.parameters, launch.args, strict=True):
        if is_structure(value):
            pack = places.bytes_of(value, parameter.name)
        else:
            number = places.address(value) if parameter.type == "ptr" else scalar(parameter, value, program)
            pack = struct.pack(FORMATS[parameter.type], number)
        bank[parameter.offset : parameter.offset + parameter.size] = pack[: parameter.size]
    images[0] = bytes(bank)
    for variable, data in places.constant_symbols():
        image = images[variable.bank or 0]
        images[variable.bank or 0] = image[: variable.offset] + data + image[variable.offset + len(data) :]
    addresses = [
        (number, offset, places.variable(where)) for number, offset, where in (program.variables.banks if program.variables else ())
    ]
    functions = enumerate(offset for offset, _ in program.driver_functions)
    addresses += [(ADDRESS_BANK, offset, (int(DRIVER_WINDOW) << WINDOW_BITS) + k) for k, offset in functions]
    for number, offset, address in addresses:
        image = images.get(number, b"").ljust(offset + BYTES, b"\0")
        images[number] = image[:offset] + address.to_bytes(BYTES, "little") + image[offset + BYTES :]
    return Banks(images, bytes(known).ljust(len(bank), b"\1"))


def put(bank: bytearray, what: str, offset: int, launch: Launch) -> int:
    """Write what a driver does; return how many bytes. The stack pointer starts at the end of a thread's local memory."""
    shape = launch.cluster_shape or (1, 1, 1)
    values = {
        "block": (*launch.block, 1, 1)[:3],
        "grid": (*launch.grid, 1, 1)[:3],
        "stack": (LOCAL_BYTES,),
        "dynamic": (launch.shared_dynamic,),
        "clustered": (int(launch.cluster_shape is not None),),
        "cluster": shape,
        "reciprocals": tuple(reciprocal(size) for size in shape),
        "clusters": tuple(blocks // size for blocks, size in zip((*launch.grid, 1, 1), shape, strict=False)),
        "ranks": (launch.ranks,),
        "one": (1,),
        "float_one": (0x3F800000,),
        "descriptor": (0, 0),  # how memory is mapped: nothing depends on it
        "shared_window": (0, int(SHARED_WINDOW)),
        "local_window": (0, int(LOCAL_WINDOW)),
        "low_local_window": (0,),  # a low word; where no array lies, so a generic access through it is refused
        "constant_window": (0, int(CONSTANT_WINDOW)),
        "parameters": (launch.program.parameter_base, int(PARAMETER_WINDOW)),  # where they lie, as a generic address: of tensor maps
    }[what]
    struct.pack_into(f"<{len(values)}I", bank, offset, *values)
    return 4 * len(values)


def reciprocal(size: int) -> int:
    """Return the bits of 1 / size, rounded up, so that multiples of the size divide without a remainder."""
    value = np.float32(1 / size)
    return int((value if float(value) * size >= 1 else np.nextafter(value, np.float32(2))).view(np.uint32))


def unknown(program: Program, offset: int) -> tuple[str, str]:
    """Return the message and the remedy for a place of bank 0 of which nobody says what a driver writes there."""
    meaning = MEANINGS.get((program.parameter_base, offset))
    what = f"is {meaning}, which" if meaning else "lies below the parameters, where a driver writes what it likes; this place"
    message = f"c[0x0][{offset:#x}] {what} is not known here"
    return message, "give the bank's bytes, those below the parameters included: Launch(constants={0: array})"


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
    if parameter.type == "u8" and isinstance(value, bool | np.bool_):
        return int(value)
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
