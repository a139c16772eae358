"""Text or file -> `Program`: parse, pick the kernel, encode, find reconvergence, check the end."""

import dataclasses
import functools
import os
import tempfile
from pathlib import Path

import numpy as np

from isa import cfg, compiler, cubin, disassembly, needs, sass
from isa import control_text as control_fields
from isa.diagnostics import Diagnostics, nearest
from isa.disassembly import registers_needed, takes_registers
from isa.encode import Encoder
from isa.errors import UserError
from isa.kernels import Kernel, KernelReader
from isa.parser import located, statements
from isa.program import Program
from isa.vocabulary import RZ

MOST_KEPT = 20_000_000  # characters of a disassembly whose functions are kept, at some 5 bytes each
MOST_TEXT = 50_000_000  # characters of a file: 300,000 instructions with their encodings


def load(path: str | Path, function: str | None = None) -> Program:
    """Read a kernel from a file: mini-SASS, the text of cuobjdump or nvdisasm, or a cubin. Raises UserError.

    function: which kernel, by its name or, of compiled code, its name in the source; needed when the file has several. A cubin needs
    NVIDIA's disassembler. Beside a disassembly `NAME.sass`, `NAME.cubin` is read for registers, parameters and constants.
    """
    path = Path(path)
    if cubin.is_cubin(path):
        return _from_cubin(path, function)
    return parse(_text(path), str(path), function)


