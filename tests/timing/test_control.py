"""The control-code core: each expectation worked by hand from the toy GPU, whose FP32 latency of 6 nobody checks here.

Rules and golden cases: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025, sections 4 and 5.
"""

import dataclasses

import pytest

import isa
from sim.gpus.loader import load
from sim.lowering.control_words import obeys_control_words
from tests.control_words import END, FREE, listing, word

CONTROL = {"core__kind": "control", "core__register_banks": 2}


def test_the_stall_count_alone_keeps_dependent_arithmetic_apart(run) -> None:
    text = listing(f"{word(4)} FADD R0, R1, R2", f"{word(1)} FADD R3, R0, R0", f"{word(1)} FADD R5, R3, R3")
    assert run(text, **CONTROL).first() == [0, 4, 5, 6]
    assert run(text).first()[1] == 6  # on the scoreboard


def test_a_wait_is_charged_to_the_stall_count(run) -> None:
    assert run(listing(f"{word(4)} FADD R0, R1, R2", f"{FREE} FADD R3, R0, R0"), **CONTROL).stalls(1) == {"selected": 1, "wait": 3}


def test_a_yield_keeps_the_warp_from_the_next_cycle(run) -> None:
    assert run(listing(f"{word(1, y='Y')} FADD R0, R1, R2", f"{FREE} FADD R3, R4, R5"), **CONTROL).first() == [0, 2, 3]


def test_a_counter_holds_until_the_result_is_back(run) -> None:
    done = run(listing(f"{word(2, write='0')} LDG R0, [R4]", f"{word(wait='0-----')} FADD R1, R0, R0"), **CONTROL)
    assert done.first()[1] == 100
    assert done.stalls(1) == {"selected": 1, "long_scoreboard": 99}


def test_nobody_waits_without_a_wait_mask(run) -> None:
    assert run(listing(f"{word(2, write='0')} LDG R0, [R4]", f"{FREE} FADD R1, R0, R0"), **CONTROL).first()[1] == 2


def test_a_counter_is_zero_with_the_last_of_its_holders(run) -> None:
    text = listing(f"{word(1, write='0')} LDG R0, [R4]", f"{word(2, write='0')} LDS R2, [R4]", f"{word(wait='0-----')} MOV R6, R0")
    done = run(text, **CONTROL)
    assert done.first()[2] == 100
    assert "long_scoreboard" in done.stalls(2)


def test_the_read_counter_opens_once_the_sources_have_been_read(run) -> None:
    text = listing(f"{word(2, read='1', write='0')} MUFU.RCP R0, R4", f"{word(wait='-1----')} MOV R4, R5")
    assert run(text, **CONTROL, core__source_read=7).first()[1] == 7


def test_depbar_waits_for_what_it_names(run) -> None:
    text = listing(f"{word(2, write='2')} LDG R0, [R4]", f"{word(4)} DEPBAR.LE SB2, 0x0", f"{FREE} MOV R6, R0")
    assert run(text, **CONTROL).first()[1:3] == [100, 104]


LOADS = (f"{word(2, write='2')} LDG R0, [R4]", f"{word(2, write='2')} LDG R1, [R4]", f"{word(2, write='2')} LDS R2, [R4]")


@pytest.mark.parametrize(("most", "issued"), [("0x0", 102), ("1", 102), ("0x2", 100), ("3", 6)])
def test_a_depbar_waits_for_all_increments_but_the_last_ones(run, most: str, issued: int) -> None:
    """The first load is back in cycle 100, the second in 102, the third long before: results return in order."""
    text = listing(*LOADS, f"{word(4)} DEPBAR.LE SB2, {most}", f"{FREE} MOV R6, R0")
    done = run(text, **CONTROL)
    assert done.first()[3:5] == [issued, issued + 4]
    if issued > 6:
        assert done.stalls(3)["long_scoreboard"] == issued - 5


