"""Sweeps: equal to single runs, in processes, on a cluster that loses a worker, and after a kill; nothing lost, nothing twice."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import isa
import sim
from isa.errors import UserError
from sim import warming
from sim.bench import COPY, chain, elementwise
from sim.launch.launch import Launch
from sim.sweeps import cluster, driver, local, work
from sim.sweeps.store import Store

GTX480 = sim.gpu("gtx480")
GRID = {"dram.latency": [500, 600, 700], "dram.bandwidth": [100.0, 177.4], "policy": ["gto", "lrr"]}
LONG = {"units.fp32.latency": list(range(4, 64))}
SWEEP = """
import os, signal, sys
import sim
from sim.bench import chain
report = lambda done, total: done < 20 or os.kill(os.getpid(), signal.SIGKILL)
sim.sweep(chain(15, 8, 2), sim.gpu("gtx480"), {"units.fp32.latency": list(range(4, 64))}, output=sys.argv[1], workers=2, progress=report)
"""


def same(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Return whether two tables are equal, in every bit of every column."""
    pd.testing.assert_frame_equal(one, other, check_exact=True)
    return True


@pytest.mark.parametrize("launch", [chain(15, 4, 1), elementwise(COPY, 60)], ids=["chain", "copy"])
def test_rows_are_those_of_single_runs(launch: Launch) -> None:
    frame = sim.sweep(launch, GTX480, GRID, workers=1)
    points = [
        (latency, bandwidth, policy)
        for latency in GRID["dram.latency"]
        for bandwidth in GRID["dram.bandwidth"]
        for policy in GRID["policy"]
    ]
    assert list(frame[list(GRID)].itertuples(index=False, name=None)) == points
    for (latency, bandwidth, policy), row in zip(points, frame.to_dict("records"), strict=True):
        gpu = GTX480.replace({"dram.latency": latency, "dram.bandwidth": bandwidth, "core.policy": policy})
        single = work.row(sim.run(launch, gpu))
        assert {name: row[name] for name in single if name != "error"} == {k: v for k, v in single.items() if k != "error"}
    assert same(frame, sim.sweep(launch, GTX480, GRID, workers=2))


def test_a_program_is_executed_once_per_launch_on_copies_of_its_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    executed = []
    monkeypatch.setattr(driver, "executed", lambda launch: executed.append(launch.block) or work.executed(launch))
    x, y = np.arange(256 * 6, dtype=np.float32), np.zeros(256 * 6, np.float32)
    launch = Launch(elementwise(COPY, 6).program, grid=(6,), block=(256,), args=(x, y))
    frame = sim.sweep(launch, GTX480, {"block": [64, 128], "dram.latency": [500, 600, 700]}, workers=1, repeat=1)
    assert executed == [(64,), (128,)]
    assert not y.any()
    assert frame["cycles"].nunique() > 2


def test_a_point_that_cannot_be_has_an_error_and_the_others_a_result() -> None:
    frame = sim.sweep(chain(1, 1, 1), GTX480, {"registers": [32, 63], "block": [(32, 4), 1024]}, workers=1)
    assert frame["block"].tolist() == ["32x4", "1024"] * 2
    assert frame["cycles"].isna().tolist() == [False, False, False, True]
    assert "a block does not fit" in frame["error"][3]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_configuration_that_no_compiler_takes_is_a_row_with_an_error(workers: int) -> None:
    """Autotuning: a list of configurations in, a table out."""

    def launch(ilp: int, warps: int) -> Launch:
        if ilp * warps > 16:
            raise UserError(f"{ilp * warps} is too much")
        return chain(1, warps, ilp)

    table = sim.sweep(
        launch, GTX480, [{"ilp": 1, "warps": 4}, {"ilp": 4, "warps": 8}, {"ilp": 8, "warps": 4}, {"ilp": 2, "warps": 2}], workers=workers
    )
    assert table["error"].fillna("").tolist() == ["", "32 is too much", "32 is too much", ""]
    assert table["warps"].tolist() == [4, 8, 4, 2]
    assert table["cycles"].notna().tolist() == [True, False, False, True]
    none = sim.sweep(launch, GTX480, {"ilp": [5], "warps": [4]}, workers=workers)
    assert none["error"].tolist() == ["20 is too much"]
    assert none["cycles"].isna().tolist() == [True]


def test_what_points_run_is_compiled_once_and_said_before_there_are_workers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled: list[list[str]] = []
    monkeypatch.setattr(local, "missing", lambda names: [name for name in names if name not in warming.KERNELS])
    monkeypatch.setattr(local, "compile_kernels", lambda names: compiled.append(list(names)))
    doubles = Launch(isa.parse(".kernel f\nDADD R0, R0, R2\nEXIT"), grid=(2,), block=(32,))
    sim.sweep(doubles, GTX480, {"core.issue_width": [1, 2], "units.fp64.latency": [20, 30]}, workers=2)
    sim.sweep(chain(15, 4, 1), GTX480, LONG, workers=2, repeat=1)
    assert compiled == [[*warming.KERNELS, "executor: doubles", "timing engine: further"], list(warming.KERNELS)]
    assert capsys.readouterr().err == "compiling the simulator's kernels, once: executor: doubles, timing engine: further...\n"


