"""`capture.json`: what a capture says of its launch, as a checked table."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT, VERSION = "simtlab capture", 1
MOST_BYTES = 1 << 31  # of memory
Size = Annotated[int, Field(ge=1, le=(1 << 31) - 1)]
Count = Annotated[int, Field(ge=0, le=1 << 31)]
Sizes = tuple[Size, Size, Size]


class Part(BaseModel):
    """A table of a capture: no other keys, numbers as numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Allocation(Part):
    """A piece of device memory: an allocation, or a variable of the program by its name."""

    address: Annotated[int, Field(ge=1, lt=1 << 47)]
    size: Annotated[int, Field(ge=1, le=MOST_BYTES)]
    kind: Literal["memory", "device", "constant"] = "memory"
    name: Annotated[str, Field(max_length=4096)] = ""


class Machine(Part):
    """The GPU; 0 and "" where nobody said. Clocks in kHz."""

    name: str = ""
    architecture: Annotated[str, Field(pattern=r"^(sm_\d{2,3})?$")] = ""
    sms: Count = 0
    core_khz: Count = 0
    memory_khz: Count = 0
    driver: Count = 0  # as cuDriverGetVersion gives it: 13000 = 13.0


class Origin(Part):
    """Where the launch comes from."""

    command: list[str] = []
    launch: Count = 0  # its number among all launches of the program, from 0
    note: str = ""


class Table(Part):
    """A capture without its binary parts."""

    format: Literal["simtlab capture"] = "simtlab capture"
    version: Literal[1] = 1
    kernel: Annotated[str, Field(min_length=1, max_length=65536)]
    grid: Annotated[Sizes, Field(strict=False)]
    block: Annotated[Sizes, Field(strict=False)]
    cluster: Annotated[Sizes, Field(strict=False)] = (1, 1, 1)
    cooperative: bool = False
    shared_dynamic: Annotated[int, Field(ge=0, le=1 << 20)] = 0  # bytes; no GPU has more
    attributes: dict[str, int] = {}  # of the function, as cuFuncGetAttribute gives them: registers, shared_static, local, ...
    parameters: Annotated[str, Field(pattern=r"^([0-9a-f]{2})*$", max_length=1 << 18)] = ""  # the bytes, in hexadecimal
    allocations: Annotated[list[Allocation], Field(max_length=1 << 20)] = []
    error: int = 0  # what the GPU answered: 0, or a CUresult; memory afterwards is then not known
    repeatable: bool | None = None  # False: the GPU itself left different memory when the launch was repeated
    gpu: Machine = Machine()
    origin: Origin = Origin()
    counters: dict[str, Annotated[float, Field(strict=False, allow_inf_nan=False)]] = {}
