"""The executor: control flow of every kind, memory of every width, presets, and each mistake with its message."""

from typing import Any

import numpy as np
import pytest

import isa
from isa.errors import UserError
from sim.functional import execute, growth, setup
from sim.functional.growth import grow_store
from sim.functional.state import Status
from sim.launch.launch import Launch
from sim.traces.trace import SCATTERED, Trace

FULL = 0xFFFFFFFF
THREAD = "S2R R0, SR_TID.X\nSHL R1, R0, 2\nIADD R2, R1, c[0x0][out]\n"


def run(text: str, *args: Any, grid: tuple[int, ...] = (1,), block: tuple[int, ...] = (32,), limit: int = 100_000, **options: Any) -> Trace:
    return execute(Launch(isa.parse(text, "k.sass"), grid, block, args, **options), limit=limit)


def mistake(text: str, *args: Any, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        run(text, *args, **options)
    assert str(caught.value).startswith("k.sass")
    return str(caught.value)


def steps(trace: Trace, warp: int = 0) -> list[tuple[int, int]]:
    """Return (instruction, mask) of one warp."""
    path = trace.arrays.warp_path[warp]
    entries = slice(*trace.arrays.path_start[path : path + 2])
    return list(zip(trace.arrays.instruction[entries].tolist(), trace.arrays.mask[entries].tolist(), strict=True))


def output(text: str, size: int = 32, **options: Any) -> list[int]:
    out = np.zeros(size, np.uint32)
    run(f".param ptr out\n{THREAD}{text}\nSTG [R2], R3\nEXIT", out, **options)
    return out.tolist()


def test_the_side_that_falls_through_runs_first_and_all_meet_again() -> None:
    text = """
        S2R R0, SR_TID.X
        ISETP.LT.AND P0, PT, R0, 8, PT
    @P0 BRA other
        MOV R1, 1
        BRA end
    other:
        MOV R1, 2
    end:
        EXIT
    """
    low, high = 0xFF, 0xFFFFFF00
    assert steps(run(text)) == [(0, FULL), (1, FULL), (2, low), (3, high), (4, high), (5, low), (6, FULL)]


def test_a_loop_left_lane_by_lane_needs_no_stack() -> None:
    assert output("MOV R3, RZ\nloop:\nIADD R3, R3, 1\nISETP.LE.AND P0, PT, R3, R0, PT\n@P0 BRA loop") == list(range(1, 33))
    text = "S2R R0, SR_LANEID\nloop:\nIADD R1, R1, 1\nLOP.AND R2, R1, 31\nISETP.NE.AND P0, PT, R2, R0, PT\n@P0 BRA loop\nEXIT"
    assert len(steps(run(text))) == 1 + 4 * 32 + 1


def test_lanes_that_exit_are_not_waited_for() -> None:
    text = """
        S2R R0, SR_TID.X
        ISETP.GE.AND P0, PT, R0, 4, PT
        BSSY B0, end
    @P0 BRA leave
        NOP
        BRA end
    leave:
        EXIT
    end:
        BSYNC B0
        EXIT
    """
    rest = FULL & ~15
    assert steps(run(text))[-4:] == [(7, 15), (6, rest), (7, 15), (8, 15)]  # a BSYNC that waited for lanes that end is executed twice
    assert steps(run(text.replace("BSSY B0, end", "NOP").replace("BSYNC B0", "NOP")))[-3:] == [(7, 15), (8, 15), (6, rest)]


def test_ssy_and_sync_nest() -> None:
    text = """
        SSY outer
        ISETP.LT.AND P0, PT, R0, 16, PT
    @P0 BRA low
        MOV R3, 1
        SYNC
    low:
        SSY inner
        ISETP.LT.AND P0, PT, R0, 8, PT
    @P0 MOV R3, 3
    @P0 SYNC
        MOV R3, 2
        SYNC
    inner:
        IADD R3, R3, 10
        SYNC
    outer:
        IADD R3, R3, 100
    """
    assert output(text) == [113] * 8 + [112] * 8 + [101] * 16


def test_barriers_order_warps_and_ended_warps_do_not_hold_others_up() -> None:
    text = """
        .shared 512
        .param ptr out
        S2R R0, SR_TID.X
        SHL R1, R0, 2
        ISETP.GE.AND P0, PT, R0, 96, PT
    @P0 EXIT
        STS [R1], R0
        BAR.SYNC 0
        LOP.XOR R3, R1, 0x80
        ISETP.GE.AND P1, PT, R0, 64, PT
    @P1 MOV R3, R1
        LDS R4, [R3]
        IADD R2, R1, c[0x0][out]
        STG [R2], R4
        EXIT
    """
    out = np.zeros(128, np.uint32)
    run(text, out, block=(128,))
    assert out.tolist() == [*range(32, 64), *range(32), *range(64, 96), *[0] * 32]


def test_lanes_that_reach_a_barrier_apart_are_refused_where_the_listing_has_bssy_too() -> None:
    text = """
        BSSY B0, end
        ISETP.LT.AND P0, PT, R0, 8, PT
    @P0 BRA low
        BAR.SYNC 0
        MOV R3, 1
        BRA end
    low:
        BAR.SYNC 0
        MOV R3, 2
    end:
        BSYNC B0
        IADD R3, R3, 10
    """
    with pytest.raises(UserError, match=r"BAR"):
        output(text, 64, block=(64,))


@pytest.mark.parametrize("stride", [0, 4])
def test_a_store_of_one_warp_to_two_arrays_reaches_both(stride: int) -> None:
    text = f"""
        .param ptr a
        .param ptr b
        S2R R0, SR_TID.X
        SHL R1, R0, 2
        ISETP.LT.AND P0, PT, R0, 16, PT
        IADD R2, R1, c[0x0][a]
    @!P0 IADD R2, R1, c[0x0][b]
    @!P0 IADD R2, R2, -{64 - stride}
        MOV R3, 7
        STG [R2], R3
        EXIT
    """
    a, b = np.zeros(16, np.uint32), np.zeros(32, np.uint32)
    execute(Launch(isa.parse(text), grid=(1,), block=(32,), args=(a, b)))
    assert a.sum() == b.sum() == 7 * 16
    b.flags.writeable = False
    with pytest.raises(UserError, match="read-only"):
        execute(Launch(isa.parse(text), grid=(1,), block=(32,), args=(a, b)))


@pytest.mark.parametrize("bank", range(1, 32))
def test_ldc_from_a_bank_that_was_not_given_is_refused(bank: int) -> None:
    with pytest.raises(UserError, match="0 bytes"):
        execute(Launch(isa.parse(f"LDC R3, c[{bank}][R1]\nEXIT"), grid=(1,), block=(32,)))


def test_widths_and_signs() -> None:
    bytes_in = np.arange(200, 264, dtype=np.uint8)
    out = np.zeros(16, np.int32)
    text = """
        .param ptr x
        .param ptr out
        MOV R2, c[0x0][x]
        MOV R3, RZ
        MOV R4, c[0x0][out]
        LDG.E.S8 R8, [R2+3]
        LDG.E.U8 R9, [R2+3]
        LDG.E.S16 R10, [R2+2]
        LDG.E.U16 R11, [R2+2]
        STG.128 [R4], R8
        LDG.E.128 R8, [R2+16]
        STG.64 [R4+16], R8
        STG.64 [R4+24], R10
        STG.U16 [R4+34], R8
        STG.U8 [R4+33], R9
        EXIT
    """
    run(text, bytes_in, out, block=(1,))
    as_words = bytes_in.view(np.uint32)
    assert out[:4].tolist() == [203 - 256, 203, (203 << 8 | 202) - 65536, 203 << 8 | 202]
    assert out[4:8].view(np.uint32).tolist() == as_words[4:8].tolist()
    assert out.view(np.uint8)[32:36].tolist() == [0, as_words[5] & 255, *bytes_in[16:18].tolist()]


def test_local_memory_belongs_to_a_thread() -> None:
    assert output("STL [RZ+8], R0\nNOP\nLDL R3, [RZ+8]", 64, block=(64,)) == list(range(64))


def test_constant_banks_and_special_registers() -> None:
    table = np.arange(100, 132, dtype=np.uint32)
    assert output("LDC R3, c[0x3][R1]\nIADD R3, R3, c[0x3][0x4]", constants={3: table}) == list(range(201, 233))
    text = ".param ptr out\nS2R R0, SR_TID.X\nS2R R1, SR_TID.Y\nS2R R2, SR_CTAID.Y\nIMAD R3, R1, 10, R0\nIMAD R3, R2, 100, R3\n"
    text += "S2R R4, SR_NTID.X\nIMAD R5, R1, R4, R0\nMOV R6, c[0x0][0x2c]\nIMAD R6, R4, R6, RZ\nIMAD R5, R2, R6, R5\nSHL R5, R5, 2\n"
    out = np.zeros(24, np.uint32)
    run(text + "IADD R5, R5, c[0x0][out]\nSTG [R5], R3\nEXIT", out, grid=(1, 2), block=(4, 3))
    assert out.tolist() == [100 * b + 10 * y + x for b in range(2) for y in range(3) for x in range(4)]


def test_presets_and_addresses() -> None:
    x = np.arange(4, dtype=np.float32)
    text = ".param ptr a\n.param ptr x\nLD.E R6, [R2+4]\nFADD R6, R6, R8\nST.E [R2+8], R6\nEXIT"
    run(text, np.zeros(4), x, preset={2: "x", 8: 0.5, 9: -1}, block=(1,))
    assert x.tolist() == [0, 1, 1.5, 3]


def test_iterations_end_a_loop_without_end() -> None:
    trace = run("loop:\nNOP\nBRA loop", iterations={"loop": 5})
    assert trace.executed.tolist() == [5, 5]


def test_one_array_given_twice_is_one_array() -> None:
    x = np.arange(32, dtype=np.uint32)
    run(f".param ptr out\n.param ptr again\n{THREAD}IADD R4, R1, c[0x0][again]\nLDG R3, [R2]\nIADD R3, R3, 1\nSTG [R4], R3\nEXIT", x, x)
    assert x.tolist() == list(range(1, 33))


def test_accesses_are_evenly_spaced_or_scattered() -> None:
    out = np.zeros(4096, np.uint32)
    trace = run(f".param ptr out\n{THREAD}STG [R2], R0\nIMAD R3, R0, R1, c[0x0][out]\nSTG [R3], R0\n@P0 STG [R2], R0\nEXIT", out)
    a = trace.arrays
    assert a.access_stride.tolist() == [4, SCATTERED, 0]
    base = a.access_base[0]
    assert (a.scattered[a.access_base[1]] == base + 4 * np.arange(32) ** 2).all()


def test_the_addresses_of_constants_that_a_register_names_are_kept() -> None:
    text = f"{THREAD}LDC R3, c[0x3][R1+0x8]\nLDC R4, c[0x3][0x4]\n@!PT LDC R5, c[0x3][R1]\nIMAD R6, R0, R1, RZ\nLDC R7, c[0x3][R6]\nEXIT"
    trace = run(".param ptr out\n" + text, np.zeros(32, np.uint32), constants={3: np.zeros(1024, np.uint32)})
    a = trace.arrays
    assert a.access_stride.tolist() == [4, 0, SCATTERED]
    assert a.access_base[0] == 8
    assert (a.scattered[a.access_base[2]] == 4 * np.arange(32) ** 2).all()


def test_growing_many_paths_and_long_ones() -> None:
    blocks = 300
    text = """
        S2R R0, SR_CTAID.X
        IMAD R0, R0, 7, RZ
    loop:
        LDS R1, [RZ]
        LDS R2, [R3]
        BAR.SYNC 0
        IADD R0, R0, -1
        ISETP.GE.AND P0, PT, R0, RZ, PT
    @P0 BRA loop
        EXIT
    """
    trace = run(".shared 4\n" + text, grid=(blocks,), block=(96,))
    lengths = np.diff(trace.arrays.path_start)
    assert sorted(lengths.tolist()) == [3 + 6 * (7 * b + (b == 0) * 1) + (6 if b else 0) for b in range(blocks)]
    assert len(trace.arrays.access_base) == 3 * sum(2 * (7 * b + 1) for b in range(blocks))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "STG [R2+4], R0",
            ["k.sass:5: store of 4 bytes at", "0 bytes past the end of array out", "block (0, 0, 0), warp 0, lane 31", "STG [R2+0x4]"],
        ),
        ("LDG R3, [R2-0x10]", ["16 bytes before the start of array out", "lane 0"]),
        ("LDG.64 R4, [R2-0x4]", ["before the start"]),
        ("LDG.64 R4, [R2]", ["misaligned load of 8 bytes", "lane 1 "]),
        ("LDS R3, [R1+64]", ["shared memory", "there are 128 bytes", "lane 16"]),
        ("LDL R3, [R1+4092]", ["local memory", "4096 bytes per thread"]),
        ("LDC R3, c[0x0][R1+0x1000]", ["outside constant bank 0"]),
    ],
)
def test_bad_accesses_say_where_and_by_how_much(text: str, parts: list[str]) -> None:
    message = mistake(f".param ptr out\n{THREAD}{text}\nEXIT", np.zeros(32, np.uint32), shared_static=128)
    for part in parts:
        assert part in message


