"""CUDA source -> cubin and listing, by the CUDA toolkit of the machine that has the GPU."""

import shutil
import subprocess
from pathlib import Path

from isa.errors import UserError

TOOLKIT = "install the CUDA toolkit and Nsight Compute, and put their folders on the PATH"


def run(command: list[str], path: Path) -> str:
    """Return what a tool of the toolkit prints. Raises UserError."""
    check(tuple(command[:1]), path)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"{command[0]} fails: {(done.stderr or done.stdout).strip()}", path=str(path))
    return done.stdout


def check(tools: tuple[str, ...], path: Path) -> None:
    """Raise UserError for the first tool that is not on the PATH."""
    for tool in tools:
        if shutil.which(tool) is None:
            raise UserError(f"measuring needs {tool}, which is not on the PATH", path=str(path), hint=TOOLKIT)


def cubin(source: Path, architecture: str, folder: Path) -> Path:
    """Compile a source into `folder`."""
    made = folder / f"{source.stem}.{architecture}.cubin"
    run(["nvcc", "-O3", f"-arch={architecture}", "-cubin", "-o", str(made), str(source)], source)
    return made


def listing(compiled: Path) -> str:
    """Return a cubin's listing with what each kernel needs: the text of `cuobjdump -sass` and `cuobjdump -res-usage`."""
    return "".join(run(["cuobjdump", option, str(compiled)], compiled) for option in ("-sass", "-res-usage"))
