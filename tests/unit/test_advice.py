"""The verdict names what binds, and following it helps."""

import math
import re

import pytest

import isa
import sim
from sim.causes.advice import FULL, _tail, diagnose, resident_warps, utilisation
from tests.unit.report_runs import CHAIN, add_one, chain_on, text_program

GTX480 = sim.gpu("gtx480")


def warps_wanted(sentence: str) -> int:
    found = re.search(r"about ([\d,]+) warps per SM", sentence)
    assert found, sentence
    return int(found.group(1).replace(",", ""))


def warps_named(sentence: str) -> set[int]:
    return {int(number) for number in re.findall(r"(?:in each of the|in each of its|instead of) (\d+)", sentence)}


def test_a_full_pipe_is_said_to_be_full_and_nothing_to_help() -> None:
    verdict = diagnose(chain_on(GTX480, 30, 24))
    assert verdict.kind == "full"
    assert "nothing in scheduling would help" in verdict.sentence
    assert "fp32 pipe" in verdict.sentence


def test_a_full_sm_on_an_empty_chip_asks_for_more_blocks() -> None:
    assert "14 of the 15 SMs have no block" in diagnose(chain_on(GTX480, 1, 24)).sentence


@pytest.mark.parametrize("warps", [1, 2, 6, 12])
def test_latency_needs_the_576_threads_that_volkov_measured(warps: int) -> None:
    """Latency 18, one warp instruction per 2 cycles and scheduler, 2 schedulers: 18 warps by Little's law, however many there are now."""
    verdict = diagnose(chain_on(GTX480, 1, warps))
    assert verdict.kind == "latency"
    assert warps_wanted(verdict.sentence) == 576 // 32


@pytest.mark.parametrize(("gpu", "warps"), [("gtx480", 2), ("g80", 1), ("h100", 4)])
def test_following_the_advice_fills_the_resource(gpu: str, warps: int) -> None:
    machine = sim.gpu(gpu)
    wanted = warps_wanted(diagnose(chain_on(machine, 1, warps)).sentence)
    per_scheduler = math.ceil(wanted / machine.core.schedulers)
    result = chain_on(machine, 1, per_scheduler * machine.core.schedulers)
    assert max(utilisation(result).values()) >= FULL


def test_a_fixed_memory_latency_is_named_with_its_caveat() -> None:
    verdict = diagnose(add_one(sim.gpu("textbook"), 4))
    assert verdict.kind == "memory"
    assert "memory.kind = 'fixed' bandwidth is not modelled" in verdict.sentence


def test_more_warps_than_the_gpu_holds_are_not_asked_for() -> None:
    gpu = sim.gpu("textbook")
    sentence = diagnose(add_one(gpu, 2)).sentence
    assert warps_named(sentence) == {2, gpu.limits.warps}
    assert re.search(r"in each of its 2 warps \(ILP\), or \S+ times in each of the 64 warps per SM that fit", sentence)


def test_no_warps_are_asked_for_where_the_kernel_fills_the_sm() -> None:
    """Registers hold an SM to few warps: only more in each of them, or fewer registers, would help."""
    for grid in (60, 15):
        launch = sim.Launch(isa.parse(CHAIN), grid=(grid,), block=(192,), registers=63)
        result = sim.run(launch, GTX480.replace({"limits.registers": 16384}))
        sentence = diagnose(result).sentence
        assert result.occupancy.warps == 6
        assert re.search(r"filling it would take [\d.]+ times the independent instructions in each of its warps", sentence)
        assert not warps_named(sentence)
        assert "an SM holds only 1 of its blocks, limited by the kernel's registers; fewer registers per thread would let it" in sentence


def test_blocks_whose_slots_run_out_are_asked_to_be_larger_and_no_larger_than_fits() -> None:
    gpu = GTX480.replace({"limits.blocks": 2})
    result = chain_on(gpu, 60, 2)
    sentence = diagnose(result).sentence
    size = int(re.search(r"limited by the SM's block slots; blocks of (\d+) threads would let it hold more", sentence)[1])  # type: ignore[index]
    assert warps_wanted(sentence) <= 2 * size // 32 <= gpu.limits.warps


