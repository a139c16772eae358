"""Caches of instructions, lines of eight."""

STRAIGHT = "\n".join([f"FADD R{10 + i}, R1, R2" for i in range(23)] + ["EXIT"])


def test_straight_code_comes_a_line_per_interval(run) -> None:
    done = run(STRAIGHT, fetch__jump=30, fetch__ahead=3)
    # The first line is asked for in cycle 0, the others each 10 cycles later, and come 30 after that.
    assert [done.issues(i)[0] for i in (7, 8, 15, 16)] == [7, 40, 47, 50]
    assert done.stalls(8) == {"selected": 1, "no_instruction": 32}


def test_code_that_nobody_waits_for_is_there(run) -> None:
    done = run(STRAIGHT, fetch__first=100, fetch__jump=30)
    assert [done.issues(i)[0] for i in (7, 8, 15, 16)] == [107, 108, 115, 116]


def test_lines_beyond_the_sms_cache_come_from_l2(run) -> None:
    changes = {"fetch__jump": 30, "fetch__ahead": 3, "fetch__far_ahead": 2, "constants__far": 70}
    done = run(STRAIGHT, fetch__prefetched=128, **changes)
    # The SM asks L2 for line 1 in cycle 0, (30 + 70) / 2 later for line 2; each takes 70 + 30.
    assert [done.issues(i)[0] for i in (7, 8, 16)] == [7, 100, 150]
    assert [run(STRAIGHT, fetch__prefetched=512, **changes).issues(i)[0] for i in (7, 8, 16)] == [7, 40, 50]
