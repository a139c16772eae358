"""Warps and blocks that wait for each other's stores: they end where a GPU ends, in any order of waiting; what cannot end is named."""

from typing import Any

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from sim.functional import turns
from sim.functional.spins import FOREVER
from sim.report.captures import Replayed, errors, summary
from sim.report.text import report
from sim.traces.trace import Trace, logged

POLL = "{label}:\nLDG R3, [R2]\nISETP.{compare}.AND P1, PT, R3, {value}, PT\n@P1 BRA {label}\n"
HEAD = ".kernel k\n.param ptr flag\nS2R R0, SR_TID.X\nSHR R1, R0, 5\nS2R R5, SR_CTAID.X\nMOV R2, c[0x0][flag]\n"


def poll(label: str, compare: str, value: str) -> str:
    return POLL.format(label=label, compare=compare, value=value)


def run(text: str, flag: np.ndarray, grid: int = 1, block: int = 64, **options: Any) -> Trace:
    return sim.execute(sim.Launch(isa.parse(text, "k.sass"), (grid,), (block,), (flag,)), **options)


def waiting_for(who: str, signal: str = "STG [R2], R4") -> str:
    """Return a program in which warp or block 0 waits for a flag that the others set, and then stores 7 behind it."""
    others = f"other:\nMOV R4, 7\n{signal}\nEXIT"
    return f"{HEAD}ISETP.NE.AND P0, PT, {who}, 0, PT\n@P0 BRA other\n{poll('spin', 'EQ', '0')}STG [R2+4], R3\nEXIT\n{others}"


@pytest.mark.parametrize(("who", "grid", "block"), [("R1", 1, 64), ("R5", 2, 32), ("R5", 300, 32)])
def test_a_warp_or_a_block_waits_for_a_later_one(who: str, grid: int, block: int) -> None:
    flag = np.zeros(2, np.uint32)
    trace = run(waiting_for(who), flag, grid, block)
    assert flag.tolist() == [7, 7]
    assert trace.warp_instructions < 9 * grid * block // 32 + 20, "of the rounds a few stay"
    assert trace.executed.sum() == sum(np.diff(trace.arrays.path_start)[trace.arrays.warp_path])


def test_a_table_of_captures_leaves_out_what_spins() -> None:
    gpu, flag = sim.gpu("gtx480"), np.zeros(2, np.uint32)
    spinning, plain = (sim.simulate(run(text, flag), gpu) for text in (waiting_for("R1"), f"{HEAD}EXIT"))
    rows = [Replayed("one", "k", "equal", result=spinning, counters={"cycles": 1.0})]
    rows += [Replayed(name, "k", "equal", result=plain, counters={"cycles": plain.cycles}) for name in ("two", "three")]
    assert [row.spins for row in rows] == [True, False, False]
    assert errors(rows, "cycles") == [0, 0]
    assert "1 waits in loops for stores of others: its cycles and counts predict nothing and are left out below (one)" in summary(rows)
    assert "cycles: 0.0% mean error, 0.0% median, 0% worst, of 2 captures" in summary(rows)
    assert "wait in loops" not in summary(rows[1:])


def test_a_wait_that_reads_constants_by_lane_keeps_its_addresses_in_step() -> None:
    """The log has an entry for such a load, which a round that is taken out must not leave behind."""
    flag = np.zeros(2, np.uint32)
    trace = run(waiting_for("R1").replace("spin:\n", "MOV R8, RZ\nspin:\nLDC R9, c[0x0][R8+flag]\n"), flag)
    assert flag.tolist() == [7, 7]
    assert 0 < trace.spun < 10_000
    assert trace.warp_instructions < 200
    assert len(trace.arrays.access_base) == trace.executed[logged(trace.program)].sum()


def test_paths_are_in_launch_order_whatever_the_order_of_execution() -> None:
    trace = run(waiting_for("R5"), np.zeros(2, np.uint32), 3, 32)
    first = [int(trace.arrays.warp_path[warp]) for warp in range(3)]
    assert first[0] != first[1] == first[2]
    addresses = [trace.arrays.access_base[slice(*trace.arrays.access_start[warp : warp + 2])] for warp in range(3)]
    assert [len(one) for one in addresses][1:] == [1, 1]
    assert set(addresses[0].tolist()) == {0x10000000, 0x10000004}


def test_two_warps_take_turns() -> None:
    odd = f"odd:\n{poll('wait1', 'NE', '1')}IADD R3, R3, 1\nSTG [R2], R3\n{poll('wait3', 'NE', '3')}IADD R3, R3, 1\nSTG [R2], R3\nEXIT"
    even = f"MOV R4, 1\nSTG [R2], R4\n{poll('wait2', 'NE', '2')}IADD R3, R3, 1\nSTG [R2], R3\n{poll('wait4', 'NE', '4')}EXIT\n"
    flag = np.zeros(1, np.uint32)
    run(f"{HEAD}ISETP.NE.AND P0, PT, R1, 0, PT\n@P0 BRA odd\n{even}{odd}", flag)
    assert flag.tolist() == [4]


