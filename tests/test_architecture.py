"""The architecture is enforced, not described."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import isa
import sim
from sim import kernel

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("isa", "sim", "programs")
LISTING = """
    S2R R0, SR_TID.X
    ISETP.GE.AND P0, PT, R0, 0x10, PT
@P0 BRA done
    FFMA R1, R1, R2, R3
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


def counting(folder: Path) -> dict[str, bool]:
    """Return, for every compiled function in a folder of Numba's, whether its machine code names what counts references."""
    return {path.name.split("-")[0]: re.search(rb"NRT_(inc|dec)ref", path.read_bytes()) is not None for path in folder.rglob("*.nbc")}


def test_no_compiled_kernel_touches_reference_counts() -> None:
    """Reference counting at helper calls is a 15-80x tax; a kernel that lost its flags shows here without timing anything."""
    sim.run(sim.Launch(isa.parse(LISTING), grid=(2,), block=(64,)), sim.gpu("gtx480"))
    compiled = counting(kernel.cache_folder())  # named by a digest of the kernels' sources: there is nothing else in it
    assert {"engine.run", "warp.run"} <= compiled.keys()
    assert not [name for name, counts in compiled.items() if counts]


def test_a_kernel_that_counts_references_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "counted.py").write_text(COUNTED)
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, str(tmp_path / "counted.py")], env=environment, check=True)
    assert counting(tmp_path) == {"counted.run": True}


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
