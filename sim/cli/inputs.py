"""Options -> GPU and launch: a listing, the launch file beside it, and what the options change of both."""

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

import isa
import sim
from isa import cuda_names
from isa.errors import UserError
from isa.program import Parameter, Program
from isa.sass.choose import source_name
from sim import captures
from sim.cli.arguments import ARRAYS, in_order, is_named, is_positional, named, positional
from sim.cli.options import DEFAULT, Given, assignments, changes, sizes
from sim.gpus.fields import nearest
from sim.gpus.model import Gpu
from sim.launch.composed import is_composed
from sim.launch.expectation import Expectation
from sim.launch.file import SCALARS, beside, load_launch
from sim.launch.launch import Launch
from sim.lowering.accesses import is_cached


class Prepared(NamedTuple):
    """What options name: a launch, the GPU it runs on, what its arrays should hold afterwards (None: nothing to compare with)."""

    launch: Launch
    gpu: Gpu
    expected: Expectation | None


def prepare(listing: Path, given: Given) -> Prepared:
    """Return the launch and the GPU that the options name; `--warps N` means one SM: a second block would start on a second one."""
    gpu = machine(given, listing)
    made, expected = launch(listing, given, gpu)
    made = made.in_warps(gpu.core.warp_size)
    return Prepared(made, gpu.replace({"sms": 1}) if given.warps is not None and made.blocks > 1 else gpu, expected)


def machine(given: Given, listing: Path | None = None) -> Gpu:
    """Return the GPU, of a capture its own unless said, with `--set`, `--policy` and `--block-policy` applied."""
    if given.arch is not None and listing is not None and listing.suffix != isa.compiler.SUFFIX and not captures.is_capture(listing):
        message = f"--arch {given.arch} says what CUDA is compiled for, and changes nothing of a listing"
        raise UserError(message, path=str(listing), hint="leave it out; --gpu chooses the machine")
    fields = changes(given.set_, given.policy, given.block_policy)
    if given.gpu is None and listing is not None and captures.is_capture(listing):
        return captures.preset_of(captures.read(listing)).replace(fields)
    return sim.gpu(given.gpu or DEFAULT).replace(fields)


