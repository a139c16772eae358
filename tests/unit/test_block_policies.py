"""How blocks go to SMs: each policy in both engines, a user's own, and what is said of mistakes."""

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import isa
import sim
from isa.errors import UserError
from programs.reproductions import reproduce
from programs.scheduling import blocks
from sim import reference, timing
from sim.gpus.model import Gpu
from sim.policies.blocks import block_policy_of_file, start_order
from sim.traces.trace import Trace, work_of_blocks
from tests.fields import UNEQUAL
from tests.unit.test_cli import CHAIN, refused, simtlab

POLICIES = ("emptiest", "round_robin", "fill_first", "grouped")


def odd_first(sm: int, free: int, last: int, block: int, sms: int) -> float:
    return free * 0.5 + (sm % 2) * sms - (block % 3) * (sm == last)


def unequal(count: int, threads: int = 96) -> Trace:
    return sim.execute(sim.Launch(isa.parse(UNEQUAL), (count,), (threads,), (np.zeros(1, np.float32),)))


def sms_of(gpu: Gpu, trace: Trace) -> list[int]:
    """Return the SM of each block."""
    timeline = timing.simulate(trace, gpu, timeline=(0, 10**9)).timeline
    assert timeline is not None
    return [int(timeline.sm[timeline.block == block][0]) for block in range(trace.launch.blocks)]


@pytest.mark.parametrize("policy", [*POLICIES, odd_first])
@pytest.mark.parametrize("order", ["launch", "largest_first"])
@pytest.mark.parametrize("name", ["gtx480", "h100"])
def test_both_engines_are_equal(name: str, order: str, policy: Any) -> None:
    gpu = sim.gpu(name).replace({"sms": 5, "limits.blocks": 3, "blocks.policy": policy, "blocks.order": order})
    trace = unequal(40)
    fast, read = (engine.simulate(trace, gpu, timeline=(0, 10**9)) for engine in (timing, reference))
    assert all(np.array_equal(one, other) for one, other in zip(fast.timeline or (), read.timeline or (), strict=True))
    assert (fast.cycles, fast.stalls, fast.counters) == (read.cycles, read.stalls, read.counters)
    assert timing.simulate(trace, gpu, threads=2).counters == fast.counters


def test_each_policy_takes_the_sm_that_it_says() -> None:
    gpu, trace = sim.gpu("gtx480").replace({"sms": 3, "limits.blocks": 4}), unequal(8)
    taken = {policy: sms_of(gpu.replace({"blocks.policy": policy}), trace) for policy in (*POLICIES, odd_first)}
    assert taken["emptiest"] == taken["round_robin"] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert taken["fill_first"] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert taken["grouped"] == [0, 0, 1, 1, 2, 2, 0, 0]
    assert taken[odd_first] == [1, 1, 0, 1, 1, 2, 0, 2]  # block 2: 1 + 3 - 2 on SM 1 is no more than 2 on SM 0
    in_fours = gpu.replace({"blocks.policy": "grouped", "blocks.group_size": 4})
    assert sms_of(in_fours, trace) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_round_robin_goes_on_where_it_was_and_the_emptiest_does_not() -> None:
    gpu, trace = sim.gpu("gtx480").replace({"sms": 4}), unequal(203, 256)
    assert sms_of(gpu.replace({"blocks.policy": "round_robin"}), trace) != sms_of(gpu, trace)


def test_the_largest_block_starts_first_and_equal_ones_in_launch_order() -> None:
    trace = unequal(12)
    order = start_order("largest_first", work_of_blocks(trace))
    assert order.tolist() == [7, 6, 5, 4, 3, 11, 2, 10, 1, 9, 0, 8]
    assert start_order("launch", work_of_blocks(trace)).tolist() == list(range(12))
    one = {"sms": 1, "limits.blocks": 1}
    timeline = timing.simulate(trace, sim.gpu("gtx480").replace(one | {"blocks.order": "largest_first"}), timeline=(0, 10**9)).timeline
    assert timeline is not None
    assert list(dict.fromkeys(timeline.block.tolist())) == order.tolist()