def test_a_divergent_barrier_is_refused() -> None:
    message = mistake("S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 4, PT\n@P0 BRA skip\nBAR.SYNC 0\nskip:\nEXIT")
    assert "k.sass:4: barrier in divergent code: lanes 0-3" in message
    assert "lane 4" in message


def test_warps_at_different_barriers_make_no_progress() -> None:
    text = "S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 32, PT\n@P0 BRA other\nBAR.SYNC 1\nEXIT\nother:\nBAR.SYNC 2\nEXIT"
    message = mistake(text, block=(64,))
    assert "k.sass:4: no progress" in message
    assert "warp 0 waits at barrier 2; warp 1 waits at barrier 1" in message


def test_convergence_barriers_that_wait_for_each_other() -> None:
    text = "S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 4, PT\nBSSY B0, e\nBSSY B1, e\n@P0 BRA o\nBSYNC B0\nEXIT\no:\nBSYNC B1\ne:\nEXIT"
    message = mistake(text)
    assert "no progress: lanes wait here for lanes" in message


def test_an_endless_loop_is_found() -> None:
    message = mistake(
        "S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 4, PT\n@P0 EXIT\nloop:\nNOP\nBRA loop", limit=5000, block=(64,), grid=(2,)
    )
    assert "no end: the warp has executed 5,000 instructions and lanes 4-31 still run" in message
    assert "warp 0, lane 4" in message


