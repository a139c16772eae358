"""CUDA C++ -> `Program`: NVIDIA's run-time compiler and disassembler out of PyPI packages. No GPU, CUDA installation or host compiler.

NVRTC compiles device code only. Its library is called through ctypes, as its manual describes; the calls used here have not changed since
CUDA 11.2. Nothing is kept between calls.
"""

import ctypes
import importlib.util
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from isa import cubin, disassembly, needs, sass
from isa.architecture import NAME, number
from isa.errors import UserError
from isa.program import Program

SUFFIX = ".cu"
INSTALL = "pip install 'simtlab[cuda]'"
HEADERS = ("", "cccl")  # folders of the packages' headers: CUDA's own, and <cuda/std/...>
BUILT_IN = ("stdio.h", "cstdio", "stdlib.h", "cstdlib", "assert.h", "cassert")  # headers of what a kernel has without them: empty here
HOST_CODE = "only device code is compiled: put host code and its #include lines between #ifndef __CUDACC_RTC__ and #endif"
FOREIGN = re.compile(r"host functions are not allowed|(could not|cannot) open source file")
TEXT_MARKS = "{;\n"  # that no path of a source has


class Compiled(NamedTuple):
    """What the compiler made of a source."""

    cubin: bytes
    listing: str  # of nvdisasm


class _Compiler:
    """One NVRTC library."""

    def __init__(self, library: Path) -> None:
        self.nvrtc = ctypes.CDLL(str(library))
        self.nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p

    def architectures(self) -> list[int]:
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", found)
        return list(found)

    def compile(self, source: str, name: str, options: Sequence[str]) -> bytes:
        """Return the cubin of a source. Raises UserError with the compiler's own words."""
        program = ctypes.c_void_p()
        names = (ctypes.c_char_p * len(BUILT_IN))(*(header.encode() for header in BUILT_IN))
        empty = (ctypes.c_char_p * len(BUILT_IN))(*(b"" for _ in BUILT_IN))
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), name.encode(), len(BUILT_IN), empty, names)
        try:
            arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            if self.nvrtc.nvrtcCompileProgram(program, len(options), arguments):
                log = self._bytes("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program).rstrip(b"\0").decode(errors="replace").strip()
                first = re.search(rf"^{re.escape(name)}\((\d+)\)", log, re.MULTILINE)
                hint = HOST_CODE if FOREIGN.search(log) else ""
                line = int(first[1]) if first else 0
                raise UserError(f"the CUDA compiler refuses this source\n{log}", path=name, line=line, hint=hint)
            return self._bytes("nvrtcGetCUBINSize", "nvrtcGetCUBIN", program)
        finally:
            self._call("nvrtcDestroyProgram", ctypes.byref(program))

    def _bytes(self, size_function: str, function: str, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        self._call(size_function, program, ctypes.byref(size))
        found = ctypes.create_string_buffer(size.value)
        self._call(function, program, found)
        return found.raw

    def _call(self, function: str, *arguments: Any) -> None:
        if code := getattr(self.nvrtc, function)(*arguments):
            raise UserError(f"the CUDA compiler failed: {function}: {self.nvrtc.nvrtcGetErrorString(code).decode()}", hint=INSTALL)


def compile(source: str | Path, architecture: str, function: str | None = None, options: Sequence[str] = ()) -> Program:
    """Return a kernel of a CUDA source, compiled for an architecture such as "sm_90". Raises UserError.

    source: a file, or the text itself (a str with a brace, semicolon or line break). function: which kernel, when the source has several.
    options: further ones for NVRTC, as "-DN=4", "--maxrregcount=32", "--use_fast_math". Needs the packages of the extra `cuda`.
    """
    text, path = read(source)
    made = compiled(text, architecture, path, options)
    functions = sass.parse(made.listing, path)
    chosen = sass.choose(functions, function, path=path)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(made.cubin)
        resources = needs.of(chosen, functions, made.listing, str(file))
    return disassembly.program(chosen, resources, f"{path} (SASS for {architecture})", made.listing)  # lines of messages are the listing's


def compiled(text: str, architecture: str, path: str = "kernel.cu", options: Sequence[str] = ()) -> Compiled:
    """Return the cubin of a CUDA source and its listing; `path` names it in messages. Raises UserError."""
    library = _library(architecture)
    headers = [f"-I{folder}" for folder in _folders("include") for folder in (folder / name for name in HEADERS) if folder.is_dir()]
    given = [f"--gpu-architecture={architecture}", "--std=c++17", f"-I{Path(path).resolve().parent}", *headers, *options]
    try:
        binary = library.compile(text, path, given)
    except UserError as error:
        if f"not supported on .target '{architecture}'" not in str(error):
            raise
        given[0] += "a"  # what later chips may lack: wgmma
        binary = library.compile(text, path, given)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{Path(path).stem}.cubin"
        file.write_bytes(binary)
        return Compiled(binary, cubin.disassemble(file))


def read(source: str | Path) -> tuple[str, str]:
    """Return the text of a source and what names it in messages."""
    if is_text(source):
        return str(source), "kernel.cu"
    try:
        return Path(source).read_text("utf-8"), str(source)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UserError(f"cannot read the source: {reason}", path=str(source)) from None


def is_text(source: str | Path) -> bool:
    """Return whether a source is the text itself, not a file."""
    return isinstance(source, str) and any(mark in source for mark in TEXT_MARKS)


def is_installed() -> bool:
    """Return True when a compiler and a disassembler are there."""
    return bool(_libraries()) and cubin.disassembler() is not None


def _library(architecture: str) -> _Compiler:
    """Return an installed compiler for an architecture. Raises UserError."""
    found = _libraries()
    if not found:
        raise UserError("compiling CUDA needs NVRTC, which is not installed", hint=INSTALL)
    known: set[int] = set()
    for library in found:
        compiler = _Compiler(library)
        if NAME.fullmatch(architecture) and number(architecture) in compiler.architectures():
            return compiler
        known |= set(compiler.architectures())
    names = ", ".join(f"sm_{each}" for each in sorted(known))
    raise UserError(
        f"no installed CUDA compiler knows architecture {architecture}",
        hint=f"installed is one for {names}; choose one by --arch, or a newer --gpu",
    )


def _libraries() -> list[Path]:
    """Return the NVRTC libraries that packages brought, the newest first."""
    patterns = ("libnvrtc.so.*[0-9]", "nvrtc64_*_0.dll", "x64/nvrtc64_*_0.dll")
    found = {file for folder in (*_folders("lib"), *_folders("bin")) for pattern in patterns for file in folder.glob(pattern)}
    return sorted(found, key=lambda file: [int(part) for part in re.findall(r"\d+", file.name)], reverse=True)


def _folders(name: str) -> list[Path]:
    """Return the folders of that name in the packages of NVIDIA."""
    package = importlib.util.find_spec("nvidia")
    roots = package.submodule_search_locations or [] if package else []
    return [folder for root in roots for folder in sorted(Path(root).glob(f"*/{name}")) if folder.is_dir()]
