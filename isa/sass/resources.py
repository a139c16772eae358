"""What a launch must know of a kernel beside its code: registers, shared memory, parameters, constant banks."""

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from isa.architecture import CONSTANT_BANK_BYTES, VOLTA
from isa.errors import UserError
from isa.program import Variable, Variables
from isa.sass import variables
from isa.sass.function import RawFunction, RawInstruction
from isa.sass.image import Image
from isa.sass.info import Attribute, Record, records

USAGE = re.compile(r"^\s*Function\s+(\S.*?)\s*:\s*\n\s*(REG:\d+\b.*)$", re.MULTILINE)
FIELD = re.compile(r"([A-Z]+(?:\[\d+\])?):(\d+)")
REGISTER = re.compile(r"(?<![A-Z])R(\d+)")
VECTOR = re.compile(r"\.(64|128)(?:\.|$)")
UNKNOWN = 0xFFFFFFFF  # stack of a function that calls itself


class ParameterSlot(NamedTuple):
    """Where one kernel parameter lies. A cubin does not name its type."""

    offset: int  # bytes in c[0x0]
    size: int  # bytes


@dataclass(frozen=True)
class Resources:
    """The needs of one kernel. None = what was read does not say."""

    name: str
    architecture: str
    registers: int | None = None  # per thread
    shared_bytes: int | None = None  # static, per block; from sm_90 on with the 1024 that the system reserves
    stack_bytes: int | None = None  # local memory per thread
    barriers: int | None = None  # named barriers used
    parameter_base: int | None = None  # bytes in c[0x0]
    parameters: tuple[ParameterSlot, ...] | None = None
    max_threads: tuple[int, int, int] | None = None  # __launch_bounds__
    cluster: tuple[int, ...] = ()  # __cluster_dims__
    constants: dict[int, bytes] = field(default_factory=dict, repr=False)  # bank -> what it holds at launch
    variables: Variables | None = field(default=None, repr=False)  # __device__ ones
    symbols: tuple[Variable, ...] = field(default=(), repr=False)  # __constant__ and __device__ variables by name
    driver_functions: tuple[tuple[int, str], ...] = field(default=(), repr=False)  # byte offset in c[0x4] of the address, name
    path: str = ""


def of_image(image: Image, function: str | None = None) -> list[Resources]:
    """Return the resources of every function of a cubin or of full nvdisasm text, or of one. Raises UserError for damaged records."""
    names = [name.removeprefix(".text.") for name in image.sections if name.startswith(".text.")]
    if not names:
        raise UserError("there is no code inside", path=image.path, hint="compile with nvcc -cubin for a real architecture")
    try:
        common = list(records(image.data(".nv.info"), image.path))
        return [_of_kernel(image, name, common) for name in names if function in (None, name)]
    except struct.error:
        raise UserError("a record of .nv.info is too short", path=image.path, hint="compile the kernel again") from None


def of_usage(text: str, architecture: str = "") -> dict[str, Resources]:
    """Return what `cuobjdump -res-usage` says of each function, by name."""
    found = {}
    for name, line in USAGE.findall(text):
        values = {key: int(value) for key, value in FIELD.findall(line)}
        found[name] = Resources(
            name, architecture, registers=values["REG"], shared_bytes=values.get("SHARED"), stack_bytes=values.get("STACK")
        )
    return found


def of_function(function: RawFunction) -> Resources:
    """Return what the listing alone tells: the register count, by the rule of `registers_used`."""
    return Resources(function.name, function.architecture, registers=registers_used(function))


def registers_used(function: RawFunction) -> int:
    """Return the registers that the compiler counts: the highest one used plus 1, from Volta on two more.

    An observed rule, exact for every kernel of sm_35 to sm_120 it was tried on.
    """
    highest = -1
    for instruction in function.instructions:
        for position, operand in enumerate(instruction.operands):
            for match in REGISTER.finditer(operand):
                highest = max(highest, int(match[1]) + _span(instruction, position, operand) - 1)
    return highest + 1 + (2 if function.family is VOLTA else 0)


