"""`Launch`: a program, its grid and its arguments; and the launch files (TOML) that lie beside listings."""

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from isa.errors import UserError
from isa.program import Program
from sim.launch.parameters import bound

ControlWords = Literal["auto", "keep", "schedule"]


@dataclass(frozen=True)
class Launch:
    """One kernel launch.

    grid, block: 1 to 3 sizes (x, y, z), blocks and threads. args: one NumPy scalar, array, `Pointer` or structure (a scalar of
    a structured dtype) per kernel parameter; arrays, views of one array too, are updated in place by the run, as a kernel would.
    symbols: `__constant__` and `__device__` variables by name; arrays of the latter are updated, too. shared_dynamic: bytes
    per block beyond the program's own. registers, shared_static: override what the program says (registers per thread,
    bytes per block). constants: bank number -> array copied into that bank. preset: register number -> value every thread
    starts with (int, float, or the name of a parameter whose address it takes, the register pair then holds 64 bits).
    iterations: label -> how often the backward branch to it may be executed before the warp ends there, for loops without end.
    control_words: "auto" lays them down again for a GPU that differs in what a compiler knows of it, "keep" never, "schedule" always.
    placement: 0, or a number that puts all arrays some multiple of 512 bytes farther on, less than 4 MiB, each less than 16 KiB more than
    the one before, not memory at its addresses; and code and constants elsewhere, in every second placement the code in the other part
    of L2.
    cluster: 1 to 3 sizes, blocks that run at once and reach each other's shared memory; none: as the program says (`__cluster_dims__`), or
    each block by itself.
    warp_size: threads of a warp, 16 or 32: `core.warp_size` of the GPU that times it; `sim.run` and sweeps take it from there.
    uninitialised: names of the arrays whose contents the program must not rely on (`check="init"`).

    In place of args, a launch as a driver has it: parameters, the bytes of all of them, and memory, address -> array, updated in
    place; addresses in parameters, memory and symbols are then those of the program, and stay. A symbol may then be a whole number:
    the address at which `memory` has it. Raises UserError for both args and parameters, and for fewer bytes than the kernel has.
    """

    program: Program
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[Any, ...] = field(default=(), repr=False)
    shared_dynamic: int = 0
    registers: int | None = None
    shared_static: int | None = None
    constants: dict[int, np.ndarray] = field(default_factory=dict)
    symbols: dict[str, Any] = field(default_factory=dict)
    preset: dict[int, int | float | str] = field(default_factory=dict)
    iterations: dict[str, int] = field(default_factory=dict)
    uninitialised: tuple[str, ...] = ()
    parameters: bytes | None = field(default=None, repr=False)
    memory: dict[int, np.ndarray] = field(default_factory=dict, repr=False)
    name: str = ""
    control_words: ControlWords = "auto"
    placement: int = 0
    cluster: tuple[int, ...] = ()
    warp_size: int = 32

    def __post_init__(self) -> None:
        for name in ("grid", "block", "cluster"):  # a single size may be given as a number
            if isinstance(getattr(self, name), int | np.integer):
                object.__setattr__(self, name, (int(getattr(self, name)),))
        if self.control_words not in get_args(ControlWords):
            raise UserError(f"control_words = {self.control_words!r}", hint=f"there are: {', '.join(get_args(ControlWords))}")
        if self.warp_size not in (16, 32):
            raise UserError(f"warp_size = {self.warp_size}", hint="16 or 32: masks of lanes have 32 bits")
        if self.placement < 0:
            raise UserError(f"placement = {self.placement}", hint="0, or a number above it")
        if self.parameters is not None:
            object.__setattr__(self, "program", self._with_bytes())
        elif self.memory:
            raise UserError("memory at its addresses goes with parameters as bytes", path=self.program.path, hint="give parameters=b''")
        elif self.program.is_open:
            object.__setattr__(self, "program", bound(self.program, self.args))

    def _with_bytes(self) -> Program:
        """Return the program without parameters of its own: they are `parameters`."""
        if self.args:
            raise UserError("args and parameters are two ways of saying the same", path=self.program.path, hint="give one of them")
        if not isinstance(self.parameters, bytes | bytearray):
            raise UserError(f"parameters are bytes, not {type(self.parameters).__name__}", path=self.program.path)
        needed = max((one.offset + one.size for one in self.program.parameters), default=0) - self.program.parameter_base
        if len(self.parameters) < needed:
            message = f"kernel {self.program.name} has {needed} bytes of parameters; {len(self.parameters)} were given"
            raise UserError(message, path=self.program.path)
        return dataclasses.replace(self.program, parameters=(), is_open=False)

    @property
    def threads_per_block(self) -> int:
        return int(math.prod(self.block))

    @property
    def warps_per_block(self) -> int:
        return -(-self.threads_per_block // self.warp_size)

    def in_warps(self, size: int) -> "Launch":
        """Return the launch with warps of so many threads."""
        return self if size == self.warp_size else dataclasses.replace(self, warp_size=size)

    @property
    def blocks(self) -> int:
        return int(math.prod(self.grid))

    @property
    def cluster_shape(self) -> tuple[int, int, int] | None:
        """Blocks of a cluster along x, y and z; None: the launch has no clusters."""
        sizes = self.cluster or self.program.cluster
        return (*sizes, 1, 1)[:3] if sizes else None  # type: ignore[return-value]

    @property
    def ranks(self) -> int:
        """Blocks of a cluster."""
        return int(math.prod(self.cluster_shape or (1,)))

    @property
    def registers_per_thread(self) -> int:
        return self.program.registers if self.registers is None else self.registers

    @property
    def shared_per_block(self) -> int:
        static = self.program.shared_bytes if self.shared_static is None else self.shared_static
        return static + self.shared_dynamic
