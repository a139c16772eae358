"""When an instruction may issue, and what it waits for until then: each expectation worked by hand from the toy GPU's numbers."""

CHAIN = "FFMA R0, R0, R1, R2\nFFMA R0, R0, R1, R2\nFFMA R0, R0, R1, R2\nEXIT"
THREE = "FFMA R0, R0, R8, R9\nFFMA R1, R1, R8, R9\nFFMA R2, R2, R8, R9\nFFMA R0, R0, R8, R9\nEXIT"


def test_a_dependent_instruction_issues_after_the_latency(run) -> None:
    done = run(CHAIN)
    assert done.first() == [0, 6, 12, 13]
    assert done.stalls(1) == {"selected": 1, "wait": 5}


def test_an_independent_instruction_issues_in_the_next_cycle(run) -> None:
    assert run("FADD R0, R1, R2\nFADD R3, R4, R5\nEXIT").first() == [0, 1, 2]


def test_writing_a_register_waits_for_the_earlier_write(run) -> None:
    done = run("LDG R0, [R4]\nMOV R0, R1\nEXIT")
    assert done.first()[1] == 100
    assert done.stalls(1) == {"selected": 1, "long_scoreboard": 99}


def test_overwriting_a_source_does_not_wait(run) -> None:
    assert run("FADD R0, R1, R2\nFADD R1, R3, R4\nEXIT").first() == [0, 1, 2]


def test_the_cause_is_the_unit_that_makes_the_result(run) -> None:
    assert run("LDS R0, [R4]\nFADD R1, R0, R0\nEXIT").stalls(1)["short_scoreboard"] == 19
    assert run("MUFU.RCP R0, R4\nFADD R1, R0, R0\nEXIT").stalls(1)["short_scoreboard"] == 11
    assert run("LDG R0, [R4]\nFADD R1, R0, R0\nEXIT").stalls(1)["long_scoreboard"] == 99


def test_predicates_and_carries_are_dependences(run) -> None:
    assert run("ISETP.LT P0, R0, R1\n@P0 MOV R2, R3\nEXIT").first()[1] == 4
    assert run("IADD R0.CC, R1, R2\nIADD.X R3, R4, R5\nEXIT").first()[1] == 4


def test_a_wide_load_writes_every_register_of_its_group(run) -> None:
    assert run("LDG.128 R4, [R0]\nFADD R1, R7, R7\nEXIT").first()[1] == 100


def test_the_wake_rules_differ_once_results_overlap(run) -> None:
    per_register = run(THREE)
    all_outstanding = run(THREE, core__wake_rule="all_outstanding")
    assert per_register.first()[3] == 6  # the first result alone
    assert all_outstanding.first()[3] == 8  # the third was issued in cycle 2


def test_waiting_for_everything_is_charged_to_the_result_that_comes_last(run) -> None:
    done = run("MUFU.RCP R0, R8\nFADD R1, R2, R3\nFADD R4, R1, R1\nEXIT", core__wake_rule="all_outstanding")
    assert done.first()[2] == 12
    assert done.stalls(2) == {"selected": 1, "short_scoreboard": 10}


def test_a_load_is_not_among_what_all_outstanding_waits_for(run) -> None:
    assert run("LDG R0, [R8]\nFADD R1, R2, R3\nFADD R4, R1, R1\nEXIT", core__wake_rule="all_outstanding").first()[2] == 7


def test_the_cap_counts_instructions_in_flight(run) -> None:
    done = run(THREE, core__in_flight_cap=2)
    assert done.first()[:3] == [0, 1, 6]
    assert done.stalls(2) == {"selected": 1, "dispatch_stall": 4}


def test_the_reissue_distance_spaces_one_warp_but_not_two(run) -> None:
    listing = "FADD R0, R1, R2\nFADD R3, R4, R5\nEXIT"
    assert run(listing, core__reissue_distance=4).first() == [0, 4, 8]
    pair = run(listing, warps=2, core__reissue_distance=4)
    assert (pair.first(0), pair.first(1)) == ([0, 4, 8], [1, 5, 9])


def test_a_branch_resolves_before_the_next_issue(run) -> None:
    done = run("BRA next\nnext: MOV R0, R1\nEXIT", core__branch_latency=7)
    assert done.first()[1] == 7
    assert done.stalls(1) == {"selected": 1, "branch_resolving": 6}


def test_a_warp_drains_what_it_leaves_behind(run) -> None:
    done = run("LDG R0, [R4]\nEXIT")
    assert done.result.cycles == 100
    assert done.stalls(1) == {"selected": 1, "drain": 98}
