"""`kernelslist.g` or `.traceg` -> one `Trace` per kernel.

Stages: 1. the text of each block; 2. the program, by the trace or by a listing; 3. paths, each stored once; 4. accesses, moved below 4 GiB.
"""

from pathlib import Path

import numpy as np

from isa.program import Program
from isa.vocabulary import Operation, Space
from sim.launch import Launch
from sim.trace import Trace, TraceArrays
from sim.traces import files, program
from sim.traces.accesses import Accesses
from sim.traces.text import WARP, KernelFile, Static, Step

SHARED_WINDOW = 1 << 24  # bytes of the window through which generic addresses reach shared memory
ACCESSES = (Operation.LOAD, Operation.STORE, Operation.ATOM)


def read(path: str | Path, listing: str | Path | None = None) -> list[Trace]:
    """Return the kernels of a trace, in the order in which they were launched.

    path: `kernelslist.g`, or one kernel's `.traceg`, packed by xz or gzip or not. listing: the disassembly of the traced program, for
    what a trace lacks: predicates, uniform registers, control words. Raises UserError.
    """
    return [_Kernel(file, Path(listing) if listing else None).trace() for file in files.kernels(Path(path))]


class _Kernel:
    """Reads one kernel."""

    def __init__(self, path: Path, listing: Path | None) -> None:
        self.path, self.listing = path, listing
        self.text = KernelFile(path)
        self.head = self.text.head
        self.warps_per_block = -(-int(np.prod(self.head.block)) // WARP)
        self.warps: list[list[Step] | None] = [None] * (int(np.prod(self.head.grid)) * self.warps_per_block)
        self.first: dict[Static, int] = {}  # line where each instruction is executed first
        self.shared: set[Static] = set()  # generic accesses that reach shared memory

    def trace(self) -> Trace:
        """Return the kernel's trace."""
        for block in self.text.blocks():
            self._place(block.place, block.warps)
        steps = [[] if warp is None else warp for warp in self.warps]
        self._check_complete(steps)
        known, number = self._program()
        launch = Launch(
            known,
            self.head.grid,
            self.head.block,
            registers=self.head.registers or None,
            shared_static=self.head.shared_bytes,
            name=self.head.name,
        )
        arrays = self._arrays(steps, known, number)
        executed, lanes = _tallies(arrays, len(known))
        return Trace(launch, arrays, executed, lanes, lanes.copy())

    def _place(self, place: tuple[int, int, int], warps: dict[int, list[Step]]) -> None:
        """Keep the warps of a block in launch order."""
        (x, y, z), (wide, high, deep) = place, self.head.grid
        if not (x < wide and y < high and z < deep):
            self.text.fail(f"block {x},{y},{z} lies outside the grid")
        start = (x + wide * (y + high * z)) * self.warps_per_block
        for warp, steps in warps.items():
            if warp >= self.warps_per_block:
                self.text.fail(f"warp {warp} of a block of {self.warps_per_block} warps")
            self.warps[start + warp] = steps
            for step in steps:
                self._note(step)

    def _note(self, step: Step) -> None:
        """Remember where an instruction comes first, and whether it reaches shared memory by a generic address."""
        self.first.setdefault(step.static, step.line)
        base = self.head.shared_base
        is_generic = step.static.opcode.split(".")[0] in ("LD", "ST", "ATOM", "RED")
        if base and is_generic and step.addresses and base <= step.addresses[0] < base + SHARED_WINDOW:
            self.shared.add(step.static)

    def _check_complete(self, steps: list[list[Step]]) -> None:
        lacking = next((warp for warp, found in enumerate(steps) if not found), None)
        if lacking is not None:
            block, warp = divmod(lacking, self.warps_per_block)
            hint = "trace all blocks, and warps that execute nothing, too"
            self.text.fail(f"the trace has no instructions of warp {warp} of block {block}", hint)

    def _program(self) -> tuple[Program, dict[Static, int]]:
        """Return the program, and the number of each instruction of the trace in it."""
        statics = sorted(self.first, key=lambda static: (static.pc, self.first[static]))
        if self.listing is None:
            made = program.of_trace(self.head, statics, self.first, self.shared, self.path)
            return made, {static: i for i, static in enumerate(statics)}
        if self.shared:
            line = min(self.first[static] for static in self.shared)
            self.text.fail(
                "a generic access reaches shared memory, which the listing cannot say", "read the trace without the listing", line
            )
        return program.of_listing(self.head, statics, self.first, self.listing, self.path)

    def _arrays(self, steps: list[list[Step]], known: Program, number: dict[Static, int]) -> TraceArrays:
        encoded = known.encoded
        space_of = [int(space) if operation in ACCESSES else -1 for space, operation in zip(encoded.space, encoded.operation, strict=True)]
        accesses, warp_path, starts = Accesses(), [], [0]
        paths: dict[bytes, int] = {}
        for warp in steps:
            path = np.array([(number[step.static], step.mask) for step in warp], np.int64)
            warp_path.append(paths.setdefault(path.tobytes(), len(paths)))
            for step in warp:
                space = space_of[number[step.static]]
                if space >= 0:
                    accesses.add(space, *self._addresses(step, space))
            starts.append(len(accesses.found))
        entries = [np.frombuffer(path, np.int64).reshape(-1, 2) for path in paths]
        joined = np.concatenate(entries)
        base, stride, scattered = accesses.arrays(list(range(len(accesses.found))), self.text.fail)
        return TraceArrays(
            path_start=np.cumsum([0, *map(len, entries)], dtype=np.int64),
            instruction=joined[:, 0].astype(np.int32),
            mask=joined[:, 1].astype(np.uint32),
            warp_path=np.array(warp_path, np.int32),
            access_start=np.array(starts, np.int64),
            access_base=base,
            access_stride=stride,
            scattered=scattered,
        )

    def _addresses(self, step: Step, space: int) -> tuple[int, tuple[int, ...], bool]:
        """Return mask, addresses and their form. In shared memory they count from the start of its window."""
        if step.addresses is None:
            if step.mask:
                self.text.fail(f"{step.static.opcode} has no addresses", "trace the kernel with its memory addresses", step.line)
            return 0, (), False
        start = self.head.shared_base
        if space != Space.SHARED or not start or min(step.addresses[: 1 if step.is_strided else None]) < start:
            return step.mask, step.addresses, step.is_strided
        if step.is_strided:
            return step.mask, (step.addresses[0] - start, step.addresses[1]), True
        return step.mask, tuple(address - start for address in step.addresses), False


def _tallies(arrays: TraceArrays, instructions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return executions and active lanes per instruction."""
    warps = np.bincount(arrays.warp_path, minlength=len(arrays.path_start) - 1)
    weight = np.repeat(warps, np.diff(arrays.path_start))
    executed = np.bincount(arrays.instruction, weight, instructions).astype(np.int64)
    lanes = np.bincount(arrays.instruction, weight * np.bitwise_count(arrays.mask), instructions).astype(np.int64)
    return executed, lanes
