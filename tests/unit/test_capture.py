"""`simtlab capture`: what the preloaded library records, however a program finds the driver and however it ends."""

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from isa.errors import UserError
from sim import captures
from sim.captures import records, running
from tests.unit.captured import CUBIN, built, capture, needs_compiler

pytestmark = needs_compiler
N = 1000


def read(folder: Path) -> list[captures.Capture]:
    """Return the captures of a folder in the order of their launches."""
    found = [captures.read(file) for file in folder.glob("*.capture")]
    return sorted(found, key=lambda one: one.table.origin.launch)


def values(capture: captures.Capture, name: str, pieces: list[np.ndarray]) -> np.ndarray:
    """Return what a variable holds."""
    return next(data for one, data in zip(capture.table.allocations, pieces, strict=True) if one.name == name)


@pytest.mark.parametrize("how", ["linked", "dlsym", "address"])
def test_a_launch_is_recorded_however_the_driver_is_found(tmp_path: Path, how: str) -> None:
    done = capture("-o", tmp_path, program=(how, "fine", CUBIN))
    assert done.returncode == 0, done.stderr
    (found,) = read(tmp_path)
    table = found.table
    assert (table.kernel, table.grid, table.block, table.error) == ("scale_rows", (8, 1, 1), (128, 1, 1), 0)
    assert table.attributes["registers"] == 12
    assert (table.gpu.name, table.gpu.architecture, table.gpu.sms) == ("NVIDIA H200", "sm_90", 132)
    assert found.cubin.rstrip(b"\0") == CUBIN.read_bytes().rstrip(b"\0")
    # reached: the data, the table of rows, and through it both rows; the spare megabyte is not
    assert sorted(one.size for one in table.allocations if one.kind == "memory") == [16, 2000, 2000, 4000]
    assert values(found, "scale", found.before).view(np.float32).tolist() == [1, 2, 3, 4]
    assert found.after is not None
    assert values(found, "total", found.before).view(np.uint32).tolist() == [0]
    assert values(found, "total", found.after).view(np.uint32).tolist() == [N]


def test_skip_count_and_names_choose(tmp_path: Path) -> None:
    capture("--kernel", "^scale_", "--skip", 2, "--count", 2, "-o", tmp_path, program=("dlsym", "fine", CUBIN, 9))
    found = read(tmp_path)
    assert [one.table.origin.launch for one in found] == [2, 3]
    assert [int(values(one, "total", one.before).view(np.uint32)[0]) for one in found] == [2 * N, 3 * N]


def test_what_matches_nothing_is_told(tmp_path: Path) -> None:
    done = capture("--kernel", "saxpy", "-o", tmp_path)
    assert done.returncode == 2
    assert "no launch matched --kernel 'saxpy'" in done.stderr
    assert "it launched scale_rows" in done.stderr
    assert not list(tmp_path.iterdir())


def test_two_threads_launch_at_once(tmp_path: Path) -> None:
    done = capture("--count", 8, "-o", tmp_path, program=("address", "threads", CUBIN, 4))
    assert done.returncode == 0, done.stderr
    found = read(tmp_path)
    assert [one.table.origin.launch for one in found] == list(range(8))
    for one in found:
        assert one.after is not None
        before, after = (int(values(one, "total", pieces).view(np.uint32)[0]) for pieces in (one.before, one.after))
        assert after - before == N


def test_processes_that_count_alike_have_files_of_their_own(tmp_path: Path) -> None:
    done = capture("-o", tmp_path, program=("linked", "processes", CUBIN))
    assert done.returncode == 0, done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["scale_rows-0-2.capture", "scale_rows-0.capture"]


@pytest.mark.parametrize("words", [("--kernel", "(?:scale)"), ("--max-bytes", "3G")])
def test_what_the_library_cannot_heed_is_told(tmp_path: Path, words: tuple[str, str]) -> None:
    done = capture(*words, "-o", tmp_path)
    assert done.returncode == 2
    assert f"error: {words[0]} {words[1]}: " in done.stderr


def test_launches_are_kept_where_counting_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "there is no ncu here" in capture("--counters", "-o", tmp_path).stderr
    profiler = tmp_path / "bin" / "ncu"
    profiler.parent.mkdir()
    profiler.write_text("#!/bin/sh\nexit 1\n")
    profiler.chmod(0o755)
    monkeypatch.setenv("PATH", f"{profiler.parent}:{os.environ['PATH']}")
    done = capture("--counters", "-o", tmp_path)
    assert (done.returncode, len(read(tmp_path))) == (2, 1)
    assert "Nsight Compute counted nothing" in done.stderr


