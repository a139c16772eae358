"""`Launch`: a program, its grid and its arguments; and the launch files (TOML) that lie beside listings."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isa.program import Program
from sim.parameters import bound


@dataclass(frozen=True)
class Launch:
    """One kernel launch.

    grid, block: 1 to 3 sizes (x, y, z), blocks and threads. args: one NumPy scalar or array per kernel parameter; arrays
    are updated in place by the run, as a kernel would. shared_dynamic: bytes per block beyond the program's own.
    registers, shared_static: override what the program says (registers per thread, bytes per block). constants: bank
    number -> array copied into that bank. preset: register number -> value every thread starts with (int, float, or the
    name of a parameter whose address it takes, the register pair then holds 64 bits). iterations: label -> how often the
    backward branch to it may be executed before the warp ends there, for loops without end.
    """

    program: Program
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[Any, ...] = field(default=(), repr=False)
    shared_dynamic: int = 0
    registers: int | None = None
    shared_static: int | None = None
    constants: dict[int, np.ndarray] = field(default_factory=dict)
    preset: dict[int, int | float | str] = field(default_factory=dict)
    iterations: dict[str, int] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("grid", "block"):  # a single size may be given as a number
            if isinstance(getattr(self, name), int | np.integer):
                object.__setattr__(self, name, (int(getattr(self, name)),))
        if self.program.is_open:
            object.__setattr__(self, "program", bound(self.program, self.args))

    @property
    def threads_per_block(self) -> int:
        return int(np.prod(self.block))

    @property
    def warps_per_block(self) -> int:
        return -(-self.threads_per_block // 32)

    @property
    def blocks(self) -> int:
        return int(np.prod(self.grid))

    @property
    def registers_per_thread(self) -> int:
        return self.program.registers if self.registers is None else self.registers

    @property
    def shared_per_block(self) -> int:
        static = self.program.shared_bytes if self.shared_static is None else self.shared_static
        return static + self.shared_dynamic
