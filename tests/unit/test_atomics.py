"""Atomics against NumPy: every function and type, in global and shared memory; counters, loops of CAS, mistakes, the trace."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isa
from isa.errors import UserError
from sim import reference, timing
from sim.functional import execute, growth
from sim.gpus.loader import load
from sim.launch.launch import Launch
from sim.result.causes import StallCause
from sim.traces.trace import SCATTERED, Trace
from tests.compare import first_difference

BINS = 8
INTEGERS = ("U32", "S32", "U64", "S64")
FUNCTIONS = [(name, type_) for name in ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "CAS") for type_ in INTEGERS]
FUNCTIONS += [("INC", "U32"), ("DEC", "U32"), ("ADD", "F32")]
DTYPES = {"U32": np.uint32, "S32": np.int32, "U64": np.uint64, "S64": np.int64, "F32": np.float32}
PARAMETERS = "".join(f".param ptr {name}\n" for name in ("memory", "index", "first", "second", "old"))
SPECIAL = [0, 1, 2, 3, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
FLOATS = st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, 1.5e-39, -1e-45, 16777216.0, 1.0]))


def run(text: str, *args: Any, grid: int = 1, block: int = 32) -> Trace:
    return execute(Launch(isa.parse(text, "k.sass"), (grid,), (block,), args), limit=100_000)


def kernel(function: str, type_: str, space: str) -> str:
    """Return a listing in which lanes with a bit of `index` below 128 apply the function to memory[index]."""
    size = ".64" if type_.endswith("64") else ""
    shift = 3 if size else 2
    data = "R8, R10" if function == "CAS" else "R8"
    suffix = "F32.RN" if type_ == "F32" else type_
    copy_in, copy_out, base, opcode = "", "", "IADD R5, R5, c[0x0][memory]", "ATOM"
    if space == "shared":
        each = f"@P1 LDG{size} R14, [R5]\n@P1 STS{size} [R4], R14\n", f"@P1 LDS{size} R14, [R4]\n@P1 STG{size} [R5], R14\n"
        copy_in, copy_out = (f"ISETP.LT.AND P1, PT, R0, {BINS}, PT\nIADD R5, R4, c[0x0][memory]\n{text}" for text in each)
        base, opcode = "NOP", "ATOMS"
    return f"""{PARAMETERS}.shared 64
        S2R R0, SR_TID.X
        SHL R1, R0, 2
        SHL R4, R0, {shift}
        {copy_in}
        IADD R2, R1, c[0x0][index]
        LDG R3, [R2]
        ISETP.LT.U32.AND P0, PT, R3, 128, PT
        IADD R5, R4, c[0x0][first]
        LDG{size} R8, [R5]
        IADD R5, R4, c[0x0][second]
        LDG{size} R10, [R5]
        SHL R5, R3, {shift}
        {base}
    @P0 {opcode}.{function}.{suffix} R8, [R5], {data}
        IADD R5, R4, c[0x0][old]
    @P0 STG{size} [R5], R8
        {copy_out}
        EXIT
    """


def step(function: str, old: Any, a: Any, b: Any) -> Any:
    """Return what one lane leaves in memory; old, a and b are NumPy scalars of the type."""
    results = {
        "ADD": lambda: old + a,
        "MIN": lambda: min(old, a),
        "MAX": lambda: max(old, a),
        "INC": lambda: 0 if old >= a else old + 1,
        "DEC": lambda: a if old == 0 or old > a else old - 1,
        "AND": lambda: old & a,
        "OR": lambda: old | a,
        "XOR": lambda: old ^ a,
        "EXCH": lambda: a,
        "CAS": lambda: b if old == a else old,
    }
    return results[function]()


def oracle(function: str, memory: np.ndarray, index: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Apply the lanes to `memory` in ascending order; return what each lane found."""
    old = np.zeros_like(first)
    with np.errstate(all="ignore"):
        for lane, bin_ in enumerate(index):
            if bin_ < 128:
                old[lane] = memory[bin_]
                memory[bin_] = step(function, memory[bin_], first[lane], second[lane])
    return old


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, str, str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw a function, a type, a space, and arrays; small values often, so that comparisons are met equal."""
    function, type_ = draw(st.sampled_from(FUNCTIONS))
    dtype = np.dtype(DTYPES[type_])
    values: st.SearchStrategy[Any] = st.one_of(st.integers(0, 3), st.sampled_from(SPECIAL), st.integers(0, 2**64 - 1))
    values = FLOATS if type_ == "F32" else values.map(lambda value: value % 2 ** (8 * dtype.itemsize))

    def array(size: int) -> np.ndarray:
        drawn = draw(st.lists(values, min_size=size, max_size=size))
        return np.array(drawn, dtype if type_ == "F32" else f"u{dtype.itemsize}").view(dtype)

    index = draw(st.lists(st.sampled_from([*range(BINS), 200]), min_size=32, max_size=32))
    spaces = ["global"] if type_ == "F32" else ["global", "shared"]  # no GPU adds floats in shared memory but by a loop of CAS
    return function, type_, draw(st.sampled_from(spaces)), array(BINS), np.array(index, np.uint32), array(32), array(32)


def bits(array: np.ndarray) -> list[int]:
    """Return the bits of an array, with the one NaN that the hardware makes of a sum."""
    return (
        np.where(np.isnan(array), np.uint32(0x7FFFFFFF), array.view(f"u{array.itemsize}")).tolist()
        if array.dtype.kind == "f"
        else array.tolist()
    )


@settings(max_examples=200, deadline=None)
@given(cases())
def test_every_function_agrees_with_numpy(case: tuple[str, str, str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> None:
    function, type_, space, memory, index, first, second = case
    wanted, old = memory.copy(), np.zeros_like(first)
    found = oracle(function, wanted, index, first, second)
    run(kernel(function, type_, space), memory, index, first, second, old)
    assert bits(memory) == bits(wanted)
    assert bits(old) == bits(found)


def test_flushed_sums_read_and_leave_no_subnormals() -> None:
    """Both terms subnormal, one of them, the sum."""
    memory, x = np.array([1e-39, 1.5e-38, 1.5e-38], np.float32), np.array([1e-39, 1e-39, -1.3e-38], np.float32)
    wanted = [0.0, memory[1], 0.0]
    text = ".param ptr memory\n.param ptr x\nS2R R0, SR_TID.X\nSHL R0, R0, 2\nIADD R1, R0, c[0x0][x]\nLDG R2, [R1]\n"
    text += "IADD R3, R0, c[0x0][memory]\nRED.ADD.F32.FTZ.RN [R3], R2\nEXIT"
    run(text, memory, x, block=3)
    assert memory.tolist() == wanted


def test_lanes_add_floats_one_after_another() -> None:
    x = np.random.default_rng(1).uniform(-1, 1, 96).astype(np.float32)
    total, wanted = np.zeros(1, np.float32), np.float32(0)
    for value in x:
        wanted = np.float32(wanted + value)
    text = ".param ptr total\n.param ptr x\nS2R R0, SR_TID.X\nSHL R0, R0, 2\nIADD R1, R0, c[0x0][x]\nLDG R2, [R1]\n"
    run(text + "MOV R3, c[0x0][total]\nRED.ADD.F32.FTZ.RN [R3], R2\nEXIT", total, x, block=96)
    assert total[0] == wanted != np.float32(x.sum(dtype=np.float64))


TICKETS = """
    .param ptr counter
    .param ptr tickets
    MOV R2, c[0x0][counter]
    MOV R3, c[0x0][counter+4]
    MOV R4, 1
    ATOM.E.ADD R5, [R2], R4
    SHL R5, R5, 2
    IADD R5, R5, c[0x0][tickets]
    MOV R6, 7
    STG [R5], R6
    EXIT
