"""What starves products of matrices is said: how full their pipe is, why their warps wait, and where."""

import functools
from pathlib import Path

import sim
from sim.causes.advice import advise, diagnose
from sim.launch.file import load_launch
from sim.report import text
from sim.report.timeline import first_and_others, warps
from sim.result.result import Result
from tests.unit.report_runs import chain_on

CUDA = Path(__file__).parents[2] / "programs" / "cuda"


@functools.cache
def run(name: str) -> Result:
    return sim.run(load_launch(CUDA / f"{name}.sm_90.sass").launch, sim.gpu("h100"), timeline=(1000, 3000))


def starved(result: Result) -> str:
    (found,) = [one.sentence for one in advise(result) if one.kind == "products"]
    return found


def test_products_that_wait_for_shared_memory_say_so() -> None:
    sentence = starved(run("hgemm_async"))
    assert sentence.startswith("The tensor pipe is 9.3% used.")
    assert "short_scoreboard (mostly HMMA.16816.F32, which waits for LDSM.16.MT88.4)" in sentence
    assert "the tensor pipe is only" in diagnose(run("hgemm_async")).sentence


def test_the_store_of_the_sums_and_the_phase_of_an_mbarrier_are_named() -> None:
    result = run("hgemm_packed")
    assert "lg_throttle (mostly STG.E.64, behind the last product)" in starved(result)
    assert "long_scoreboard (mostly BRA, which waits for the phase of an mbarrier)" in starved(result)
    assert "The load/store port is taken" in diagnose(result).sentence
    assert "mostly STG.E.64, behind the last product" in diagnose(result).sentence
    assert "long_scoreboard (100%), for the phase of an mbarrier" in text.slowest(result)


def test_the_fp32_peak_is_left_out_where_only_products_are_computed() -> None:
    assert "FP32 peak" not in text.summary(run("hgemm_packed"))
    other = chain_on(sim.gpu("gtx480"), 1, 6)
    assert "FP32 peak" in text.summary(other)
    assert not [one for one in advise(other) if one.kind == "products"]


def test_the_warp_that_only_copies_is_among_those_drawn() -> None:
    result = run("hgemm_packed")
    shown = warps(result, first_and_others(result))
    assert [warp.warp for warp in shown] == list(range(9))
    assert len(first_and_others(run("hgemm_async"))) == 8
