"""`sim.captures.capture`: launches between two lines of a running Python program, through a library that stands in for the driver."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sim import captures
from tests.unit.captured import CUBIN, built, needs_compiler

pytestmark = needs_compiler
START = """
import ctypes, sys
from sim import captures

def program(*words):
    words = [b"program", *map(str.encode, words)]
    return ctypes.CDLL(FOLDER + "/libprogram.so").program(len(words), (ctypes.c_char_p * len(words))(*words))
"""


def python(text: str, driver: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program of these lines beside the driver."""
    start = START.replace("FOLDER", repr(str(built()))).replace("CUBIN", repr(str(CUBIN)))
    environment = os.environ | {"LD_LIBRARY_PATH": str(built()) if driver else ""} | variables
    command = [sys.executable, "-c", start + text.replace("CUBIN", repr(str(CUBIN)))]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def total(capture: captures.Capture, pieces: list[np.ndarray] | None) -> int:
    assert pieces is not None
    return int(next(data for one, data in zip(capture.table.allocations, pieces, strict=True) if one.name == "total").view(np.uint32)[0])


@pytest.mark.parametrize("how", ["linked", "dlsym", "address"])
def test_the_launches_of_a_block(tmp_path: Path, how: str) -> None:
    """Memory was allocated and a launch made before it, and one comes after it."""
    lines = f"""
captures.prepare()
assert program({how!r}, "fine", CUBIN, "1") == 0
with captures.capture(kernel="^scale_", skip=1, count=2, folder={str(tmp_path)!r}) as files:
    assert files == []
    assert program({how!r}, "fine", CUBIN, "9") == 0
print(*files, sep="\\n")
assert program({how!r}, "fine", CUBIN, "1") == 0
"""
    done = python(lines)
    assert done.returncode == 0, done.stderr
    files = [Path(line) for line in done.stdout.splitlines()]
    assert files == [tmp_path / "scale_rows-1.capture", tmp_path / "scale_rows-2.capture"]
    assert sorted(tmp_path.iterdir()) == files
    found = [captures.read(file) for file in files]
    assert [total(one, one.before) for one in found] == [2000, 3000]
    assert [total(one, one.after) for one in found] == [3000, 4000]
    assert sorted(one.size for one in found[0].table.allocations if one.kind == "memory") == [16, 2000, 2000, 4000]
    assert found[0].table.origin.command[1] == "-c"


def test_two_blocks_and_what_is_raised_in_one(tmp_path: Path) -> None:
    lines = f"""
with captures.capture(folder={str(tmp_path / "first")!r}):
    program("dlsym", "fine", CUBIN, "3")
try:
    with captures.capture(folder={str(tmp_path / "second")!r}, repeat=True):
        program("dlsym", "fine", CUBIN, "3")
        raise KeyError("mine")
except KeyError:
    print("mine")
try:
    with captures.capture(kernel="saxpy", folder={str(tmp_path / "third")!r}):
        program("dlsym", "fine", CUBIN)
except captures.live.UserError as error:
    print(error)
try:
    with captures.capture():
        with captures.capture():
            pass
except captures.live.UserError as error:
    print(error)
"""
    done = python(lines)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:3] == ["mine", "no launch matched --kernel 'saxpy'", "  it launched scale_rows"]
    assert "launches are being captured already" in done.stdout
    first, second = (captures.read(tmp_path / name / "scale_rows-0.capture") for name in ("first", "second"))
    assert (first.table.repeatable, second.table.repeatable) == (None, True)
    assert not list((tmp_path / "third").iterdir())


def test_what_is_left_out_is_a_warning(tmp_path: Path) -> None:
    lines = f"""
with captures.capture(count=2, max_bytes=8100, folder={str(tmp_path)!r}):
    program("linked", "graph", CUBIN)
    program("linked", "fine", CUBIN)
"""
    done = python(lines)
    assert done.returncode == 0, done.stderr
    assert "RuntimeWarning: 1 x not captured: scale_rows: it goes into a graph" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["scale_rows-1.capture"]


@pytest.mark.parametrize(
    ("text", "driver", "message"),
    [
        ("program('linked', 'fine', CUBIN)\ncaptures.prepare()", True, "this process uses the CUDA driver already"),
        ("captures.prepare()", False, "there is no libcuda.so.1 here"),
        ("with captures.capture(count=0): pass", True, "count from 1"),
        ("with captures.capture(count=2.5): pass", True, "count from 1"),
        ("with captures.capture(kernel=None): pass", True, "kernel = None"),
        ("with captures.capture(kernel='(?:x)'): program('linked', 'fine', CUBIN)", True, "no POSIX extended regular expression"),
        ("with captures.capture(): pass", True, "the program did not use the CUDA driver"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, driver: bool, message: str) -> None:
    done = python(f"import os; os.chdir({str(tmp_path)!r})\n" + text, driver)
    assert message in done.stderr.splitlines()[-2] + done.stderr.splitlines()[-1], done.stderr
    assert not list(tmp_path.iterdir())


def test_a_later_block_replaces_no_file_of_an_earlier(tmp_path: Path) -> None:
    lines = f"""
for _ in range(2):
    with captures.capture(kernel="^scale_", folder={str(tmp_path)!r}) as files:
        assert program("linked", "fine", CUBIN, "1") == 0
    print(*files)
"""
    done = python(lines)
    assert done.returncode == 0, done.stderr
    assert [Path(line).name for line in done.stdout.split()] == ["scale_rows-0.capture", "scale_rows-0-2.capture"]


def test_under_the_command_it_is_refused(tmp_path: Path) -> None:
    done = python("captures.prepare()", SIMTLAB_CAPTURE_FOLDER=str(tmp_path))
    assert "this program runs under `simtlab capture` already" in done.stderr