def load_cubin(data: bytes, function: str | None = None, path: str = "") -> Program:
    """Read a kernel from the bytes of a cubin; `path` only names it in messages. Raises UserError. Needs NVIDIA's disassembler."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(data)
        try:
            program = load(file, function)
        except UserError as error:
            raise UserError(error.message.replace(str(file), file.name), path=path, line=error.line, hint=error.hint) from None
    return dataclasses.replace(program, path=path)


def load_all(path: str | Path) -> list[Program]:
    """Read every kernel of a file, in the order of the file. Raises UserError."""
    path = Path(path)
    text = cubin.disassemble(path) if cubin.is_cubin(path) else _text(path)
    if sass.is_disassembly(text):
        functions = sass.parse(text, str(path))
        return [_program(one, functions, text, str(path)) for one in functions]
    diagnostics = Diagnostics(text, str(path))
    kernels = KernelReader(diagnostics, path.stem).read(statements(control_fields.take(text, str(path))[0], diagnostics))
    diagnostics.raise_if_any()
    return [parse(text, str(path), kernel.name) for kernel in kernels]


def parse(text: str, path: str = "", function: str | None = None) -> Program:
    """Read a kernel from mini-SASS text; `path` only names it in messages. Raises UserError with every mistake found."""
    if sass.is_disassembly(text):
        return _disassembly(sass.parse(text, path), text, path, function)
    source, (text, words) = text, control_fields.take(text, path)
    diagnostics = Diagnostics(source, path)
    lines = statements(text, diagnostics)
    is_complete = not diagnostics.found  # else a line that cannot be read may be the end that seems to lack
    kernels = KernelReader(diagnostics, Path(path).stem or "kernel").read(lines)
    if len(kernels) > 1:
        diagnostics.raise_if_any()
    kernel = _chosen(kernels, function, path)
    encoded, instructions = Encoder(kernel, diagnostics, located).encode()
    if is_complete:
        _check_end(kernel, diagnostics)
    needed = max(registers_needed(encoded), 1)
    if needed > RZ:
        message = f"the kernel uses R{needed - 1}, and registers end at R{RZ - 1}"
        diagnostics.add(kernel.line or 1, 0, message, hint="begin the sums of a product of warpgroups at a lower one")
    if kernel.registers is not None and kernel.registers < needed and not takes_registers(encoded):
        diagnostics.add(
            kernel.line or 1, 0, f".registers {kernel.registers}, but the kernel uses R{needed - 1}", hint=f"write .registers {needed}"
        )
    diagnostics.raise_if_any()
    markers = bool(np.isin(encoded.operation, cfg.MARKERS).any())
    if not markers:
        encoded = encoded._replace(reconverge=cfg.reconvergence(encoded))
    return Program(
        name=kernel.name,
        encoded=encoded,
        instructions=instructions,
        labels={name: label.at for name, label in kernel.labels.items()},
        registers=kernel.registers or needed,
        shared_bytes=kernel.shared_bytes,
        parameters=tuple(kernel.parameters),
        parameter_base=kernel.parameter_base,
        path=path,
        source=source,
        markers=markers,
        control=control_fields.control(instructions, words, kernel.architecture, path),
        architecture=kernel.architecture,
    )


def _text(path: Path) -> str:
    if path.suffix == compiler.SUFFIX:
        raise UserError(
            "this is a CUDA source, not a listing", path=str(path), hint="compile it: simtlab compile FILE.cu --arch sm_90 -o FILE.sass"
        )
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MOST_TEXT + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        hint = nearest(path.name, _files(path.parent)) if isinstance(error, FileNotFoundError) else ""
        raise UserError(f"cannot read the listing: {reason}", path=str(path), hint=hint) from None
    if len(text) > MOST_TEXT:
        raise UserError(
            f"cannot read the listing: it has over {MOST_TEXT:,} characters", path=str(path), hint="keep the kernel you want alone"
        )
    return text


def _files(folder: Path) -> list[str]:
    """Return the names of the files of a folder, none where it cannot be read."""
    try:
        return [each.name for each in os.scandir(folder) if each.is_file()]
    except OSError:
        return []


def _from_cubin(path: Path, function: str | None) -> Program:
    """Disassemble a cubin, and read its resources from itself."""
    text = cubin.disassemble(path)
    functions = _functions if len(text) <= MOST_KEPT else sass.parse
    try:
        found = functions(text, path.name)
    except UserError as error:
        raise UserError(error.message, path=str(path), line=error.line, hint=error.hint) from None
    return _disassembly(found, text, str(path), function)


@functools.lru_cache(maxsize=2)  # kernels are taken from one file after another, and a file may have many
def _functions(text: str, name: str) -> list[sass.RawFunction]:
    """Return what a disassembly holds; name: of the file, without its folder, which differs where bytes are written to one to be read."""
    return sass.parse(text, name)


def _disassembly(functions: list[sass.RawFunction], text: str, path: str, function: str | None) -> Program:
    """Return a function of a disassembly, with what a cubin beside it, or the text itself, says of its needs."""
    return _program(sass.choose(functions, function, path=path), functions, text, path)


def _program(chosen: sass.RawFunction, functions: list[sass.RawFunction], text: str, path: str) -> Program:
    return disassembly.program(sass.linked(chosen, functions), needs.of(chosen, functions, text, path), path, text)


def _chosen(kernels: list[Kernel], function: str | None, path: str) -> Kernel:
    names = [kernel.name for kernel in kernels]
    if function is None and len(kernels) > 1:
        raise UserError(f"this file has {len(kernels)} kernels", path=path, hint=f"choose one by its name (--kernel): {', '.join(names)}")
    if function is not None and function not in names:
        raise UserError(f"no kernel {function} in this file", path=path, hint=nearest(function, names) or f"it has {', '.join(names)}")
    return kernels[0] if function is None else kernels[names.index(function)]


def _check_end(kernel: Kernel, diagnostics: Diagnostics) -> None:
    """Note when the last instruction lets the program run past its end: a BRA may, an EXIT or SYNC without a guard cannot."""
    if not kernel.instructions:
        diagnostics.add(kernel.line, 0, f"kernel {kernel.name} has no instructions")
        return
    last = next((s for s in reversed(kernel.instructions) if s.opcode != "NOP"), kernel.instructions[-1])  # compilers pad with NOP
    jumps = last.opcode.split(".")[0] == "BRA" or (last.opcode in ("EXIT", "SYNC") and last.guard in ("", "@PT"))
    if not jumps:
        hint = "end it with EXIT or BRA"
        diagnostics.add(last.line, last.column, "the program runs past its last instruction", width=len(last.opcode), hint=hint)
    at_end = {name for name, label in kernel.labels.items() if label.at == len(kernel.instructions)}
    for statement in kernel.instructions if at_end else ():
        if at_end.isdisjoint(operand.symbol for operand in statement.operands):
            continue
        for operand in located(statement).operands:
            if operand.symbol in at_end:
                message = f"no instruction follows label {operand.symbol}"
                diagnostics.add(statement.line, operand.column, message, width=len(operand.symbol), hint="write EXIT behind the label")
