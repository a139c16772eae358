"""Compiled kernels on disk: what makes them stale and what does not; what the cache survives."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from sim.compiled.digest import dependences, describe
from sim.compiled.kernel import inner, is_compiled, kernel

ROOT = Path(__file__).parents[2]
DIGESTS = """
import os, sys
import numba  # once: each folder's sources are imported in a child of their own
for folder in map(str.strip, sys.stdin):
    if os.fork():
        if os.wait()[1]:
            print(flush=True)  # what went wrong stands in stderr
        continue
    sys.path.insert(0, folder)
    from sim.compiled.digest import dependences
    from sim.functional.warp import run as functional
    from sim.timing.engine import run as timing
    from sim.functional.families import PARTS as families
    from sim.timing.apart import PARTS
    assert sys.modules["sim.timing.engine"].__file__.startswith(folder)
    kernels = {"functional": functional, "timing": timing}
    kernels |= {part.name.lower(): apart.cache.kernel for parts in (families, PARTS) for part, apart in parts.items()}
    print(*(f"{name}={dependences(kernel).digest}" for name, kernel in kernels.items()), flush=True)
    os._exit(0)
"""
EDITS = [  # a file, what is replaced in it by what, and whose machine code may become another
    ("isa/errors.py", '"""', '"""Edited. ', ""),
    ("isa/opcodes.toml", "\n", "\n# edited\n", ""),
    ("sim/gpus/gtx480.toml", "\n", "\n# edited\n", ""),
    ("sim/timing/issue.py", '"""', '"""Edited. ', ""),
    ("sim/timing/issue.py", "@inner", "# edited\n\n@inner", ""),
    ("sim/functional/setup.py", "LOG_ENTRIES = 1024", "LOG_ENTRIES = 2048", ""),
    ("sim/functional/growth.py", "1 + 2 * LANES", "2 + 2 * LANES", "functional"),
    ("sim/functional/state.py", "STACK_DEPTH = 160", "STACK_DEPTH = 161", "functional"),
    ("isa/semantics/words.py", "0xFFFFFFFF", "0xFFFFFFFE", "functional"),
    ("sim/timing/engine.py", "    now = next_arrival(hw, sm)\n", "    now = next_arrival(hw, sm) + 0\n", "timing"),
    ("sim/timing/memory/responses.py", "range(", "range(0 + ", "timing"),
    ("sim/policies/builtin.py", "@kernel", "# edited\n\n@kernel", ""),
    ("isa/operations.toml", "popc_of_both a b", "popc_of_both b a", "functional"),
    ("sim/compiled/inlining.py", "SMALL = 40_000", "SMALL = 40_001", "functional timing"),
    ("sim/compiled/tuples.py", "SMALL = 7", "SMALL = 6", "functional timing"),
    ("sim/compiled/cores.py", "MOST = 8", "MOST = 9", ""),
    ("sim/compiled/callback.py", "BUILT_IN = 64", "BUILT_IN = 65", "timing"),
]
KERNELS = ("functional", "timing")
OF_PARTS = [  # the same of parts that are compiled by themselves: `changed` is all
    ("sim/functional/doubles.py", "SMALLER = 1", "SMALLER = 2", "doubles"),
    ("sim/functional/crosslane.py", "source >= 0 else k", "source > 0 else k", "lanes"),
    ("sim/functional/warpgroups.py", "LINES = np.int64(4), np.int64(16)", "LINES = np.int64(4), np.int64(8)", "warpgroups"),
    ("sim/functional/bulk.py", "ROW_BYTES, ROWS = 16, 8", "ROW_BYTES, ROWS = 16, 4", "accesses"),
    ("sim/timing/memory/copies.py", "copy.begun += 1", "copy.begun += 2", "exchange"),
    ("sim/timing/issue.py", "before.flow == BRANCH", "before.flow != BRANCH", "further"),
    ("isa/operations.toml", 'DADD = { form = "DOUBLE", function = "dadd x y', 'DADD = { form = "DOUBLE", function = "dadd y x', "doubles"),
]


Digests = Callable[[Path], dict[str, str]]


@pytest.fixture(scope="module")
def digests() -> Iterator[Digests]:
    """Return a function that says the digests of the kernels of a folder's sources."""
    command = [sys.executable, "-B", "-c", DIGESTS]  # -B: two edits in one second would look the same to what Python keeps
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")

    def asked(folder: Path) -> dict[str, str]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{folder}\n")
        process.stdin.flush()
        return dict(word.split("=") for word in process.stdout.readline().split())

    with process:
        yield asked


