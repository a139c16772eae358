"""The memory hierarchy: each expectation is worked by hand from a toy machine's numbers, or is a preset's own."""

import math

import pytest

from sim.gpus.loader import load, names

ROUND = {  # one SM whose every stage takes a whole number of cycles
    "memory.kind": "hierarchy",
    "memory.global_load": None,
    "memory.shared_load": 30,
    "lsu.latency": 10,
    "pipes.ldst.lanes": 32,
    "l1.bytes": 65536,
    "l1.latency": 40,
    "interconnect.latency": 10,
    "interconnect.header": 0,
    "interconnect.response_bytes_per_cycle": 32,  # a sector per cycle
    "l2.bytes": 1 << 20,
    "l2.latency": 100,
    "l2.bytes_per_cycle": 32,
    "dram.bandwidth": 32,  # GB/s at 1 GHz: a sector per cycle
    "dram.latency": 200,
    "dram.channels": 1,
}
ROUND = {name.replace(".", "__"): value for name, value in ROUND.items()}
ONE_SECTOR = (1 << 20, 0)
LINES = [(1 << 20 | line << 7, 0) for line in range(200)]  # one sector of a line each


def test_unloaded_latencies_are_those_of_the_machine(run) -> None:
    listing = "LDG R0, [R4]\nFADD R1, R0, R0\nLDG R2, [R4]\nFADD R3, R2, R2\nLDG.CG R5, [R4]\nFADD R6, R5, R5\nEXIT"
    done = run(listing, accesses=[ONE_SECTOR] * 3, **ROUND)
    issued = done.first()
    assert [issued[i + 1] - issued[i] for i in (0, 2, 4)] == [200, 40, 100]  # DRAM, L1, L2


@pytest.mark.parametrize("name", [name for name in names() if load(name).memory.kind == "hierarchy"])
def test_unloaded_latencies_are_those_of_the_preset(run, name: str) -> None:
    gpu = load(name)
    near = {"lsu.coalescing": "sectors", "dram.refresh": 0} | (
        {"l2.far": 0, "l2.across": 0} if gpu.l2 else {}
    )  # CC 1.x makes 32 requests of it
    listing = "LDG.CG R0, [R4]\nFADD R1, R0, R0\nLDG.CG R2, [R4]\nFADD R3, R2, R2\n"
    listing += "LDG.CA R5, [R4]\nFADD R6, R5, R5\nLDG.CA R7, [R4]\nFADD R8, R7, R7\nEXIT"
    issued = run(listing, accesses=[ONE_SECTOR] * 4, gpu=gpu.replace(near)).first()
    waits = [issued[i + 1] - issued[i] for i in (0, 2, 6)]
    l2 = gpu.l2.latency if gpu.l2 else gpu.dram.latency
    l1 = (
        gpu.l1.latency + math.ceil(128 / gpu.l1.bytes_per_cycle) - 1 if gpu.l1 else l2
    )  # and the cycles of a whole warp's words after the first
    assert waits == [gpu.dram.latency, l2, l1]


def test_slices_on_the_other_side_of_the_chip_take_longer(run) -> None:
    """Of four slices two lie on the side of the first GPC, as half of the lines do."""
    listing = "LDG R0, [R4]\nFADD R1, R0, R0\nEXIT"
    sides = ROUND | {"l2__across": 7, "dram__channels": 8}
    waits = [run(listing, accesses=[(1 << 20 | line << 7, 0)], **sides).first() for line in range(8)]
    assert sorted(issued[1] - issued[0] for issued in waits) == [200 - 7] * 4 + [200 + 7] * 4