def grid_barrier(blocks: int) -> str:
    """Return two barriers of the whole grid: each block adds one, waits for all, and sums what the others had stored before."""
    arrive = "BAR.SYNC 0\nISETP.NE.AND P0, PT, R0, 0, PT\n@P0 BRA {label}past\nMOV R4, 1\nRED.ADD [R2], R4\n"
    wait = "{label}:\nLDG R3, [R2]\nISETP.LT.AND P1, PT, R3, {value}, PT\n@P1 BRA {label}\n{label}past:\nBAR.SYNC 0\n"
    store = "SHL R6, R5, 2\nIADD R6, R6, R2\nIADD R7, R5, 1\nSTG [R6+128], R7\n"
    following = f"IADD R8, R5, 1\nISETP.EQ.AND P2, PT, R8, {blocks}, PT\n@P2 MOV R8, RZ\nSHL R8, R8, 2\nIADD R8, R8, R2\nLDG R9, [R8+128]\n"
    barriers = [arrive.format(label=name) + wait.format(label=name, value=value) for name, value in (("a", blocks), ("b", 2 * blocks))]
    return f"{HEAD}{store}{barriers[0]}{following}{barriers[1]}STG [R6+128], R9\nEXIT"


@pytest.mark.parametrize("blocks", [2, 20])
def test_a_barrier_of_the_whole_grid(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    flag = np.zeros(32 + blocks, np.uint32)
    run(grid_barrier(blocks), flag, blocks)
    assert flag[0] == 2 * blocks
    assert flag[32:].tolist() == [*range(2, blocks + 1), 1]
    monkeypatch.setattr(turns, "MOST_WAITING", blocks - 1)
    with pytest.raises(UserError, match=rf"{2 * (blocks - 1)} warps of {blocks - 1} blocks wait(.|\n)*1 blocks have not started"):
        run(grid_barrier(blocks), np.zeros(32 + blocks, np.uint32), blocks)


def test_what_cannot_end_is_named_with_each_waiting_warp() -> None:
    with pytest.raises(UserError) as caught:
        run(waiting_for("R1", "BAR.SYNC 0").replace("MOV R4, 7\n", ""), np.zeros(2, np.uint32), 2)
    assert caught.value.line == 10
    assert str(caught.value).splitlines()[:4] == [
        "k.sass:10: no progress: 4 warps of 2 blocks wait, and none does what another waits for",
        "  kernel k",
        "  block (0, 0, 0), warp 0: lanes 0-31 repeat lines 10 to 12, which read LDG R3, [R2]; (array flag + 0x0)",
        "  block (0, 0, 0), warp 1: waits at barrier 0, line 16: BAR.SYNC 0;",
    ]


def test_a_loop_that_counts_is_no_spin_however_often_it_reads_one_word() -> None:
    text = HEAD + "MOV R4, RZ\nloop:\nLDG R3, [R2]\nIADD R4, R4, 1\nISETP.LT.AND P1, PT, R4, 3000, PT\n@P1 BRA loop\nEXIT"
    trace = run(text, np.zeros(1, np.uint32))
    assert trace.executed[6] == 2 * 3000
    assert trace.spun == 0


def test_a_wait_that_counts_its_rounds_ends_too() -> None:
    counting = waiting_for("R1").replace("spin:\n", "MOV R8, RZ\nspin:\nIADD R8, R8, 1\n")
    flag = np.zeros(2, np.uint32)
    trace = run(counting, flag)
    assert flag.tolist() == [7, 7]
    assert FOREVER < trace.warp_instructions < FOREVER + 100_000


def test_lanes_of_one_warp_wait_for_each_other() -> None:
    """A lock that each lane takes in turn, as compilers from Volta on leave it."""
    text = """
.kernel lock
.param ptr flag
        MOV R2, c[0x0][flag]
        MOV R6, 1
        BSSY B0, done
take:
        ATOMG.CAS R3, [R2], RZ, R6
        ISETP.NE.AND P0, PT, R3, RZ, PT
    @P0 BRA take
        LDG R4, [R2+4]
        IADD R4, R4, 1
        STG [R2+4], R4
        ATOMG.EXCH R5, [R2], RZ
        BRA done
done:
        BSYNC B0
        EXIT
"""
    flag = np.zeros(2, np.uint32)
    run(text, flag, block=32)
    assert flag.tolist() == [0, 32]


def test_the_clock_counts_warp_instructions() -> None:
    out = np.zeros(64, np.uint32)
    run(
        HEAD
        + "S2R R6, SR_CLOCKLO\nFADD R7, RZ, 1\nS2R R8, SR_CLOCKLO\nSHL R3, R0, 2\nIADD R2, R2, R3\nSTG [R2], R6\nSTG [R2+128], R8\nEXIT",
        out,
        block=32,
    )
    assert out.reshape(2, 32)[:, 0].tolist() == [4, 6]


def test_the_clock_goes_on_from_warp_to_warp_and_a_wait_for_it_ends() -> None:
    wait = "S2R R6, SR_GLOBALTIMERLO\nloop:\nS2R R7, SR_GLOBALTIMERLO\nIADD R8, R7, -R6\nISETP.LT.AND P1, PT, R8, 1000, PT\n@P1 BRA loop\n"
    out = np.zeros(64, np.uint32)
    trace = run(HEAD + wait + "SHL R3, R0, 2\nIADD R2, R2, R3\nSTG [R2], R7\nEXIT", out)
    assert 1000 <= out[0] < 1010
    assert out[32] >= out[0] + 1000
    assert trace.warp_instructions >= 2000


@pytest.mark.parametrize("text", [waiting_for("R5"), grid_barrier(6)])
def test_both_engines_time_what_was_executed(text: str) -> None:
    trace = run(text, np.zeros(64, np.uint32), 6)
    one, other = (sim.simulate(trace, sim.gpu("textbook"), engine=engine) for engine in ("numba", "simpy"))
    assert one.cycles == other.cycles
    assert trace.spun > 0
    assert f"{trace.spun:,} warp instructions of such waits" in " ".join(report(one).split())
    assert one.counters["warp_instructions"] == trace.warp_instructions