def test_read_and_write_increments_of_one_counter_are_told_apart(run) -> None:
    text = listing(f"{word(2, read='1', write='1')} MUFU.RCP R0, R4", f"{word(1)} DEPBAR.LE SB1, 0x1")
    assert run(text, **CONTROL, core__source_read=3, units__mufu__latency=30).first()[1] == 30  # the result's increment comes first


COPIES = ("LDGSTS [R8], [R4]", "LDGSTS [R8+0x80], [R4]", "LDGDEPBAR", "LDGSTS [R8+0x100], [R4]", "LDGDEPBAR")


@pytest.mark.parametrize(("most", "copy"), [(1, 1), (0, 3)])
def test_a_depbar_waits_for_groups_of_copies(run, most: int, copy: int) -> None:
    """Each copy takes 100 cycles; the scoreboard waits for copies in the same way."""
    lines = [f"{word(2, write='0' if line == 'LDGDEPBAR' else '-')} {line}" for line in COPIES]
    text = ".shared 1024\n" + listing(*lines, f"{word(2)} DEPBAR.LE SB0, {most}", f"{FREE} LDS R2, [R8]")
    assert run(text, **CONTROL).first()[5] == 2 * copy + 100
    done = run(text)
    assert done.first()[5] == done.first()[copy] + 100


@pytest.mark.parametrize(
    ("architecture", "gpu", "obeyed"),
    [
        ("", "h100", True),
        ("sm_90", "h100", True),
        ("sm_75", "h100", True),
        ("sm_52", "gtx980", True),
        ("sm_52", "h100", False),
        ("sm_90", "gtx980", False),
        ("sm_35", "h100", False),
        ("sm_90", "gtx480", False),
    ],
)
def test_control_words_are_obeyed_by_the_gpus_that_they_were_written_for(architecture: str, gpu: str, obeyed: bool) -> None:
    program = dataclasses.replace(isa.parse(END), architecture=architecture)
    assert obeys_control_words(load(gpu), program) is obeyed


def test_kepler_names_no_dependences_even_on_its_own_gpu() -> None:
    program = dataclasses.replace(isa.parse(END), architecture="sm_35")
    assert not obeys_control_words(load("k20c").replace({"core.kind": "control", "compute_capability": "3.5"}), program)


def spread(run, first: str, second: str, **more: int) -> int:
    """Return how long ten pairs of instructions take, cycles from the first issue to the last."""
    return run(listing(*[first, second] * 10), **CONTROL, **more).first()[-2]


@pytest.mark.parametrize(
    ("instruction", "cycles_each"),
    [
        ("FMUL R1, R2, R5", 1),
        ("FMUL R1, R2, R4", 2),
        ("FFMA R1, R3, R5, R6", 2),
        ("FFMA R1, R3, R5, R7", 3),
        ("FADD R1, R2, R2", 1),
        ("IADD R1, R2, RZ", 1),
    ],
)
def test_a_port_gives_one_register_per_cycle(run, instruction: str, cycles_each: int) -> None:
    took = spread(run, f"{FREE} {instruction}", f"{FREE} {instruction}")
    assert took == pytest.approx(19 * cycles_each, abs=3)  # the window lets the first ones in


def test_one_conflict_fits_into_the_window(run) -> None:
    text = listing(f"{FREE} FFMA R1, R2, R4, R6", f"{FREE} FMUL R3, R5, R7", f"{FREE} MOV R9, R11")
    assert run(text, **CONTROL).first() == [0, 1, 2, 3]
    assert run(text, **CONTROL, core__read_window=1).first() == [0, 1, 2, 4]


