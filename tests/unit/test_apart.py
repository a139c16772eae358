"""Parts of kernels that are compiled by themselves: called by address they see the kernel's arrays; a launch needs only its own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
import pytest

import isa
import sim
from sim import warming
from sim.compiled import cache
from sim.compiled.apart import Apart, call
from sim.compiled.kernel import inner, is_compiled, kernel

SAXPY = """
.kernel saxpy
.param ptr x
S2R R0, SR_TID.X
IMAD R2, R0, 4, c[0x0][x]
LD.E R4, [R2]
FFMA R4, R4, 2.0, R4
ST.E [R2], R4
EXIT
"""
NEEDED = {  # an instruction, and what it needs beside the kernels that every run needs
    "DADD R2, R4, R6": "executor: doubles",
    "DSETP.GT.AND P0, PT, R2, R4, PT": "executor: doubles",
    "HADD2 R1, R2, R3": "executor: halves",
    "PRMT R1, R2, 0x10, R3": "executor: words",
    "R2P PR, R0, 0x3": "executor: words",
    "I2F R0, R1": "executor: pairs",
    "SHFL.IDX PT, R1, R2, R3, R4": "executor: lanes",
    "ATOM.E.ADD R1, [R2], R3": "executor: accesses",
    "RET": "executor: jumps",
}


class Large(NamedTuple):
    """More fields than are handed on by value."""

    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    places: np.ndarray  # int64 [1]
    words: np.ndarray  # int64 [n]


@inner
def last(large: Large) -> int:
    return large.words[large.words.size - 1]


def add(step: int, large: Large) -> int:
    for k in range(large.words.size):
        large.words[k] += step * large.f
    return last(large)


def run(step: int, large: Large) -> int:
    return call(large.places[0], np.int64(step), large) + large.words[0]


def given() -> Large:
    return Large(1, 2, 3, 4, 5, 6, np.zeros(1, np.int64), np.arange(4))


def test_a_part_sees_the_tuples_of_the_kernel_that_calls_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    for _ in range(2):  # compiled, then loaded, by what stands for another process
        part, one = Apart("test.add", add), given()
        one.places[0] = part.address(0, one)
        assert kernel(run)(10, one) == 63 + 60
        assert one.words.tolist() == [60, 61, 62, 63]
        assert part.is_kept()
    if is_compiled():
        (found,) = tmp_path.glob("test.add-*/*.kernel")
        found.unlink()
        assert not Apart("test.add", add).is_kept()


SHARED = """
import numpy as np
from sim.compiled.apart import Apart, call
from sim.compiled.kernel import inner, kernel, outlined
@outlined
def scaled(numbers, k, unused, factor):
    for j in range(numbers.size):
        if numbers[j] == k:
            numbers[j] = numbers[j] * factor + 1
            return numbers[j]
    return np.int64(-1)
def first(numbers, k):
    return scaled(numbers, k, 7, 2) + scaled(numbers, k + 1, 7, 2)
def second(numbers, k):
    return scaled(numbers, k, 9, 3) - scaled(numbers, k + 1, 9, 3)
def run(places, numbers, k, factor):
    return call(places[0], numbers, k) + 1000 * call(places[1], numbers, k) + scaled(numbers, k, k, factor) + scaled(numbers, factor, k, k)
numbers = np.arange(20)
places = np.array([Apart("one", first).address(numbers, 0), Apart("two", second).address(numbers, 0)])
print(kernel(run)(places, numbers, 5, 4), numbers.tolist())
"""


@pytest.mark.skipif(not is_compiled(), reason="Numba is switched off")
def test_parts_that_share_a_function_with_their_kernel_work_in_a_process_that_loads_them(tmp_path: Path) -> None:
    """Each has its own of it, which LLVM may let be called in another way: under one name the kernel would call a part's."""
    (tmp_path / "shared.py").write_text(SHARED)
    environment = os.environ | {cache.VARIABLE: str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, str(tmp_path / "shared.py")]
    compiled, loaded = (subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout for _ in range(2))
    assert compiled == loaded


def launch(lines: str, **more: Any) -> sim.Launch:
    program = isa.parse(lines if ".kernel" in lines else f".kernel f\n{lines}\nEXIT")
    return sim.Launch(program, grid=(1,), block=(32,), args=(np.zeros(32, np.float32),) if ".param" in lines else (), **more)


def test_a_program_without_rare_instructions_needs_no_rare_kernel() -> None:
    assert warming.needed(launch(SAXPY), sim.gpu("gtx480")) == list(warming.KERNELS)


@pytest.mark.parametrize("line", NEEDED)
def test_an_instruction_needs_the_kernel_of_its_family(line: str) -> None:
    assert warming.needed(launch(line)) == [*warming.KERNELS, NEEDED[line]]


def test_a_gpu_of_dual_issue_needs_the_part_for_it() -> None:
    assert warming.needed(launch(SAXPY), sim.gpu("k20c")) == [*warming.KERNELS, "timing engine: further"]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of kernels as they are compiled here: nothing is kept, and nothing really compiled."""
    found: list[str] = []
    monkeypatch.setattr(warming, "missing", list)
    monkeypatch.setattr(warming, "cores", lambda: 3)
    monkeypatch.setattr(warming, "compile_one", lambda name, _: found.append(name))
    return found


def test_kernels_are_compiled_where_a_process_is_free(monkeypatch: pytest.MonkeyPatch, compiled: list[str]) -> None:
    elsewhere: list[str] = []

    @contextmanager
    def other(tasks: "SimpleQueue[str]", _: Any) -> Iterator[None]:
        elsewhere.append(tasks.get_nowait())
        yield

    monkeypatch.setattr(warming, "_elsewhere", other)
    names: Sequence[str] = warming.EVERY[:5]
    warming.compile_kernels(names=names)
    assert elsewhere == list(names[:2])
    assert compiled == [*names[2:], *names]  # what is left, then all, to be loaded


def test_what_a_process_that_ends_leaves_is_compiled_here(monkeypatch: pytest.MonkeyPatch, compiled: list[str]) -> None:
    monkeypatch.setattr(warming.sys, "executable", "false")
    warming.compile_kernels(names=warming.EVERY[:4])
    assert set(compiled[:-4]) >= set(warming.EVERY[2:4])  # two processes took one each before they ended


def test_reports_of_a_task_end_with_its_name() -> None:
    told: list[tuple[str, int, int]] = []
    lines = iter(["executor\t1\t9\n", "executor\t9\t9\n", "executor\n", "another\t1\t2\n"])
    assert warming._reported(lines, lambda *one: told.append(one))
    assert told == [("executor", 1, 9), ("executor", 9, 9)]
    assert not warming._reported(iter(["executor\t1\t9\n"]), lambda *one: None)
