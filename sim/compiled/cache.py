"""Compiled kernels kept on disk, each under a digest of all that its machine code depends on. See README.md beside this file.

Takes the place of Numba's own cache, which knows only the file that a kernel stands in, and when that file changed: it keeps stale machine
code when another one changes, and compiles anew after a change that means nothing.
"""

import contextlib
import functools
import hashlib
import itertools
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_assembly
from numba import njit
from numba.core import sigutils
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import _Cache
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.event import Event, Listener, install_listener
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps

from sim.compiled.digest import Dependences, dependences, describe
from sim.compiled.folder import VARIABLE, folder
from sim.compiled.remembered import remembered, seldom_collected

try:
    import fcntl
except ImportError:  # not POSIX: processes that start at once compile the same, and one after the other keeps it
    fcntl = None  # type: ignore[assignment]

HEAD = b"simtlab kernel 1\n"
SUM = 32  # bytes of SHA-256
POLICY = "policy."  # names of kernels that are policies with state, or of a user's, begin so
MANY, MOST = 15, 150  # functions, from which on compiling takes so long that it is said; and takes longer than seconds
NUMBERED = hasattr(FunctionIdentity, "_unique_ids")  # in a Numba without it, symbols of policies that two processes kept could be the same


def kept() -> list[Path]:
    """Return the folders of all kernels that are kept, of any version."""
    return sorted({file.parent for file in folder().glob("*/*.kernel")})


def is_writable() -> bool:
    """Return whether compiled kernels can be kept."""
    found = folder()
    while not found.exists() and found != found.parent:
        found = found.parent
    return found.is_dir() and os.access(found, os.W_OK)


class _Listener(Listener):
    def __init__(self, ended: Callable[[Any], None]) -> None:
        self.ended = ended

    def on_start(self, event: Event) -> None:
        """Numba asks for this; what counts is the end."""

    def on_end(self, event: Event) -> None:
        """Numba calls this when a function, with all that it calls, is compiled."""
        self.ended(event.data["dispatcher"].py_func)


def say(text: str) -> None:
    """Tell the user, on stderr: output that is piped stays as it is."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


class Kernel(CPUDispatcher):
    """A compiled function that Python calls, kept on disk."""

    _cache: "KernelCache"

    def compile(self, sig: Any) -> Any:
        """Return the entry of the machine code for these argument types, which exist, are kept on disk, or are compiled now."""
        with global_compiler_lock:  # of several threads that ask at once one compiles: only that one has the folder's lock to release
            try:
                with remembered(self.typingctx), seldom_collected():
                    return super().compile(sig)
            finally:
                self._cache.release()


class KernelCache(_Cache):
    """What Numba asks for machine code before it compiles, and gives it to afterwards."""

    def __init__(self, kernel: Any, name: str = "") -> None:
        self.kernel = kernel
        self.name = name or f"{kernel.py_func.__module__.removeprefix('sim.')}.{kernel.py_func.__name__}"
        self.is_watched = False  # somebody says already how far compilation is
        self.held: int | None = None  # the folder, open, whose lock this process has while it compiles

    @functools.cached_property
    def dependences(self) -> Dependences:
        """What the kernel depends on, found when first asked: by then all modules are there."""
        return dependences(self.kernel)

    @property
    def cache_path(self) -> str:
        """The folder of this kernel, of this state of its sources."""
        return str(folder() / f"{self.name}-{self.dependences.digest[:16]}")

    def is_kept(self) -> bool:
        """Return whether there is machine code for any argument types: there are never several, but for processors."""
        return any(Path(self.cache_path).glob("*.kernel"))

    @contextlib.contextmanager
    def watched(self, report: Callable[[int, int], None]) -> Iterator[None]:
        """Meanwhile, report how many of this kernel's functions have been compiled, and of how many."""
        found: set[Any] = set()

        def one_more(function: Any) -> None:
            if function not in found and f"{function.__module__}.{function.__qualname__}" in self.dependences.names:
                found.add(function)
                report(min(len(found), self.dependences.parts), self.dependences.parts)

        self.is_watched = True
        try:
            with install_listener("numba:compile", _Listener(one_more)):
                yield
        finally:
            self.is_watched = False

    def file(self, sig: Any, codegen: Any) -> Path:
        """Return where machine code for these argument types and this processor is kept."""
        args, _ = sigutils.normalize_signature(sig)
        words = " ".join([self.dependences.digest, *map(describe, args), *map(str, codegen.magic_tuple())])
        return Path(self.cache_path) / f"{hashlib.sha256(words.encode()).hexdigest()[:32]}.kernel"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept, None when it must be compiled: then no other process compiles the same until `release`."""
        target_context.refresh()
        file = self.file(sig, target_context.codegen())
        found = self._read(file, target_context)
        if found is None and self._lock(file):
            found = self._read(file, target_context)  # another process may have compiled it meanwhile
        if found is None and not self.is_watched and self.dependences.parts >= MANY:
            time = "half a minute to two minutes" if self.dependences.parts >= MOST else "some seconds"
            say(f"compiling the simulator's kernels, once: {self.name} ({self.dependences.parts} functions, {time})...")
        return found

    def _read(self, file: Path, target_context: Any) -> Any:
        """Return what a file holds, None when there is none; one that is not whole, or not ours, is left out, and said to be."""
        try:
            data = file.read_bytes()
        except OSError:
            return None
        body = data[len(HEAD) + SUM :]
        if data.startswith(HEAD) and hashlib.sha256(body).digest() == data[len(HEAD) : len(HEAD) + SUM]:
            return CompileResult._rebuild(target_context, *pickle.loads(body))
        _once(f"{file} is damaged; the kernel is compiled again")
        return None

    def _lock(self, file: Path) -> bool:
        """Wait until no other process compiles this; return whether one did."""
        if fcntl is None or self.held is not None:
            return False
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if not os.access(file.parent, os.W_OK):
                return False  # nothing to wait for: no process can keep what it compiles
            self.held = os.open(file.parent, os.O_RDONLY)
            try:
                fcntl.flock(self.held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say(f"waiting for another process, which compiles the same kernel ({self.name})...")
                fcntl.flock(self.held, fcntl.LOCK_EX)
                return True
        except OSError:  # nothing can be written here, or the file system has no locks
            self.release()
        return False

    def release(self) -> None:
        """Let other processes have the kernel, compiled or not."""
        if self.held is not None:
            os.close(self.held)
            self.held = None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code, whole or not at all; where that cannot be, say so, once."""
        if any(not lifted.can_cache for lifted in data.lifted) or data.library.has_dynamic_globals:
            raise RuntimeError(f"{self.name} has an address of this process in its machine code: it cannot be kept")
        body = dumps(self.parts_of(data))
        try:
            _write(self.file(sig, data.codegen), HEAD + hashlib.sha256(body).digest() + body)
        except OSError as error:
            remedy = f"Next time they are compiled again, unless {VARIABLE} names a folder that can be written"
            _once(f"compiled kernels cannot be kept in {folder()} ({error.strerror}). {remedy}")

    def parts_of(self, data: Any) -> tuple[Any, ...]:
        """Return what rebuilds a kernel."""
        return _without_bitcode(data)

    def enable(self) -> None:
        """Numba asks for this; a kernel is always kept."""

    def disable(self) -> None:
        """Numba asks for this; a kernel is always kept."""

    def flush(self) -> None:
        """Forget what is kept of this state of the sources."""
        for file in Path(self.cache_path).glob("*.kernel"):
            file.unlink(missing_ok=True)