@pytest.mark.parametrize(
    ("beside", "issued"),
    [
        ("NOP", [0, 1, 2, 5]),
        ("MUFU.RCP R1, R2", [0, 1, 2, 5]),
        ("LDS R1, [R2]", [0, 1, 5, 6]),
        ("STS [R2], R1", [0, 1, 5, 6]),
        ("LDG R1, [R2]", [0, 1, 5, 6]),
        ("SHFL.BFLY PT, R1, R2, 0x1, 0x1f", [0, 1, 5, 6]),
    ],
)
def test_a_unit_may_take_all_ports_for_some_cycles(run, beside: str, issued: list[int]) -> None:
    """NOP and MUFU do not wait; the second FADD issues, begins to read two cycles later, and holds the scheduler until then.

    What has an address or shuffles waits until the first FADD has read, then takes a cycle.
    """
    text = ".shared 128\n" + listing(f"{FREE} FADD R1, R2, R3", f"{FREE} {beside}", f"{FREE} FADD R4, R5, R6")
    assert run(text, **CONTROL).first() == [0, 1, 2, 3]
    assert run(text, **CONTROL, units__fp32__reads=4).first() == issued


def test_a_stall_count_counts_from_where_the_reading_begins(run) -> None:
    """The second and the third wait a cycle for the port of bank 0: their counts of 1 and 4 end in cycles 3 and 8."""
    text = listing(f"{FREE} FFMA R1, R2, R4, R6", f"{FREE} FMUL R3, R8, R10", f"{word(4)} FMUL R5, R12, R14", f"{FREE} MOV R7, RZ")
    assert run(text, **CONTROL).first()[:4] == [0, 1, 3, 8]
    assert run(text, **CONTROL | {"core__register_banks": 0}).first()[:4] == [0, 1, 2, 6]


@pytest.mark.parametrize(
    ("instruction", "longer"),
    [
        ("FMUL R1, R2, R4", 0),  # two registers of bank 0 fit into the window
        ("FFMA R1, R2, R4, R6", 2),  # the second warp waits until the first one has read its third
        ("IMAD.WIDE R8, R2, R3, R6", 1),  # its second pass
    ],
)
def test_stall_counts_stand_still_with_their_scheduler(run, instruction: str, longer: int) -> None:
    """Two warps, one instruction each and back: the count of 9 of the first stops while the scheduler stands still for the second."""
    body = [f"{word(9)} {instruction}"]
    few, many = (run(listing(*body * n), warps=2, **CONTROL, units__imad__wide_passes=2).result.cycles for n in (10, 20))
    own = 1 if "WIDE" in instruction else 0  # an own count begins with the second pass
    assert many - few == 10 * (9 + own + longer)


SERVED = {  # an instruction, whether it yields, and the order in which three warps issue it
    "the youngest": ("NOP", "-", [2, 1, 0]),
    "in turn after a yield": ("NOP", "Y", [2, 0, 1]),
    "in turn where the pipe was taken": ("FADD R0, R1, R2", "-", [2, 0, 1]),
}


@pytest.mark.parametrize("case", SERVED)
def test_whom_gtyr_serves(run, case: str) -> None:
    """The youngest begins, as nobody has issued; next in turn after it, in the last slot, is the oldest, in the first."""
    instruction, yields, order = SERVED[case]
    done = run(listing(f"{word(9, y=yields)} {instruction}"), warps=3, **CONTROL, core__policy="gtyr")
    assert sorted(range(3), key=lambda warp: done.first(warp)[0]) == order


KEEPS = f"{word(reuse='A---')} FFMA R1, R2, R4, R7"
GOLDEN = {  # what follows KEEPS, and how many registers of bank 0 the three read; the paper's four cases, with a third reader
    "the second reader hits, the third does not": (f"{FREE} FFMA R5, R2, R4, R7", f"{FREE} FFMA R5, R2, R4, R9", 2 + 1 + 2),
    "kept again, the third hits": (f"{word(reuse='A---')} FFMA R5, R2, R4, R7", f"{FREE} FFMA R5, R2, R4, R9", 2 + 1 + 1),
    "another position leaves it": (f"{FREE} FFMA R5, R7, R2, R4", f"{FREE} FFMA R5, R2, R4, R9", 2 + 2 + 1),
    "another register of the bank evicts it": (f"{FREE} FFMA R5, R4, R7, R8", f"{FREE} FFMA R5, R2, R4, R9", 2 + 2 + 2),
}


