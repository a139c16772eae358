"""Triton kernels -> launches: compiled ahead of time for an architecture, no GPU: `sim.triton(kernel, "sm_90")(grid, *args, BLOCK=256)`.

What Triton's own launcher does is done here: which arguments are compile-time constants, which pointers and numbers are multiples of 16,
shared memory, the two pointers to scratch memory behind a kernel's own parameters. Arrays are NumPy's.
"""

import importlib.util
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import isa
from isa.architecture import number
from isa.errors import UserError
from isa.program import Program
from sim.launch.launch import Launch
from sim.launch.placement import host_regions
from sim.launch.pointers import Pointer
from sim.launch.tensor_maps import SWIZZLES, start_of, tensor_map

TYPES = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "bfloat16": "bf16", "bool": "i1"}
TYPES |= {f"{sign}int{bits}": f"{'u' if sign else 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
SCALARS = {"i1": np.uint8, "fp16": np.float32, "fp32": np.float32, "fp64": np.float64}  # as a driver gets them; others as they are
SPECIALISED = 16  # multiples of it are told to the compiler, as Triton does
CONSTANT, DESCRIPTOR = "constexpr", "tensordesc"
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")  # of a triton.Config, for the compiler
DEFAULTS = {"num_warps": 4, "num_stages": 3, "num_ctas": 1}
Grid = int | tuple[int, ...] | Callable[[dict[str, Any]], int | tuple[int, ...]]
INSTALL = "pip install 'simtlab[triton]'"


@dataclass(frozen=True)
class Compiled:
    """What Triton made of a kernel for one set of types and constants."""

    program: Program
    metadata: Any


@dataclass
class TritonKernel:
    """A Triton kernel for an architecture; called as Triton kernels are, with the grid first."""

    function: Any
    architecture: str
    configurations: tuple[dict[str, Any], ...] = ()  # of triton.autotune: constants and options, which a call takes as keywords
    hooks: tuple[Callable[[dict[str, Any]], None] | None, ...] = field(default=(), repr=False)  # pre_hook of each configuration
    made: dict[str, Compiled] = field(default_factory=dict, repr=False)

    def __call__(self, grid: Grid, *args: Any, **named: Any) -> Launch:
        """Return the launch. args, named: the kernel's parameters, of which grid may be a function; arrays are updated in place by a run.

        named also: num_warps (4), num_stages (3), maxnreg, for Triton's compiler, and for the kernel where it has such a parameter. A
        configuration's pre_hook is called, as by Triton. Raises UserError.
        """
        options = DEFAULTS | {name: named[name] for name in OPTIONS if named.get(name) is not None}
        if options["num_ctas"] != 1:
            raise UserError(f"kernel {self.function.fn.__name__}: num_ctas = {options['num_ctas']}: only 1 is taken")
        own = {one.name for one in self.function.params}
        values = self._bound(args, {name: value for name, value in named.items() if name in own or name not in OPTIONS})
        self._prepare(values, options)
        types = {name: self._type(name, value) for name, value in values.items()}
        compiled = self._compiled(values, types, options)
        maps = iter(compiled.metadata.tensordesc_meta or [None] * len(types))  # none without TMA
        given: list[Any] = []
        for name, kind in types.items():
            if kind.startswith(DESCRIPTOR):
                given += _expanded(values[name], next(maps))
            elif kind != CONSTANT:
                given.append(_scalar(values[name], kind))
        sizes = grid(values) if callable(grid) else grid
        blocks = (int(sizes),) if isinstance(sizes, int | np.integer) else tuple(sizes)
        hidden = len(compiled.program.parameters) - len(given)
        metadata = compiled.metadata
        scratch = metadata.global_scratch_size * int(np.prod(blocks))
        given += [np.zeros(scratch, np.uint8) if scratch and k == 0 else None for k in range(hidden)]
        block = (32 * metadata.num_warps,)
        return Launch(compiled.program, blocks, block, tuple(given), shared_dynamic=metadata.shared, name=metadata.name)

    def _prepare(self, values: dict[str, Any], options: dict[str, Any]) -> None:
        """Call the pre_hook of the configuration whose constants a call has."""
        constants = [{name: value for name, value in one.items() if name in values} for one in self.configurations]
        chosen = next((k for k, one in enumerate(constants) if one.items() <= values.items()), None)
        if any(self.hooks) and chosen is None:
            hint = "a pre_hook goes with its configuration: **kernel.configurations[0]"
            raise UserError(f"kernel {self.function.fn.__name__}: the call has the constants of none of its configurations", hint=hint)
        if chosen is not None and (hook := self.hooks[chosen]):
            hook(values | options)

    def _bound(self, args: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        try:
            bound = inspect.signature(self.function.fn).bind(*args, **named)
        except TypeError as error:
            hint = "of `configurations`, pass one: **kernel.configurations[0]" if self.configurations else ""
            raise UserError(f"kernel {self.function.fn.__name__}: {error}", hint=hint) from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def _type(self, name: str, value: Any) -> str:
        """Return Triton's name for the type of an argument."""
        if next(one for one in self.function.params if one.name == name).is_constexpr or value is None:
            return CONSTANT
        if isinstance(value, Pointer | np.ndarray):
            array = value.array if isinstance(value, Pointer) else value
            return "*" + self._element(name, array.dtype)
        if _is_descriptor(value):
            return f"{DESCRIPTOR}<{self._element(name, value.base.dtype)}{[int(size) for size in value.block_shape]}>"
        if isinstance(value, bool | np.generic):
            return self._element(name, np.asarray(value).dtype)
        if isinstance(value, int):
            kinds = (("i32", np.int32), ("i64", np.int64), ("u64", np.uint64))
            found = next((kind for kind, numpy in kinds if np.iinfo(numpy).min <= value <= np.iinfo(numpy).max), None)
            if found is None:
                raise UserError(f"kernel {self.function.fn.__name__}: argument {name} = {value} does not fit into 64 bits")
            return CONSTANT if value == 1 else found
        if isinstance(value, float):
            return "fp32"
        raise UserError(
            f"kernel {self.function.fn.__name__}: argument {name} is {type(value).__name__}",
            hint="pass NumPy arrays, numbers, and sim.tensor_descriptor(array, block_shape)",
        )

    def _element(self, name: str, dtype: np.dtype) -> str:
        if dtype.name not in TYPES:
            raise UserError(
                f"kernel {self.function.fn.__name__}: argument {name}: Triton has no type {dtype}", hint=f"it has {', '.join(TYPES)}"
            )
        return TYPES[dtype.name]

    def _compiled(self, values: dict[str, Any], types: dict[str, str], options: dict[str, int]) -> Compiled:
        constants = {name: values[name] for name, kind in types.items() if kind == CONSTANT}
        offsets = _offsets(list(values.values()))
        even = {(k,): [["tt.divisibility", SPECIALISED]] for k, name in enumerate(types) if _is_even(values[name], types[name], offsets[k])}
        key = repr((types, constants, even, options))
        if key not in self.made:
            self.made[key] = _compile(self.function, self.architecture, types, constants, even, options)
        return self.made[key]


def triton(function: Any, architecture: str) -> TritonKernel:
    """Return a `@triton.jit` kernel, compiled ahead of time for an architecture when it is called, grid first; arrays are NumPy's. No GPU.

    Needs the extra `triton`. Raises UserError, for a kernel that Triton refuses in its own words.

    >>> import sim
    >>> try:
    ...     kernel = sim.triton(object(), "sm_90")
    ... except sim.UserError as error:
    ...     print("a kernel is a function of triton.jit" in str(error) or "Triton is not installed" in str(error))
    True
    """
    _check_installed()
    found: tuple[Any, ...] = ()
    while hasattr(function, "fn") and not hasattr(function, "params"):  # autotune and heuristics wrap the kernel
        found = tuple(getattr(function, "configs", ())) or found
        function = function.fn
    if not hasattr(function, "params"):
        raise UserError(f"{type(function).__name__}: a kernel is a function of triton.jit")
    return TritonKernel(function, architecture, tuple(one.all_kwargs() for one in found), tuple(one.pre_hook for one in found))


def tensor_descriptor(array: np.ndarray, block_shape: Sequence[int], padding: str = "zero") -> Any:
    """Return a `TensorDescriptor` of Triton for an array, which Triton itself makes of tensors of PyTorch only: an argument of a kernel.

    Its shape and strides are the array's; block_shape may be set later, as an autotuned kernel's pre_hook does. padding: "zero" or
    "nan", of what lies outside. Needs the extra `triton`. Raises UserError.

    >>> import numpy as np, sim
    >>> try:
    ...     print(sim.tensor_descriptor(np.zeros((4, 256, 64), np.float16).reshape(-1, 64), [128, 64]).shape == [1024, 64])
    ... except sim.UserError as error:
    ...     print("Triton is not installed" in str(error))
    True
    """
    _check_installed()
    from triton.tools.tensor_descriptor import TensorDescriptor

    if not isinstance(array, np.ndarray) or len(block_shape) != array.ndim:
        message = f"a descriptor of {type(array).__name__} with a block of {len(block_shape)} dimensions"
        raise UserError(message, hint="sim.tensor_descriptor(array, block_shape), a size for each dimension of a NumPy array")
    made = object.__new__(TensorDescriptor)  # its __init__ asks for what only tensors have
    made.base, made.shape, made.strides = array, list(array.shape), [stride // array.itemsize for stride in array.strides]
    made.block_shape, made.padding = list(block_shape), padding
    return made


def _check_installed() -> None:
    if importlib.util.find_spec("triton") is None:
        raise UserError("Triton is not installed", hint=INSTALL)


def _compile(function: Any, architecture: str, types: dict[str, str], constants: dict[str, Any], even: Any, options: Any) -> Compiled:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = ASTSource(fn=function, signature=types, constexprs=constants, attrs=even)
    try:
        made = triton.compile(source, target=GPUTarget("cuda", number(architecture), 32), options=options)
    except Exception as error:  # the compiler's own, of many kinds
        raise UserError(f"Triton refuses kernel {function.fn.__name__}: {error}") from None
    return Compiled(isa.load_cubin(made.asm["cubin"], made.metadata.name, f"{function.fn.__name__} (Triton)"), made.metadata)


def _offsets(values: list[Any]) -> list[int]:
    """Return at which byte of its piece of device memory, which begins at a multiple of 4 KiB, each pointer lies; 0 of others."""
    arrays = [value.array if isinstance(value, Pointer) else value if isinstance(value, np.ndarray) else np.empty(0) for value in values]
    starts = [start if array.nbytes else array.ctypes.data for array, (start, _) in zip(arrays, host_regions(arrays), strict=True)]
    further = [value.offset if isinstance(value, Pointer) else 0 for value in values]
    return [array.ctypes.data - start + more for array, start, more in zip(arrays, starts, further, strict=True)]


def _is_even(value: Any, kind: str, offset: int) -> bool:
    if kind == CONSTANT:
        return False
    if kind[0] == "*":
        return offset % SPECIALISED == 0
    return kind[0] in "iu" and kind != "i1" and int(value) % SPECIALISED == 0


def _is_descriptor(value: Any) -> bool:
    return hasattr(value, "block_shape") and isinstance(value.base, np.ndarray)


def _expanded(descriptor: Any, tile: dict[str, Any] | None) -> list[Any]:
    """Return what a kernel has for a descriptor, as Triton's launcher lays it out. tile: what TMA moves at once; None: it is not used."""
    array, is_nan = descriptor.base, descriptor.padding == "nan"
    if list(descriptor.shape) != list(array.shape):
        raise UserError(f"a descriptor of shape {list(descriptor.shape)} of an array of {list(array.shape)}", hint="make one of a view")
    rounded = [descriptor.round_f32_to_tf32] if hasattr(descriptor, "round_f32_to_tf32") else []  # not of Triton 3.6
    sizes = [*map(np.int32, descriptor.shape), *map(np.int64, descriptor.strides)]
    if tile is None:
        return [start_of(array), *map(np.int64, [*descriptor.shape, *descriptor.strides]), *map(np.uint8, [is_nan, *rounded]), *sizes]
    swizzle, fill, dtype = list(SWIZZLES)[tile["swizzle"]], "nan" if is_nan else "zeros", "tfloat32" if any(rounded) else None
    return [tensor_map(array, tile["block_size"], swizzle, fill=fill, dtype=dtype, promotion="128B"), *sizes]


def _scalar(value: Any, kind: str) -> Any:
    if kind[0] == "*":
        return value
    numpy = SCALARS.get(kind) or np.dtype(next(name for name, short in TYPES.items() if short == kind)).type
    return numpy(value)
