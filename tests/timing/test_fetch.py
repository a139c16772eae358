"""Caches of instructions, lines of eight."""

import numpy as np
import pytest

import isa
import sim
from sim import reference, timing
from sim.lowering.fetch import code_sharing
from sim.lowering.slices import gpcs_of, tpcs_of

STRAIGHT = "\n".join([f"FADD R{10 + i}, R1, R2" for i in range(23)] + ["EXIT"])


def test_lines_that_follow_are_asked_for_with_the_first(run) -> None:
    done = run(STRAIGHT, fetch__jump=30, fetch__ahead=3)
    # The first line is there in cycle 0; then the two others are asked for, which come 30 cycles later.
    assert [done.issues(i)[0] for i in (7, 8, 15, 16)] == [7, 30, 37, 38]
    assert done.stalls(8) == {"selected": 1, "no_instruction": 22}


def test_each_line_brings_the_next(run) -> None:
    # Line 2 is asked for when line 1 is there, in cycle 30; without asking ahead each when the one before is over.
    assert [run(STRAIGHT, fetch__jump=30, fetch__ahead=1).issues(i)[0] for i in (7, 8, 16)] == [7, 30, 60]
    assert [run(STRAIGHT, fetch__jump=30).issues(i)[0] for i in (7, 8, 16)] == [7, 37, 74]


def test_code_that_nobody_waits_for_is_there(run) -> None:
    done = run(STRAIGHT, fetch__first=100, fetch__jump=30, fetch__ahead=3)
    assert [done.issues(i)[0] for i in (7, 8, 15, 16)] == [107, 108, 115, 116]


def test_lines_that_the_gpcs_cache_lacks_come_from_l2(run) -> None:
    changes = {"fetch__jump": 30, "fetch__ahead": 1, "fetch__far_ahead": 2, "constants__far": 70}
    # L2 is asked for lines 1 and 2 in cycle 0 and sends them in 70; line 1 is there 30 later, then line 2 is asked for.
    assert [run(STRAIGHT, fetch__prefetched=128, **changes).issues(i)[0] for i in (7, 8, 16)] == [7, 100, 130]
    assert [run(STRAIGHT, fetch__prefetched=512, **changes).issues(i)[0] for i in (7, 8, 16)] == [7, 30, 60]


def test_a_part_of_a_port_takes_as_many_lines_at_once_as_are_asked_for_with_one_then_one_in_its_time(run) -> None:
    changes = {"fetch__jump": 30, "fetch__ahead": 1}
    # Lines 0 and 1 have their turn at once, 30 cycles before the first is there, line 2 in cycle 70.
    part = {"fetch__port_cycles": 100, "fetch__prefetched": 512}
    assert [run(STRAIGHT, **part, **changes).issues(i)[0] for i in (7, 8, 16)] == [7, 30, 100]
    # A whole port, of a cache that has to ask L2, takes what comes from there and what goes to the TPC: line 0 in cycle -30, line 1 in
    # 70 and 170, line 2 in 270 and 370.
    assert [run(STRAIGHT, fetch__port_cycles=100, fetch__prefetched=128, **changes).issues(i)[0] for i in (7, 8, 16)] == [7, 200, 400]


def test_code_comes_unasked_as_a_kernel_starts(run) -> None:
    changes = {"fetch__jump": 30, "fetch__ahead": 1, "fetch__prefetched": 512, "fetch__prefetch_cycles": 50}
    # Line n is in the cache of the GPC in cycle 50 n - 30, so that line 0 is there in time; each takes 30 cycles more.
    assert [run(STRAIGHT, **changes).issues(i)[0] for i in (7, 8, 16)] == [7, 50, 100]


def test_the_sms_of_a_tpc_share_a_cache_and_those_of_a_gpc_its_port(run) -> None:
    changes = {"sms": 3, "fetch__jump": 30, "fetch__port_cycles": 100, "fetch__prefetched": 128}
    # SMs 0 and 1 are a TPC, 2 is by itself: lines 0 have their turns in cycles -30 and 70 (nobody waits for them). Line 1, asked for in
    # cycle 7, comes from L2 in the turn of 170, goes to the TPC in 270, to SM 2 in 370; line 2, asked for in 307, comes in 470, goes
    # in 570 and 670.
    done = run(STRAIGHT, blocks=3, **changes)
    assert [[done.issues(i, block=block)[0] for i in (7, 8, 16)] for block in range(3)] == [
        [7, 300, 600],
        [7, 300, 600],
        [7, 400, 700],
    ]