@pytest.mark.parametrize("case", GOLDEN)
def test_the_reuse_cache_serves_once(run, case: str) -> None:
    *after, reads = GOLDEN[case]
    few, many = (run(listing(*[KEEPS, *after] * times), **CONTROL).result.cycles for times in (10, 20))
    assert many - few == 10 * reads


SLOTS = {  # what is kept by the field of the instruction word, A to C; what follows; how many registers of bank 0 both read
    "the second source of FADD stands in C": ("--C-", "FADD R1, R7, R2", "FFMA R5, R4, R9, R2", 1 + 1),
    "not in B": ("-B--", "FADD R1, R7, R2", "FFMA R5, R4, R9, R2", 1 + 2),
    "an only source stands in B": ("-B--", "MOV R1, R2", "FFMA R5, R4, R2, R7", 1 + 1),
    "not in A": ("A---", "MOV R1, R2", "FFMA R5, R2, R4, R7", 1 + 2),
}


@pytest.mark.parametrize("case", SLOTS)
def test_reuse_goes_by_the_fields_of_the_instruction_word(run, case: str) -> None:
    kept, first, second, reads = SLOTS[case]
    pair = [f"{word(reuse=kept)} {first}", f"{FREE} {second}"]
    few, many = (run(listing(*pair * times), **CONTROL).result.cycles for times in (10, 20))
    assert many - few == 10 * reads


CACHES = {  # what stands between two FFMAs that keep R2 in field A; how many registers of bank 0 the three read
    "arithmetic in the same cache takes it": ("FMUL R10, R4, R7", 1 + 1 + 2),
    "FP64 has a cache of its own": ("DMUL R10, R4, R4", 1 + 1 + 1),
    "so have halves on the tensor cores": ("HFMA2.MMA R10, R4, R7, R7", 1 + 1 + 1),
    "other halves take it": ("HFMA2 R10, R4, R7, R7", 1 + 1 + 2),
}


@pytest.mark.parametrize("case", CACHES)
def test_fp64_and_the_tensor_cores_have_a_reuse_cache_of_their_own(run, case: str) -> None:
    between, reads = CACHES[case]
    body = [KEEPS, f"{FREE} {between}", KEEPS]
    few, many = (run(listing(*body * times), **CONTROL).result.cycles for times in (10, 20))
    assert many - few == 10 * reads


def test_another_warp_does_not_hit(run) -> None:
    """One warp reads 2 + 1 registers of bank 0 per pair; two that take turns 2 + 2 each."""
    pair = [f"{word(2, reuse='A---')} FFMA R1, R2, R4, R7", f"{word(2)} FFMA R5, R2, R4, R7"]
    cycles = {
        warps: [run(listing(*pair * times), warps=warps, **CONTROL, core__policy="lrr").result.cycles for times in (10, 20)]
        for warps in (1, 2)
    }
    assert cycles[1][1] - cycles[1][0] == 10 * 4  # the stall counts
    assert cycles[2][1] - cycles[2][0] == 10 * 8


def test_only_a_taken_branch_costs_its_latency(run) -> None:
    text = listing(f"{word(5)} @P0 BRA next", f"{FREE} MOV R0, R1") + "\nnext:\n" + END
    assert run(text, **CONTROL, core__branch_latency=10).first()[1] == 5


def test_a_bsync_finds_out_whether_its_lanes_are_there(run) -> None:
    text = "\n".join([f"{FREE} BSSY B0, end", f"{FREE} MOV R0, R1", "end:", f"{word(5)} BSYNC B0", END])
    assert run(text, **CONTROL).first() == [0, 1, 2, 7]
    done = run(text, **CONTROL, core__sync_latency=6)
    assert done.first() == [0, 1, 2, 13]
    assert done.stalls(3)["branch_resolving"] == 10