@pytest.mark.parametrize(
    ("active", "sixth", "step"),
    [(1, [13], 4), (2, [13, 15], 4), (3, [13, 15, 17], 6), (4, [13, 15, 17, 19], 8)],
)
@pytest.mark.parametrize("instruction", ["LDS R{0}, [R40]", "LDG R{0}, [R40]"])
def test_five_instructions_queue_and_the_address_unit_then_sets_the_pace(
    run, instruction: str, active: int, sixth: list[int], step: int
) -> None:
    """Huerta et al., Analyzing Modern NVIDIA GPU cores, table 3, where the first instruction issues in cycle 2."""
    listing = "".join(instruction.format(n) + "\n" for n in range(9)) + "EXIT"
    four = ROUND | {"core__schedulers": 4, "pipes__ldst__lanes": 8, "lsu__depth": 5, "lsu__interval": 2}
    done = run(listing, warps=active, accesses=[ONE_SECTOR if "LDG" in instruction else (0, 4)] * 9, **four)
    issued = [sorted(done.first(warp)[n] + 2 for warp in range(active)) for n in range(9)]
    assert issued[:5] == [[n + 2] * active for n in range(5)]
    assert issued[5:] == [[cycle + turn * step for cycle in sixth] for turn in range(4)]


def test_bank_conflicts_take_passes(run) -> None:
    listing = "LDS R0, [R8]\nLDS R1, [R8]\nFADD R2, R0, R0\nFADD R3, R1, R1\nEXIT"
    done = run(listing, accesses=[(0, 16)] * 2, **ROUND, shared__pass_cycles=2)
    assert done.first()[:4] == [0, 1, 36, 44]  # four passes: taken in 10 and 18; 20 more and three further passes
    counters = done.result.counters
    assert (counters["shared_wavefronts"], counters["shared_bank_conflicts"]) == (8, 6)


def test_further_passes_may_delay_a_result_longer_than_they_take(run) -> None:
    listing = "LDS R0, [R8]\nFADD R2, R0, R0\nLDS R1, [R8]\nFADD R3, R1, R1\nEXIT"
    issued = run(listing, accesses=[(0, 16), (0, 4)], **ROUND, shared__pass_latency=3).first()
    assert issued[1] == 10 + 20 + 3 * 3
    assert issued[3] - issued[2] == 10 + 20  # one pass


@pytest.mark.parametrize("further", [0, 3, 4])
def test_a_copy_to_shared_memory_takes_a_cycle_for_each_piece_of_a_line(run, further: int) -> None:
    """512 bytes are four lines; `further` of them go to two lines of shared memory each. The load is taken behind them."""
    listing = ".shared 1024\nLDGSTS.E.BYPASS.128 [R8], [R4]\nLDS R0, [R8]\nFADD R2, R0, R0\nEXIT"
    for width in (0, 4):
        copied = ((1 << 20) + (further << 32), 16)
        issued = run(listing, accesses=[copied, (0, 4)], **ROUND, l1__tags_per_cycle=width).first()
        assert issued[2] == 10 + 4 + further + 20


def test_the_address_unit_replays_conflicts(run) -> None:
    listing = "LDS R0, [R8]\nLDS R1, [R8]\nFADD R3, R1, R1\nEXIT"
    done = run(listing, accesses=[(0, 16), (0, 4)], **ROUND, lsu__replay=5)
    assert done.first()[2] == 10 + 4 * 5 + 20


def test_sixteen_banks_serve_a_warp_in_two_passes(run) -> None:
    assert run("LDS R0, [R8]\nEXIT", **ROUND, shared__rule="cc1").result.counters["shared_wavefronts"] == 2


def test_wide_loads_take_their_registers_one_after_another(run) -> None:
    done = run("LDG.128 R0, [R8]\nFADD R4, R0, R0\nLDG.128 R0, [R8]\nFADD R4, R0, R0\nEXIT", accesses=[(0, 16)] * 2, **ROUND)
    issued = done.first()
    assert issued[3] - issued[2] == 40 + 3 * 2


PASSES = ROUND | {"l1__tags_per_cycle": 4, "l1__pass_latency": 2, "l1__sets": 512}


@pytest.mark.parametrize(
    ("stride", "longer"),
    [
        *((0, 0), (4, 0), (8, 2 * 1), (16, 2 * 3), (32, 1 + 2 * 7), (128, 7 + 2 * 31), (132, 7)),  # lookups of four lines, then passes
        *((388, 10), (644, 9), (772, 10), (900, 13), (1540, 13), (2564, 8)),  # lookups: lines of the busiest bank (h200/tags.csv)
    ],
)
def test_a_hit_looks_lines_up_and_passes_over_banks(run, stride: int, longer: int) -> None:
    listing = "LDG R0, [R8]\nFADD R1, R0, R0\nLDG R2, [R8]\nFADD R3, R2, R2\nEXIT"
    issued = run(listing, accesses=[(1 << 20, stride)] * 2, **PASSES).first()
    assert issued[3] - issued[2] == 40 + longer


