"""Accel-Sim traces: what the text says, what goes out comes back, mistakes."""

import functools
import gzip
import json
import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import isa
import sim
from isa.errors import UserError
from sim import captures
from sim.cli import app
from sim.launch.file import load_launch
from sim.launch.placement import BASE
from sim.traces import files, scan
from sim.traces.trace import SCATTERED, Trace

PROGRAMS = Path(__file__).parents[2] / "programs"
HEAD = """-kernel name = _Z4copyPfS_
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (64,1,1)
-shmem = 512
-nregs = 18
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x00007f5d3a000000
-local mem base_addr = 0x00007f5d38000000
-nvbit version = 1.5.5
-accelsim tracer version = 5
-enable lineinfo = 0

#traces format = threadblock_x ...
"""
# Stride 4 over a full warp; a list with holes; deltas; shared memory by its own and by a generic address; local memory.
WARP = """
warp = {warp}
insts = 8
0000 ffffffff 1 R0 S2R 0 0 33
0010 ffffffff 1 R2 LDG.E.SYS 1 R2 4 1 0x7f5d0f000000 4 0
0020 00000111 1 R4 LDG.E.64.SYS 1 R2 8 0 0x7f5d0f000200 0x7f5d0f000300 0x7f5d0f000000 0
0030 0000000f 0 STG.E.SYS 2 R2 R4 4 2 0x7f5d50000000 128 -64 256 0
0040 ffffffff 0 STS 2 R6 R4 4 1 0x0 4 0
0050 000000f0 1 R5 LD.E.SYS 1 R2 4 1 0x7f5d3a000040 8 0
0060 00000000 1 R5 LDL 1 R1 0 0
0070 ffffffff 0 EXIT 0 0
"""
BLOCK = "\n#BEGIN_TB\n\nthread block = {x},0,0\n" + WARP.replace("{warp}", "0") + WARP.replace("{warp}", "1") + "#END_TB\n"
TEXT = HEAD + BLOCK.replace("{x}", "1") + BLOCK.replace("{x}", "0")  # blocks in any order


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    file = tmp_path / "kernel-1.traceg"
    file.write_text(TEXT)
    return file


def addresses(trace: Trace, k: int, mask: int) -> list[int]:
    base, stride = int(trace.arrays.access_base[k]), int(trace.arrays.access_stride[k])
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    return [int(trace.arrays.scattered[base][lane]) if stride == SCATTERED else base + lane * stride for lane in lanes]


def test_a_trace_says_instructions_masks_and_addresses(trace_file: Path) -> None:
    (trace,) = sim.read_traces(trace_file)
    assert (trace.launch.grid, trace.launch.block, trace.launch.name) == ((2, 1, 1), (64, 1, 1), "_Z4copyPfS_")
    assert (trace.launch.registers_per_thread, trace.launch.shared_per_block) == (18, 512)
    assert trace.executed.tolist() == [4] * 8
    assert trace.active_lanes.tolist() == [128, 128, 12, 16, 128, 16, 0, 128]
    assert len(trace.arrays.path_start) == 2  # all warps do the same: stored once
    page = BASE + 0xF000000 % (1 << 21)
    assert addresses(trace, 0, 0xFFFFFFFF) == [page + 4 * lane for lane in range(32)]
    assert addresses(trace, 1, 0x111) == [page + 0x200, page + 0x300, page]
    first, *rest = addresses(trace, 2, 0xF)  # the next region of pages
    assert (first, rest) == (BASE + (1 << 21), [first + 128, first + 64, first + 320])
    assert addresses(trace, 3, 1) == [0]
    assert addresses(trace, 4, 0xF0) == [0x40, 0x48, 0x50, 0x58]  # the shared window's start taken off
    memory = trace.program.encoded
    assert [isa.vocabulary.Space(s).name for s in memory.space] == [
        "NONE",
        "GLOBAL",
        "GLOBAL",
        "GLOBAL",
        "SHARED",
        "SHARED",
        "LOCAL",
        "NONE",
    ]
    assert [r for r in memory.reads[3] if r >= 0] == [4, 2, 3]
    assert [r for r in memory.writes[2] if r >= 0] == [4, 5]


