"""`Trace` -> `kernelslist.g` and `.traceg`, for simulators that read Accel-Sim's traces (tracer version 5)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from isa.architecture import number
from isa.errors import UserError
from isa.program import Program
from isa.vocabulary import RZ, Kind, Operation
from sim.traces.program import STEP
from sim.traces.text import WARP
from sim.traces.trace import ADDRESS, SCATTERED, Trace, logged

LIST = "kernelslist.g"
VERSION = 5
DEFAULT_BINARY = 70  # of a listing that is for any architecture
SHARED_BASE, LOCAL_BASE = 0x7F0000000000, 0x7F0100000000  # beyond every array
FORMAT = "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate"


def write(traces: Sequence[Trace], folder: str | Path) -> Path:
    """Write a list and one file per kernel into a folder, which is made; return the list's path. Raises UserError."""
    folder = Path(folder)
    names = [f"kernel-{k}.traceg" for k in range(1, len(traces) + 1)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for k, (trace, name) in enumerate(zip(traces, names, strict=True), 1):
            with (folder / name).open("w") as file:
                file.writelines(line + "\n" for line in lines(trace, k))
        (folder / LIST).write_text("".join(name + "\n" for name in names))
    except OSError as error:
        raise UserError(f"cannot write: {error.strerror}", path=str(error.filename or folder)) from None
    return folder / LIST


def lines(trace: Trace, kernel_id: int = 1) -> Iterator[str]:
    """Yield the lines of a kernel file."""
    launch, program, arrays = trace.launch, trace.program, trace.arrays
    if launch.warp_size != WARP:
        raise UserError(f"warps of {launch.warp_size} threads cannot be written: the format has warps of {WARP}", path=program.path)
    keeps = logged(program)
    fixed = [_static(program, i, bool(keeps[i])) for i in range(len(program))]
    yield from _head(trace, kernel_id)
    grid = (*launch.grid, 1, 1)
    for block in range(launch.blocks):
        yield from ("", "#BEGIN_TB", "")
        yield f"thread block = {block % grid[0]},{block // grid[0] % grid[1]},{block // grid[0] // grid[1]}"
        for warp in range(launch.warps_per_block):
            w = block * launch.warps_per_block + warp
            path = arrays.warp_path[w]
            start, end = arrays.path_start[path], arrays.path_start[path + 1]
            yield from ("", f"warp = {warp}", f"insts = {end - start}")
            access = int(arrays.access_start[w])
            for i, mask in zip(arrays.instruction[start:end].tolist(), arrays.mask[start:end].tolist(), strict=True):
                pc, registers, width, immediate = fixed[i]
                yield f"{pc} {mask:08x} {registers} {_addresses(trace, access, mask, width)}{immediate}"
                access += width > 0
        yield "#END_TB"


def _head(trace: Trace, kernel_id: int) -> Iterator[str]:
    launch, program = trace.launch, trace.program
    sizes = [",".join(str(size) for size in (*shape, 1, 1)[:3]) for shape in (launch.grid, launch.block)]
    yield f"-kernel name = {program.name}"
    yield f"-kernel id = {kernel_id}"
    yield f"-grid dim = ({sizes[0]})"
    yield f"-block dim = ({sizes[1]})"
    yield f"-shmem = {launch.shared_per_block}"
    yield f"-nregs = {launch.registers_per_thread}"
    yield f"-binary version = {number(program.architecture) if program.architecture else DEFAULT_BINARY}"
    yield "-cuda stream id = 0"
    yield f"-shmem base_addr = {SHARED_BASE:#018x}"
    yield f"-local mem base_addr = {LOCAL_BASE:#018x}"
    yield "-nvbit version = 1.5.5"
    yield f"-accelsim tracer version = {VERSION}"
    yield "-enable lineinfo = 0"
    yield ""
    yield FORMAT


def _static(program: Program, i: int, is_access: bool) -> tuple[str, str, int, int]:
    """Return what every execution of an instruction has: its address, its registers and opcode, bytes per lane, the immediate."""
    e = program.encoded
    destinations = [int(e.destination[i])] if 0 <= e.destination[i] < RZ else []
    sources = [int(e.address_register[i])] if is_access and 0 <= e.address_register[i] <= RZ else []
    sources += [int(v) for kind, v in zip(e.source_kind[i], e.source_value[i], strict=True) if kind == Kind.REGISTER and v <= RZ]
    pc = program.addresses[i] if program.addresses else STEP * i
    names = [" ".join([str(len(found)), *(f"R{register}" for register in found)]) for found in (destinations, sources)]
    if e.operation[i] in (Operation.MBARRIER, Operation.BULK_COPY, Operation.CLUSTER_BARRIER):
        message = (
            f"{program.instructions[i].opcode}: the format has no place for barriers in shared memory and of clusters, and bulk copies"
        )
        raise UserError(message, path=program.path, line=program.instructions[i].line)
    is_barrier = Operation(e.operation[i]) == Operation.BAR
    if is_barrier and e.address_offset[i]:
        message = f"{program.instructions[i].opcode} is for {e.address_offset[i]} threads: the format has no place for that"
        raise UserError(message, path=program.path, line=program.instructions[i].line)
    immediate = int(e.function[i]) if is_barrier else 0
    return f"{pc:04x}", f"{names[0]} {program.instructions[i].opcode} {names[1]}", int(e.width[i]) if is_access else 0, immediate


def _addresses(trace: Trace, access: int, mask: int, width: int) -> str:
    """Return the width and, of an access with active lanes, their addresses."""
    if not width or not mask:
        return "0 "
    base, stride = int(trace.arrays.access_base[access]), int(trace.arrays.access_stride[access])
    lanes = [lane for lane in range(WARP) if mask >> lane & 1]
    if stride == SCATTERED:
        found = trace.arrays.scattered[base & ADDRESS][lanes].astype(np.int64)
        deltas = " ".join(str(delta) for delta in np.diff(found).tolist())
        return f"{width} 2 {int(found[0]):#x} {deltas} "
    first = (base + lanes[0] * stride) & ADDRESS
    if lanes[-1] - lanes[0] + 1 == len(lanes):
        return f"{width} 1 {first:#x} {stride} "
    return f"{width} 0 {' '.join(f'{(base + lane * stride) & ADDRESS:#x}' for lane in lanes)} "
