"""Ports, schedulers, dual issue: who may issue in a cycle, and what the others are told."""

import numpy as np

from sim.result.causes import CAUSE_NAMES

PAIR = "FADD R0, R1, R2\nFADD R3, R4, R5\nEXIT"


def test_a_narrow_pipe_holds_its_port(run) -> None:
    done = run("LDG R0, [R4]\nLDG R1, [R5]\nEXIT")
    assert done.first()[:2] == [0, 2]  # 16 lanes take a warp in two cycles
    assert done.stalls(1) == {"selected": 1, "lg_throttle": 1}


def test_a_held_port_does_not_hold_another_pipe(run) -> None:
    assert run("LDG R0, [R4]\nFADD R1, R2, R3\nEXIT").first()[:2] == [0, 1]


def test_a_load_may_hold_the_whole_scheduler(run) -> None:
    done = run("LDG R0, [R4]\nFADD R1, R2, R3\nEXIT", core__dispatch="scheduler", pipes__ldst__lanes=8)
    assert done.first()[:2] == [0, 4]
    assert done.stalls(1) == {"selected": 1, "dispatch_stall": 3}


def test_schedulers_share_a_pipe_of_the_sm(run) -> None:
    done = run("MUFU.RCP R0, R1\nEXIT", warps=2, core__schedulers=2, pipes__fp32__owner="sm", pipes__fp32__lanes=8)
    assert done.first(0)[0] == 0
    assert done.first(1)[0] == 4
    assert done.stalls(0) == {"selected": 2, "math_pipe_throttle": 4}


def test_several_ports_serve_several_instructions(run) -> None:
    two = {"warps": 3, "core__schedulers": 3, "pipes__fp32__owner": "sm", "pipes__fp32__lanes": 8, "pipes__fp32__count": 2}
    done = run("FADD R0, R1, R2\nEXIT", **two)
    assert [done.first(warp)[0] for warp in range(3)] == [0, 0, 4]


def test_the_loser_of_a_choice_is_not_selected(run) -> None:
    done = run("FADD R0, R1, R2\nEXIT", warps=2)
    assert [done.first(warp)[0] for warp in range(2)] == [0, 2]  # greedy: warp 0 issues its EXIT first
    assert done.stalls(0)["not_selected"] == 2


def test_warps_are_dealt_to_schedulers_by_slot(run) -> None:
    done = run(PAIR, warps=4, core__schedulers=2)
    timeline = done.result.timeline
    assert {(int(w), int(q)) for w, q in zip(timeline.warp, timeline.scheduler, strict=True)} == {(0, 0), (1, 1), (2, 0), (3, 1)}


def test_dual_issue_takes_an_independent_pair(run) -> None:
    done = run(PAIR, core__issue_width=2, pipes__fp32__count=2)
    assert done.first() == [0, 0, 1]


def test_dual_issue_refuses_a_dependent_pair_and_a_busy_pipe(run) -> None:
    assert run("FADD R0, R1, R2\nFADD R3, R0, R5\nEXIT", core__issue_width=2, pipes__fp32__count=2).first() == [0, 6, 6]
    assert run(PAIR, core__issue_width=2).first() == [0, 1, 1]


def test_the_second_of_a_pair_waited_for_nothing(run) -> None:
    done = run(PAIR, core__issue_width=2, pipes__fp32__count=2)
    rows = done.result.timeline
    assert [CAUSE_NAMES[rows.cause[k]] for k in np.flatnonzero(rows.instruction == 1)] == ["wait"]


def test_an_instruction_whose_constant_is_missing_is_no_second(run) -> None:
    listing = "FADD R0, R1, R2\nFADD R3, R4, c[0x3][0x0]\nEXIT"
    done = run(listing, core__issue_width=2, pipes__fp32__count=2, constants__near=30)
    assert done.first()[:2] == [0, 30]
    assert done.result.issue_slots["imc_miss"] == 1 + 2 * 29  # the second of cycle 0, both of the others until it comes


def test_an_instruction_whose_code_is_missing_is_no_second(run) -> None:
    listing = "\n".join(["FADD R0, R0, R2"] * 8 + ["FADD R3, R4, R5", "EXIT"])  # the ninth begins a line of code
    width = {"core__issue_width": 2, "pipes__fp32__count": 2}
    assert run(listing, **width).first()[7:9] == [42, 42]
    done = run(listing, **width, fetch__jump=100, fetch__ahead=1)
    assert done.first()[7:9] == [42, 100]
    assert done.result.issue_slots["no_instruction"] == 1 + 2 * 57  # the second of cycle 42, both of the others until it comes


def test_a_slow_scheduler_issues_every_interval(run) -> None:
    done = run(PAIR, core__issue_interval=2)
    assert done.first() == [0, 2, 4]
    assert done.stalls(1) == {"selected": 1, "not_selected": 1}


def test_idle_slots_are_charged_to_the_wait_of_the_next_to_issue(run) -> None:
    done = run("FFMA R0, R0, R1, R2\nFFMA R0, R0, R1, R2\nEXIT")
    assert done.result.issue_slots == {"selected": 3, "wait": 5, "tail": 4}
    assert done.result.cycles == 12


def test_a_new_warp_in_the_slot_is_not_the_one_that_issued_last(run) -> None:
    """Greed is for a warp, not for its slot: the older block goes first when a new one has taken the place of the last to issue."""
    listing = "FADD R0, R1, R2\nFADD R3, R0, R0\nEXIT"
    done = run(listing, blocks=3, core__policy="gto", limits__blocks=2, units__fp32__latency=8, core__issue_interval=4)
    assert done.first(block=1)[1] < done.first(block=2)[0]


FOUR = "FADD R0, R1, R2\nFADD R3, R4, R5\nFADD R6, R7, R8\nFADD R9, R10, R11\nEXIT"


def test_wider_schedulers_take_as_many_as_their_width_and_the_ports_let(run) -> None:
    wide = {"pipes__fp32__count": 4}
    assert run(FOUR, core__issue_width=3, **wide).first() == [0, 0, 0, 1, 1]
    done = run(FOUR, core__issue_width=4, **wide)
    assert done.first() == [0, 0, 0, 0, 1]
    assert done.result.issue_slots["selected"] == 5
    assert run(FOUR, core__issue_width=4, pipes__fp32__count=2).first() == [0, 0, 1, 1, 1]


def test_slots_that_stay_empty_are_charged_to_what_stopped_the_first_of_them(run) -> None:
    done = run("FADD R0, R1, R2\nFADD R3, R4, R5\nFADD R6, R0, R8\nEXIT", core__issue_width=4, pipes__fp32__count=4)
    assert done.first() == [0, 0, 6, 6]
    assert done.result.issue_slots["wait"] == 2 + 4 * 5 + 2  # of cycle 0; until the result is there; beside the last two


def test_a_result_of_no_latency_is_there_in_the_same_cycle(run) -> None:
    chain = "FADD R0, R0, R2\nFADD R0, R0, R2\nFADD R0, R0, R2\nEXIT"
    assert run(chain, core__issue_width=3, pipes__fp32__count=4, units__fp32__latency=0).first() == [0, 0, 0, 1]
    assert run(chain, units__fp32__latency=0).first() == run(chain, units__fp32__latency=1).first() == [0, 1, 2, 3]


def test_a_branch_of_no_latency_does_not_end_the_cycle(run) -> None:
    listing = "BRA next\nnext:\nFADD R0, R1, R2\nEXIT"
    assert run(listing, core__issue_width=2, core__branch_latency=0).first() == [0, 0, 1]
    assert run(listing, core__issue_width=2, core__branch_latency=1).first() == [0, 1, 1]
