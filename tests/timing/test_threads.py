"""Threads that share the SMs: the result is that of one thread, whoever takes which SM."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from sim import timing
from sim.bench import COPY, SAXPY, elementwise, stream
from sim.compiled import cores as cores_of
from sim.compiled.atomics import add_one, give_way, publish, seen, take_turn
from sim.compiled.cores import LEAST_INSTRUCTIONS, MOST, threads_for
from sim.compiled.kernel import is_compiled, kernel
from sim.functional import execute
from sim.launch.file import load_launch
from sim.timing import simulate
from sim.timing.team import form, members, together
from tests.compare import first_difference
from tests.listings import FOLDER

CLOCKS = """
.kernel clocks
        MOV R0, 400
.Loop:  S2R R1, SR_CLOCKLO
        S2R R2, SR_CLOCKLO
        IADD32I R0, R0, -1
        ISETP.NE.AND P0, PT, R0, RZ, PT
   @P0  BRA .Loop
        EXIT
"""  # 800 reads of a warp: with 240 warps the log is enlarged twice


def launches() -> dict[str, sim.Launch]:
    return {
        "copy": elementwise(COPY, 300),
        "saxpy": elementwise(SAXPY, 300),
        "stream": stream(40, 30),
        "clocks": sim.Launch(isa.parse(CLOCKS), grid=(60,), block=(128,)),
        "sgemm": load_launch(FOLDER / "sgemm/sgemm_4.sass").launch,
        "atomics": load_launch(FOLDER / "cuda/histogram.sm_90.sass").launch,
        "divergence": load_launch(FOLDER / "cuda/mandelbrot.sm_90.sass").launch,
        "gather": load_launch(FOLDER / "cuda/gather.sm_90.sass").launch,
    }


# gtx460 issues two in a cycle; on a G80 a place is free at once, so that threads meet in every cycle.
@pytest.mark.parametrize("gpu", ["gtx480", "gtx460", "g80", "h100"])
@pytest.mark.parametrize("name", launches())
def test_any_number_of_threads(name: str, gpu: str) -> None:
    launch = launches()[name]
    machine = sim.gpu(gpu)
    if name in ("atomics", "divergence", "sgemm", "gather"):
        machine = sim.gpu("gtx480" if gpu in ("g80", "gtx460") else gpu).replace({"limits.registers_per_thread": 255})
    trace = execute(launch)
    alone = simulate(trace, machine, threads=1)
    for threads in (2, 3, 7):
        difference = first_difference(alone, simulate(trace, machine, threads=threads))
        assert difference is None, f"{threads} threads: {difference}"


def test_a_timeline_is_the_same() -> None:
    trace, gpu = execute(elementwise(COPY, 40)), sim.gpu("gtx480")
    assert first_difference(simulate(trace, gpu, (0, 2000), threads=1), simulate(trace, gpu, (0, 2000), threads=4)) is None


def test_more_threads_than_multiprocessors() -> None:
    trace, gpu = execute(elementwise(COPY, 20)), sim.gpu("gtx480").replace({"sms": 2})
    assert first_difference(simulate(trace, gpu, threads=1), simulate(trace, gpu, threads=9)) is None


def test_a_leader_that_never_leads_leaves_no_thread_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt that comes after the others have begun, and before thread 0 has."""
    real, trace, gpu = timing.run, execute(elementwise(COPY, 20)), sim.gpu("gtx480")

    def interrupted(*arguments: object) -> int:
        if arguments[-1] == 0:
            raise KeyboardInterrupt
        return int(real(*arguments))

    monkeypatch.setattr(timing, "run", interrupted)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        simulate(trace, gpu, threads=3)
    assert threading.active_count() == before


