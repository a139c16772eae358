"""Measuring without a GPU: plans, what the profiler prints, tables; mistakes."""

import csv
from pathlib import Path

import numpy as np
import pytest

from isa.errors import UserError
from programs.measurements.gpu import build, counters, launcher, measure
from programs.measurements.gpu.plan import Job, read

PLANS = Path(measure.__file__).parent / "plans"
PRINTED = """==PROF== Connected to process 7
"ID","Kernel Name","sm__cycles_active.max","smsp__inst_executed.sum","dram__bytes_read.sum"
"","","cycle","inst","byte"
"0","copy","5,731","3834","1.2e+06"
"1","copy","5,638","3,834",""
"""


def test_the_plans_name_kernels_that_are_there() -> None:
    for path in sorted(PLANS.glob("*.toml")):
        jobs = read(path)
        assert jobs
        for job in jobs:
            text = job.source.read_text("utf-8")
            family = (job.kernel or job.source.stem).split("_")[0]
            assert family.upper() in text.upper()


def test_a_plan_varies_together(tmp_path: Path) -> None:
    (tmp_path / "k.toml").write_text("grid = 1\nblock = 32\n")
    plan = tmp_path / "plan.toml"
    plan.write_text('[[launch]]\nfiles = ["k.toml"]\nclocks = "t"\nvary = { grid = [1, 2], n = [7, 9] }\n')
    first, second = read(plan)
    assert (first.values, second.values) == ({"grid": 1, "n": 7}, {"grid": 2, "n": 9})
    assert (second.shape, second.arguments, second.source.name) == ({"grid": 2}, {"n": 9}, "k.cu")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[launch]]\nfile = 3\n", "launch.0.files"),
        ('[[launch]]\nfiles = ["none.toml"]\n', "no launch file none.toml"),
        ('[[launch]]\nfiles = ["plan.toml"]\nvary = { grid = [1], n = [1, 2] }\n', "lists of"),
        ("[[launch", "plan.toml:1: not a TOML file"),
    ],
)
def test_what_is_no_plan(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(UserError, match=said):
        read(tmp_path / "plan.toml")


def test_the_profilers_table() -> None:
    metrics = {name: counters.METRICS[name] for name in ("cycles", "warp_instructions", "dram_bytes_read")}
    first, second = counters.read(PRINTED, metrics)
    assert first == {"cycles": 5731, "warp_instructions": 3834, "dram_bytes_read": 1.2e6}
    assert second == {"cycles": 5638, "warp_instructions": 3834}


def test_rows_give_median_and_spread(tmp_path: Path) -> None:
    clocks = [[[0, 90], [3, 100]], [[0, 80], [2, 94]]]
    row = measure.row(clocks, [{"cycles": 7.0}, {"cycles": 3.0}, {"cycles": 4.0}], {"cycles": 99.0, "warp_instructions": 12.0})
    assert row == {"cycles": 4, "cycles_least": 3, "cycles_most": 7, "clock_cycles": 97, "clock_least": 94, "warp_instructions": 12}
    path = counters.write([row, {"cycles": 1.25, "other": 2}], tmp_path / "table.csv")
    rows = list(csv.DictReader(path.open()))
    assert (rows[0]["cycles"], rows[1]["cycles"], rows[0]["other"], rows[1]["other"]) == ("4", "1.25", "", "2")


def test_clocks_that_were_written() -> None:
    assert launcher._pairs(np.array([500, 540, 0, 0, 510, 560])) == [[0, 40], [10, 60]]
    job = Job(Path("k.cu"), Path("k.toml"), "f", "t", {"n": 1})
    (row,) = measure.clock_rows([job], {Path("k.cu"): Path("k.sm_90.sass")}, {"cold": [[[[0, 40], [10, 60]]]]})
    assert (row["caches"], row["cycles"], row["kernel"]) == ("cold", "40 50", "f")


def test_without_a_toolkit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="measuring needs nvcc"):
        build.cubin(Path("k.cu"), "sm_90", Path())
    with pytest.raises(UserError, match="measuring needs nvcc"):
        measure.measure(PLANS / "kernels.toml", tmp_path, "sm_90")
