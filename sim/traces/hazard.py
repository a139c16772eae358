"""`Hazard`: what a check of a launch found (`sim.execute(launch, check=("race", "init"))`)."""

from dataclasses import asdict, dataclass
from typing import Any

CHECKS = ("race", "init")


@dataclass(frozen=True)
class Hazard:
    """One pair of instructions that race, or one instruction that reads what nothing wrote; the first of `count` times.

    check: "race" or "init". lines, instructions: of the listing, in the order in which they were executed here. warps, lanes: who executed
    them, one each. block: linear, in launch order. where: the bytes, as `shared memory + 0x40` or `array out + 0x10`; a register's name.
    """

    check: str
    message: str
    remedy: str
    kernel: str
    path: str
    block: int
    warps: tuple[int, ...]
    lanes: tuple[int, ...]
    lines: tuple[int, ...]
    instructions: tuple[str, ...]
    where: str
    count: int

    def __str__(self) -> str:
        place = f"{self.path}:{self.lines[-1]}: " if self.path else f"line {self.lines[-1]}: "
        rows = [f"{place}{self.check}: {self.message}"]
        for warp, lane, line, text in zip(self.warps, self.lanes, self.lines, self.instructions, strict=True):
            rows.append(f"    block {self.block}, warp {warp}, lane {lane}, line {line}: {text}")
        times = f", {self.count:,} times in all" if self.count > 1 else ""
        return "\n".join([*rows, f"    in {self.where} of kernel {self.kernel}{times}", f"    {self.remedy}"])

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)
