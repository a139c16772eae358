"""Caches of instructions, lines of eight."""

import isa
import sim
from sim import timing

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
    # A whole port, of a cache that has to ask L2, takes lines 0, 1 and 2 in cycles -30, 70 and 170.
    assert [run(STRAIGHT, fetch__port_cycles=100, **changes).issues(i)[0] for i in (7, 8, 16)] == [7, 100, 200]
    # The port to L2, which is asked for one line at a time: the second has its turn 500 cycles after the first.
    far = {"constants__far": 70, "fetch__prefetched": 128, "fetch__far_port_cycles": 500}
    assert [run(STRAIGHT, **changes, **far).issues(i)[0] for i in (7, 8, 16)] == [7, 100, 470 + 70 + 30]


def test_code_comes_unasked_as_a_kernel_starts(run) -> None:
    changes = {"fetch__jump": 30, "fetch__ahead": 1, "fetch__prefetched": 512, "fetch__prefetch_cycles": 50}
    # Line n is in the cache of the GPC in cycle 50 n - 30, so that line 0 is there in time; each takes 30 cycles more.
    assert [run(STRAIGHT, **changes).issues(i)[0] for i in (7, 8, 16)] == [7, 50, 100]


def test_the_sms_of_a_pair_share_a_cache_and_those_of_a_gpc_its_port(run) -> None:
    changes = {"sms": 3, "fetch__jump": 30, "fetch__port_cycles": 100, "fetch__prefetched": 128}
    # SMs 0 and 2 are a pair, SM 1 by itself: lines 0 have their turns in cycles -30 and 70 (nobody waits for them); lines 1 are asked
    # for in cycle 7, in 170 and 270, lines 2 when each has its line 1 and eight instructions of it, in cycles 207 and 307.
    done = run(STRAIGHT, blocks=3, **changes)
    assert [[done.issues(i, block=block)[0] for i in (7, 8, 16)] for block in range(3)] == [
        [7, 200, 400],
        [7, 300, 500],
        [7, 200, 400],
    ]


def test_any_number_of_threads_finds_the_same_where_sms_share_a_cache() -> None:
    program = isa.parse(STRAIGHT.replace("EXIT", "\n".join(f"FFMA R{4 + i % 40}, R1, R2, R3" for i in range(3000)) + "\nEXIT"))
    trace = sim.execute(sim.Launch(program, (132,), (64,)))
    one, two = (timing.simulate(trace, sim.gpu("h200"), threads=threads) for threads in (1, 2))
    assert (one.cycles, one.stalls) == (two.cycles, two.stalls)
