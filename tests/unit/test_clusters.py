"""Clusters: what they compute, how long it takes beside an H100, mistakes, and engines that agree."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import isa
import sim
from isa.errors import UserError
from programs.measurements import clusters
from sim import reference, timing
from sim.cli import app
from sim.functional.execute import execute
from sim.launch.launch import Launch
from tests.compare import first_difference
from tests.listings import FOLDER
from tests.unit.cluster_programs import measured, small, tiles

CUDA = FOLDER / "cuda"
IDS = """.kernel ids
.target sm_90
.parameter_base 0x210
.param ptr out
S2R R4, SR_CTAID.X
S2R R5, SR_CTAID.Y
S2R R6, SR_CgaCtaId
MOV R7, c[0x0][0xc]
IMAD R8, R5, R7, R4
SHL R8, R8, 2
IADD3 R2, R8, c[0x0][out], RZ
MOV R3, RZ
STG.E [R2.64], R6
EXIT"""


def test_ranks_go_along_x_first() -> None:
    out = np.zeros((6, 4), np.uint32)
    execute(Launch(isa.parse(IDS), (4, 6), (1,), (out,), cluster=(2, 3)))
    assert (out == np.tile(np.arange(6).reshape(3, 2), (2, 2))).all()


def test_without_clusters_every_block_is_alone() -> None:
    out = np.full((6, 4), 9, np.uint32)
    execute(Launch(isa.parse(IDS), (4, 6), (1,), (out,)))
    assert not out.any()


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_copy_to_several_blocks_reaches_all(ranks: int) -> None:
    launch, out, array = tiles("tiles_all", ranks, 3, 64 // ranks)
    execute(launch)
    total = 0
    for word in array.view(np.uint32).ravel()[: 3 * 2048 : 97].tolist():
        total = (total * 31 + word) & 0xFFFFFFFF
    assert out[4096 : 4096 + ranks].tolist() == [total] * ranks


@pytest.mark.parametrize("blocks", [4, 24])
def test_a_histogram_is_counted_by_clusters(blocks: int) -> None:
    values, bins = np.random.default_rng(1).integers(0, 4096, 3000).astype(np.int32), np.zeros(4096, np.int32)
    program = isa.load(CUDA / "histogram_cluster.sm_90.sass")
    execute(Launch(program, (blocks,), (128,), (np.int32(values.size), values, bins), cluster=4))  # type: ignore[arg-type]
    assert (bins == np.bincount(values, minlength=4096)).all()


def agree(launch: Launch, **changes: Any) -> None:
    trace, gpu = execute(launch), sim.gpu("h100").replace(changes)
    found = timing.simulate(trace, gpu, threads=1)
    assert first_difference(found, timing.simulate(trace, gpu, threads=2)) is None
    assert first_difference(found, reference.simulate(trace, gpu)) is None


@pytest.mark.parametrize("name", small())
def test_engines_agree(name: str) -> None:
    agree(small()[name])


def test_engines_agree_on_clusters_that_wait_for_room() -> None:
    agree(measured("barriers", 2, 1, 2, blocks=20), sms=4)
    agree(measured("copies", 2, 1, 512, 4))


WITHIN = {
    "chase": ("chase", 0.08, 9000),
    "barriers": ("barriers", 0.15, 12000),
    "tokens": ("tokens_async", 0.03, 30000),
    "copies": ("copies", 0.14, 8000),
    "tiles": ("tiles_all", 0.16, 6000),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", WITHIN)
def test_times_are_near_an_h100s(kind: str) -> None:
    what, most, cycles = WITHIN[kind]
    errors = [abs(score.error) for score in clusters.times(what, most=cycles)]
    assert errors
    assert max(errors) < most


def test_a_product_by_multicast_takes_about_as_long_as_on_an_h100() -> None:
    score = next(clusters.kernels("hgemm_multicast"))
    assert abs(score.error) < 0.08


def refused(launch: Launch, words: str, gpu: str = "h100", **changes: Any) -> None:
    with pytest.raises(UserError, match=words):
        timing.simulate(execute(launch), sim.gpu(gpu).replace(changes))


def test_what_cannot_be_is_said() -> None:
    good = measured("barriers", 2, 1, 2)
    refused(Launch(good.program, (3,), (32,), good.args, cluster=(2,)), "is not a multiple of the cluster")
    refused(Launch(good.program, (32,), (32,), good.args, cluster=(32,)), "at most 16 blocks")
    refused(Launch(isa.parse("EXIT"), (2,), (32,), (), cluster=(2,)), "modelled for sm_90(.|\n)*0x210` behind `.kernel`")
    refused(good, "has no clusters of blocks", "a100")
    refused(good, "emptiest group", **{"blocks.order": "largest_first"})
    refused(measured("barriers", 16, 1, 2), "does not fit a group of SMs", **{"clusters.groups": (2, 2)})
    refused(measured("chase", 2, 1, 0, 5, 8), "block that is not in the cluster")
    with pytest.raises(UserError, match="a sample of blocks has no whole clusters"):
        execute(good, blocks=np.arange(1))


def test_the_command_line_says_the_size(tmp_path: Path) -> None:
    (tmp_path / "ids.sass").write_text(IDS)
    options = ["--block", "32", "--grid", "4", "--gpu", "h100", "--arg", "out=u32[4]=zeros"]
    run = CliRunner().invoke(app, ["run", str(tmp_path / "ids.sass"), *options, "--cluster-size", "2"])
    assert run.exit_code == 0, run.output
    wrong = CliRunner().invoke(app, ["run", str(tmp_path / "ids.sass"), *options, "--cluster-size", "3"])
    assert wrong.exit_code == 2
    assert "is not a multiple of the cluster" in wrong.output
