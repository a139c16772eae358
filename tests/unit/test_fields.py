"""No silent field: each changes what a run takes, in the direction that its explanation says, or says why no run reads it."""

from contextlib import suppress
from dataclasses import replace

import pytest

import sim
from isa.errors import UserError
from sim.causes.sensitivity.steps import variant
from sim.launch.file import load_launch
from sim.lowering.unread import why_unread_by
from sim.lowering.used import used_by
from tests.fields import LABELS, Suite, as_said, candidates, seconds, small, with_words
from tests.listings import FOLDER
from tests.unread import same_once

MACHINES = {
    "gtx480": ({"sms": 4, "l2.bytes": 98304}, ("copy/copy_4_float", "reduce_shared", "shared/transpose_naive", "atomics/histogram_global")),
    "h100": (
        {"sms": 4, "l2.bytes": 1 << 18},
        ("cuda/transpose_naive.sm_90", "cuda/histogram.sm_90", "cuda/n_body.sm_90", "cuda/softmax.sm_90", "atomics/histogram_global"),
    ),
}  # less of it, so that small programs fill it


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_no_field_is_silent(name: str) -> None:
    changes, programs = MACHINES[name]
    gpu = sim.gpu(name).replace(changes)
    suite = Suite(dict.fromkeys(programs) | small() | (with_words() if gpu.core.kind == "control" else {}))
    found = {field: suite.notices(gpu, field) for field in gpu.names() if field not in LABELS}
    assert [field for field, words in found.items() if not words] == []
    refused = {field for field, words in found.items() if words.startswith("refused")}
    unread = {field for field, words in found.items() if words.startswith("not read")}
    assert len(found) - len(refused) - len(unread) > 100
    assert not [
        field
        for field in refused
        if not field.startswith(("limits.", "pipes.", "units.", "clock.", "memory.", "l1.", "l2.", "warpgroup.", "clusters."))
    ]


@pytest.mark.parametrize(
    ("name", "program", "grid"),  # more blocks than have a place at once, but of the few of n_body
    [
        ("gtx480", "copy/copy_4_float", (56,)),
        pytest.param("k20c", "sgemm/sgemm_4", (3, 4), marks=pytest.mark.slow),
        pytest.param("h100", "cuda/n_body.sm_90", (2,), marks=pytest.mark.slow),
        pytest.param("h100", "saxpy", (128,), marks=pytest.mark.slow),
    ],
)
def test_a_field_that_nothing_executed_needs_changes_nothing(name: str, program: str, grid: tuple[int, ...]) -> None:
    some = replace(load_launch(FOLDER / f"{program}.sass").launch, grid=grid)
    gpu, suite = sim.gpu(name).replace({"sms": 2}), Suite({program: some})
    trace = suite.traces[program]
    with same_once():
        run, found = sim.simulate(trace, gpu, threads=1), 0
        used, before = used_by(run), run.seconds
        for field in gpu.names():
            if field not in (*LABELS, "core.kind", "core.warp_size") and why_unread_by(gpu, field, run.words, used):
                found += 1
                for value in candidates(gpu, field)[:3]:
                    with suppress(UserError):
                        after = seconds(trace, variant(gpu, field, value), "auto")
                        assert isinstance(after, str) or after == before, (field, value)  # refused, or the same
    assert found > 10


def test_a_change_the_wrong_way_does_not_count() -> None:
    assert as_said("units.fp32.latency", 4, 8, 1.5)
    assert not as_said("units.fp32.latency", 4, 8, 0.9)
    assert not as_said("units.fp32.latency", 4, 2, 1.1)
    assert as_said("dram.bandwidth", 100, 200, 0.6)
    assert not as_said("dram.bandwidth", 100, 50, 0.9)
    assert not as_said("dram.refresh_interval", 1000, 500, 0.9)
    assert as_said("l1.pending", 0, 128, 1.3)  # 0: without limit


def test_a_field_that_nobody_reads_is_seen() -> None:
    suite = Suite({"chain": small()["12 registers, 0 bytes, 32 threads"]})
    gpu = sim.gpu("gtx480")
    assert suite.notices(gpu, "units.fp32.latency").startswith("chain ")
    assert suite.notices(gpu, "units.fp64.latency") == ""
    assert suite.notices(gpu, "core.register_banks").startswith("not read: core.kind")
    assert "no control words" in suite.notices(gpu, "core.kind")
    assert suite.notices(gpu, "limits.shared_carveouts").startswith("not read: l1.unified = false")
    assert suite.notices(gpu, "constants.bytes").startswith("not read: all that a miss of constants costs = 0")
    assert suite.notices(gpu, "l1.line").startswith("refused: 256: l1.line = 256 is not legal")