@pytest.mark.parametrize(("banks", "longer"), [(1, 31), (2, 19), (5, 7), (8, 8), (128, 0)])
def test_a_hit_by_another_number_of_banks_of_tags(run, banks: int, longer: int) -> None:
    """32 lines, seven apart: of two banks by one bit of the measured hash, of five and eight by the set's number as well (assumed)."""
    listing = "LDG R0, [R8]\nFADD R1, R0, R0\nLDG R2, [R8]\nFADD R3, R2, R2\nEXIT"
    issued = run(listing, accesses=[(1 << 20, 900)] * 2, **PASSES | {"l1__tags_per_cycle": banks}).first()
    assert issued[3] - issued[2] == 40 + longer


def test_passes_keep_the_banks_from_the_next_hit(run) -> None:
    listing = "LDG R0, [R8]\nFADD R1, R0, R0\nLDG R2, [R8]\nLDG R3, [R8]\nFADD R4, R3, R3\nEXIT"
    issued = run(listing, accesses=[(1 << 20, 32)] * 3, **PASSES, lsu__replay=1).first()
    assert issued[4] - issued[2] == 8 + 40 + 1 + 2 * 7


def test_warps_that_waited_for_one_line_read_it_one_after_another(run) -> None:
    for machine, ready in ((ROUND, [200, 200, 200, 200]), (PASSES, [200, 201, 202, 203])):
        done = run("LDG R0, [R8]\nFADD R1, R0, R0\nEXIT", warps=4, accesses=[ONE_SECTOR], **machine, core__schedulers=4)
        assert sorted(done.first(warp)[1] for warp in range(4)) == ready


def test_a_full_queue_stops_the_port(run) -> None:
    done = run("LDG R0, [R8]\nLDG R1, [R8]\nEXIT", accesses=[ONE_SECTOR] * 2, **ROUND, lsu__depth=1)
    assert done.first()[:2] == [0, 11]  # the first is taken in cycle 10
    assert done.stalls(1) == {"selected": 1, "lg_throttle": 10}


@pytest.mark.parametrize(("access", "full"), [("LDG {}, [R8]", 0), ("ATOM.ADD {}, [R8], R9", 1)])
def test_a_full_slice_keeps_stores_and_atomics_waiting(run, access: str, full: int) -> None:
    """A load enters behind the one before it: that reaches L2 in cycle 21, is served until 29 and has its data in 200."""
    listing = "".join(f"{access.format(name)}\n" for name in ("R0", "R1")) + "FADD R2, R0, R0\nFADD R3, R1, R1\nEXIT"
    done = run(listing, accesses=LINES[:2], **ROUND | {"dram__depth": 1, "l2__bytes_per_cycle": 4})
    assert done.result.counters["l2_queue_full"] == full
    if not full:
        assert done.first()[2:4] == [200, 208]


def test_loads_of_the_same_sector_join(run) -> None:
    listing = "LDG R0, [R8]\nLDG R1, [R8]\nFADD R2, R1, R1\nEXIT"
    done = run(listing, accesses=[ONE_SECTOR] * 2, **ROUND)
    assert done.first()[2] == 200  # with the first
    counters = done.result.counters
    assert (counters["l1_merged_sectors"], counters["l2_sectors_read"], counters["dram_bytes_read"]) == (1, 1, 32)


def test_a_store_is_over_when_it_has_left_the_sm(run) -> None:
    done = run("STG [R8], R0\nEXIT", accesses=[(0, 128)], **ROUND)
    assert done.result.cycles == 10 + 1 + 32  # taken, looked up, a cycle per line at the port
    assert done.result.counters["l2_sectors_written"] == 32  # on their way when the run has ended, but counted


