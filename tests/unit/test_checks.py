"""`check=`: races in shared memory and reads of what nothing wrote, found where they are and nowhere else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from isa.program import Program
from sim.launch.file import load_launch
from sim.traces.hazard import Hazard
from tests.listings import FOLDER, PROGRAMS

BOTH = ("race", "init")
KNOWN = {"neighbour_race": {"race"}, "intervals/actual_loop": {"init"}}  # one for this, and a lecture's, which sets no register first
THREAD = ".shared 512\nS2R R0, SR_TID.X\nSHL R1, R0, 2\n"
VOLTA = "ISETP.LT.AND P0, PT, R0, 16, PT\nBSSY B0, meet\n@P0 BRA low\n"


def found(text: str, *args: Any, check: tuple[str, ...] = BOTH, block: int = 64, **options: Any) -> list[Hazard]:
    launch = sim.Launch(isa.parse(text, "k.sass"), (2,), (block,), args, **options)
    return list(sim.execute(launch, check=check).hazards)


def without_barrier(listing: str, which: int) -> Program:
    """Return a program with one of its barriers, counted from 0, taken out."""
    lines, seen = (FOLDER / listing).read_text("utf-8").splitlines(), 0
    for number, line in enumerate(lines):
        if "BAR.SYNC" in line:
            if seen == which:
                start, end = line.index("BAR.SYNC"), line.index(";")
                lines[number] = line[:start] + "NOP".ljust(end - start) + line[end:]
            seen += 1
    assert seen > which
    return isa.parse("\n".join(lines), listing)


def test_a_barrier_orders_what_two_warps_do() -> None:
    text = THREAD + "STS [R1], R0\n{}\nLOP.XOR R2, R1, 128\nLDS R3, [R2]\nEXIT"
    assert found(text.format("BAR.SYNC 0")) == []
    races = found(text.format("NOP"), check=("race",))
    [race] = races
    assert (race.check, race.lines, race.warps, race.lanes, race.block, race.count) == ("race", (7, 4), (0, 1), (0, 0), 0, 512)
    assert str(races[0]).startswith("k.sass:4: race: two warps read and write shared memory with no barrier between\n")
    assert "block 0, warp 1, lane 0, line 4: STS [R1], R0" in str(races[0])
    assert "__syncthreads()" in races[0].remedy


def test_a_read_before_another_warp_writes_is_the_same_race() -> None:
    text = THREAD + "STS [R1], R0\nBAR.SYNC 0\nLOP.XOR R2, R1, 128\nLDS R3, [R2]\n{}\nSTS [R1], R3\nEXIT"
    assert found(text.format("BAR.SYNC 0")) == []
    [race] = found(text.format("NOP"))
    assert (race.lines, race.warps, race.message) == ((9, 7), (0, 1), "two warps write and read shared memory with no barrier between")


COPY = "ISETP.NE.AND P0, PT, R0, 32, PT\n@P0 EXIT\nMOV R6, c[0x0][out]\nR2UR UR6, R6\nR2UR UR7, RZ\nMOV R9, 8\nR2UR UR5, R9\nR2UR UR4, RZ\n"
GENERIC = "ISETP.LT.AND P0, PT, R0, 32, PT\n@P0 EXIT\nLOP.XOR R2, R1, 128\nMOV R3, 1\n"


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        (COPY + "UBLKCP.G.S [UR6], [UR4], UR5", "read"),
        (COPY + "UBLKRED.G.S.ADD [UR6], [UR4], UR5", "read"),
        (GENERIC + "LD.E R4, [R2]", "read"),
        (GENERIC + "RED.E.ADD [R2], R0", "update"),
        (GENERIC + "ST.E [R2], R0", "write"),
    ],
)
def test_a_race_says_what_the_second_access_does(text: str, verb: str) -> None:
    stored = ".kernel races\n.target sm_90\n.parameter_base 0x210\n.param ptr out\n" + THREAD + "STS [R1], R0\n"
    [race] = found(f"{stored}{text}\nEXIT", np.zeros(64, np.uint32), check=("race",))
    assert race.message == f"two warps write and {verb} shared memory with no barrier between"


def test_a_named_barrier_orders_its_own_warps_and_no_others() -> None:
    halves = "ISETP.GE.AND P0, PT, R0, 64, PT\n@P0 BRA upper\nBAR.SYNC 1, 64\nBRA both\nupper:\nBAR.SYNC 2, 64\nboth:\n"
    text = THREAD + "STS [R1], R0\n" + halves + "LOP.XOR R2, R1, {}\nLDS R3, [R2]\nEXIT"
    assert found(text.format(128), block=128) == []
    [race] = found(text.format(256), block=128, check=("race",))
    assert sorted(warp // 2 for warp in race.warps) == [0, 1]
    assert len(found(text.replace("BAR.SYNC 1, 64", "NOP").format(128), block=128, check=("race",))) == 1


def test_warps_that_only_arrive_are_ordered_before_those_that_wait() -> None:
    text = THREAD + "ISETP.GE.AND P0, PT, R0, 32, PT\n@P0 BRA reader\nSTS [R1], R0\n{}\nEXIT\nreader:\n{}\nLDS R3, [R1+-128]\nEXIT"
    assert found(text.format("BAR.ARV 3, 64", "BAR.SYNC 3, 64")) == []
    assert [race.check for race in found(text.format("NOP", "NOP"))] == ["race"]


def test_bytes_side_by_side_do_not_race() -> None:
    assert found(".shared 64\nS2R R0, SR_TID.X\nSTS.U8 [R0], R0\nEXIT") == []


def test_the_same_value_stored_twice_does_not_race_and_another_does() -> None:
    assert found(".shared 4\nMOV R1, 7\nSTS [0], R1\nEXIT") == []
    [race] = found(".shared 4\nS2R R1, SR_TID.X\nSHR R1, R1, 5\nSTS [0], R1\nEXIT")
    assert "two warps write and write" in race.message
    [race] = found(".shared 4\nS2R R1, SR_TID.X\nSTS [0], R1\nEXIT", block=32)
    assert race.message.startswith("lanes of one instruction store different values")


def test_atomics_race_with_loads_and_not_with_each_other() -> None:
    first = ".shared 4\nS2R R0, SR_TID.X\nISETP.EQ.AND P0, PT, R0, 0, PT\n@P0 STS [0], RZ\n"
    text = first + "BAR.SYNC 0\nATOMS.ADD R1, [0], R0\n{}\nLDS R2, [0]\nEXIT"
    assert found(text.format("BAR.SYNC 0")) == []
    assert [one.lines for one in found(text.format("NOP"))] == [(8, 6)]


def test_lanes_of_one_warp_race_where_they_are_not_together() -> None:
    apart = "STS [R1+64], R0\nBRA meet\nlow:\nLDS R2, [R1+128]\nmeet:\nBSYNC B0\nEXIT"
    [race] = found(THREAD + VOLTA + apart, block=32, check=("race",))
    assert "two lanes of a warp" in race.message
    assert "__syncwarp()" in race.remedy
    met = "BRA meet\nlow:\nSTS [R1], R0\nmeet:\nBSYNC B0\n@!P0 LDS R2, [R1+-64]\nEXIT"
    assert found(THREAD + VOLTA + met, block=32) == []
    assert found(THREAD + "STS [R1], R0\nLOP.XOR R2, R1, 4\nLDS R3, [R2]\nSTS [R1], R3\nEXIT", block=32) == []


def test_shared_memory_that_nothing_wrote() -> None:
    [one] = found(THREAD + "LDS R2, [R1+256]\nEXIT")
    assert (one.check, one.lines, one.warps, one.where, one.count) == ("init", (4,), (0,), "shared memory + 0x100", 512)


def test_registers_and_predicates_that_nothing_wrote() -> None:
    [one] = found("FADD R1, R0, 1\nEXIT")
    assert str(one).startswith("k.sass:1: init: R0 is read before anything wrote it")
    assert [one.where for one in found("MOV R1, 1\n@P3 MOV R1, 2\nEXIT")] == ["P3"]
    some = "S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 40, PT\n@P0 MOV R1, 1\nMOV R2, R1\n{} IADD R3, R2, 1\nEXIT"
    assert found(some.format("@P0")) == []
    assert [(one.lines, one.where, one.warps, one.lanes) for one in found(some.format(""))] == [((5,), "R2", (1,), (8,))]
    assert found("FADD R1, R0, 1\nEXIT", preset={0: 1.0}) == []


def test_an_array_that_the_launch_says_is_not_initialised() -> None:
    text = ".param ptr x\n.param ptr out\nS2R R0, SR_TID.X\nSHL R0, R0, 2\nIADD R1, R0, c[0x0][out]\n{}\nLDG R2, [R1]\nEXIT"
    x, out = np.zeros(64, np.float32), np.zeros(64, np.float32)
    assert found(text.format("NOP"), x, out) == []
    assert found(text.format("STG [R1], R0"), x, out, uninitialised=("out",)) == []
    [one] = found(text.format("NOP"), x, out, uninitialised=("out",))
    assert (one.check, one.where.split(" (")[0], one.warps, one.count) == ("init", "array out + 0x0", (0,), 512)
    with pytest.raises(UserError, match="the launch has no array y"):
        found(text.format("NOP"), x, out, uninitialised=("y",))


def test_init_none_in_a_launch_file(tmp_path: Path) -> None:
    (tmp_path / "k.sass").write_text(".param ptr out\nMOV R0, c[0x0][out]\nLDG R1, [R0]\nEXIT\n")
    (tmp_path / "k.toml").write_text('grid = 1\nblock = 1\n[[args]]\nname = "out"\nshape = 4\ninit = "none"\n')
    launch = load_launch(tmp_path / "k.sass").launch
    assert launch.uninitialised == ("out",)
    assert [one.where for one in sim.execute(launch, check=["init"]).hazards] == ["array out + 0x0 (address 0x10000000)"]


def test_nothing_is_looked_for_unasked_and_a_check_has_a_name() -> None:
    assert found("FADD R1, R0, 1\nEXIT", check=()) == []
    assert found("FADD R1, R0, 1\nEXIT", check=("race",)) == []
    with pytest.raises(UserError, match="no check is called 'memory'"):
        found("EXIT", check=("memory",))


def test_what_was_found_before_a_mistake_is_told_with_it() -> None:
    text = ".shared 4\nS2R R0, SR_TID.X\nNOP\nSTS [0], R0\nLDS R2, [R0+4096]\nEXIT"
    with pytest.raises(UserError, match=r"outside shared memory(.|\n)*found before:\n.*k.sass:4: race") as caught:
        found(text)
    assert caught.value.line == 5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "which"), [("cuda/sgemm", 0), ("cuda/sgemm", 1), ("cuda/reduce", 0), ("cuda/transpose", 0)])
@pytest.mark.parametrize("architecture", ["sm_52", "sm_75", "sm_80", "sm_90"])
def test_the_missing_barrier_of_a_tiled_kernel(name: str, which: int, architecture: str) -> None:
    listing = f"{name}.{architecture}.sass"
    whole = load_launch(FOLDER / listing).launch
    assert sim.execute(whole, check=BOTH).hazards == ()
    launch = load_launch(FOLDER / listing, without_barrier(listing, which)).launch
    races = sim.execute(launch, check=("race",)).hazards
    assert races
    assert all(len(set(one.warps)) == 2 and "__syncthreads" in one.remedy for one in races)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_no_program_gives_a_false_alarm(program: str) -> None:
    hazards = sim.execute(load_launch(FOLDER / f"{program}.sass").launch, check=BOTH).hazards
    assert {one.check for one in hazards} == KNOWN.get(program, set()), "\n".join(map(str, hazards))