@pytest.mark.parametrize(("words", "places"), [((0xFFC, 0), (0xFFC, 0)), ((0xFFC, 0xF00), (0xFFC, 0xF00)), ((0x20, 0), (0xFF0, 0xFD0))])
def test_local_memory_ends_where_the_highest_address_is(words: tuple[int, int], places: tuple[int, int], tmp_path: Path) -> None:
    body = "\n".join(f"MOV R1, {word:#x}\nSTL [R1], R2" for word in words)
    trace = sim.execute(sim.Launch(isa.parse(f".kernel local\n.target sm_90\n{body}\nEXIT"), (1,), (32,)))
    assert trace.arrays.access_base.tolist() == list(words)
    (same,) = sim.read_traces(sim.write_traces([trace], tmp_path))
    assert same.arrays.access_base.tolist() == list(places)


@pytest.mark.parametrize("listing", ["cuda/transpose.sm_90.sass", "cuda/spmv.sm_90.sass", "atomics/histogram.sass", "saxpy.sass"])
def test_what_is_written_reads_back(listing: str, tmp_path: Path) -> None:
    file = PROGRAMS / listing
    launch = load_launch(file).launch
    if listing == "saxpy.sass":  # 65,536 elements of a million
        n, factor, x, y = launch.args
        launch = replace(launch, grid=(256,), args=(n // 16, factor, x[: n // 16].copy(), y[: n // 16].copy()))
    trace = sim.execute(launch)
    written = sim.write_traces([trace], tmp_path)
    (same,) = sim.read_traces(written, file)
    assert np.array_equal(trace.executed, same.executed)
    assert np.array_equal(trace.true_lanes, same.true_lanes)
    for name in ("path_start", "instruction", "mask", "warp_path", "access_start", "access_stride"):
        assert np.array_equal(getattr(trace.arrays, name), getattr(same.arrays, name)), name
    gpu = sim.gpu("h100").replace({"l2.start": "cold"})
    (alone,) = sim.read_traces(written)
    assert sim.simulate(same, gpu).cycles == sim.simulate(trace, gpu).cycles
    assert alone.warp_instructions == trace.warp_instructions
    assert sim.simulate(alone, gpu).counters["global_load_sectors"] == sim.simulate(trace, gpu).counters["global_load_sectors"]


@pytest.mark.parametrize("more", [1, 100])
def test_what_is_read_does_not_depend_on_how_much_at_once(more: int, trace_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = sim.read_traces(trace_file)
    monkeypatch.setattr(files, "CHUNK", len(HEAD) + more)  # the head is read at once
    monkeypatch.setattr(scan, "tables", functools.partial(scan.tables, steps=3, rows=1, markers=2, statics=2))
    (parts,) = sim.read_traces(trace_file)
    for name, array in whole.arrays._asdict().items():
        assert np.array_equal(array, getattr(parts.arrays, name)), name


def test_damaged_traces_are_refused_or_read(trace_file: Path) -> None:
    """Never a traceback: bytes replaced, cut out, doubled."""
    random, text = np.random.default_rng(7), TEXT.encode()
    refused = 0
    for _ in range(300):
        at, count = int(random.integers(len(text))), int(random.integers(1, 20))
        with_what = [bytes(random.integers(0, 256, count, np.uint8)), b"", text[at : at + count] * 2][int(random.integers(3))]
        trace_file.write_bytes(text[:at] + with_what + text[at + count :])
        try:
            sim.read_traces(trace_file)
        except UserError:
            refused += 1
    assert refused > 150


def test_run_times_every_kernel_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "kernel-1.traceg.xz").write_bytes(lzma.compress(TEXT.encode()))
    (tmp_path / "kernel-2.traceg.gz").write_bytes(gzip.compress(TEXT.replace("copy", "same").encode()))
    (tmp_path / "kernelslist.g").write_text("MemcpyHtoD,0x7f5d0f000000,4096\nkernel-1.traceg\nkernel-2.traceg.gz\n")
    run = ["run", str(tmp_path / "kernelslist.g"), "--gpu", "v100"]
    result = CliRunner().invoke(app, [*run, "--json", str(tmp_path / "r.json")])
    assert result.exit_code == 0, result.output
    assert "2 kernels on Tesla V100" in result.stdout
    assert "_Z4copyPfS_ on Tesla V100" in result.stdout
    first, second = json.loads((tmp_path / "r.json").read_text())["kernels"]
    assert first["cycles"] == second["cycles"] > 0
    one = CliRunner().invoke(app, [*run, "--kernel", "_Z4samePfS_"])
    assert "kernels on" not in one.stdout
    refused = CliRunner().invoke(app, [*run, "--grid", "4"])
    assert (refused.exit_code, "a trace has been launched" in refused.stderr) == (2, True)
    assert "it has _Z4copyPfS_" in CliRunner().invoke(app, [*run, "--kernel", "other"]).stderr


def test_save_trace_writes_what_run_executed(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["run", str(PROGRAMS / "reduce_shared.sass"), "--save-trace", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    (trace,) = sim.read_traces(tmp_path / "out" / "kernelslist.g")
    assert trace.program.name == "reduce_shared"


def test_a_capture_is_written_for_accel_sim(tmp_path: Path) -> None:
    """The launch of a GPU, as a trace: what that GPU counted of its instructions and sectors stands in it."""
    file = Path(__file__).parents[1] / "data" / "captures" / "scale_rows.h200.capture"
    result = CliRunner().invoke(app, ["run", str(file), "--save-trace", str(tmp_path)])
    assert result.exit_code == 0, result.output
    (trace,) = sim.read_traces(tmp_path / "kernelslist.g")
    measured, counters = captures.read(file).table.counters, sim.simulate(trace, sim.gpu("h200")).counters
    assert (trace.launch.grid, trace.launch.block) == ((8, 1, 1), (128, 1, 1))
    for name in ("warp_instructions", "global_load_sectors", "global_store_sectors"):
        assert counters[name] == measured[name] > 0, name


def test_a_barrier_for_a_number_of_threads_is_not_written(tmp_path: Path) -> None:
    trace = sim.execute(sim.Launch(isa.parse("BAR.SYNC 1, 32\nEXIT\n"), (1,), (32,), ()))
    with pytest.raises(UserError, match=r"1: BAR\.SYNC is for 32 threads"):
        sim.write_traces([trace], tmp_path / "out")


ODD = "is not an instruction of a trace"
MISTAKES = {
    "cut": (TEXT[: TEXT.rindex("0060")] + "\n#END_TB\n", "of 8 instructions"),
    "cut in a block": (TEXT[: TEXT.rindex("#END_TB")], "ends inside a block"),
    "no grid": (TEXT.replace("-grid dim = (2,1,1)\n", ""), "no -grid dim"),
    "bad size": (TEXT.replace("(64,1,1)", "(64)"), "not three sizes"),
    "bad mask": (TEXT.replace("00000111", "1ffffffff"), "is not an instruction of a trace"),
    "too few addresses": (TEXT.replace(" 0x7f5d0f000000 0\n", "\n"), "is not an instruction of a trace"),
    "no addresses": (TEXT.replace("4 1 0x7f5d0f000000 4 0", "0 0"), "LDG.E.SYS has no addresses"),
    "unknown opcode": (TEXT.replace("S2R", "QQQ"), "unknown opcode QQQ"),
    "barrier for a number of threads": (TEXT.replace("1 R0 S2R 0 0 33", "0 BAR.SYNC 0 0 64"), "BAR.SYNC 64: how many threads"),
    "barrier that is passed": (TEXT.replace("1 R0 S2R 0 0 33", "0 BAR.ARV 0 0 1"), "BAR.ARV 1: how many threads"),
    "block outside": (TEXT.replace("block = 1,0,0", "block = 2,0,0"), "outside the grid"),
    "block missing": (HEAD + BLOCK.replace("{x}", "1"), "no instructions of warp 0 of block 0"),
    "too far": (TEXT.replace("4 2 0x7f5d50000000 128", "4 2 0x7f5d50000000 128000000000"), "bytes of memory"),
    "negative address": (TEXT.replace("4 1 0x7f5d0f000000 4", "4 1 -0x7f5d0f000000 4"), ODD),
    "stride below address 0": (TEXT.replace("4 1 0x7f5d0f000000 4", "4 1 0x10 -4"), ODD),
    "stride that overflows": (TEXT.replace("4 1 0x7f5d0f000000 4", f"4 1 0x7f5d0f000000 {1 << 61}"), ODD),
    "delta below address 0": (TEXT.replace("4 2 0x7f5d50000000 128", "4 2 0x10 -128"), ODD),
    "addresses as far apart as SCATTERED": (
        TEXT.replace("0x7f5d0f000200 0x7f5d0f000300 0x7f5d0f000000", f"{1 << 61:#x} -{1 << 61:#x} 0x0"),
        ODD,
    ),
    "negative number of registers": (TEXT.replace("1 R0 S2R 0 0 33", "1 R0 S2R -1 0 0"), ODD),
    "blank of another alphabet": (TEXT.replace("1 R2 4 1 0x7f5d0f000000", "1 R2\u00a00 4 1 0x7f5d0f000000"), ODD),
    "misspelt warp": (TEXT.replace("warp = 0", "wrap = 0"), ODD),
    "size 00": (TEXT.replace("(64,1,1)", "(00,1,1)"), "not three sizes"),
    "size of 5000 digits": (TEXT.replace("(64,1,1)", f"({'9' * 5000},1,1)"), "not three sizes"),
    "negative registers": (TEXT.replace("-nregs = 18", "-nregs = -18"), "-nregs = -18: not a number, or too large"),
    "window too far": (TEXT.replace("0x00007f5d3a000000", f"{1 << 90:#x}"), "not a number, or too large"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_name_the_file(name: str, tmp_path: Path) -> None:
    text, message = MISTAKES[name]
    file = tmp_path / "kernel-1.traceg"
    file.write_text(text)
    with pytest.raises(UserError, match=r"kernel-1\.traceg") as caught:
        sim.read_traces(file)
    assert message in str(caught.value)


def test_mistakes_of_lists_and_listings(trace_file: Path, tmp_path: Path) -> None:
    (tmp_path / "kernelslist.g").write_text("kernel-1.traceg\n\nkernel-7.traceg\n")
    with pytest.raises(UserError, match=r"kernelslist.g:3: there is no kernel file kernel-7.traceg"):
        sim.read_traces(tmp_path / "kernelslist.g")
    (tmp_path / "bad.traceg.xz").write_bytes(b"no xz")
    with pytest.raises(UserError, match="cannot read the trace"):
        sim.read_traces(tmp_path / "bad.traceg.xz")
    trace_file.write_text(TEXT.replace("0x7f5d3a000040", "0x7f5d0f000040"))
    (tmp_path / "f.sass").write_text(".kernel _Z4copyPfS_\nFADD R0, R0, 1;\nEXIT;\n")
    with pytest.raises(UserError, match=r"executes S2R at 0x0, where f\.sass has FADD"):
        sim.read_traces(trace_file, tmp_path / "f.sass")


def test_an_address_of_ldc_lies_in_its_bank(trace_file: Path, tmp_path: Path) -> None:
    warp = "warp = {}\ninsts = 2\n0000 ffffffff 1 R2 LDC 1 R2 4 1 0xff90 4 0\n0010 ffffffff 0 EXIT 0 0\n"
    blocks = [f"#BEGIN_TB\n\nthread block = {x},0,0\n{warp.format(0)}{warp.format(1)}#END_TB\n" for x in range(2)]
    trace_file.write_text(HEAD + "".join(blocks))
    (tmp_path / "f.sass").write_text(".kernel _Z4copyPfS_\nLDC R2, c[0x3][R2];\nEXIT;\n")
    with pytest.raises(UserError, match=r"traceg:21: LDC at 0x1000c, beyond a bank of 65,536 bytes"):
        sim.read_traces(trace_file, tmp_path / "f.sass")


@pytest.mark.parametrize("name", ["../kernel-1.traceg", "/etc/passwd", "sub/../../kernel-1.traceg", "link.traceg"])
def test_a_list_names_no_file_outside_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "list").mkdir()
    (tmp_path / "kernel-1.traceg").write_text("secret")
    (tmp_path / "list" / "kernelslist.g").write_text(f"{name}\n")
    (tmp_path / "list" / "link.traceg").symlink_to(tmp_path / "kernel-1.traceg")
    with pytest.raises(UserError, match=r"kernelslist\.g:1: .* lies outside the list's folder"):
        sim.read_traces(tmp_path / "list" / "kernelslist.g")