def grid_and_block(given: Given, gpu: Gpu) -> dict[str, list[int] | None]:
    """Return both sizes. Raises UserError when --warps meets --grid or --block."""
    if given.warps is not None:
        if given.grid or given.block:
            raise UserError("--warps N chooses the grid and the block", hint="give --warps alone, or --grid and --block")
        warp = gpu.core.warp_size
        most = gpu.limits.threads_per_block // warp
        shapes = [n for n in range(1, gpu.limits.blocks + 1) if given.warps % n == 0 and given.warps // n <= most]
        if not shapes:
            raise UserError(f"--warps {given.warps} fill no equal blocks on an SM of {gpu.name}", hint="give --grid and --block")
        return {"grid": [shapes[0]], "block": [warp * given.warps // shapes[0]]}
    return {
        "grid": list(sizes(given.grid, "--grid")) if given.grid else None,
        "block": list(sizes(given.block, "--block")) if given.block else None,
    }


def program_of(listing: Path, kernel: str | None, gpu: Gpu, architecture: str | None = None, dlcm: str | None = None) -> Program:
    """Return a kernel of a listing or a cubin, or of a CUDA source, compiled for an architecture: the GPU's own unless said."""
    if listing.suffix != isa.compiler.SUFFIX:
        return isa.load(listing, kernel)
    return isa.compile(listing, architecture or gpu.architecture, kernel, [] if dlcm is None else ["-Xptxas", f"-dlcm={dlcm}"])


def launch(listing: Path, given: Given, gpu: Gpu) -> tuple[Launch, Expectation | None]:
    """Return the launch, and what its arrays should hold afterwards (None when there is nothing to compare with).

    A launch file's expected results hold for its own grid and block, so other sizes leave nothing to compare with.
    """
    if captures.is_capture(listing):
        return _captured(listing, given)
    if not listing.name or listing.is_dir():
        raise UserError("cannot read the listing: it is a folder", path=str(listing), hint="name a file in it: .sass, .cubin or .cu")
    named_file = given.launch_file
    if named_file is not None and named_file.suffix != ".toml":
        raise UserError("a launch file's name ends in .toml", path=str(named_file))
    shape, kernel = grid_and_block(given, gpu), given.kernel
    file = named_file or beside(listing)
    if named_file is None and not file.exists():
        compiled = program_of(listing, kernel, gpu, given.arch, given.dlcm)
        made, expected = _without_file(compiled, shape, _named_by_source(listing, compiled, given.arg or [])), None
    else:
        is_given = kernel is not None or listing.suffix == isa.compiler.SUFFIX or (named_file is not None and listing.suffix != ".toml")

        def program(function: str | None) -> Program:
            return program_of(listing, kernel or function, gpu, given.arch, given.dlcm)

        found = load_launch(file if is_given else listing, program if is_given else None, args=_by_name(given.arg), **shape)
        made, expected = found.launch, None if any(shape.values()) else found.expectation or None
    registers = made.registers if given.registers is None else given.registers
    shared = made.shared_static if given.shared is None else given.shared
    program_ = made.program
    if given.dlcm is not None:
        program_ = isa.with_load_cache(made.program, given.dlcm)
        why = "" if listing.suffix == isa.compiler.SUFFIX else _idle_dlcm(made.program, program_, gpu)  # the compiler has heeded it
        if why:
            typer.echo(f"note: --dlcm {given.dlcm} changes nothing: {why}", err=True)
    return dataclasses.replace(wanted(made, given), program=program_, registers=registers, shared_static=shared), expected


def _named_by_source(listing: Path, program: Program, texts: list[str]) -> list[str]:
    """Return the arguments of a kernel in order: of a CUDA source they may be written by the names that they have there."""
    if listing.suffix != isa.compiler.SUFFIX or (texts and all(is_positional(text) for text in texts)):
        return texts
    parameters = cuda_names.parameters(isa.compiler.read(listing)[0], program.name)
    return texts if parameters is None else in_order(texts, parameters)


def _idle_dlcm(program: Program, asked: Program, gpu: Gpu) -> str:
    """Return why --dlcm has no effect on a run of a program, "" when it has one. asked: the program with it."""
    loads = np.flatnonzero(program.encoded.cache != asked.encoded.cache).tolist()
    if not loads:
        return "no load of global memory is without a cache operator of its own"
    if gpu.memory.kind == "fixed" or gpu.l1 is None:
        return "no load goes through L1 on this GPU"
    if all(is_cached(gpu, program, i) == is_cached(gpu, asked, i) for i in loads):
        return f"on this GPU such loads {'go' if gpu.l1.global_loads else 'do not go'} through L1 with it as without (l1.global_loads)"
    return ""


def wanted(made: Launch, given: Given) -> Launch:
    """Return a launch whose control words are kept, and whose blocks are in clusters, if the options say so."""
    if given.cluster_size is not None:
        made = dataclasses.replace(made, cluster=sizes(given.cluster_size, "--cluster-size"))
    return dataclasses.replace(made, control_words="keep") if given.keep_control_words else made


def programs(listing: Path, kernel: str | None) -> list[Program]:
    """Return the kernels of a listing, a cubin or a capture, or the one of that name."""
    if captures.is_capture(listing):
        found = captures.program_of(captures.read(listing))
        if kernel not in (None, found.name):
            raise UserError(f"no kernel {kernel} in the capture", path=str(listing), hint=f"it has {found.name}")
        return [found]
    return [isa.load(listing, kernel)] if kernel else isa.load_all(listing)  # of CUDA, see `simtlab compile`


def _captured(file: Path, given: Given) -> tuple[Launch, Expectation | None]:
    """Return the launch of a capture, and what the GPU left in its memory. Raises UserError for options that say how to launch."""
    of_machine: dict[str, Any] = dict.fromkeys(("gpu", "set_", "policy", "block_policy", "registers", "shared", "keep_control_words"))
    if any(value is not None for value in given._replace(**of_machine)):
        message = "a capture has its kernel, grid, block and arguments"
        raise UserError(message, path=str(file), hint="with a capture go --gpu, --set, --policy, --registers and --shared")
    capture = captures.read(file)
    made = captures.launch_of(capture)
    registers = made.registers if given.registers is None else given.registers
    return dataclasses.replace(wanted(made, given), registers=registers, shared_static=given.shared), captures.expectation_of(capture)


def _by_name(texts: list[str] | None) -> dict[str, Any]:
    """Return `--arg` values by name beside a launch file: numbers, arrays in place of the file's, text that leads to its arrays."""
    given = [text for text in texts or [] if is_named(text)]
    leading = dict(text.split("=", 1) for text in given if is_composed(text.partition("=")[2]))
    return _numbers([text for text in texts or [] if text not in given]) | named([one for one in given if one not in leading]) | leading


def _numbers(texts: list[str] | None) -> dict[str, Any]:
    """Return `--arg` values by name, each a number."""
    if typed := [text for text in texts or [] if is_positional(text)]:
        raise UserError(f"--arg {typed[0]}: the arguments have names here", hint="write --arg NAME=VALUE, or 'NAME=f32[1024]=random'")
    found = assignments(texts, "--arg")
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UserError(f"--arg {name}={value}: not a number", hint=f"write {name}=1.5 for a number, or {name}={ARRAYS}")
    return found


def _without_file(program: Program, shape: dict[str, list[int] | None], given: list[str]) -> Launch:
    """Return a launch that only options describe: scalar arguments, of disassembly arrays too; grid of one block unless said."""
    if shape["block"] is None:
        raise UserError(
            "how many threads? There is no launch file beside the listing", path=program.path, hint="give --block N or --warps N"
        )
    if program.is_open:
        args = positional(given)
        return Launch(program, grid=tuple(shape["grid"] or (1,)), block=tuple(shape["block"]), args=args, name=source_name(program.name))
    names, arrays = [parameter.name for parameter in program.parameters], named(given)
    scalars = _numbers([text for text in given if not is_named(text)])
    for name in scalars | arrays:
        if name not in names:
            raise UserError(f"no argument is called {name}", hint=nearest(name, names) or f"arguments: {', '.join(names) or 'none'}")
    if missing := [one for one in program.parameters if one.name not in scalars | arrays]:
        raise _lack(missing)
    args = tuple(arrays[one.name] if one.type == "ptr" and one.name in arrays else _scalar(one, scalars) for one in program.parameters)
    return Launch(program, grid=tuple(shape["grid"] or (1,)), block=tuple(shape["block"]), args=args, name=source_name(program.name))


def _lack(missing: list[Parameter]) -> UserError:
    """Return the mistake of having given no values to these parameters, with options to copy."""
    names = ", ".join(one.name for one in missing)
    options = " ".join(f"--arg '{one.name}=f32[1024]=random'" if one.type == "ptr" else f"--arg {one.name}=VALUE" for one in missing)
    message = f"argument {names} has no value" if len(missing) == 1 else f"arguments {names} have no values"
    return UserError(message, hint=f"give {options}, or a launch file, the .toml beside the listing")


def _scalar(parameter: Parameter, scalars: dict[str, Any]) -> Any:
    if parameter.type == "ptr":
        raise UserError(
            f"argument {parameter.name} is an array",
            hint=f"give --arg '{parameter.name}=f32[1024]=random', or describe it in a launch file, the .toml beside the listing",
        )
    if parameter.name not in scalars:
        raise UserError(f"argument {parameter.name} is a number, {parameter.type}", hint=f"give --arg {parameter.name}=VALUE")
    try:
        return SCALARS[parameter.type](scalars[parameter.name])
    except (OverflowError, ValueError):
        raise UserError(f"--arg {parameter.name}={scalars[parameter.name]}: not a {parameter.type}") from None
