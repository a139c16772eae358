"""`simtlab new NAME`: a listing to start from, with its launch file and a test that runs both."""

import re
from pathlib import Path
from typing import Annotated

import typer

from isa.errors import UserError
from sim.cli.commands import command
from sim.cli.output import write_text

NAME = Annotated[str, typer.Argument(metavar="NAME", help="Of the kernel: letters, digits and _; the files get this name, too.")]
FOLDER = Annotated[Path, typer.Option("--folder", metavar="FOLDER", help="Where to write; it must be there.")]

LISTING = """\
# y = a * x + y, one element per thread. A comment begins with # or //; simtlab run shows what each line waits for.
.kernel NAME
.param ptr x                            # parameters, in the order of the launch file's [[args]]
.param ptr y
.param f32 a

        S2R R0, SR_CTAID.X              # the element: blockIdx.x * blockDim.x + threadIdx.x
        S2R R1, SR_NTID.X
        S2R R2, SR_TID.X
        IMAD R0, R0, R1, R2
        ISCADD R2.CC, R0, c[0x0][x], 2  # its address: x + 4 * element, in R2 and R3
        IADD.X R3, RZ, c[0x0][x+4]
        LDG.E R4, [R2]
        ISCADD R6.CC, R0, c[0x0][y], 2
        IADD.X R7, RZ, c[0x0][y+4]
        LDG.E R5, [R6]
        FFMA R4, R4, c[0x0][a], R5
        STG.E [R6], R4
        EXIT
"""
LAUNCH = """\
# How to launch NAME.sass, on what, and what should come out.
grid = 8                # blocks
block = 128             # threads in each

[[args]]
name = "x"
dtype = "float32"
shape = 1024            # grid * block
init = "random"         # or zeros, ones, arange
seed = 1

[[args]]
name = "y"
dtype = "float32"
shape = 1024
init = "random"
seed = 2

[[args]]
name = "a"
type = "f32"
value = 2.0

[expect]                # NumPy; names stand for the arguments before the run
y = "fma(a, x, y)"
"""
TEST = '''\
"""NAME computes what its launch file expects, and issues what its listing says."""

from pathlib import Path

import sim
from sim.launch.file import check, load_launch


def test_NAME() -> None:
    file = load_launch(Path(__file__).with_name("NAME.sass"))
    result = sim.run(file.launch, sim.gpu("gtx480"))
    assert check(file.launch, file.expectation) == []
    assert result.counters["warp_instructions"] == 8 * 4 * 13  # blocks, warps in each, instructions
'''
FILES = {"NAME.sass": LISTING, "NAME.toml": LAUNCH, "test_NAME.py": TEST}


@command()
def new(name: NAME, folder: FOLDER = Path()) -> None:
    """Write a listing to start from, its launch file and a test."""
    if not re.fullmatch(r"[A-Za-z_]\w{0,60}", name, re.ASCII):
        raise UserError(f"{name!r} is not a kernel name", hint="write letters, digits and _, a letter first")
    if not folder.is_dir():
        raise UserError("there is no such folder", path=str(folder))
    paths = {folder / file.replace("NAME", name): text.replace("NAME", name) for file, text in FILES.items()}
    if taken := [str(path) for path in paths if path.exists()]:
        raise UserError(f"there is a file of that name already: {', '.join(taken)}", hint="choose another name")
    for path, text in paths.items():
        write_text(path, text)
        typer.echo(f"wrote {path}")
    listing = folder / f"{name}.sass"
    next_ = {  # command -> what it needs beside a base install
        f"simtlab run {listing} --gpu gtx480": "",
        f"simtlab timeline {listing} --gpu gtx480": "",
        f"simtlab lab {listing}": "'simtlab[lab]'",
        f"python -m pytest {folder / f'test_{name}.py'}": "pytest",
    }
    width = max(map(len, next_))
    lines = [f"  {one:<{width}}  # needs pip install {extra}" if extra else f"  {one}" for one, extra in next_.items()]
    typer.echo("\n".join(["next:", *lines]))
