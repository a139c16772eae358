"""`kernelslist.g` or `.traceg` -> one `Trace` per kernel.

Stages: 1. what each warp executed (`steps`); 2. the program, by the trace or by a listing; 3. accesses in launch order, moved below 4 GiB.
"""

from pathlib import Path

import numpy as np

from isa.architecture import CONSTANT_BANK_BYTES
from isa.program import Program
from sim.launch.launch import Launch
from sim.traces import files, program, scan
from sim.traces.accesses import placed
from sim.traces.steps import read as read_steps
from sim.traces.text import KernelFile, Static
from sim.traces.trace import Trace, TraceArrays, logged, names_lanes

SHARED_WINDOW = 1 << 24  # bytes of the window through which generic addresses reach shared memory
GENERIC = ("LD", "ST", "ATOM", "RED")


def read(path: str | Path, listing: str | Path | None = None) -> list[Trace]:
    """Return the kernels of a trace, in the order in which they were launched.

    path: `kernelslist.g`, or one kernel's `.traceg`, packed by xz or gzip or not. listing: the disassembly of the traced program, for
    what a trace lacks: predicates, uniform registers, control words. Raises UserError.
    """
    return [_Kernel(file, Path(listing) if listing else None).trace() for file in files.kernels(Path(path))]


class _Kernel:
    """One kernel, its file read."""

    def __init__(self, path: Path, listing: Path | None) -> None:
        self.path, self.listing = path, listing
        self.text = KernelFile(path)
        self.head = self.text.head
        self.steps = read_steps(self.text)
        self.first: dict[Static, int] = {}  # line where each instruction is executed first
        for static, line in zip(self.steps.statics, self.steps.lines, strict=True):
            self.first.setdefault(static, line)

    def trace(self) -> Trace:
        """Return the kernel's trace."""
        known, number = self._program()
        launch = Launch(
            known,
            self.head.grid,
            self.head.block,
            registers=self.head.registers or None,
            shared_static=self.head.shared_bytes,
            name=self.head.name,
        )
        arrays = self._arrays(known, np.array([number[static] for static in self.steps.statics], np.int64))
        executed, lanes = _tallies(arrays, len(known))
        return Trace(launch, arrays, executed, lanes, lanes.copy())

    def _reach_shared(self) -> set[Static]:
        """Return the instructions that reach shared memory by a generic address."""
        base, found = self.head.shared_base, self.steps.accesses
        if not base:
            return set()
        inside = found["static"][(found["first"] >= base) & (found["first"] < base + SHARED_WINDOW)]
        reaching = {self.steps.statics[number] for number in np.unique(inside)}
        return {static for static in reaching if static.opcode.split(".")[0] in GENERIC}

    def _program(self) -> tuple[Program, dict[Static, int]]:
        """Return the program, and the number of each instruction of the trace in it."""
        statics, shared = sorted(self.first, key=lambda static: (static.pc, self.first[static])), self._reach_shared()
        if self.listing is None:
            made = program.of_trace(self.head, statics, self.first, shared, self.path)
            return made, {static: i for i, static in enumerate(statics)}
        if shared:
            line = min(self.first[static] for static in shared)
            hint = "read the trace without the listing"
            self.text.fail("a generic access reaches shared memory, which the listing cannot say", hint, line)
        return program.of_listing(self.head, statics, self.first, self.listing, self.path)

    def _arrays(self, known: Program, number: np.ndarray) -> TraceArrays:
        """Return what was executed. number: int64 [statics] in the program."""
        steps = self.steps
        space = np.where(logged(known), known.encoded.space, -1)[number]
        named = np.where(names_lanes(known), known.encoded.source_value[:, 0], -1)[number]
        warps, order = np.unique(steps.warp_path, return_index=True)
        order = warps[np.argsort(order)]  # paths by the first warp that takes them
        renumbered = np.empty_like(order)
        renumbered[order] = np.arange(len(order))
        warp_path = renumbered[steps.warp_path]
        paths = [steps.paths[path] for path in order]
        accesses, starts = self._in_launch_order(paths, warp_path, space, named)
        spaces = space[accesses["static"]]
        self._check_constants(accesses, named[accesses["static"]] >= 0)
        base, stride, scattered = placed(accesses, spaces, steps.rows, self.head.shared_base, self.text.fail)
        joined = np.concatenate(paths)
        return TraceArrays(
            path_start=np.cumsum([0, *map(len, paths)], dtype=np.int64),
            instruction=number[joined >> 32].astype(np.int32),
            mask=(joined & 0xFFFFFFFF).astype(np.uint32),
            warp_path=warp_path.astype(np.int32),
            access_start=starts,
            access_base=base,
            access_stride=stride,
            scattered=scattered,
        )

    def _in_launch_order(
        self, paths: list[np.ndarray], warp_path: np.ndarray, space: np.ndarray, named: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the accesses of all warps, and where each warp's begin.

        space, named: int64 [statics], the space of its accesses, -1 = it makes none; the offset of a load of a constant in its text, else
        -1: taken where the trace has no addresses of constants.
        """
        steps, count = self.steps, len(self.steps.accesses)
        more = np.zeros(1 + len(steps.statics), scan.Access)  # without an active lane; constants
        more["static"][1:], more["low"] = np.arange(len(steps.statics)), -1
        more["start"][1:] = more["low"][1:] = more["high"][1:] = named
        templates = [self._template(path, space, named) for path in paths]  # rows of accesses from the warp's first on, or of `more`
        starts = np.append(0, np.cumsum(np.array([len(template) for template in templates], np.int64)[warp_path]))
        rows, by_path = np.empty(starts[-1], np.int64), np.argsort(warp_path, kind="stable")
        for template, warps in zip(templates, np.split(by_path, np.cumsum(np.bincount(warp_path))[:-1]), strict=True):
            places = starts[warps][:, None] + np.arange(len(template))
            rows[places] = np.where(template >= 0, steps.first_access[warps][:, None] + template, count - 1 - template)
        return np.concatenate([steps.accesses, more])[rows], starts

    def _template(self, path: np.ndarray, space: np.ndarray, named: np.ndarray) -> np.ndarray:
        """Return which access each instruction of a path makes: the k-th of the warp, or -1 - row of `more`."""
        static, mask = path >> 32, path & 0xFFFFFFFF
        has_addresses, makes = self.steps.has_addresses[static], space[static] >= 0
        lacking = makes & ~has_addresses & (mask != 0) & (named[static] < 0)
        if lacking.any():
            number = int(static[lacking.argmax()])
            message = f"{self.steps.statics[number].opcode} has no addresses"
            self.text.fail(message, "trace the kernel with its memory addresses", self.steps.lines[number])
        other = np.where(mask == 0, -1, -2 - static)
        return np.where(has_addresses, np.cumsum(has_addresses) - 1, other)[makes]

    def _check_constants(self, accesses: np.ndarray, is_constant: np.ndarray) -> None:
        beyond = is_constant & ((accesses["low"] < -1) | (accesses["high"] >= CONSTANT_BANK_BYTES))
        if beyond.any():
            one = accesses[beyond.argmax()]
            opcode, line = self.steps.statics[one["static"]].opcode, self.steps.lines[one["static"]]
            hint = "addresses of LDC count from the start of its bank; leave them out where the tracer does not know them"
            self.text.fail(f"{opcode} at 0x{int(one['high']):x}, beyond a bank of {CONSTANT_BANK_BYTES:,} bytes", hint, line)


def _tallies(arrays: TraceArrays, instructions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return executions and active lanes per instruction."""
    warps = np.bincount(arrays.warp_path, minlength=len(arrays.path_start) - 1)
    weight = np.repeat(warps, np.diff(arrays.path_start))
    executed = np.bincount(arrays.instruction, weight, instructions).astype(np.int64)
    lanes = np.bincount(arrays.instruction, weight * np.bitwise_count(arrays.mask), instructions).astype(np.int64)
    return executed, lanes
