"""Caches of constants, and LDC with an address of each lane. Issue in cycle 0, a result 10 cycles later if all is there."""

import pytest

LOAD = "LDC R2, c[0x3][R0]\nIADD R3, R2, R2\nEXIT"
THERE = {"memory__constant_load": 10}


@pytest.mark.parametrize(("stride", "addresses"), [(0, 1), (4, 32), (-8, 32)])
def test_each_distinct_address_of_the_lanes_takes_its_turn(run, stride: int, addresses: int) -> None:
    done = run(LOAD, accesses=[(512, stride)], constants__address_latency=11, **THERE)
    assert done.first()[:-1] == [0, 10 + 11 * (addresses - 1)]


def test_an_sm_takes_one_address_after_the_other_of_all_its_warps(run) -> None:
    done = run(LOAD, warps=2, accesses=[(0, 4)], constants__address_cycles=2, **THERE)
    assert done.first(warp=0)[:-1] == [0, 10 + 62]
    assert done.first(warp=1)[:-1] == [2, 10 + 126]  # its last address is taken in cycle 126, and would be there 10 cycles after that


def test_lines_that_a_cache_cannot_keep_come_again(run) -> None:
    twice = "LDC R2, c[0x3][R0]\nIADD R3, R2, R2\nLDC R4, c[0x3][R0]\nIADD R5, R4, R4\nEXIT"
    times = {"accesses": [(0, 64), (0, 64)], "constants__load_near": 40, **THERE}
    assert run(twice, **times).first()[:-1] == [0, 1290, 1291, 1301]  # all 32 lines are kept
    assert run(twice, constants__bytes=2048, constants__ways=4, **times).first()[:-1] == [0, 1290, 1291, 1301]
    assert run(twice, constants__bytes=1024, constants__ways=4, **times).first()[:-1] == [0, 1290, 1291, 2581]


def test_256_bytes_come_from_l2_together(run) -> None:
    times = {"constants__load_near": 40, "constants__far": 100, **THERE}
    listing = "".join(f"LDC R2, c[0x3][{offset:#x}]\nIADD R3, R2, R2\n" for offset in (0, 64, 256)) + "EXIT"
    assert run(listing, **times).first()[:-1] == [0, 150, 151, 201, 202, 352]


def test_l2_is_asked_for_all_lanes_at_once(run) -> None:
    times = {"constants__load_near": 40, "constants__far": 100, **THERE}
    assert run(LOAD, accesses=[(0, 64)], **times).first()[:-1] == [0, 10 + 100 + 32 * 40]


def test_the_port_takes_the_lines_of_an_sm_one_after_another(run) -> None:
    """Each scheduler has a cache of operands; the port is 20 cycles busy with a line. The SM's of LDC asks once."""
    listing = "NOP\nFADD R3, R1, c[0x3][0x40]\nLDC R2, c[0x3][0x80]\nFADD R4, R2, R2\nEXIT"
    times = {"constants__near": 30, "constants__load_near": 40, "constants__port_cycles": 20, **THERE}
    done = run(listing, warps=2, core__schedulers=2, **times)
    assert [done.first(warp)[1] for warp in (0, 1)] == [30, 50]
    assert [done.first(warp)[3] for warp in (0, 1)] == [40 + 40 + 10] * 2


def test_sms_of_a_gpc_begin_one_after_another_and_share_its_port(run) -> None:
    times = {"constants__near": 30, "constants__port_cycles": 20, **THERE}
    done = run("NOP\nFADD R3, R1, c[0x3][0x40]\nFADD R4, R1, c[0x3][0x80]\nEXIT", blocks=3, sms=3, **times)
    assert [done.first(block=block)[1:3] for block in range(3)] == [[30, 90], [50, 110], [70, 130]]


def test_ldc_that_waits_for_an_entry_does_not_keep_the_port(run) -> None:
    """Each line is 20 cycles at the port, from when its instruction issues; the second and third LDC wait for the first's entry."""
    listing = "".join(f"LDC R{2 + n}, c[0x3][{256 * n:#x}]\n" for n in range(3)) + "FADD R5, R1, c[0x0][0x40]\nEXIT"
    times = {"constants__near": 30, "constants__load_near": 40, "constants__far": 100, "constants__load_entries": 1, **THERE}
    assert run(listing, constants__port_cycles=20, **times).first()[3] == 3 * 20 + 30


def test_operands_have_a_cache_of_their_own(run) -> None:
    listing = "LDC R2, c[0x3][0x40]\nNOP\nFADD R3, R1, c[0x3][0x40]\nFADD R4, R1, c[0x3][0x440]\nFADD R5, R1, c[0x3][0x40]\nEXIT"
    times = {"constants__near": 30, "constants__load_near": 40, "constants__bytes": 64, **THERE}
    assert run(listing, **times).first()[:-1] == [0, 1, 31, 61, 91]  # each is asked for when the one before it issues


@pytest.mark.parametrize("times", [{"constants__group_cycles": 10}, {"constants__port_cycles": 10}])
def test_256_bytes_that_a_cache_lacks_keep_the_sm(run, times: dict[str, float]) -> None:
    done = run(LOAD, warps=2, accesses=[(0, 64)], **times, **THERE)  # 32 lines, 8 groups, of one SM, which shares with none
    assert done.first(warp=1)[:-1] == [2, 10 + 80]  # finds them there, and waits for its turn
    assert done.first(warp=0)[:-1] == [0, 10 + 80 + 2]  # issues behind the other


@pytest.mark.parametrize(("entries", "there"), [(0, 8 + 150), (2, 150 + 150 + 150)])
def test_ldc_that_asks_l2_holds_one_of_a_few_entries(run, entries: int, there: int) -> None:
    listing = "".join(f"LDC R{2 + n}, c[0x3][{256 * n:#x}]\n" for n in range(5)) + "IADD R8, R6, R6\nEXIT"
    times = {"constants__load_near": 40, "constants__far": 100, "constants__load_entries": entries, **THERE}
    assert run(listing, **times).first()[5] == there  # the third load begins with the first one's result, the fifth with the third one's


def test_loads_of_groups_that_are_there_hold_no_entry(run) -> None:
    listing = "LDC R2, c[0x3][0x0]\nIADD R3, R2, R2\n" + "".join(f"LDC R{4 + n}, c[0x3][{64 * n:#x}]\n" for n in (1, 2, 3))
    times = {"constants__load_near": 40, "constants__far": 100, "constants__load_entries": 1, **THERE}
    assert run(listing + "IADD R8, R7, R7\nEXIT", **times).first()[5] == 155 + 50
