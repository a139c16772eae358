"""Random structured programs, in three styles of reconvergence, against the lane-by-lane oracle."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import isa
from isa.vocabulary import Operation
from sim.functional import execute
from sim.launch.launch import Launch
from sim.traces.trace import Trace
from tests.property import structured as oracle

REGISTERS = 6
THREADS = 40  # a full warp and a part of one
BLOCKS = 2
registers = st.integers(0, REGISTERS - 1).map(lambda r: ("R", r))
numbers = st.one_of(
    st.sampled_from([0, 1, 2, 31, 32, 0x3F800000, 0x80000000, 0x7F800000, 0x7FC00000, 0x00000001, 0x00800000, 0x7F7FFFFF]),
    st.integers(0, 2**32 - 1),
).map(lambda bits: ("I", bits))


@st.composite
def operations(draw: st.DrawFn) -> tuple[Any, ...]:
    name = draw(st.sampled_from(sorted(oracle.OPERATIONS)))
    arity = oracle.ARITY.get(name, 2)
    sources = [draw(registers) for _ in range(arity)]
    if arity > 1 and draw(st.booleans()):
        sources[1] = draw(numbers)
    return ("op", name, draw(st.integers(0, REGISTERS - 1)), *sources)


conditions = st.tuples(st.sampled_from(sorted(oracle.COMPARES)), registers, st.one_of(registers, numbers))
simple = st.one_of(
    operations(), operations(), st.tuples(st.just("guarded"), conditions, operations()), st.tuples(st.just("exit"), conditions)
)


def nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    body = st.lists(children, max_size=3)
    return st.one_of(st.tuples(st.just("if"), conditions, body, body), st.tuples(st.just("loop"), st.integers(0, REGISTERS - 1), body))


def levels(depth: int) -> st.SearchStrategy[Any]:
    return simple if depth == 0 else st.one_of(simple, nested(levels(depth - 1)))


exchanges = st.tuples(st.just("exchange"), st.integers(0, REGISTERS - 1), st.integers(0, REGISTERS - 1), st.integers(1, 2))
programs = st.lists(st.one_of(levels(3), levels(2), exchanges), min_size=1, max_size=8)


def text_of(program: list[tuple[Any, ...]], style: str) -> str:
    writer = oracle.Writer(style)
    for line in (".shared 160", ".param ptr data", "S2R R14, SR_TID.X", "S2R R13, SR_CTAID.X", f"IMAD R12, R13, {THREADS}, R14"):
        writer.emit(line)
    writer.emit("SHL R15, R14, 0x2")
    for distance in (1, 2):  # shared addresses of the neighbours, modulo the block
        writer.emit(f"IADD R{15 + distance}, R14, {distance}")
        writer.emit(f"ISETP.GE.AND P6, PT, R{15 + distance}, {THREADS}, PT")
        writer.emit(f"@P6 IADD R{15 + distance}, R{15 + distance}, {-THREADS}")
        writer.emit(f"SHL R{15 + distance}, R{15 + distance}, 0x2")
    writer.emit(f"IMAD R12, R12, {4 * REGISTERS}, c[0x0][data]")
    for r in range(REGISTERS):
        writer.emit(f"LDG R{r}, [R12+{4 * r}]")
    writer.block(program, 0)
    for r in range(REGISTERS):
        writer.emit(f"STG [R12+{4 * r}], R{r}")
    writer.emit("EXIT")
    return "\n".join(writer.lines)


@settings(max_examples=150)
@given(programs, st.sampled_from(["", "SSY", "BSSY"]), st.integers(0, 2**32 - 1))
def test_random_programs(program: list[tuple[Any, ...]], style: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 2**32, (BLOCKS * THREADS, REGISTERS), np.uint32)
    data[rng.random(data.shape) < 0.3] &= 0x00FFFFFF  # subnormal and small numbers too
    expected = data.copy()
    for block in range(BLOCKS):
        lanes = [oracle.Lane([int(x) for x in row]) for row in data[block * THREADS : (block + 1) * THREADS]]
        oracle.execute(program, lanes)
        for k, lane in enumerate(lanes):
            if lane.alive:
                expected[block * THREADS + k] = lane.registers
    text = text_of(program, style)
    trace = execute(Launch(isa.parse(text), (BLOCKS,), (THREADS,), (data,)))
    assert np.array_equal(data, expected), f"{text}\n{np.argwhere(data != expected)[:4]}"
    check_trace(trace)


def check_trace(trace: Trace) -> None:
    """Assert what every trace obeys: tallies equal the paths, and each LOAD, STORE or ATOM entry has one access."""
    arrays, n = trace.arrays, len(trace.program)
    executed, true_lanes = np.zeros(n, np.int64), np.zeros(n, np.int64)
    moves = np.isin(trace.program.encoded.operation, (Operation.LOAD, Operation.STORE, Operation.ATOM))
    for warp, path in enumerate(arrays.warp_path):
        entries = slice(arrays.path_start[path], arrays.path_start[path + 1])
        np.add.at(executed, arrays.instruction[entries], 1)
        np.add.at(true_lanes, arrays.instruction[entries], np.bitwise_count(arrays.mask[entries]))
        accesses = arrays.access_start[warp + 1] - arrays.access_start[warp]
        assert accesses == moves[arrays.instruction[entries]].sum()
    assert np.array_equal(executed, trace.executed)
    assert np.array_equal(true_lanes, trace.true_lanes)
    assert (trace.true_lanes <= trace.active_lanes).all()
    bounds = zip(arrays.path_start[:-1], arrays.path_start[1:], strict=True)
    paths = {arrays.instruction[a:b].tobytes() + arrays.mask[a:b].tobytes() for a, b in bounds}
    assert len(paths) == len(arrays.path_start) - 1, "a path is stored twice"
