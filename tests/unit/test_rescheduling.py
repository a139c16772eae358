"""Control words for a changed GPU: rescheduled where a compiler would write others, kept on demand, and said so everywhere."""

import dataclasses
import itertools
import json
from pathlib import Path

import pytest

import sim
from isa.program import Program
from sim.causes.sensitivity.steps import steps
from sim.launch.file import load_launch
from sim.lowering.rescheduling import difference, rescheduled, scheduled
from sim.lowering.unread import why_unread_by
from sim.result.words import Words
from tests.unit.test_cli import simtlab

CUDA = Path(__file__).parents[2] / "programs" / "cuda"
N_BODY = CUDA / "n_body.sm_90.sass"
H100 = sim.gpu("h100")
CHANGES = (
    {"units.fp32.latency": 2},
    {"units.fp32.latency": 11, "units.int32.latency": 3},
    {"units.imad.latency": 64},
    {"units.fp64.latency": 30},
    {"core.issue_width": 2},
    {"core.issue_width": 2, "core.register_banks": 0},
    {"core.reissue_distance": 5},
    {"pipes.fp32.lanes": 8, "pipes.imad.lanes": 8},
    {"pipes.int32.lanes": 32},
)


def program(name: str = "n_body") -> Program:
    return load_launch(CUDA / f"{name}.sm_90.sass").launch.program


@pytest.mark.parametrize("name", [name for name in sim.gpus() if sim.gpu(name).core.kind == "control"])
def test_a_preset_is_the_machine_that_compilers_write_for(name: str) -> None:
    gpu = sim.gpu(name)
    found = dataclasses.replace(program(), architecture=gpu.architecture)
    assert difference(found, gpu)[1:] == ((), "")


@pytest.mark.parametrize("name", ["t4", "rtx2080ti"])
def test_words_of_products_hold_for_every_preset_of_their_architecture(name: str) -> None:
    """A GeForce takes twice the time of a T4 for float sums; nvcc's words are the same for both, and are no what-if of either."""
    found = load_launch(CUDA / "attention_mma.sm_75.sass").launch.program
    assert difference(found, sim.gpu(name))[1:] == ((), "")
    changed = sim.gpu(name).replace({"units.hmma_1688_f32.passes": 32})
    assert difference(found, changed)[1] == ("units.hmma_1688_f32.passes",)


@pytest.mark.parametrize("changes", CHANGES, ids=str)
@pytest.mark.parametrize("name", ["n_body", "dgemm", "softmax"])
def test_lint_finds_nothing_wrong_with_the_new_words(name: str, changes: dict[str, int]) -> None:
    gpu = H100.replace(changes)
    new = scheduled(program(name), difference(program(name), gpu)[0])
    assert not [finding for finding in sim.lint(new, gpu) if finding.level == "hazard"]


def test_the_words_of_a_slower_unit_are_wrong_for_it_before_and_right_after() -> None:
    gpu = H100.replace({"units.fp32.latency": 9})
    assert [finding for finding in sim.lint(program(), gpu) if finding.level == "hazard"]
    new = scheduled(program(), difference(program(), gpu)[0])
    assert new.control is not None
    assert new.control.stall.sum() > sim.schedule(program()).control.stall.sum()
    assert not [finding for finding in sim.lint(new, gpu) if finding.level == "hazard"]


def test_pairs_are_of_units_that_find_ports_and_need_nothing_of_each_other() -> None:
    gpu = H100.replace({"core.issue_width": 2, "core.register_banks": 0})
    new = scheduled(program(), difference(program(), gpu)[0])
    assert new.control is not None
    pairs = [i for i in range(len(new)) if new.control.dual[i]]
    assert pairs
    assert all(new.control.stall[i] == 0 for i in pairs)
    for i in pairs:
        written = {int(d) for d in new.encoded.writes[i] if d >= 0}
        assert not written & {int(d) for d in new.encoded.reads[i + 1]}
    assert not any(first + 1 == second for first, second in itertools.pairwise(pairs))