def test_sync_without_ssy_and_ssy_without_sync() -> None:
    assert "SYNC without SSY" in mistake("S2R R0, SR_TID.X\nSYNC")
    assert "groups of lanes" in mistake("loop:\nSSY loop\nBRA loop")


def test_read_only_arrays_are_not_written() -> None:
    out = np.zeros(32, np.uint32)
    out.flags.writeable = False
    assert "array out is read-only" in mistake(f".param ptr out\n{THREAD}STG [R2], R0\nEXIT", out)


@pytest.mark.parametrize(
    ("arguments", "options", "part"),
    [
        ((), {}, "arguments needed: 2; given: 0"),
        ((np.zeros(4), np.float32(1.5)), {}, "parameter n is u32, an unsigned integer of 32 bits; float32 1.5"),
        ((np.zeros(4), -1), {}, "-1 is outside 0..4294967295"),
        ((np.zeros((4, 4)).T, 1), {}, "not C-contiguous"),
        ((3, 1), {}, "parameter x is ptr, a NumPy array or sim.Pointer; int 3"),
        ((np.zeros(4), 1), {"block": (2048,)}, "a block has at most 1024"),
        ((np.zeros(4), 1), {"grid": (1, 65_536)}, "65,536 blocks along y; a GPU takes at most 65,535"),
        ((np.zeros(4), 1), {"grid": (1, 1, 70_000)}, "70,000 blocks along z"),
        ((np.zeros(4), 1), {"grid": (0,)}, "at least 1"),
        ((np.zeros(4), 1), {"preset": {2: "z"}}, "no array parameter has that name"),
        ((np.zeros(4), 1), {"iterations": {"nowhere": 1}}, "no label nowhere"),
        ((np.zeros(4), 1), {"iterations": {"end": 1}}, "no branch goes back"),
    ],
)
def test_launches_that_do_not_fit(arguments: tuple[Any, ...], options: dict[str, Any], part: str) -> None:
    with pytest.raises(UserError) as caught:
        run(".param ptr x\n.param u32 n\nend:\nEXIT", *arguments, **options)
    assert part in str(caught.value)


