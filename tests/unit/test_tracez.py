"""`.tracez` of Accel-Sim 2.0: what is packed as its tools pack it reads as the text does; damage is told."""

import struct
from pathlib import Path

import numpy as np
import pytest

import sim
from isa.errors import UserError
from sim.launch.file import load_launch
from sim.traces import tracez, writer
from sim.traces.trace import Trace

zstandard = pytest.importorskip("zstandard")
PROGRAMS = Path(__file__).parents[2] / "programs"
VALUES = " 0 Val 1 2a 32 " + " ".join("7" * 32)  # a second immediate and values of registers, which tracer version 6 may append


def executed() -> Trace:
    return sim.execute(load_launch(PROGRAMS / "cuda" / "transpose.sm_90.sass").launch)


def packed(text: str, at_once: int = 2048, dictionary: bool = True, rank: int = 0) -> bytes:
    """Return a kernel file as `post-traces-processing` of Accel-Sim 2.0 packs it."""
    head, *blocks = text.split("#BEGIN_TB")
    warps = [[part.split("\n")[2:] for part in block.replace("#END_TB", "").split("\nwarp = ")[1:]] for block in blocks]
    warps = [[[line for line in warp if line] for warp in block] for block in warps]
    words = b""
    if dictionary:
        samples = [line.encode() for block in warps for warp in block for line in warp]
        words = zstandard.train_dictionary(4096, samples).as_bytes()
    packer = zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(words) if dictionary else None)
    data, index = bytearray(head.encode() + b"\0" + struct.pack("<2I", len(words), at_once) + words), bytearray()
    for block, lines in zip(blocks, warps, strict=True):
        place = [int(part) for part in block.split("thread block = ")[1].split("\n")[0].split(",")]
        index += struct.pack("<11I", *place, *place, 0, 0, 0, rank, len(lines))
        for warp in lines:
            pieces = [warp[k : k + at_once] for k in range(0, len(warp), at_once)]
            index += struct.pack("<2IQ", len(warp), len(pieces), len(data))
            index += struct.pack(f"<{len(pieces)}I", *map(len, pieces))
            data += struct.pack("<2I", len(warp), len(pieces))
            for piece in pieces:
                frame = packer.compress("\n".join(piece).encode())
                data += struct.pack("<I", len(frame)) + frame
    return bytes(data) + struct.pack("<I", len(blocks)) + bytes(index) + struct.pack("<Q", len(data))


@pytest.fixture(scope="module")
def text() -> str:
    return "\n".join(writer.lines(executed())) + "\n"


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("at_once", [2048, 7])
def test_packed_reads_as_the_text_does(text: str, tmp_path: Path, dictionary: bool, at_once: int) -> None:
    plain, file = tmp_path / "kernel-1.traceg", tmp_path / "kernel-2.tracez"
    plain.write_text(text)
    file.write_bytes(packed(text, at_once, dictionary))
    (tmp_path / "kernelslist.g").write_text("MemcpyHtoD,0x7f0000000000,4096\nkernel-1.traceg\nkernel-2.tracez\n")
    one, other = sim.read_traces(tmp_path / "kernelslist.g")
    for name, array in one.arrays._asdict().items():
        assert np.array_equal(array, getattr(other.arrays, name)), name
    gpu = sim.gpu("h100")
    assert sim.simulate(one, gpu).cycles == sim.simulate(other, gpu).cycles


def test_values_of_registers_are_passed_over(text: str, tmp_path: Path) -> None:
    """Version 6 names uniform registers and predicates, too, which count as none, and may append values."""
    lines = [line + VALUES if line[:1].isdigit() else line.replace("version = 5", "version = 6") for line in text.split("\n")]
    file, plain = tmp_path / "kernel-1.tracez", tmp_path / "kernel-1.traceg"
    file.write_bytes(packed("\n".join(lines)))
    plain.write_text(text)
    (one,), (other,) = sim.read_traces(file), sim.read_traces(plain)
    assert np.array_equal(one.arrays.mask, other.arrays.mask)
    assert one.warp_instructions == other.warp_instructions


def test_blocks_that_share_a_cluster_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "kernel-1.tracez"
    file.write_bytes(packed(text, rank=1))
    with pytest.raises(UserError, match="cluster rank = 1: traces of clusters of several blocks are not read"):
        sim.read_traces(file)


def test_damage_is_told(text: str, tmp_path: Path) -> None:
    """Bytes changed and cut: a message or a trace, never anything else."""
    data, file, random = packed(text), tmp_path / "kernel-1.tracez", np.random.default_rng(0)
    refused = 0
    for k in range(200):
        damaged = bytearray(data if k % 2 else data[: int(random.integers(len(data)))])
        for at in random.integers(0, max(len(damaged), 1), 3 * (k % 2)):
            damaged[at] ^= int(random.integers(1, 256))
        file.write_bytes(bytes(damaged))
        try:
            sim.read_traces(file)
        except UserError:
            refused += 1
    assert refused > 150


def test_without_zstandard_the_package_is_named(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "kernel-1.tracez"
    file.write_bytes(packed(text))
    monkeypatch.setattr(tracez.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="needs zstandard"):
        sim.read_traces(file)