def test_no_more_threads_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    trace, gpu = execute(elementwise(COPY, 60)), sim.gpu("gtx480")
    alone, submit, begun = simulate(trace, gpu, threads=1), ThreadPoolExecutor.submit, []

    def one_only(*arguments: object) -> object:
        begun.append(arguments[-1])
        if len(begun) > 1:
            raise RuntimeError("can't start new thread")
        return submit(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", one_only)
    assert first_difference(alone, simulate(trace, gpu, threads=4)) is None
    assert begun == [1, 2]


def test_how_many_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SIMTLAB_THREADS", raising=False)
    monkeypatch.setattr(cores_of, "cores", lambda: 16)
    assert threads_for(LEAST_INSTRUCTIONS, 132, None, 60) == MOST
    assert threads_for(LEAST_INSTRUCTIONS, 15, None, 50) == 3
    assert threads_for(LEAST_INSTRUCTIONS, 4, None, 60) == 1  # one SM would wait for another
    assert threads_for(LEAST_INSTRUCTIONS - 1, 132, None, 60) == 1  # over before the threads have begun
    assert threads_for(LEAST_INSTRUCTIONS, 16, None, 1) == 1  # they would meet in every cycle
    assert threads_for(10, 16, 3, 1) == 3
    quota = tmp_path / "cpu.max"
    for text, allowed in (("max 100000", None), ("150000 100000", 2), ("50000 100000", 1), ("", None)):
        quota.write_text(text)
        assert cores_of._quota(quota) == allowed
    assert cores_of._quota(tmp_path / "nothing") is None
    monkeypatch.setenv("SIMTLAB_THREADS", "5")
    assert threads_for(10, 16, None, 1) == 5
    assert threads_for(10, 16, 2, 1) == 2


@pytest.mark.parametrize("text", ["0", "two", "-1", "1.5"])
def test_no_number_of_threads(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SIMTLAB_THREADS", text)
    with pytest.raises(sim.UserError, match=f"SIMTLAB_THREADS={text} is not a number of threads"):
        simulate(execute(elementwise(COPY, 1)), sim.gpu("gtx480"))


def test_threads_of_the_public_functions() -> None:
    launch, gpu = elementwise(COPY, 20), sim.gpu("gtx480")
    assert first_difference(sim.run(launch, gpu, threads=2), sim.run(launch, gpu, threads=1)) is None
    for threads in (0, "2", 2.5, True):
        with pytest.raises(sim.UserError, match=f"threads = {threads!r} is not a number of threads"):
            sim.run(launch, gpu, threads=threads)
    with pytest.raises(sim.UserError, match="the simpy engine has no threads"):
        sim.run(launch, gpu, "simpy", threads=2)


def test_what_threads_add_is_put_together() -> None:
    """Sums are added, peaks are not, and clock reads stand in a row."""
    from sim.gpus.occupancy import residency
    from sim.lowering import core as lower
    from sim.result.causes import Tally
    from sim.timing.state import allocate

    launch, gpu = elementwise(COPY, 20), sim.gpu("gtx480")
    hw = lower.hardware(gpu, launch, residency(gpu, launch.block, launch.registers_per_thread, launch.shared_per_block))
    code, dependences = lower.code(gpu, launch.program)
    machines, chips = members(allocate(hw, code, dependences, None, gpu.core), 2)
    for machine, reads in zip(machines, (1, 2), strict=True):
        machine.memory.tallies[Tally.LOADS] = machine.memory.tallies[Tally.PORT_PEAK] = 10 * reads
        machine.issues[3] = machine.slots[1] = machine.stalls[0, 1] = reads
        machine.chip.end, machine.chip.warp_cycles, machine.chip.clock_rows = 100 // reads, reads, reads
        machine.clock_log[:reads, 0] = reads
    whole = together(machines)
    assert (whole.memory.tallies[Tally.LOADS], whole.memory.tallies[Tally.PORT_PEAK]) == (30, 20)
    assert (whole.issues[3], whole.slots[1], whole.stalls[0, 1]) == (3, 3, 3)
    assert (int(whole.chip.end[0]), int(whole.chip.warp_cycles[0])) == (100, 3)
    assert whole.clock_log[:, 0].tolist() == [1, 2, 2]
    assert form(15, chips).first.tolist() == [0, 7, 15]


@kernel
def take_turns(words: np.ndarray, most: int) -> int:
    """Count up to `most` together with other threads; return how often this one did."""
    mine = 0
    turn = seen(words, 0)
    while turn < most:
        if take_turn(words, 0, turn):
            mine += 1
            add_one(words, 8)
        else:
            give_way()
        turn = seen(words, 0)
    publish(words, 16, 7)
    return mine


def test_words_that_threads_share() -> None:
    words, threads, most = np.zeros(24, np.int64), 4 if is_compiled() else 1, 20_000
    with ThreadPoolExecutor(threads) as pool:
        counts = list(pool.map(lambda _: take_turns(words, most), range(threads)))
    assert sum(counts) == most
    assert words[[0, 8, 16]].tolist() == [most, most, 7]


def test_the_same_words_in_python() -> None:
    words = np.zeros((2, 8), np.int64)
    assert take_turn(words, 9, 0)
    assert not take_turn(words, 9, 0)
    add_one(words, 9)
    publish(words, 1, 5)
    give_way()
    assert (seen(words, 9), words[1, 1], words[0, 1]) == (2, 2, 5)
