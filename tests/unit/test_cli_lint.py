"""`simtlab lint`: what it prints, and its exit statuses."""

import gzip
import json
from pathlib import Path

import pytest

from tests.unit.control_words import ROOT
from tests.unit.test_cli import refused, simtlab

HISTOGRAM = ROOT / "programs" / "cuda" / "histogram.sm_80.sass"


@pytest.fixture
def racy(tmp_path: Path) -> Path:
    """Return a listing whose IMAD.SHL no longer waits for the load before it."""
    text = HISTOGRAM.read_text()
    line = next(line for line in text.splitlines() if "0x004fca00" in line)  # the second half of its encoding: waits for counter 2
    file = tmp_path / "racy.sass"
    file.write_text(text.replace(line, line.replace("0x004fca00", "0x000fca00")))
    return file


def test_a_clean_listing_exits_0() -> None:
    result = simtlab("lint", HISTOGRAM)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("histogram (sm_80, 40 instructions): no hazards")
    assert "10 registers per thread: 8 blocks of 256 threads (assumed, --block says others) per SM of NVIDIA A100" in result.stdout
    assert "10 registers per thread: 16 blocks of 128 threads per SM" in simtlab("lint", HISTOGRAM, "--block", "128").stdout


def test_a_hazard_is_printed_and_exits_1(racy: Path, tmp_path: Path) -> None:
    result = simtlab("lint", racy, "--json", tmp_path / "r.json")
    assert result.exit_code == 1, result.output
    assert f"{racy}:45: hazard: IMAD.SHL.U32 R4, R2, 0x4, RZ;" in result.stdout
    assert "reads R2 before line 31 (LDG.E R2, [R2.64]) has written it on every path: a race (RAW)" in result.stdout
    assert "histogram (sm_80, 40 instructions): 5 hazards" in result.stdout
    found = json.loads((tmp_path / "r.json").read_text())["histogram"]["hazards"]
    assert ("RAW", 45) in [(finding["kind"], finding["line"]) for finding in found]
    assert ("WAR", 27) in [(finding["kind"], finding["line"]) for finding in found]  # the load may not even have its address yet


def test_every_kernel_of_a_file_is_checked_unless_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "ext.sass"
    file.write_bytes(gzip.decompress((ROOT / "tests" / "data" / "sass" / "ext.sm_75.sass.gz").read_bytes()))
    everything = simtlab("lint", file)
    assert everything.exit_code == 0, everything.output
    assert everything.stdout.count("no hazards") > 5
    assert simtlab("lint", file, "--function", "x_switch").stdout.count("no hazards") == 1


def test_fewer_registers_that_admit_another_block_are_named() -> None:
    result = simtlab("lint", ROOT / "programs" / "cuda" / "sgemm.sm_90.sass", "--gpu", "h100", "--block", "256")
    assert "per SM of NVIDIA H100 SXM5 80 GB" in result.stdout
    assert "fewer registers per thread" in result.stdout


def test_all_lists_the_places_that_lose_cycles() -> None:
    listing = ROOT / "programs" / "cuda" / "reduce.sm_52.sass"
    assert ":139: information: ISCADD R2.CC" in simtlab("lint", listing, "--all").stdout
    assert "information" not in simtlab("lint", listing).stdout


def test_what_cannot_be_checked_is_one_message(tmp_path: Path) -> None:
    assert "has no control words to check" in refused("lint", ROOT / "programs" / "saxpy.sass")
    assert "this is a CUDA source, not a listing" in refused("lint", ROOT / "programs" / "cuda" / "saxpy.cu")
    assert "cannot read the listing" in refused("lint", tmp_path / "none.sass")