@pytest.mark.parametrize(
    ("blocks", "tpcs"), [(3, [3]), (8, [4]), (33, [3, 3, 3, 3, 3, 3, 3, 8]), (80, [8] * 5 + [9, 9, 8]), (264, [8] * 5 + [9, 9, 8])]
)
def test_both_sms_of_a_tpc_get_blocks_only_where_there_are_more_than_tpcs(blocks: int, tpcs: list[int]) -> None:
    gpu, launch = sim.gpu("h200"), sim.Launch(isa.parse(STRAIGHT), (blocks,), (32,))
    having, of = gpcs_of(gpu, launch)[:blocks], tpcs_of(gpu, launch)[:blocks]
    assert [len(set(of[having == gpc])) for gpc in np.unique(having)] == tpcs
    assert np.bincount(gpcs_of(gpu, launch)).tolist() == list(gpu.l2.gpcs)


@pytest.mark.parametrize("sms", [20, 132])
def test_any_number_of_threads_finds_the_same_where_sms_share_a_cache(sms: int) -> None:
    turns = "S2R R0, SR_CTAID.X\nLOP3.LUT R0, R0, 3, RZ, 0xc0, !PT\nagain:\nIADD R0, R0, -1\nISETP.GE.AND P0, PT, R0, 0, PT\n"
    straight = "\n".join(f"FFMA R{4 + i % 40}, R1, R2, R3" for i in range(2600))
    program = isa.parse(f".kernel turns\n{turns}{straight}\n@P0 BRA again\nEXIT\n")
    trace = sim.execute(sim.Launch(program, (sms,), (64,)))
    one, *others = (timing.simulate(trace, sim.gpu("h200"), threads=threads) for threads in (1, 2, 3, 16))
    for other in others:
        assert (one.cycles, one.stalls) == (other.cycles, other.stalls)
        assert (one.stalls_by_instruction == other.stalls_by_instruction).all()


def test_what_one_sm_asks_for_is_seen_by_another_whose_cache_has_it_all() -> None:
    """Two TPCs go through code that fits into theirs and not into the GPC's, the second one later."""
    late = "S2R R0, SR_CTAID.X\nSHL R0, R0, 5\nwait:\nIADD R0, R0, -1\nISETP.GE.AND P0, PT, R0, 0, PT\n@P0 BRA wait\n"
    straight = "\n".join(f"FFMA R{4 + i % 40}, R1, R2, R3" for i in range(180))
    rounds = f"MOV R0, 12\nagain:\n{straight}\nIADD R0, R0, -1\nISETP.GE.AND P0, PT, R0, 0, PT\n@P0 BRA again\nEXIT\n"
    launch = sim.Launch(isa.parse(f".kernel late\n{late}{rounds}"), (4,), (32,))
    gpu = sim.gpu("h200").replace({"sms": 4, "l2.gpcs": (4,), "clusters.groups": (4,), "fetch.near_bytes": 4096, "fetch.bytes": 1024})
    trace = sim.execute(launch)
    one, other = timing.simulate(trace, gpu), reference.simulate(trace, gpu)
    assert (one.cycles, one.stalls) == (other.cycles, other.stalls)


@pytest.mark.parametrize("sms", [1, 3, 9, 40, 200])
@pytest.mark.parametrize("blocks", [1, 9, 500])
def test_groups_have_each_sm_with_a_block_once_on_imagined_chips(sms: int, blocks: int) -> None:
    gpu, launch = (
        sim.gpu("h200").replace({"sms": sms}),
        sim.Launch(isa.parse(STRAIGHT.replace("EXIT", "NOP\n" * 6000 + "EXIT")), (blocks,), (32,)),
    )
    sharing, gpcs = code_sharing(gpu, launch), gpcs_of(gpu, launch)
    found = []
    for first in sharing.units:
        member = int(first)
        while member >= 0:
            found.append(member)
            member = int(sharing.following[member])
    assert sorted(found) == list(range(min(sms, blocks)))
    assert (gpcs[sharing.tpc] == gpcs).all()
