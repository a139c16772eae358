"""Barriers in shared memory (SYNCS, PTX `mbarrier`): what they count, who waits, and how long."""

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.measurements.copies import H100
from programs.published import rows
from sim.launch.launch import Launch
from sim.reference import simulate as simulate_simpy
from tests.unit.mbarrier_programs import PING_PONG, init, launch, wait


def test_warps_that_wait_for_each_other_take_turns() -> None:
    given, out = launch(PING_PONG)
    sim.execute(given)
    assert out[0] == 9
    assert out[32] == 10


def test_engines_agree_and_a_wait_is_a_long_scoreboard() -> None:
    trace = sim.execute(launch(PING_PONG)[0])
    gpu = sim.gpu("h100").replace({"sms": 1})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert mine.cycles == theirs.cycles
    assert mine.counters == theirs.counters
    assert mine.stalls == theirs.stalls
    assert max(mine.stalls, key=mine.stalls.__getitem__) == "long_scoreboard"
    slower = sim.simulate(trace, gpu.replace({"shared.barrier_latency": 114}))
    assert slower.cycles - mine.cycles == 9 * 100  # of ten rounds, nine wait for another


def test_phases_of_a_barrier_follow_each_other_in_both_engines() -> None:
    """Two warps take turns: each round ends a phase of one barrier, and the answer to a look at it takes `shared.barrier_latency`."""
    trace, gpu = sim.execute(launch(PING_PONG)[0]), sim.gpu("h100").replace({"sms": 1})
    mine, theirs = sim.simulate(trace, gpu), simulate_simpy(trace, gpu)
    assert mine.phases is not None
    assert theirs.phases is not None
    assert np.array_equal(np.transpose(mine.phases), np.transpose(theirs.phases))
    block, barrier, begun, over = mine.phases
    assert set(block.tolist()) == {0}
    addresses = np.unique(barrier)
    assert len(addresses) == 2
    for address in addresses:
        one = barrier == address
        assert (begun[one] <= over[one]).all()
        assert (np.diff(begun[one]) > 0).all()
        assert (begun[one][1:] >= over[one][:-1]).all()
    turns = np.sort(over)
    slower = sim.simulate(trace, gpu.replace({"shared.barrier_latency": 114})).phases
    assert slower is not None
    assert (np.diff(np.sort(slower.over)) - np.diff(turns))[1:].tolist() == [100] * (len(turns) - 2)
    assert sim.simulate(sim.execute(launch(PING_PONG)[0]), gpu.replace({"sms": 2})).phases is not None


def test_bytes_end_a_phase_too_before_they_are_expected_or_after() -> None:
    body = init(0, 2) + (
        "MOV R6, 0x10\nMOV R7, 0xa\nMOV R9, 6\nMOV R3, RZ\n"
        "@!P0 SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [RZ], R7\n"  # ten bytes have come
        "@!P0 SYNCS.ARRIVE.TRANS64 RZ, [RZ], R6\n"  # one arrival, 16 are expected
        "@!P0 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [RZ], RZ\n"  # the other
        "@!P0 SYNCS.PHASECHK.TRANS64 P1, [RZ], R3\n@!P0 SYNCS.ARRIVE.TRANS64.RED.A0TX RZ, [RZ], R9\n"
        "@!P0 SYNCS.PHASECHK.TRANS64 P2, [RZ], R3\n"
        "MOV R4, RZ\n@P1 MOV R4, 1\n@P2 IADD R4, R4, 2\n@!P0 STG [R20], R4\n"
    )
    given, out = launch(body, 32)
    sim.execute(given)
    assert out[0] == 2