@pytest.fixture(scope="module")
def copied(digests: Digests, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a copy of the sources, and the digests of its kernels."""
    folder = tmp_path_factory.mktemp("copy")
    for package in ("isa", "sim"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder, digests(folder)


def test_two_copies_of_the_same_sources_share_their_kernels(digests: Digests, copied: tuple[Path, dict[str, str]]) -> None:
    assert digests(ROOT) == copied[1]


@pytest.mark.parametrize(("file", "old", "new", "changed"), EDITS, ids=lambda value: str(value)[:24].strip())
def test_an_edit_changes_the_digest_of_the_kernels_that_it_can_change(
    digests: Digests, copied: tuple[Path, dict[str, str]], file: str, old: str, new: str, changed: str
) -> None:
    assert changed_by(digests, copied, file, old, new) & set(KERNELS) == set(changed.split())


@pytest.mark.parametrize(("file", "old", "new", "changed"), OF_PARTS, ids=lambda value: str(value)[:24].strip())
def test_an_edit_of_a_family_changes_its_digest_alone(
    digests: Digests, copied: tuple[Path, dict[str, str]], file: str, old: str, new: str, changed: str
) -> None:
    assert changed_by(digests, copied, file, old, new) == set(changed.split())


def changed_by(digests: Digests, copied: tuple[Path, dict[str, str]], file: str, old: str, new: str) -> set[str]:
    """Return whose digests are others with one edit of a folder's sources, which is undone."""
    folder, before = copied
    text = (folder / file).read_text()
    assert old in text
    try:
        (folder / file).write_text(text.replace(old, new, 1))
        return {name for name, digest in digests(folder).items() if digest != before[name]}
    finally:
        (folder / file).write_text(text)


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


class Swapped(NamedTuple):
    second: np.ndarray
    first: np.ndarray


def test_the_fields_of_arguments_count() -> None:
    Swapped.__name__ = Swapped.__qualname__ = "Pair"  # as when a field moves: the same class name, the same types
    arrays = np.zeros(3), np.zeros(3)
    first, second = (numba.typeof(kind(*arrays)) for kind in (Pair, Swapped))
    assert str(first) == str(second)
    assert describe(first) != describe(second)


@inner
def doubled(x: int) -> int:
    return 2 * x


@kernel
def kept(x: int) -> int:
    return doubled(x)


@kernel
def calls_a_kernel(x: int) -> int:
    return kept(x)


@pytest.mark.skipif(not is_compiled(), reason="Numba is switched off")
def test_a_kernel_calls_no_other() -> None:
    """Of a kernel loaded from the cache nothing can be linked in: it was as if `kept` had no body, and returned what lay in a register."""
    assert dependences(kept).parts == 2
    with pytest.raises(TypeError, match=r"test_cache\.kept is a kernel: others call what is `inner`"):
        dependences(calls_a_kernel)


LEAST = """
import ctypes, numba
from sim.compiled.cache import callback

{more}

def least(a, b):
    return min(a, b) + more(-1)

code = callback("the least", least, numba.int64(numba.int64, numba.int64), dict(boundscheck=True))
said = code.native_name, code.ctypes(5, 3), code.cache_hits
"""
FOREIGN = "more = ctypes.CDLL(None).labs\nmore.argtypes, more.restype = [ctypes.c_int64], ctypes.c_int64"  # an address of this process


def said(text: str) -> tuple[str, int, int]:
    """Return the symbol of a function that kernels call by its address, what it answers, and whether it was kept."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(text, names)
    return names["said"]


@pytest.mark.skipif(not is_compiled(), reason="Numba is switched off")
def test_what_kernels_call_by_its_address_is_kept_under_a_symbol_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba numbers what a process compiles from 1 on, so what two processes kept was `least` number 2 in both."""
    monkeypatch.setenv("SIMTLAB_CACHE", str(tmp_path))
    texts = [LEAST.format(more=f"@numba.njit\ndef more(x): return {number}") for number in (1, 2)]
    symbols = []
    for text in texts:
        done = subprocess.run([sys.executable, "-c", f"{text}\nprint(*said)"], capture_output=True, text=True, check=True, cwd=ROOT)
        symbol, *others = done.stdout.split()
        assert others == [str(4 + len(symbols)), "0"]
        symbols.append(symbol)
    assert symbols[0] != symbols[1]
    assert [said(text) for text in texts] == [(symbols[0], 4, 1), (symbols[1], 5, 1)]


@pytest.mark.skipif(not is_compiled(), reason="Numba is switched off")
def test_what_names_an_address_of_its_process_is_compiled_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMTLAB_CACHE", str(tmp_path))
    assert [said(LEAST.format(more=FOREIGN))[1:] for _ in range(2)] == [(4, 0), (4, 0)]
    assert not list(tmp_path.iterdir())