def test_a_launch_on_few_sms_is_told_that_further_blocks_go_to_others_first() -> None:
    assert "so launch more than 15 blocks (each SM takes one first) or larger ones" in diagnose(chain_on(GTX480, 1, 2)).sentence
    assert "so launch more blocks or larger ones" in diagnose(chain_on(GTX480, 15, 2)).sentence
    for policy in ("fill_first", "grouped"):
        assert "so launch more blocks or" in diagnose(chain_on(GTX480.replace({"blocks.policy": policy}), 1, 2)).sentence
    widest = chain_on(GTX480.replace({"limits.threads_per_block": 192}), 1, 6)
    assert diagnose(widest).sentence.endswith("so launch more than 15 blocks (each SM takes one first).")


@pytest.mark.parametrize(("blocks", "others"), [(1, True), (60, False)])
def test_the_cap_on_instructions_in_flight_asks_for_warps_only_where_they_fit(blocks: int, others: bool) -> None:
    listing = ".kernel f\n" + "".join(f"FADD R{n}, R{n}, 1;\n" for n in range(1, 60)) + "EXIT"
    gpu = GTX480.replace({"core.in_flight_cap": 1, "core.wake_rule": "per_register", "limits.warps": 8, "limits.threads_per_block": 256})
    verdict = diagnose(text_program(listing, gpu, blocks, 2))
    assert verdict.kind == "cap"
    assert ("the 8 warps per SM that fit instead of 2 would fill" in verdict.sentence) == others
    assert ("nothing would fill it: more ILP cannot, and more warps do not fit" in verdict.sentence) != others


def test_a_barrier_is_named_when_warps_wait_for_a_slow_one() -> None:
    slow = "MUFU.RCP R1, R1;\n" * 40
    listing = f".kernel f\nS2R R0, SR_TID.X\nISETP.GE.AND P0, PT, R0, 32, PT\n@P0 BRA meet\n{slow}meet:\nBAR.SYNC 0\nEXIT"
    result = text_program(listing, sim.gpu("textbook").replace({"core.barrier_latency": 900}), 1, 4)
    verdict = diagnose(result)
    assert verdict.kind == "barrier"
    assert "barriers" in verdict.sentence


def test_the_cap_on_instructions_in_flight_is_named() -> None:
    listing = ".kernel f\n" + "".join(f"FADD R{n}, R{n}, 1;\n" for n in range(1, 60)) + "EXIT"
    verdict = diagnose(text_program(listing, GTX480.replace({"core.in_flight_cap": 2, "core.wake_rule": "per_register"}), 1, 1))
    assert verdict.kind == "cap"
    assert "2 instructions in flight" in verdict.sentence


def test_uneven_blocks_are_called_a_tail() -> None:
    listing = ".kernel f\nS2R R0, SR_CTAID.X\nISETP.NE.AND P0, PT, R0, RZ, PT\n@P0 EXIT\n" + "FADD R1, R1, 1;\n" * 200 + "EXIT"
    verdict = diagnose(text_program(listing, GTX480, 15, 1))
    assert verdict.kind == "tail"
    assert "shorter blocks, and more of them, would help" in verdict.sentence  # all run at once: no grid that fits better
    two_waves = text_program(listing, GTX480.replace({"sms": 3, "limits.blocks": 1}), 4, 1)
    assert "multiple of the 3 blocks that run at once" in _tail(two_waves).sentence
    fewer = text_program(listing, GTX480.replace({"limits.blocks": 1}), 4, 1)  # 4 of 15 SMs have one
    assert "blocks that run at once" not in _tail(fewer).sentence