def test_who_leaves_is_not_waited_for_again() -> None:
    body = init(0, 2) + (
        "MOV R3, RZ\nMOV R7, 0x80000000\n@!P0 SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 RZ, [RZ], RZ\n@!P0 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [RZ], RZ\n"
        "@!P0 SYNCS.PHASECHK.TRANS64 P1, [RZ], R3\n@!P0 SYNCS.ARRIVE.TRANS64.A1T0 R12, [RZ], RZ\n@!P0 SYNCS.PHASECHK.TRANS64 P2, [RZ], R7\n"
        "MOV R4, RZ\n@P1 MOV R4, 1\n@P2 IADD R4, R4, 2\n@!P0 STG [R20], R4\n@!P0 STG [R20+4], R13\n"
    )
    given, out = launch(body, 32)
    sim.execute(given)
    assert out[0] == 3
    assert out[1] >> 31 == 1  # what an arrival returns has the parity of the phase that it arrived in


def test_a_look_in_vain_goes_on_when_nobody_else_can() -> None:
    body = init(0, 1) + "MOV R3, RZ\n@!P0 SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [RZ], R3\nMOV R4, 7\n@P1 MOV R4, 1\n@!P0 STG [R20], R4\n"
    given, out = launch(body, 32)
    trace = sim.execute(given)
    assert out[0] == 7
    sim.simulate(trace, sim.gpu("h100"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            init(0, 2) + "BAR.SYNC 0\nMOV R3, RZ\n@!P0 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [RZ], RZ\n" + wait("end", "RZ", "R3"),
            "waits at the mbarrier at 0x0 of shared memory",
        ),
        (init(0, 2) + "BAR.SYNC 0\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [RZ], RZ\nSYNCS.ARRIVE.TRANS64.ART0 RZ, [RZ], R0\n", "more arrivals than"),
        ("SHL R3, R0, 3\nSYNCS.ARRIVE.TRANS64.A1T0 RZ, [R3], RZ\n", "different barriers"),
        ("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [RZ+0x1000], RZ\n", "outside"),
    ],
)
def test_mistakes_are_named(body: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        sim.execute(launch(body, 8 if "R3]" in body else 32)[0])


def test_who_waits_for_ever_is_told_where_and_what_to_compare() -> None:
    given, _ = launch(init(0, 2) + "BAR.SYNC 0\nMOV R3, RZ\n@!P0 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [RZ], RZ\n" + wait("end", "RZ", "R3"))
    with pytest.raises(UserError, match="no progress") as error:
        sim.execute(given)
    asking = next(each for each in given.program.instructions if "PHASECHK" in each.text)
    assert error.value.line == asking.line
    assert "mbarrier.init" in (error.value.hint or "")


def test_a_gpu_without_a_memory_hierarchy_refuses() -> None:
    trace = sim.execute(launch(PING_PONG)[0])
    for simulate in (sim.simulate, simulate_simpy):
        with pytest.raises(UserError, match="need a GPU with a memory hierarchy"):
            simulate(trace, sim.gpu("textbook"))


@pytest.mark.parametrize(
    "row", [row for row in rows(H100 / "mbarriers.csv") if row["what"] == "ring"], ids=lambda row: f"{row['size']}-{row['count']}"
)
def test_a_ring_of_warps_takes_as_long_as_an_h100s(row: dict[str, str]) -> None:
    program = isa.load(H100 / "mbarriers.sm_90.cubin", "_Z4ringPii")
    given = Launch(program, (1,), (32 * int(row["size"]),), (np.zeros(8, np.int32), np.int32(int(row["count"]))))
    reads = sim.run(given, sim.gpu("h100")).clock_reads
    clocks = reads[reads[:, 2] == 0, 0]
    assert clocks[1] - clocks[0] == pytest.approx(int(row["value_1"]), rel=0.06)


@pytest.mark.parametrize("offset", [0, 0x100, 0xC000])
def test_giving_a_barrier_up_takes_no_longer_the_higher_it_lies(offset: int) -> None:
    program = isa.parse(f".kernel one\n.shared 65536\nSYNCS.CCTL.IV [UR4+{offset:#x}];\nEXIT;\n")
    result = sim.run(Launch(program, (1,), (32,), ()), sim.gpu("h100"))
    assert "sleeping" not in {name for name, cycles in result.stalls.items() if cycles}
    assert result.cycles < 500