def test_a_function_of_its_parameters_makes_the_launches() -> None:
    frame = sim.sweep(lambda warps: chain(1, warps, 1), GTX480, {"warps": [4, 18], "gpu": ["gtx480", "h100"]})
    assert frame["gpu"].tolist() == ["gtx480", "h100"] * 2
    singles = [sim.run(chain(1, warps, 1), sim.gpu(gpu)).cycles for warps in (4, 18) for gpu in ("gtx480", "h100")]
    assert frame["cycles"].tolist() == singles


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"l2.latancy": [3]}, "did you mean l2.latency.*an integer of at least 0"),
        ({"l2.latency": [300, "3 ns"]}, "l2.latency = '3 ns' is not legal.*cycles from a load's issue"),
        ({"core.schedulers": [33]}, "an integer from 1 to 32"),
        ({"bloc": [32]}, "did you mean block"),
        ({"gpu": ["h10"]}, "did you mean h100"),
        ({"l2.latency": []}, "has no values"),
        ({"l2.latency": [3]}, "must be at least"),
    ],
)
def test_a_name_or_value_that_cannot_be_is_refused(over: dict, message: str) -> None:
    with pytest.raises(UserError) as caught:
        sim.sweep(chain(1, 1, 1), GTX480, over)
    assert re.search(message, str(caught.value), re.DOTALL)


def test_a_sweep_that_was_killed_goes_on_and_simulates_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "r.parquet"
    killed = subprocess.run([sys.executable, "-c", SWEEP, str(output)], check=False)  # by itself: nobody else would be in time
    assert killed.returncode == -signal.SIGKILL
    done = Store(output).keys
    assert 20 <= len(done) < 60
    again: list[str] = []
    monkeypatch.setattr(
        driver, "evaluated", lambda trace, gpus, jobs: again.extend(j.key for j in jobs) or work.evaluated(trace, gpus, jobs)
    )
    launch = chain(15, 8, 2)
    frame = sim.sweep(launch, GTX480, LONG, output=output, workers=1, repeat=1)
    assert len(again) == len(set(again)) == 60 - len(done)
    assert not done & set(again)
    assert same(frame, sim.sweep(launch, GTX480, LONG, workers=1, repeat=1))
    assert same(frame, pd.read_parquet(output))
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]
    again.clear()
    more = {"units.fp32.latency": [*LONG["units.fp32.latency"], 64]}  # a longer list takes over what is there
    assert same(sim.sweep(launch, GTX480, more, output=output, workers=1, repeat=1).head(60), frame)
    assert len(again) == 1


def test_a_cluster_that_loses_a_worker_gives_the_same_table(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    launch = chain(15, 8, 2)
    calls: list[int] = []
    workers: list[int] = []

    def kill_one(done: int, total: int) -> None:
        calls.append(done)
        if workers and done >= 15:
            os.kill(workers.pop(), signal.SIGKILL)
            workers.clear()

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workplace,
        distributed.Client(workplace) as client,
    ):
        workers += client.run(os.getpid).values()
        output = tmp_path / "c.parquet"
        frame = sim.sweep(launch, GTX480, LONG, cluster=workplace.scheduler_address, output=output, progress=kill_one)
        client.wait_for_workers(2, timeout=60)  # the one that takes the place of the dead: a cluster cannot close before it is up
    assert not workers
    assert any(15 <= done < 60 for done in calls)
    assert calls[-1] == 60
    assert calls == sorted(calls)
    assert same(frame, sim.sweep(launch, GTX480, LONG, workers=1))


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(UserError, match="another version"):
        cluster.checked(b"another", work.executed(chain(1, 1, 1)), {}, [])


def test_numpy_values_and_gpus_of_ones_own() -> None:
    mine = GTX480.replace({"name": "mine", "units.fp32.latency": 30})
    frame = sim.sweep(chain(1, 1, 1), GTX480, {"gpu": [GTX480, mine], "units.int32.latency": np.arange(10, 12)})
    assert frame["gpu"].tolist() == ["GeForce GTX 480"] * 2 + ["mine"] * 2
    assert frame["cycles"][2] > frame["cycles"][0]
    with pytest.raises(UserError, match="two GPUs are called GeForce GTX 480"):
        sim.sweep(chain(1, 1, 1), GTX480, {"gpu": [GTX480, GTX480.replace({"units.fp32.latency": 30})]})


def test_a_cluster_that_is_not_there_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("sim.sweeps.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(UserError, match=re.escape("no Dask scheduler answers at tcp://127.0.0.1:9")):
        sim.sweep(chain(1, 1, 1), GTX480, {"l2.latency": [300]}, cluster="tcp://127.0.0.1:9")


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.parquet").write_text("not a table")
    with pytest.raises(UserError, match="holds no results of a sweep"):
        sim.sweep(chain(1, 1, 1), GTX480, {"l2.latency": [300]}, output=tmp_path / "mine.parquet")
    assert (tmp_path / "mine.parquet").read_text() == "not a table"