def test_waits_for_code_ask_for_neither_warps_nor_ilp() -> None:
    short = sim.run(sim.Launch(isa.parse(".kernel f\nMOV R0, 1\nEXIT"), grid=(1,), block=(128,)), sim.gpu("h100"))
    jumps = "".join(f"BRA far{n}\n.rept 60\nMOV R1, 1\n.endr\nfar{n}:\n" for n in range(200)) + "EXIT"
    long = sim.run(sim.Launch(isa.parse(f".kernel f\n{jumps}"), grid=(1,), block=(128,)), sim.gpu("h100"))
    for result, says in ((short, "before the first one, while a block starts: more work"), (long, "code that the instruction caches hold")):
        verdict = diagnose(result)
        assert verdict.kind == "fetch"
        assert says in verdict.sentence
        assert not re.search("ILP|more warps", verdict.sentence)


def test_bursts_on_a_narrow_port_are_named() -> None:
    """All warps ask for the 8 lanes of the SM's shared-memory port at the same time, and leave them idle at the same time."""
    listing = ".kernel f\n.shared 64\n" + "".join(f"LDS R{n}, [RZ];\n" for n in range(1, 9)) + "FADD R1, R1, 1;\n" * 12 + "EXIT"
    verdict = diagnose(text_program(listing, sim.gpu("textbook").replace({"pipes.ldst.owner": "sm", "core.dispatch": "pipe"}), 1, 4))
    assert verdict.kind == "burst"
    assert "mio_throttle" in verdict.sentence


def test_utilisation_counts_held_ports() -> None:
    """24 warps of ILP 1 on a GTX 480 keep both 16-lane groups busy all the time."""
    use = utilisation(chain_on(GTX480, 1, 24))
    assert use["fp32 pipe"] == pytest.approx(1.0, abs=0.03)
    assert use["issue slots"] >= use["fp32 pipe"]


def test_resident_warps_average_over_the_time_the_sm_works() -> None:
    assert resident_warps(chain_on(GTX480, 1, 6)) == pytest.approx(6, abs=0.05)


def test_full_slots_of_an_sm_that_often_has_no_block_are_told_apart_from_the_run() -> None:
    """On a GTX 480 a place is free some 700 cycles after its block's end: short blocks, one at a time, leave the SM empty in between."""
    short = sim.Launch(isa.parse(".kernel f\n.rept 30\nFFMA R1, R1, R2, R3\n.endr\nEXIT"), grid=(6,), block=(1024,))
    result = sim.run(short, GTX480.replace({"sms": 1}))
    verdict = diagnose(result)
    share = result.counters["sm_active_cycles"] / result.cycles
    assert verdict.kind == "full"
    assert f"while the SMs have a block, {share:.0%} of the time" in verdict.sentence
    assert "of the time" not in diagnose(chain_on(GTX480, 30, 24)).sentence


@pytest.mark.parametrize(
    ("opcode", "gpu", "cause", "cycles", "words"),
    [
        ("NANOSLEEP 0x7d0", "v100", "sleeping", 3060, "sleep, as NANOSLEEP asks"),  # 2,000 ns at 1530 MHz
        ("NANOSLEEP 0x7fffffff", "v100", "sleeping", 1_530_000, "sleep"),  # a millisecond at most
        ("MEMBAR.SC.GPU", "h100", "membar", 676, "fences of the whole GPU"),
    ],
)
def test_warps_that_sleep_or_wait_at_fences_are_said_to(opcode: str, gpu: str, cause: str, cycles: int, words: str) -> None:
    launch = sim.Launch(isa.parse(f".kernel f\n{opcode}\n@!PT {opcode}\nEXIT"), grid=(1,), block=(32,))
    numba = sim.run(launch, sim.gpu(gpu))
    assert cycles > 10_000 or numba.stalls == sim.run(launch, sim.gpu(gpu), engine="simpy").stalls  # which steps each of its cycles
    assert numba.stalls[cause] == cycles - 1  # from the cycle after the issue on; what no lane executes holds nobody
    assert diagnose(numba).kind == cause
    assert words in diagnose(numba).sentence
