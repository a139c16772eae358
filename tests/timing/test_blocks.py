"""Residency, the block scheduler, barriers."""

ONE = "FADD R0, R1, R2\nEXIT"


def test_blocks_beyond_the_residency_wait_for_a_place(run) -> None:
    done = run(ONE, blocks=3, limits__blocks=1)
    assert [done.first(block=block)[0] for block in range(3)] == [0, 6, 12]  # a block drains 6 cycles after its start


def test_a_place_is_free_after_the_retire_latency(run) -> None:
    done = run(ONE, blocks=2, limits__blocks=1, blocks__retire_latency=10, blocks__start_latency=5)
    assert [done.first(block=block)[0] for block in range(2)] == [5, 26]
    assert done.stalls(0) == {"selected": 2, "no_instruction": 10}


def test_blocks_start_at_most_one_per_interval_on_the_whole_chip(run) -> None:
    done = run(ONE, blocks=4, sms=2, blocks__start_interval=3)
    assert [done.first(block=block)[0] for block in range(4)] == [0, 3, 6, 9]


def test_the_first_wave_spreads_over_the_sms(run) -> None:
    timeline = run(ONE, blocks=4, sms=4).result.timeline
    assert {(int(b), int(m)) for b, m in zip(timeline.block, timeline.sm, strict=True)} == {(0, 0), (1, 1), (2, 2), (3, 3)}


def test_a_barrier_waits_for_the_last_warp(run) -> None:
    done = run(
        "MUFU.RCP R0, R1\nFADD R2, R0, R0\nBAR.SYNC 0x0\nFADD R3, R4, R5\nEXIT", warps=2, core__barrier_latency=4, pipes__fp32__lanes=16
    )
    last = max(done.issues(2, 0) + done.issues(2, 1))
    first = min(done.issues(2, 0) + done.issues(2, 1))
    assert sorted(done.issues(3, 0) + done.issues(3, 1)) == [last + 4, last + 6]
    assert done.stalls(3)["barrier"] == 2 * (last + 4) - (last + 1) - (first + 1)


def test_an_sm_without_blocks_counts_for_nothing(run) -> None:
    counters = run(ONE, sms=7).result.counters
    assert counters["sms_used"] == 1
    assert counters["sm_active_cycles"] == 6


def test_achieved_occupancy_is_resident_warps_over_the_limit(run) -> None:
    counters = run(ONE, warps=4, limits__warps=8, limits__blocks=1, limits__threads_per_block=256).result.counters
    assert counters["achieved_occupancy"] == counters["warp_cycles"] / (counters["sm_active_cycles"] * 8)


def test_an_sm_starts_a_block_per_interval_and_warps(run) -> None:
    done = run(ONE, blocks=3, warps=2, blocks__sm_interval=7)
    assert [done.first(block=block)[0] for block in range(3)] == [2, 11, 20]  # from when its two warps are there


def test_the_dispatcher_takes_finished_blocks_one_after_another(run) -> None:
    done = run(ONE, blocks=4, sms=2, limits__blocks=1, blocks__retire_interval=4)
    assert [done.first(block=block)[0] for block in range(4)] == [0, 0, 10, 14]  # both end after 6 cycles


def test_a_launch_ends_when_the_dispatcher_has_done_with_its_last_block(run) -> None:
    done = run(ONE, blocks=2, sms=2, blocks__retire_latency=10, blocks__retire_interval=2.5, blocks__launch_overhead=100)
    assert (done.result.cycles, done.result.elapsed_cycles) == (6, 121)  # it is told of both in cycle 16