def test_a_file_s_function_is_a_policy(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def last_first(sm, free, last, block, sms):\n    return sm\n\n\ndef few(sm):\n    return sm\n")
    run = ("run", CHAIN, "--grid", "4", "--arg", "iterations=1", "--block-policy")
    plain = [line for line in simtlab(*run, f"{file}:last_first").stdout.splitlines() if line.startswith("time")]
    assert plain == [line for line in simtlab(*run, "fill_first").stdout.splitlines() if line.startswith("time")]
    assert "takes (sm)" in refused(*run, f"{file}:few")
    assert "it has last_first, few" in refused(*run, f"{file}:none")
    assert "one of emptiest, round_robin, fill_first, grouped" in refused(*run, "round")
    assert f"write {file}:NAME" in refused(*run, str(file))


def test_the_page_s_policy_of_blocks_runs(tmp_path: Path) -> None:
    _, code = re.findall(r"```python\n(.*?)```", (Path(sim.__file__).parent / "policies" / "README.md").read_text(), re.DOTALL)
    (tmp_path / "quiet.py").write_text(code)
    gpu = sim.gpu("gtx480").replace({"sms": 2, "limits.blocks": 4, "blocks.policy": block_policy_of_file(tmp_path / "quiet.py", "quiet")})
    assert sms_of(gpu, unequal(6)) == [0, 0, 0, 1, 1, 0]


def test_a_policy_that_fails_ends_the_run() -> None:
    def divides(sm: int, free: int, last: int, block: int, sms: int) -> float:
        return 1 / (block - 5)

    gpu = sim.gpu("gtx480").replace({"blocks.policy": divides})
    for engine in (timing, reference):
        with pytest.raises(UserError, match="the block policy divides fails"):
            engine.simulate(unequal(8), gpu)


def partly(sm: int, free: int, last: int, block: int, sms: int) -> float | None:
    return 1.0 if sm > 1 else None


def in_words(sm: int, free: int, last: int, block: int, sms: int) -> str:
    return "most"


def unknown(sm: int, free: int, last: int, block: int, sms: int) -> float:
    return math.nan


@pytest.mark.parametrize(
    ("made", "numba", "simpy"),
    [
        (partly, "policy partly: does not always return a number", "its score is None"),
        (in_words, "policy in_words: its score is no number", "its score is 'most'"),
        (unknown, "policy unknown fails", "its score is nan"),
    ],
)
def test_a_score_is_a_number(made: Any, numba: str, simpy: str) -> None:
    gpu = sim.gpu("gtx480").replace({"blocks.policy": made})
    for engine, words in ((timing, numba), (reference, simpy)):
        with pytest.raises(UserError, match=words):
            engine.simulate(unequal(8), gpu)


def test_a_sweep_takes_block_policies_by_name() -> None:
    with pytest.raises(UserError, match="by name"):
        sim.sweep(unequal(4).launch, sim.gpu("gtx480").replace({"blocks.policy": odd_first}), over={"sms": [1, 2]})


def test_an_unread_field_says_so() -> None:
    assert "has no groups" in simtlab("compare", CHAIN, "--arg", "iterations=1", "--set-b", "blocks.group_size=4").output


@pytest.mark.slow
@pytest.mark.parametrize("gpu", ["gtx480", "h100"])
def test_the_claims_on_blocks_come_out(gpu: str) -> None:
    found = reproduce("block-scheduling", gpu)
    judged = [check for check in found.checks if check.passed is not None]
    assert [check.what for check in judged if not check.passed] == []
    assert len(judged) == 4


def test_a_claim_on_blocks_that_does_not_come_out_fails() -> None:
    said, gpu = {"text": "", "source": ""}, sim.gpu("gtx480")
    late: Any = {"launch": [(210, 100.0)], "largest_first": [(140, 100.0)]}
    assert [check.passed for check in blocks._lengths(gpu, late, said)] == [False, False, None]
    same: Any = {policy: SimpleNamespace(cycles=1, counters={"l1_sectors": 10, "l1_hit_rate": 0.5}) for policy in POLICIES}
    assert [check.passed for check in blocks._shared(same, said)] == [None, None, False]


def test_the_columns_are_added_up() -> None:
    launch = blocks.columns(sim.gpu("gtx480").replace({"sms": 1}))
    sim.execute(launch)
    matrix, out, _ = launch.args
    rows = matrix.reshape(-1, 64, launch.blocks, blocks.WIDTH).sum(axis=0)  # of a thread: every 64th row
    assert np.allclose(out.reshape(launch.blocks, 64, blocks.WIDTH), rows.transpose(1, 0, 2), rtol=1e-4)
