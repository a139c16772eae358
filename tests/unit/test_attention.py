"""Attention as it is measured on a GPU: results, with any number of buffers; engines; the table of what Nsight Compute prints."""

import csv
from pathlib import Path

import numpy as np
import pytest

import sim
from programs.measurements import attention as simulated
from programs.measurements.gpu import attention as measured
from programs.measurements.gpu import counters
from programs.measurements.gpu.attention import Row
from programs.published import ends_with_status
from tests.compare import first_difference
from tests.differential.cases import EVERYTHING

SMALL = [Row("attention_wgmma", *sizes) for sizes in ((1, 128, 2), (2, 384, 2), (1, 384, 3), (1, 640, 5))] + [
    Row("attention_mma", 2, 192, 0)
]


@pytest.mark.parametrize("row", SMALL, ids=lambda row: f"{row.kernel}-{row.heads}-{row.n}-{row.stages}")
def test_results_are_numpys(row: Row) -> None:
    launch = simulated.launch_of(row)
    sim.execute(launch)
    out = launch.args[3]
    assert isinstance(out, np.ndarray)
    assert np.abs(out - measured.expected(*measured.arrays(row))).max() < measured.TOLERANCE


def test_one_buffer_is_a_deadlock_and_is_said_to_be() -> None:
    """Keys of the next tile are asked for while values of this one are held: both need a buffer."""
    with pytest.raises(sim.UserError, match=r"warp 0: waits at the mbarrier at 0x400 of shared memory \(lanes 0-31\)"):
        sim.execute(simulated.launch_of(Row("attention_wgmma", 1, 256, 1)))


def test_both_engines_take_turns_alike() -> None:
    trace = sim.execute(simulated.launch_of(Row("attention_wgmma", 1, 384, 3)))
    gpu = sim.gpu("h100").replace({"sms": 2})
    runs = [sim.simulate(trace, gpu, timeline=EVERYTHING, engine=engine) for engine in ("numba", "simpy")]
    assert first_difference(*runs) is None


def test_counters_become_a_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def launched(_: Path, mode: str, before: tuple[str, ...] = ()) -> str:
        metrics = before[before.index("--metrics") + 1].split(",")
        values = {"sm__cycles_active.max": 1000, "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": 9}
        lines = [["ID", *metrics], ["", *metrics]]
        lines += [[str(k), *(str(values.get(metric, 5) + k % 5) for metric in metrics)] for k in range(int(mode) * len(measured.ROWS))]
        return "".join(",".join(f'"{word}"' for word in line) + "\n" for line in lines)

    monkeypatch.setattr(measured, "launched", launched)
    monkeypatch.setattr(measured, "known", lambda: {"sm__pipe_tensor_cycles_active"})
    found = list(measured.table(tmp_path, [1e-4] * len(measured.ROWS)))
    assert [row["cycles_3"] for row in found] == [1002] * len(measured.ROWS)
    assert {row["stall"] for row in found} == {"wait"}
    assert found[1]["tensor_percent"] == 6
    written = counters.write(found, tmp_path / "attention.csv")
    with written.open(encoding="utf-8") as file:
        assert [row["kernel"] for row in csv.DictReader(file)] == [row.kernel for row in measured.ROWS]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv"], "none.csv: cannot read the table: No such file or directory"),
        (["other.csv"], "other.csv: the table has no column kernel"),
        (["a.csv", "b.csv"], "one file at most"),
    ],
)
def test_what_is_no_table_is_named(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["attention", *arguments])
    with pytest.raises(SystemExit, match="2"):
        ends_with_status(simulated.main)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"), [([], "usage"), (["out.csv"], "nvcc, ncu: not on the PATH"), (["a/b.csv"], "no folder a")]
)
def test_what_cannot_be_measured_is_said_before_it_begins(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="2"):
        measured.command(arguments)
    assert message in capsys.readouterr().err
