"""Functions that a driver brings: printf as C has it, the heap, what a run says of them."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import isa
import sim
from isa import compiler
from isa.errors import UserError
from isa.vocabulary import Operation
from sim.cli import app
from sim.functional import driver
from sim.functional.heap import Heap
from sim.functional.printf import formatted

compiled = pytest.mark.skipif(not compiler.is_installed(), reason="needs the extra `cuda`")


def printf(template: str, *values: Any) -> str:
    packed = iter([struct.pack("<d" if isinstance(v, float) else "<q" if abs(v) >= 2**31 else "<i", v) for v in values])

    def take(size: int) -> bytes:
        return next(packed).ljust(size, b"\0")

    return formatted(template.encode(), take, lambda address: b"text at %d" % (address & 0xFF))[0].decode()


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("%5d|%-5d|%05d|%+d|% d", (42, 42, -42, 42, 42), "   42|42   |-0042|+42| 42"),
        ("%.3d|%8.3d|%08.3d|%.0d", (5, 5, 5, 0), "005|     005|     005|"),
        ("%u %x %X %#x %#x %o %#o", (-1, 255, 255, 255, 0, 8, 8), "4294967295 ff FF 0xff 0 10 010"),
        ("%hd %hhd %hhu", (70000, 200, 300), "4464 -56 44"),
        ("%lld %lu %zx", (-(2**40), 2**40, 2**40), "-1099511627776 1099511627776 10000000000"),
        (
            "%f %.2f %10.1f %-8.1f| %e %G",
            (1.5, 2.675, -0.05, 3.0, 12345.678, 1e-10),
            "1.500000 2.67       -0.1 3.0     | 1.234568e+04 1E-10",
        ),
        ("%f %05f %F %f", (float("inf"), float("-inf"), float("nan"), -0.0), "inf  -inf NAN -0.000000"),
        ("%a %.1a %A %a", (1.5, 1.96875, -0.1, 0.0), "0x1.8p+0 0x2.0p+0 -0X1.999999999999AP-4 0x0p+0"),
        ("%#.0f %#g %g", (3.0, 3.0, 100000.0), "3. 3.00000 100000"),
        ("%c%c%3c", (72, 105, 33), "Hi  !"),
        ("%*d %-*d| %.*f", (4, 7, 4, 7, 1, 2.25), "   7 7   | 2.2"),
        ("100%% %y %", (), "100% %y %"),
    ],
)
def test_printf_writes_as_c_does(template: str, values: tuple[Any, ...], expected: str) -> None:
    assert printf(template, *values) == expected


@pytest.mark.parametrize("template", ["%*d", "%.*f", "%2147483647d", "%.2147483647f", "%.-d"])
def test_a_field_is_no_longer_than_what_is_kept(template: str) -> None:
    assert len(printf(template, 2**31 - 1, 1.0)) <= driver.MOST_PRINTED + 2


def test_a_null_string_and_pointer() -> None:
    zero = bytes(8)
    assert formatted(b"%s %p %.3s", lambda size: zero, lambda address: b"?")[0] == b"(null) (nil) (nu"
    assert formatted(b"%s %d", lambda size: b"\1" + bytes(size - 1), lambda address: b"text") == (b"text 1", 2)


def test_the_heap_takes_the_first_room_and_names_mistakes() -> None:
    heap = Heap(0x1000, 64)
    a, b, c = heap.take(1), heap.take(17), heap.take(16)
    assert (a, b, c, heap.take(1), heap.take(0)) == (0x1000, 0x1010, 0x1030, 0, 0)
    assert (heap.give(b), heap.take(33), heap.take(20)) == ("", 0, 0x1010)
    assert heap.give(a) == ""
    assert "double free" in heap.give(a)
    assert "not what malloc" in heap.give(0x1008)
    assert heap.give(0) == ""


SOURCE = """extern "C" __global__ void speak(int* out, int n) {
    int t = threadIdx.x + blockDim.x * blockIdx.x;
    if (t < n) out[t] = printf("thread %d\\n", t);
    assert(t != 70);
}
"""


def launch(n: int, blocks: int = 2) -> sim.Launch:
    program = isa.compile(SOURCE, "sm_90", "speak")
    return sim.Launch(program, (blocks,), (32,), (np.zeros(32 * blocks, np.int32), np.int32(n)))


@compiled
def test_a_result_has_what_was_printed_and_both_engines_time_it() -> None:
    trace = sim.execute(launch(40))
    expected = "".join(f"thread {t}\n" for t in range(40))
    results = [sim.simulate(trace, sim.gpu("h100"), engine=engine) for engine in ("numba", "simpy")]
    assert [result.printed for result in results] == [expected, expected]
    assert results[0].cycles == results[1].cycles
    assert results[0].as_dict()["printed"] == expected


@compiled
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_120"])
def test_the_compilers_own_words_wait_for_the_arguments_of_a_call(architecture: str) -> None:
    program = isa.compile(SOURCE, architecture, "speak")
    assert [str(one) for one in sim.lint(program) if one.level == "hazard" and one.instruction.startswith("CALL")] == []
    calls = program.encoded.operation == Operation.DRIVER_CALL
    assert calls.sum() == 2
    assert set(range(4, 12)) | {20, 21} <= set(program.encoded.reads[calls].ravel().tolist())
    trace = sim.execute(sim.Launch(program, (1,), (32,), (np.zeros(32, np.int32), np.int32(5))), check=("init",))
    assert trace.hazards == ()


@compiled
def test_what_is_printed_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MOST_PRINTED", 100)
    printed = sim.execute(launch(64)).printed
    assert printed.startswith("thread 0\nthread 1\n")
    whole = "".join(f"thread {t}\n" for t in range(64))
    assert printed == f"{whole[:100]}\n[{len(whole) - 100:,} more bytes of printf are left out]\n"


@compiled
def test_an_assertion_that_fails_names_the_thread_the_source_line_and_what_was_printed(tmp_path: Path) -> None:
    (tmp_path / "speak.cu").write_text(SOURCE)
    command = ["run", str(tmp_path / "speak.cu"), "--gpu", "h100", "--block", "32", "--arg", "i32[96]=zeros", "--arg", "i32:67"]
    done = CliRunner().invoke(app, [*command, "--grid", "3"])
    words = done.output
    assert done.exit_code == 2
    assert "assertion failed: t != 70" in words
    assert "speak.cu:4, void speak(int *, int)" in words
    assert "block (2, 0, 0), warp 0, lane 6 (thread (6, 0, 0))" in words
    assert words.rstrip().endswith("thread 66")
    done = CliRunner().invoke(app, [*command, "--grid", "2", "--json", str(tmp_path / "run.json")])
    assert done.exit_code == 0, done.output
    assert "The program printed:\nthread 0\nthread 1\n" in done.output
    assert "2 calls of functions that the driver brings" in done.output
    assert json.loads((tmp_path / "run.json").read_text())["printed"].endswith("thread 63\n")


@compiled
def test_a_function_that_is_not_modelled_is_named() -> None:
    source = 'extern "C" __device__ int mystery(int); extern "C" __global__ void f(int* out) { out[0] = mystery(3); }'
    with pytest.raises(UserError, match="mystery"):
        sim.execute(sim.Launch(isa.compile(source, "sm_90", "f", options=["-rdc=true"]), (1,), (1,), (np.zeros(1, np.int32),)))


@compiled
def test_an_argument_of_printf_that_lies_in_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = driver._Call.bytes_at
    monkeypatch.setattr(driver._Call, "bytes_at", lambda call, address, count: whole(call, address, count)[: count if count > 8 else 2])
    program = isa.compile('extern "C" __global__ void k(int n) { printf("%d\\n", n); }', "sm_90")
    with pytest.raises(UserError, match="more conversions than the call has arguments"):
        sim.execute(sim.Launch(program, 1, 32, (np.int32(3),)))