def _span(instruction: RawInstruction, position: int, operand: str) -> int:
    """Return how many registers an operand means, as far as its shape tells: `[R2.64]`, `.E` addresses, `.128` data, `.WIDE` results."""
    if "[" in operand:
        return 2 if ".64" in operand or ".E" in instruction.opcode else 1
    vector = VECTOR.search(instruction.opcode)
    if vector and position <= 1:
        return int(vector[1]) // 32
    return 2 if position == 0 and ".WIDE" in instruction.opcode else 1


def _of_kernel(image: Image, name: str, common: Iterable[Record]) -> Resources:
    own = list(records(image.data(f".nv.info.{name}"), image.path))
    code, shared = image.sections[f".text.{name}"], image.sections.get(f".nv.shared.{name}")
    per_symbol = _per_symbol(image, name, common)
    bank = next((record.words("IHH") for record in own if record.attribute == Attribute.PARAM_CBANK), None)
    base = bank[1] if bank else None
    limits = next((record.words("III") for record in own if record.attribute == Attribute.MAX_THREADS), None)
    stack = max(per_symbol.get(Attribute.MIN_STACK_SIZE, 0), per_symbol.get(Attribute.FRAME_SIZE, 0))
    barriers = next((record.number for record in own if record.attribute == Attribute.NUM_BARRIERS), code.barriers)
    return Resources(
        name=name,
        architecture=image.architecture,
        registers=per_symbol.get(Attribute.REGCOUNT, code.registers or None),
        shared_bytes=shared.size if shared else 0,
        stack_bytes=None if stack == UNKNOWN else stack,
        barriers=barriers,
        parameter_base=base,
        parameters=_parameters(own, base),
        max_threads=limits if limits is None else (limits[0], limits[1], limits[2]),
        cluster=next((record.words("III") for record in own if record.attribute == Attribute.CLUSTER), ()),
        constants=_constants(image, name),
        variables=variables.of_image(image),
        symbols=variables.named(image),
        driver_functions=variables.driver_functions(image),
        path=image.path,
    )


def _per_symbol(image: Image, name: str, common: Iterable[Record]) -> dict[int, int]:
    """Return the values that the common .nv.info gives this function: {symbol index, value} pairs."""
    found = {}
    for record in common:
        if record.attribute in (Attribute.REGCOUNT, Attribute.FRAME_SIZE, Attribute.MIN_STACK_SIZE):
            index, value = record.words("II")
            if index < len(image.symbols) and image.symbols[index].name == name:
                found[record.attribute] = value
    return found


def _parameters(own: Iterable[Record], base: int | None) -> tuple[ParameterSlot, ...]:
    """Return the parameters in the order of the source."""
    found = {}
    for record in own:
        if record.attribute == Attribute.KPARAM_INFO:
            _, ordinal, offset, packed = record.words("IHHI")
            found[ordinal] = ParameterSlot((base or 0) + offset, packed >> 18)
    return tuple(found[ordinal] for ordinal in sorted(found))


def _constants(image: Image, name: str) -> dict[int, bytes]:
    """Return the images of the constant banks: the kernel's own (`.nv.constant2.K`) and the common ones (`.nv.constant3`)."""
    found = {}
    for section in image.sections.values():
        match = re.fullmatch(r"\.nv\.constant(\d+)(?:\.(.+))?", section.name)
        if match and match[2] in (None, name):
            if section.size > CONSTANT_BANK_BYTES:
                message = f"constant bank {match[1]} is said to hold {section.size:,} bytes"
                raise UserError(message, path=image.path, hint=f"a bank has {CONSTANT_BANK_BYTES:,}: compile the kernel again")
            found[int(match[1])] = section.data or bytes(section.size)
    return found
