"""`simtlab new`: what it writes runs, is right, and passes its own test. And messages that name the cause."""

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from isa import reader
from sim.cli import app


def invoke(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


def test_what_is_written_runs_and_is_right(tmp_path: Path) -> None:
    assert invoke("new", "mine", "--folder", tmp_path)[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.sass", "mine.toml", "test_mine.py"]
    status, text = invoke("run", tmp_path / "mine.sass")
    assert status == 0
    assert "Results equal NumPy's: y." in text
    status, text = invoke("new", "mine", "--folder", tmp_path)
    assert status == 2
    assert "there is a file of that name already" in text


def test_what_is_suggested_next_runs_on_a_base_install_or_says_what_it_needs(tmp_path: Path) -> None:
    lines = invoke("new", "mine", "--folder", tmp_path)[1].partition("next:\n")[2].splitlines()
    commands = [line.split("  # needs ")[0].split() for line in lines if "# needs" not in line]
    assert len(commands) == 2
    for program, *words in commands:
        assert (program, invoke(*words)[0]) == ("simtlab", 0)
    assert [line.split()[-1] for line in lines if "# needs" in line] == ["'simtlab[lab]'", "pytest"]


@pytest.mark.slow
def test_its_own_test_passes(tmp_path: Path) -> None:
    invoke("new", "mine", "--folder", tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path / "test_mine.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "says"), [("../x", "is not a kernel name"), ("9", "is not a kernel name"), ("a b", "is not a kernel name")]
)
def test_other_names_are_refused(tmp_path: Path, name: str, says: str) -> None:
    status, text = invoke("new", name, "--folder", tmp_path)
    assert (status, says in text) == (2, True)
    assert not list(tmp_path.iterdir())
    assert invoke("new", "a", "--folder", tmp_path / "none")[0] == 2


def test_messages_name_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing, launch = tmp_path / "n.sass", tmp_path / "n.toml"
    listing.write_text("\ufeff.kernel a\n.param u32 n\nEXIT;\n", encoding="utf-8")
    launch.write_text('\ufeffgrid = 1\nblock = 32\n[[args]]\nname = "n"\ntype = "u32"\nvalue = 4\n', encoding="utf-8")
    assert invoke("run", listing)[0] == 0  # a byte-order mark is no mistake
    assert "-: the report goes to standard output already" in invoke("run", listing, "--json", "-")[1]
    launch.write_text('grid = 1\nblock = 32\n[[args]]\nname = "n"\nvalu = 4\n')
    assert "did you mean value?" in invoke("run", listing)[1]
    listing.write_text(".kernel a\n.param ptr x\nEXIT;\n")
    launch.write_text('grid = 1\nblock = 32\n[[args]]\nname = "x"\nvalue = 3\n')
    assert "x = 3, but the listing says .param ptr x: an array\n  shape = 1024" in invoke("run", listing)[1]
    launch.write_text('grid = 1\nblock = 32\n[[args]]\nname = "x"\nshape = 4\n[expect]\nx = "1 << 99999999999"\n')
    assert "a whole number is shifted by at most 64" in invoke("run", listing)[1]
    monkeypatch.setattr(reader, "MOST_TEXT", 10)
    assert "it has over 10 characters" in invoke("run", listing)[1]


def npy(shape: str, data: bytes = b"") -> bytes:
    """Return a .npy file of float32 whose header claims a shape."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (npy("(1000000000000,)", bytes(16)), "it is shorter than its header claims"),  # four terabytes
        (npy("(5,)", bytes(16)), "it is shorter than its header claims"),
        (npy(f"({10**30},)"), "it is not a .npy file"),
        (b"", "it is not a .npy file: No data left in file"),
        (b"PK\x03\x04 and more", "it is not a .npy file: File is not a zip file"),
        (b"1, 2, 3", "it is not a .npy file"),
    ],
)
@pytest.mark.parametrize("key", ["args", "expect"])
def test_an_array_file_that_claims_more_than_it_has_is_a_message(tmp_path: Path, data: bytes, says: str, key: str) -> None:
    listing = tmp_path / "n.sass"
    listing.write_text(".kernel a\n.param ptr x\nEXIT;\n")
    (tmp_path / "x.npy").write_bytes(data)
    array = {"args": 'file = "x.npy"', "expect": 'shape = 4\n[expect.x]\nfile = "x.npy"'}[key]
    (tmp_path / "n.toml").write_text(f'grid = 1\nblock = 32\n[[args]]\nname = "x"\n{array}\n')
    status, text = invoke("run", listing)
    assert (status, says in text, "Traceback" in text) == (2, True, False)


def test_a_good_array_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "n.sass").write_text(".kernel a\n.param ptr x\nEXIT;\n")
    (tmp_path / "x.npy").write_bytes(npy("(4,)", np.arange(4, dtype="<f4").tobytes()))
    (tmp_path / "n.toml").write_text('grid = 1\nblock = 32\n[[args]]\nname = "x"\nfile = "x.npy"\n[expect]\nx = "arange(4)"\n')
    status, text = invoke("run", tmp_path / "n.sass")
    assert (status, "Results equal NumPy's: x." in text) == (0, True)


def test_help_keeps_brackets() -> None:
    assert "simtlab[measure]" in invoke("measure", "--help")[1]
