"""The architecture is enforced, not described."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sim import kernel

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("isa", "sim", "programs")
PROBE = """
import numpy as np
import isa, sim
from sim.functional import execute
from sim.timing import engine
listing = '''
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, 0x10, PT
@P0 BRA done
    FFMA R1, R1, R2, R3
done:
    EXIT
'''
launch = sim.Launch(isa.parse(listing), grid=(2,), block=(64,))
sim.simulate(sim.execute(launch), sim.gpu("gtx480"))
from numba.core.dispatcher import Dispatcher
import gc
entries = [d for d in gc.get_objects() if isinstance(d, Dispatcher) and d.__module__.split(".")[0] in ("sim", "isa")]
entries = [d for d in entries if d.signatures]  # the cache folder is new, so each of these was compiled here
compiled = {f"{d.__module__}.{d.__name__}": "".join(d.inspect_llvm().values()) for d in entries}
assert "sim.timing.engine.run" in compiled, sorted(compiled)
assert any(name.startswith("sim.functional") for name in compiled), sorted(compiled)
print(len(compiled), "kernels;", "counted:", sorted(n for n, text in compiled.items() if "NRT_incref" in text or "NRT_decref" in text))
"""


def python_files() -> list[Path]:
    return [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]


def test_import_contracts_hold() -> None:
    tool = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(tool)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_compiled_kernel_touches_reference_counts(tmp_path: Path) -> None:
    """Reference counting at helper calls is a 15-80x tax; a kernel that lost its flags shows here without timing anything."""
    environment = {"SIMTLAB_CACHE": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROBE], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("counted: []"), done.stdout


def test_files_stay_small() -> None:
    """Median under 100 lines would be pleasant; over 400 is refused."""
    long = {str(path): n for path in python_files() if (n := path.read_text().count("\n")) > 400}
    assert not long


def test_only_the_command_line_prints() -> None:
    guilty = [
        str(path) for path in python_files() if path.parent.name != "cli" and re.search(r"^\s*print\(", path.read_text(), re.MULTILINE)
    ]
    assert not guilty


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


def test_the_cache_of_kernels_knows_every_file_whose_numbers_they_read() -> None:
    """A constant is frozen into machine code: a changed one must lead to another cache folder."""
    known = {path for pattern in kernel.SOURCES for path in (ROOT / "sim").glob(pattern)}
    kernels = [
        path for folder in ("timing", "functional") for path in (ROOT / "sim" / folder).rglob("*.py") if "sim.kernel" in path.read_text()
    ]
    for path in kernels:
        imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        for node in imports:
            constants = [alias.name for alias in node.names if alias.name.isupper()]
            if constants and node.module and node.module.startswith("sim."):
                source = ROOT / f"{node.module.replace('.', '/')}.py"
                assert source in known, f"{path.relative_to(ROOT)} reads {', '.join(constants)} of {node.module}"