"""


def test_a_counter_gives_every_thread_a_ticket() -> None:
    counter, tickets = np.zeros(1, np.uint32), np.zeros(3 * 80, np.uint32)
    run(TICKETS, counter, tickets, grid=3, block=80)
    assert counter[0] == 240
    assert (tickets == 7).all()


@pytest.mark.parametrize("name", ["gtx480", "h100"])
def test_both_engines_wait_for_what_an_atomic_returns(name: str) -> None:
    trace = run(TICKETS, np.zeros(1, np.uint32), np.zeros(3 * 80, np.uint32), grid=3, block=80)
    gpu = load(name).replace({"sms": 2})
    result = timing.simulate(trace, gpu)
    assert first_difference(result, reference.simulate(trace, gpu)) is None
    assert result.stalls["long_scoreboard"] == result.stalls_by_instruction[4, StallCause.LONG_SCOREBOARD] > 0  # the SHL


def test_a_loop_of_cas_loses_no_update() -> None:
    word = np.ones(1, np.uint32)
    text = """
        .param ptr word
        MOV R2, c[0x0][word]
    again:
        LDG.STRONG.GPU R4, [R2]
        IMUL R5, R4, 3
        ATOM.CAS.STRONG.GPU PT, R6, [R2], R4, R5
        ISETP.NE.AND P0, PT, R6, R4, PT
    @P0 BRA again
        EXIT
    """
    trace = run(text, word, grid=2, block=40)
    assert word[0] == pow(3, 80, 2**32)
    assert trace.executed[3] == 2 * (32 + 8)  # one lane of a warp succeeds at a time


def test_accesses_are_logged_as_those_of_loads_and_stores() -> None:
    memory = np.zeros(2048, np.uint32)
    text = """
        .param ptr memory
        S2R R0, SR_TID.X
        SHL R1, R0, 2
        IADD R1, R1, c[0x0][memory]
        IMAD R2, R0, R0, RZ
        SHL R2, R2, 2
        IADD R2, R2, c[0x0][memory]
        RED.ADD [R1], R0
        ATOM.ADD R3, [R2], R0
        EXIT
    """
    arrays = run(text, memory).arrays
    assert arrays.access_stride.tolist() == [4, SCATTERED]
    assert arrays.scattered.dtype == np.uint32
    assert arrays.scattered[arrays.access_base[1]].tolist() == [int(arrays.access_base[0]) + 4 * lane**2 for lane in range(32)]


def test_scattered_addresses_have_a_limit_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "MOST_SCATTERED", 128 * 128)
    text = ".shared 4096\n.param u32 n\nS2R R0, SR_TID.X\nIMUL R0, R0, R0\nSHL R0, R0, 2\nloop:\nATOMS.INC R1, [R0], R0\nIADD R2, R2, 1\n"
    text += "ISETP.LT.AND P0, PT, R2, c[0x0][n], PT\n@P0 BRA loop\nEXIT"
    assert run(text, np.uint32(128)).arrays.scattered.shape == (128, 32)
    with pytest.raises(UserError, match=r"scattered addresses \(128 bytes per access"):
        run(text, np.uint32(129))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ATOM.ADD R4, [R1+4], R0", ["k.sass:5: atomic of 4 bytes at", "0 bytes past the end of array memory", "lane 31", "ATOM.ADD"]),
        ("RED.ADD.64 [R1], R4", ["misaligned atomic of 8 bytes", "lane 1 "]),
        ("ATOMS.MIN R4, [R0+61], R0", ["outside shared memory", "lane 0"]),
    ],
)
def test_bad_accesses_say_where_and_by_how_much(text: str, parts: list[str]) -> None:
    head = ".param ptr memory\nS2R R0, SR_TID.X\nSHL R1, R0, 2\nIADD R1, R1, c[0x0][memory]\n"
    memory = np.zeros(32, np.uint32)
    with pytest.raises(UserError) as caught:
        run(f"{head}{text}\nEXIT", memory)
    assert all(part in str(caught.value) for part in parts), caught.value
    assert not memory.any()


def test_a_read_only_array_is_refused() -> None:
    memory = np.zeros(32, np.uint32)
    memory.flags.writeable = False
    with pytest.raises(UserError, match=r"atomic of 4 bytes at .* array memory is read-only"):
        run(".param ptr memory\nMOV R1, c[0x0][memory]\nRED.OR [R1], R0\nEXIT", memory)


def test_nans_of_float64_stay_as_they_are_of_two_the_operand_as_on_an_h200() -> None:
    memory = np.array([0x7FFFFFFF216F941E, 0xFFFE6955B87FC000, 0xFFFFDF87BBD40000, 0x12FCC28745D6FE66], np.uint64)
    given = np.array([0xFFF8000000000000, 0xFFF4000012345678, 0xC354000000000000, 0x7FF8000000000000], np.uint64)
    text = "S2R R0, SR_TID.X\nSHL R1, R0, 3\nIADD R2, R1, c[0x0][first]\nLDG.64 R4, [R2]\nIADD R3, R1, c[0x0][memory]\n"
    run(f".param ptr memory\n.param ptr first\n{text}ATOM.ADD.F64.RN R6, [R3], R4\nEXIT", memory, given, block=4)
    assert memory.tolist() == [0xFFF8000000000000, 0xFFF4000012345678, 0xFFFFDF87BBD40000, 0x7FF8000000000000]