def test_stores_up_to_a_mistake_are_kept() -> None:
    out = np.zeros(32, np.uint32)
    mistake(f".param ptr out\n{THREAD}STG [R2], R0\nSTG [R2+128], R0\nEXIT", out)
    assert out.tolist() == list(range(32))


def test_warps_that_wait_keep_their_rows_of_the_log() -> None:
    """Each of eight warps needs a row of its own while it waits; the log grows for the second, third and fifth."""
    trace = run("NOP\nNOP\nBAR.SYNC 0\nNOP\nBAR.SYNC 1\nEXIT", block=(256,))
    assert {tuple(steps(trace, warp)) for warp in range(8)} == {tuple((i, FULL) for i in range(6))}


@pytest.mark.parametrize(("done", "least", "most"), [(1.0, 8192, 8192), (0.05, 80_000, 84_000), (1e-9, 262_144, 262_144)])
def test_a_trace_grows_to_what_it_will_need(done: float, least: int, most: int) -> None:
    """Of 4,096 accesses: twice as many at least, 64 times at most, between them what the warps that have ended tell of all."""
    log, store = setup.allocate_log(1, 1 << 20), setup.allocate_store(1, 1)
    grown = grow_store(Status.ACCESSES_FULL, store, log, done)
    assert least <= grown.access_base.size == grown.access_stride.size <= most


def test_a_trace_that_memory_is_too_small_for_grows_by_what_it_needs_now(monkeypatch: pytest.MonkeyPatch) -> None:
    real = growth.enlarged

    def refused(array: np.ndarray, needed: int, **named: int) -> np.ndarray:
        if needed > 10_000:
            raise MemoryError
        return real(array, needed, **named)

    monkeypatch.setattr(growth, "enlarged", refused)
    assert grow_store(Status.ACCESSES_FULL, setup.allocate_store(1, 1), setup.allocate_log(1, 1 << 20), 0.01).access_base.size == 8192


def test_an_endless_loop_ends_in_a_message_wherever_a_bsync_stands() -> None:
    for limit in range(1023, 1028):
        assert f"has executed {limit:,} instructions" in mistake("L: BSSY B0, X\nX: BSYNC B0\nBRA L", limit=limit)


def test_lanes_may_fall_off_the_end_of_a_listing_with_bsync() -> None:
    text = "S2R R0, SR_TID.X\nBRA start\nout: EXIT\nstart: BSSY B0, X\nX: BSYNC B0\nISETP.LT.AND P0, PT, R0, 4, PT\n@P0 BRA out"
    assert steps(run(text))[-2:] == [(6, 0xF), (2, 0xF)]