def test_what_a_launch_asks_of_its_control_words() -> None:
    launch, slower = load_launch(N_BODY).launch, H100.replace({"units.fp32.latency": 8})
    trace = sim.execute(dataclasses.replace(launch, grid=(1,)))

    def words(gpu: sim.gpu, wanted: str) -> Words:  # type: ignore[valid-type]
        return rescheduled(dataclasses.replace(trace, launch=dataclasses.replace(trace.launch, control_words=wanted)), gpu)[1]

    assert words(H100, "auto") == Words("compiler")
    assert words(slower, "auto") == Words("scheduled", ("units.fp32.latency",))
    assert words(slower, "keep")[:2] == ("kept", ("units.fp32.latency",))
    assert words(H100, "schedule") == Words("scheduled")
    assert words(slower.replace({"core.kind": "scoreboard"}), "auto") == Words()
    assert words(H100.replace({"units.fp64.latency": 30}), "auto") == Words("compiler")  # no float64 in it
    unknown = dataclasses.replace(trace, launch=dataclasses.replace(trace.launch, program=dataclasses.replace(program(), architecture="")))
    assert rescheduled(unknown, slower)[1].kind == "kept"


def test_a_field_that_words_hold_or_replace_is_named() -> None:
    kept = Words("kept", ("units.fp32.latency",), "they are kept")
    assert "they are kept" in why_unread_by(H100, "units.fp32.latency", kept)
    assert "not read" in why_unread_by(H100, "core.wake_rule", Words("compiler"))
    assert "no control words" in why_unread_by(H100, "core.register_banks", Words())
    assert why_unread_by(H100, "units.fp32.latency", Words("scheduled", ("units.fp32.latency",))) == ""


def test_sensitivity_steps_what_words_hold_unless_they_are_kept() -> None:
    trace = sim.execute(load_launch(N_BODY).launch)
    kept = dataclasses.replace(trace, launch=dataclasses.replace(trace.launch, control_words="keep"))
    assert "units.fp32.latency" in {step.field for step in steps(trace, H100)}
    assert not {"units.fp32.latency", "core.reissue_distance"} & {step.field for step in steps(kept, H100)}


@pytest.mark.slow
def test_both_engines_obey_the_same_new_words() -> None:
    trace = sim.execute(dataclasses.replace(load_launch(CUDA / "transpose.sm_90.sass").launch))
    gpu = H100.replace({"units.int32.latency": 9, "core.issue_width": 2})
    fast, read = (sim.simulate(trace, gpu, engine=engine) for engine in ("numba", "simpy"))
    assert fast.words == read.words == Words("scheduled", ("core.issue_width", "units.int32.latency"))
    assert fast.cycles == read.cycles
    assert fast.stalls == read.stalls


@pytest.mark.slow
def test_a_sweep_of_what_words_hold_moves_and_gives_both_figures_of_the_base(tmp_path: Path) -> None:
    over, file = ("--over", "units.fp32.latency=2,4,8"), tmp_path / "r.json"
    printed = simtlab("sweep", N_BODY, "--gpu", "h100", *over, "--json", file).stdout
    rows = json.loads(file.read_text())
    assert [row["control_words"] for row in rows] == ["scheduled"] * 3
    assert rows[0]["cycles"] < rows[1]["cycles"] < rows[2]["cycles"]
    assert f"by the compiler's words, {rows[1]['cycles']:,} by such" in printed
    kept = simtlab("sweep", N_BODY, "--gpu", "h100", *over, "--keep-control-words", "--json", file).stdout
    rows = json.loads(file.read_text())
    assert len({row["cycles"] for row in rows}) == 1
    assert rows[1]["control_words"] == "compiler"
    assert "units.fp32.latency not read" in kept


@pytest.mark.slow
def test_compare_compares_our_words_with_ours_and_gives_the_compilers_too(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    printed = simtlab("compare", N_BODY, "--gpu", "h100", "--set-b", "units.fp32.latency=8", "--json", file).stdout
    found = json.loads(file.read_text())
    assert found["first"]["control_words"] == found["second"]["control_words"] == "scheduled"
    assert found["first_by_its_own_words"] != found["first"]["cycles"] < found["second"]["cycles"]
    assert "by the compiler's control words" in printed


@pytest.mark.slow
def test_run_says_that_words_were_laid_down_again() -> None:
    options = (N_BODY, "--gpu", "h100", "--set", "units.fp32.latency=8")
    assert "rescheduled for units.fp32.latency" in simtlab("run", *options).stdout
    assert "not read: the compiler's control words are kept" in simtlab("run", *options, "--keep-control-words").stdout
