"""The architecture is enforced, not described."""

import ast
import inspect
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import grimp
import pytest

import isa
import sim
from sim.compiled import apart, atomics, callback
from sim.compiled import kernel as kernel_module
from sim.compiled.digest import LIBRARIES, REPLACED, dependences
from sim.functional.warp import run as functional_run
from sim.timing.engine import run as timing_run
from sim.warming import APART

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("isa", "sim", "programs")
ROOM = (apart, atomics, callback, kernel_module)  # taken whole by the digest, where a kernel names something of them
KERNELS: dict[str, Any] = {"executor": functional_run, "timing engine": timing_run}
KERNELS |= {name: part.cache.kernel for name, part in APART.items()}
LISTING = """
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, 0x10, PT
@P0 BRA done
    FFMA R1, R1, R2, R3
    PRMT R1, R2, 0x10, R3
done:
    EXIT
"""
COUNTED = """
import numba, numpy
@numba.njit
def helper(pair, i):
    first, second = pair
    return first[i] + second[i]
@numba.njit(cache=True)
def run(pair):
    return helper(pair, 0)
run((numpy.arange(2), numpy.arange(2)))
"""


def python_files() -> list[Path]:
    return [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]


def test_import_contracts_hold() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(tool)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_two_modules_import_each_other() -> None:
    """Also over several corners; imports for annotations alone do not count."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 300
    list(TopologicalSorter(imports).static_order())  # raises CycleError, naming the modules


def counting(folder: Path) -> dict[str, bool]:
    """Return, for every compiled function in a folder of Numba's, whether its machine code names what counts references."""
    return {path.name.split("-")[0]: re.search(rb"NRT_(inc|dec)ref", path.read_bytes()) is not None for path in folder.rglob("*.nbc")}


def test_no_compiled_kernel_touches_reference_counts() -> None:
    """Reference counting at helper calls is a 15-80x tax; a kernel that lost its flags shows here without timing anything."""
    sim.run(sim.Launch(isa.parse(LISTING), grid=(2,), block=(64,)), sim.gpu("gtx480"))
    caches = [functional_run._cache, timing_run._cache, *(part.cache for part in APART.values())]  # of parts, those that are kept
    kept = [file.read_bytes() for one in caches for file in Path(one.cache_path).glob("*.kernel")]
    assert len(kept) >= 3
    assert all(b"_dynfunc" in code or b"Numba" in code for code in kept)  # it is machine code with Numba's names
    assert not any(re.search(rb"NRT_(inc|dec)ref", code) for code in kept)


def test_a_kernel_that_counts_references_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "counted.py").write_text(COUNTED)
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, str(tmp_path / "counted.py")], env=environment, check=True)
    assert counting(tmp_path) == {"counted.run": True}


def prints(path: Path) -> bool:
    """Return whether a file calls print(); texts that hold it, as a notebook's cells do, are no calls."""
    calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls)


def test_only_the_command_line_prints() -> None:
    assert not [str(path) for path in python_files() if path.parent.name != "cli" and prints(path)]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_opens_with_what_it_is(package: str) -> None:
    silent = [str(path) for path in (ROOT / package).rglob("*.py") if not path.read_text().lstrip().startswith('"""')]
    assert not silent


def test_every_package_has_a_readme() -> None:
    missing = [
        str(path)
        for path in (ROOT / "isa", ROOT / "sim", *(p for p in (ROOT / "sim").iterdir() if (p / "__init__.py").exists()))
        if not (path / "README.md").exists()
    ]
    assert not missing


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_the_cache_of_kernels_knows_every_name_that_they_read(kernel: Any) -> None:
    """Values are frozen into machine code: a changed one must lead to another place in the cache. The source is the witness here."""
    known, unread = dependences(kernel).names, []
    modules = {name.rpartition(".")[0] for name in known} & sys.modules.keys()
    for module in (sys.modules[name] for name in modules):
        for function in ast.parse(inspect.getsource(module)).body:
            if not isinstance(function, ast.FunctionDef) or f"{module.__name__}.{function.name}" not in known:
                continue
            if vars(module)[function.name] in REPLACED:
                continue
            read = {node.id for line in function.body for node in ast.walk(line) if isinstance(node, ast.Name)}
            for name in sorted(read & vars(module).keys()):
                value = vars(module)[name]
                names = {f"{module.__name__}.{name}", f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"}
                outside = inspect.ismodule(value) or getattr(value, "__module__", "").partition(".")[0] in LIBRARIES
                if not (names & known or outside or inspect.getmodule(value) in ROOM):
                    unread.append(f"{function.name} of {module.__name__} reads {name}")
    assert not unread
    assert len(known) > (300 if kernel in (functional_run, timing_run) else 40)
