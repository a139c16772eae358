"""A cubin -> the text of NVIDIA's disassembler, which must be installed: nothing here reads machine code."""

import importlib.util
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from isa.errors import UserError
from isa.sass import elf

TOOL = "nvdisasm"
NAME = "kernel.cubin"  # what the tool is told to read
INSTALL = f"pip install 'simtlab[disassembler]', or put {TOOL} of a CUDA toolkit on the PATH; or give the text of `cuobjdump -sass`"


def is_cubin(path: Path) -> bool:
    """Return True for a file that starts as compiled code does."""
    try:
        with path.open("rb") as file:
            return elf.is_elf(file.read(len(elf.MAGIC)))
    except OSError:
        return False


def disassemble(path: Path) -> str:
    """Return what `nvdisasm -c -hex` prints for a cubin. Raises UserError."""
    tool = disassembler()
    if tool is None:
        raise UserError(f"reading a cubin needs {TOOL}, which is not installed", path=str(path), hint=INSTALL)
    try:
        return _text(tool, path.read_bytes())
    except UserError as error:
        raise UserError(error.message.replace(NAME, path.name), path=str(path), hint=error.hint) from None


@lru_cache(maxsize=4)  # kernels are taken from one file after another, and the text of a library has hundreds of megabytes
def _text(tool: str, contents: bytes) -> str:
    """Return what the tool prints for those contents. It starts for a quarter of a second, and the same kernel may come from many files."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / NAME
        file.write_bytes(contents)
        done = subprocess.run([tool, "-c", "-hex", str(file)], capture_output=True, text=True, check=False)
    if done.returncode:
        message = " ".join((done.stderr or done.stdout).split()).replace(str(file), NAME)
        raise UserError(f"{TOOL} refuses this file: {message}", hint="use a disassembler of the compiler's own version")
    return done.stdout


def disassembler() -> str | None:
    """Return the path of nvdisasm: on the PATH, or where the packages nvidia-cuda-nvdisasm put it."""
    if found := shutil.which(TOOL):
        return found
    package = importlib.util.find_spec("nvidia")
    folders = package.submodule_search_locations or [] if package else []
    return next((str(tool) for folder in folders for tool in sorted(Path(folder).glob(f"*/bin/{TOOL}"))), None)
