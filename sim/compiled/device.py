"""Kernels of numba-cuda -> machine code, without a device: Numba and NVVM make code for the linker, nvJitLink links it, all wheels.

The whole kernel goes through link-time optimisation, as with Numba's own launcher: PTX instead would leave calls of slow paths (division,
square root) to addresses that the driver fills in.
"""

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from isa.architecture import number
from isa.errors import UserError

INSTALL = "pip install 'simtlab[numba-cuda]'"


def is_installed() -> bool:
    """Return whether the packages are there."""
    found = (importlib.util.find_spec(name) for name in ("numba_cuda", "cuda", "cuda.bindings"))  # the last only where its parent is
    return all(one is not None for one in found)


def types_of(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return Numba's types of a kernel's arguments. Raises ValueError for a value that has none."""
    from numba.cuda.typing.typeof import Purpose, typeof

    return tuple(typeof(value, Purpose.argument) for value in values)


def compiled(kernel: Any, types: tuple[Any, ...], architecture: str) -> bytes:
    """Return the cubin of a `numba.cuda.jit` kernel for these types and its own options. Raises UserError in Numba's words."""
    from numba import cuda

    declared = kernel.targetoptions
    options = {name: declared[name] for name in ("fastmath", "launch_bounds") if declared.get(name)}
    target = divmod(number(architecture), 10)
    try:
        with _device_of(target):
            code, _ = cuda.compile(kernel.py_func, types, cc=target, device=False, abi="numba", output="ltoir", **options)
    except Exception as error:  # Numba's own, of many kinds
        raise UserError(f"Numba refuses kernel {kernel.py_func.__name__}: {error}") from None
    most = declared.get("max_registers")
    flags = [f"-arch={architecture}", "-lto", *([f"-maxrregcount={most}"] if most else [])]
    return _linked(code, flags, kernel.py_func.__name__)


@contextmanager
def _device_of(target: tuple[int, int]) -> Iterator[None]:
    """Have Numba ask no driver: functions that a kernel calls are compiled for the current device, whatever is asked."""
    from numba.cuda import dispatcher

    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=target)
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


def _linked(code: bytes, options: list[str], name: str) -> bytes:
    """Return the cubin of code for the linker. Raises UserError in the linker's words."""
    from cuda.bindings import nvjitlink

    handle = nvjitlink.create(len(options), options)
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, code, len(code), f"{name}.ltoir")
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        return bytes(cubin)
    except nvjitlink.nvJitLinkError as error:
        log = bytearray(nvjitlink.get_error_log_size(handle))
        nvjitlink.get_error_log(handle, log)
        raise UserError(f"nvJitLink refuses kernel {name}: {error}\n{log.decode(errors='replace').rstrip(chr(0))}") from None
    finally:
        nvjitlink.destroy(handle)
