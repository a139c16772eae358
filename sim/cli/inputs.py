"""Options -> GPU and launch: a listing, the launch file beside it, and what the options change of both."""

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import isa
import sim
from isa.errors import UserError
from isa.program import Parameter, Program
from sim.cli.arguments import is_named_array, is_positional, named_arrays, positional
from sim.cli.options import assignments, sizes
from sim.expectation import Expectation
from sim.gpus.fields import nearest
from sim.gpus.model import Gpu
from sim.gpus.occupancy import WARP
from sim.launch import Launch
from sim.launchfile import SCALARS, beside, load_launch


class Changes(NamedTuple):
    """What the options say about a launch; None leaves the launch file's."""

    grid: str | None = None
    block: str | None = None
    warps: int | None = None
    args: list[str] | None = None
    registers: int | None = None
    shared: int | None = None

    def grid_and_block(self, gpu: Gpu) -> dict[str, list[int] | None]:
        """Return both sizes. Raises UserError when --warps meets --grid or --block."""
        if self.warps is not None:
            if self.grid or self.block:
                raise UserError("--warps N chooses the grid and the block", hint="give --warps alone, or --grid and --block")
            most = gpu.limits.threads_per_block // WARP
            shapes = [n for n in range(1, gpu.limits.blocks + 1) if self.warps % n == 0 and self.warps // n <= most]
            if not shapes:
                raise UserError(f"--warps {self.warps} are no equal blocks that {gpu.name} holds on an SM", hint="give --grid and --block")
            blocks = shapes[0]
            return {"grid": [blocks], "block": [WARP * self.warps // blocks]}
        return {
            "grid": list(sizes(self.grid, "--grid")) if self.grid else None,
            "block": list(sizes(self.block, "--block")) if self.block else None,
        }


def machine(name: str, changes: list[str] | None, policy: str | None) -> Gpu:
    """Return the GPU with `--set` and `--policy` applied."""
    fields = assignments(changes, "--set")
    if policy is not None:
        fields["core.policy"] = policy.lower().replace("-", "_")
    return sim.gpu(name).replace(fields)


def one_sm(gpu: Gpu, changes: Changes, launch: Launch) -> Gpu:
    """Return the GPU for `--warps N`, which means N warps on one SM: a second block would start on a second SM."""
    return gpu.replace({"sms": 1}) if changes.warps is not None and launch.blocks > 1 else gpu


def program_of(listing: Path, kernel: str | None, gpu: Gpu, architecture: str | None = None) -> Program:
    """Return a kernel of a listing or a cubin, or of a CUDA source, compiled for an architecture: the GPU's own unless said."""
    if listing.suffix != isa.compiler.SUFFIX:
        return isa.load(listing, kernel)
    return isa.compile(listing, architecture or gpu.architecture, kernel)


def launch(
    listing: Path, launch_file: Path | None, kernel: str | None, changes: Changes, gpu: Gpu, architecture: str | None = None
) -> tuple[Launch, Expectation | None]:
    """Return the launch, and what its arrays should hold afterwards (None when there is nothing to compare with).

    architecture: for which a CUDA source is compiled, default the GPU's.
    A launch file's expected results hold for its own grid and block, so other sizes leave nothing to compare with.
    """
    if not listing.name or listing.is_dir():
        raise UserError("cannot read the listing: it is a folder", path=str(listing), hint="name a file in it: .sass, .cubin or .cu")
    if launch_file is not None and launch_file.suffix != ".toml":
        raise UserError("a launch file's name ends in .toml", path=str(launch_file))
    shape = changes.grid_and_block(gpu)
    file = launch_file or beside(listing)
    if launch_file is None and not file.exists():
        made, expected = _without_file(program_of(listing, kernel, gpu, architecture), shape, changes), None
    else:
        named = kernel is not None or listing.suffix == isa.compiler.SUFFIX or (launch_file is not None and listing.suffix != ".toml")
        given, program = _numbers(changes.args), program_of(listing, kernel, gpu, architecture) if named else None
        found = load_launch(file if named else listing, program, args=given, **shape)
        made, expected = found.launch, None if any(shape.values()) else found.expectation or None
    registers = made.registers if changes.registers is None else changes.registers
    shared = made.shared_static if changes.shared is None else changes.shared
    return dataclasses.replace(made, registers=registers, shared_static=shared), expected


def _numbers(texts: list[str] | None) -> dict[str, Any]:
    """Return `--arg` values by name, each a number."""
    if typed := [text for text in texts or [] if is_positional(text)]:
        raise UserError(f"--arg {typed[0]}: the arguments have names here", hint="write --arg NAME=VALUE, or 'NAME=f32[1024]=random'")
    found = assignments(texts, "--arg")
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(f"--arg {name}={value}: not a number", hint="arrays are described in a launch file")
    return found


def _without_file(program: Program, shape: dict[str, list[int] | None], changes: Changes) -> Launch:
    """Return a launch that only options describe: scalar arguments, of disassembly arrays too; grid of one block unless said."""
    if shape["block"] is None:
        raise UserError(
            "how many threads? There is no launch file beside the listing", path=program.path, hint="give --block N or --warps N"
        )
    if program.is_open:
        args = positional(changes.args or [])
        return Launch(program, grid=tuple(shape["grid"] or (1,)), block=tuple(shape["block"]), args=args, name=program.name)
    given = changes.args or []
    names, arrays = [parameter.name for parameter in program.parameters], named_arrays(given)
    scalars = _numbers([text for text in given if not is_named_array(text)])
    for name in scalars | arrays:
        if name not in names:
            raise UserError(f"no argument is called {name}", hint=nearest(name, names) or f"arguments: {', '.join(names) or 'none'}")
    args = tuple(arrays[one.name] if one.type == "ptr" and one.name in arrays else _scalar(one, scalars) for one in program.parameters)
    return Launch(program, grid=tuple(shape["grid"] or (1,)), block=tuple(shape["block"]), args=args, name=program.name)


def _scalar(parameter: Parameter, scalars: dict[str, Any]) -> Any:
    if parameter.type == "ptr":
        raise UserError(
            f"argument {parameter.name} is an array",
            hint=f"give --arg '{parameter.name}=f32[1024]=random', or describe it in a launch file, the .toml beside the listing",
        )
    if parameter.name not in scalars:
        raise UserError(f"argument {parameter.name} has no value", hint=f"give --arg {parameter.name}=VALUE")
    try:
        return SCALARS[parameter.type](scalars[parameter.name])
    except (OverflowError, ValueError):
        raise UserError(f"--arg {parameter.name}={scalars[parameter.name]}: not a {parameter.type}") from None