class CallbackCache(KernelCache):
    """The same for a function that kernels call by its address: one that cannot be kept is compiled in each process."""

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code, unless it has an address of this process in it."""
        if not data.library.has_dynamic_globals:
            super().save_overload(sig, data)

    def parts_of(self, data: Any) -> tuple[Any, ...]:
        """Return what rebuilds it without its module: a policy's file cannot be imported elsewhere, and machine code needs no names."""
        first, kind, own, *rest, others = super().parts_of(data)
        return first, kind, _of_no_module(own), *rest, tuple(_of_no_module(one) for one in others)


def _of_no_module(environment: Environment) -> Environment:
    """Return the constants of a function, under the name by which its machine code finds them, with a module that is always there."""
    made = Environment({"__name__": "builtins"})
    made.consts[:], made.env_name = environment.consts, environment.env_name
    return made


@contextlib.contextmanager
def numbered_by(digest: str) -> Iterator[None]:
    """Meanwhile, number functions that are compiled from a digest on: symbols contain the numbers, and a process may load what several
    processes kept.
    """
    with global_compiler_lock:
        before = FunctionIdentity._unique_ids
        FunctionIdentity._unique_ids = itertools.count(int(digest[:12], 16) << 16)
        try:
            yield
        finally:
            FunctionIdentity._unique_ids = before


def callback(name: str, function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> Any:
    """Return a function as machine code that is called by its address, kept on disk if all that it names is known (`digest`).

    Otherwise it is compiled in each process, without a word: that takes a second or two.
    """
    code: Any = CFunc(function, sigutils.normalize_signature(signature), {}, options)
    cache = CallbackCache(njit(**options)(function), f"{POLICY}{re.sub(r'[^A-Za-z0-9_]', '_', name)}")
    try:
        digest = cache.dependences.digest if NUMBERED else ""
    except TypeError:  # it names what could be anything
        digest = ""
    if not digest:
        code.compile()
        return code
    code._cache = cache
    with numbered_by(digest):
        try:
            code.compile()
        finally:
            cache.release()
    return code


def _without_bitcode(data: Any) -> tuple[Any, ...]:
    """Return what rebuilds a kernel, less the bitcode that others would inline: nobody does, and parsing it takes longer than all else."""
    (name, kind, (machine_code, _)), *rest = data._reduce()
    defined = {function.name for function in data.library._final_module.functions if not function.is_declaration}
    entries = {data.fndesc.llvm_func_name, data.fndesc.llvm_cfunc_wrapper_name, data.fndesc.llvm_cpython_wrapper_name} & defined
    known = [f'define void @"{entry}"() {{ ret void }}' for entry in entries] + [f'@"{data.fndesc.env_name}" = global i8 0']
    return ((name, kind, (machine_code, parse_assembly("\n".join(known)).as_bitcode())), *rest)


@functools.cache
def _once(text: str) -> None:
    say(text)


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