def test_a_store_that_is_looked_up_by_tags_is_over_when_it_has_passed_l1(run) -> None:
    done = run("STG [R8], R0\nEXIT", accesses=[(0, 128)], **ROUND, l1__tags_per_cycle=4)
    assert done.result.cycles == 10 + 8 + 30  # taken, four lines a cycle, as a load that hits


def test_lanes_that_update_a_word_go_one_after_another(run) -> None:
    listing = "ATOM.ADD R0, [R8], R1\nFADD R2, R0, R0\nEXIT"
    apart, together = (run(listing, accesses=[(1 << 20, stride)], **ROUND, l2__atomic_cycles=3) for stride in (4, 0))
    shorter = 3 + 4 * 3 + 3 + 3 + 3  # one sector instead of four goes to L2, is updated, leaves it, is read from DRAM, comes back
    assert together.first()[1] - apart.first()[1] == 32 * 3 - shorter


@pytest.mark.parametrize(
    ("stride", "packets"),
    [(0, 32), (4, 4), (16, 16), (32, 32), (128, 32)],  # a word of all lanes; eight words in a sector, two, one; a line each
)
def test_an_atomic_is_as_many_packets_of_a_sector_as_lanes_want_its_most_wanted_word(run, stride: int, packets: int) -> None:
    done = run("RED.ADD [R8], R1\nEXIT", accesses=[(1 << 20, stride)], **ROUND)
    assert done.result.counters["sm_requests_peak"] == -(-packets // 3)
    assert 10 <= done.result.cycles - packets <= 11  # taken in cycle 10, a cycle at the unit for each; one more for the look-up, or not


def test_loads_do_not_count_among_results_in_flight(run) -> None:
    listing = "LDG R0, [R8]\nLDG R1, [R8]\nFADD R2, R8, R8\nFADD R3, R2, R2\nEXIT"
    rules = {"core__in_flight_cap": 1, "core__wake_rule": "all_outstanding"}
    assert run(listing, accesses=[ONE_SECTOR] * 2, **ROUND, **rules).first()[:4] == [0, 1, 2, 8]


def test_a_second_slot_waits_for_a_load_that_nobody_knows_the_end_of(run) -> None:
    listing = "LDG R0, [R8]\nFADD R1, R0, R0\nEXIT"
    done = run(listing, accesses=[ONE_SECTOR], **ROUND, core__issue_width=2, core__wake_rule="all_outstanding")
    assert done.result.issue_slots["selected"] == 3
    assert done.result.issue_slots["long_scoreboard"] == 2 * 199 + 1


def test_answers_come_to_every_sm(run) -> None:
    done = run("LDG R0, [R8]\nFADD R1, R0, R0\nEXIT", blocks=3, accesses=[ONE_SECTOR], **ROUND | {"sms": 3})
    assert {done.first(block=block)[0] for block in range(3)} == {0}
    assert done.result.counters["sms_used"] == 3


def test_a_load_of_no_lane_needs_no_place_in_a_full_table(run) -> None:
    listing = "".join(f"LDG R{n}, [R250]\n" for n in range(130)) + "EXIT"
    done = run(listing, accesses=LINES[:130], masked=128, **ROUND | {"l1__pending": 128, "dram__latency": 4000, "lsu__depth": 1})
    assert done.result.counters["pending_requests_peak"] == 128
    assert done.result.counters["global_load_requests"] == 129
    assert done.issues(129)[0] < 4000 < done.result.cycles


def test_the_line_used_least_recently_goes(run) -> None:
    a, b, c = LINES[:3]
    listing = "".join(f"LDG R0, [R8]\nFADD R1, R0, R0\nMOV R{n + 10}, R1\n" for n in range(6)) + "EXIT"
    done = run(listing, accesses=[a, b, a, c, a, b], **ROUND | {"l1__bytes": 256, "l1__ways": 2, "core__wake_rule": "all_outstanding"})
    issued = done.first()
    assert [issued[n + 1] - issued[n] for n in range(0, 18, 3)] == [200, 200, 40, 200, 40, 100]  # b went for c, to be found in L2