def test_nothing_is_lost_when_the_program_crashes(tmp_path: Path) -> None:
    done = capture("--count", 5, "-o", tmp_path, program=("linked", "crash", CUBIN, 5))
    assert done.returncode == 0
    assert "the program ended with status -6; what it launched before is kept" in done.stderr
    (found,) = read(tmp_path)
    assert found.after is not None


def test_a_launch_that_fails_is_kept_without_memory_afterwards(tmp_path: Path) -> None:
    done = capture("-o", tmp_path, program=("linked", "fault", CUBIN))
    assert "the GPU ended it with error 700" in done.stdout
    (found,) = read(tmp_path)
    assert (found.table.error, found.after) == (700, None)


def test_a_launch_repeated_from_the_same_memory(tmp_path: Path) -> None:
    capture("--repeat", "-o", tmp_path)
    (found,) = read(tmp_path)
    assert found.table.repeatable is True
    assert found.after is not None
    assert values(found, "total", found.after).view(np.uint32).tolist() == [N]


def test_too_much_memory_is_left_out(tmp_path: Path) -> None:
    done = capture("--max-bytes", "4K", "-o", tmp_path)
    assert done.returncode == 2
    assert "scale_rows: it reaches more memory than --max-bytes allows" in done.stderr
    assert "raise --max-bytes" in done.stderr


def test_kernels_of_graphs_are_named(tmp_path: Path) -> None:
    done = capture("-o", tmp_path, program=("linked", "graph", CUBIN))
    assert done.returncode == 2
    assert "scale_rows: it goes into a graph" in done.stderr
    assert "run without graphs" in done.stderr
    done = capture("--kernel", "saxpy", "-o", tmp_path, program=("linked", "graph", CUBIN))
    assert "kernels of CUDA graphs are not captured, and this program launches graphs" in done.stderr
    assert "run it without graphs; outside graphs it launched scale_rows" in done.stderr


def test_a_program_without_the_driver(tmp_path: Path) -> None:
    done = capture("-o", tmp_path, program=(Path("/bin/true"),))
    assert done.returncode == 2
    assert "the program did not use the CUDA driver" in done.stderr


def test_a_machine_without_a_driver(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(
        "extern int cuLaunchKernel() __attribute__((weak)); int main(void) { return cuLaunchKernel ? cuLaunchKernel() != 500 : 3; }"
    )
    subprocess.run(["cc", "-w", "-o", tmp_path / "p", source], check=True)
    done = capture("-o", tmp_path, program=(tmp_path / "p",), driver=False)
    assert done.returncode == 2
    assert "there is no libcuda.so.1 here" in done.stderr


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    done = capture("-o", tmp_path, program=(tmp_path / "no",))
    assert done.returncode == 2
    assert "cannot start" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMTLAB_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", "")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="needs a C compiler"):
        running.library()


def test_json_names_the_files(tmp_path: Path) -> None:
    capture("--count", 2, "--json", tmp_path / "c.json", "-o", tmp_path, program=("dlsym", "fine", CUBIN, 2))
    data = json.loads((tmp_path / "c.json").read_text())
    assert [Path(one["file"]).exists() for one in data["captures"]] == [True, True]


def test_a_thousand_launches_of_which_five_are_chosen_cost_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", str(built()))
    program, folder = [str(built() / "program"), "linked", "fine", str(CUBIN), "1000"], tmp_path / "records"
    folder.mkdir()
    running.library()
    before = processor_seconds()
    subprocess.run(program, check=True)
    alone = processor_seconds() - before
    ran = running.run(program, running.Wanted(count=5), folder)
    assert (ran.status, len(ran.folders)) == (0, 5)
    assert processor_seconds() - before - 2 * alone < 2


def processor_seconds() -> float:
    """Return the processor time of all processes that this one has started and that have ended, which a busy machine does not change."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_a_folder_of_raw_buffers_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    lines = ["record 1", "kernel scale_rows", "grid 1 1 1", "block 32 1 1", "cluster 1 1 1", "shared_dynamic 0", "parameters 00ff"]
    (folder / "launch.txt").write_text("\n".join([*lines, "allocation memory 7f0000000000 8 ", "result 0"]) + "\n")
    (folder / "before").write_bytes(bytes(8))
    (folder / "after").write_bytes(bytes(range(8)))
    (folder / "kernel.cubin").write_bytes(CUBIN.read_bytes())
    assert records.main([str(folder)]) == 0
    assert records.main([str(folder / "none")]) == 2
    found = captures.read(tmp_path / "one.capture")
    assert found.after is not None
    assert found.after[0].tolist() == list(range(8))
    (folder / "after").write_bytes(bytes(7))
    with pytest.raises(UserError, match="memory of 7 bytes"):
        records.read(folder)
