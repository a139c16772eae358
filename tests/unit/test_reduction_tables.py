"""Tables of bulk reductions that a GPU wrote, beside the simulator: results, times, and what is no such table."""

from pathlib import Path

import pytest

import sim
from programs.measurements.reductions import CODE, compared, launch_of, main, times
from programs.published import ends_with_status


@pytest.mark.slow
def test_an_h100_takes_and_refuses_the_same_cases_and_leaves_the_same_bits() -> None:
    assert list(compared(CODE.parent / "reductions.csv")) == ["143 of 143 cases as on the GPU: 72 with the same bits, 71 refused by both"]


def test_a_gpus_file_is_compared_case_by_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    given, left, _ = launch_of({"what": "bulk", "operation": "add", "type": "u32", "number": "3"})
    sim.execute(given)
    text = "".join(f"{word:08x}" for word in left)
    file = tmp_path / "reductions.csv"
    lines = ["what,operation,type,number,error,words", f"bulk,add,u32,3,0,{text}", f"bulk,add,u32,3,0,{'f' * 8}{text[8:]}"]
    lines += ["tile,inc,f32,9,715,", "tile,inc,f32,9,0,", "bulk,add,u32,3,715,"]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    found = list(compared(file))
    assert [line.split(":")[0] for line in found[:-1]] == ["bulk add u32", "tile inc f32", "bulk add u32"]
    assert found[-1] == "2 of 5 cases as on the GPU: 1 with the same bits, 1 refused by both"
    monkeypatch.setattr("sys.argv", ["reductions", str(file)])
    for kept, status in ((lines, 1), (lines[:2], 0)):
        file.write_text("\n".join(kept) + "\n", "utf-8")
        with pytest.raises(SystemExit, match=str(status)):
            ends_with_status(main)
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 1 cases as on the GPU: 1 with the same bits, 0 refused by both"


def test_times_of_a_file_are_set_beside_those_of_the_same_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "times.csv"
    lines = ["what,name,bytes,count,places,blocks,t0,t1,t2,t3,t4,t5,t6,t7", "alone,add_f16,1024,2,one,1,0,0,0,0,0,500"]
    lines += [
        "alone,add_u32,16,1,apart,1,cudaErrorNoDevice",
        "flood,tile_add_f64,1024,4,apart,3,1,400,1",
        "near,xor_b32,128,2,one,2,0,0,0,0,0,0,0,900",
    ]
    file.write_text("\n".join(lines) + "\n", "utf-8")
    scores = [score for what in ("alone", "flood", "near") for score in times(file, what)]
    assert [score.name for score in scores] == [
        "alone add_f16 1024 2 one 1",
        "flood tile_add_f64 1024 4 apart 3",
        "near xor_b32 128 2 one 2",
    ]
    assert [score.measured for score in scores] == [500, 400, 900]
    assert all(50 < score.simulated < 5000 for score in scores)
    monkeypatch.setattr("sys.argv", ["reductions", str(file)])
    ends_with_status(main)
    said = capsys.readouterr().out
    assert all(f"{what}: 1, mean error" in said for what in ("alone", "flood", "near"))
    file.write_text("\n".join(lines[:2]) + "\n", "utf-8")
    ends_with_status(main)
    assert "near: no rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a file is needed"),
        (["none.csv"], "none.csv: cannot read the table: No such file or directory"),
        (["other.csv"], "other.csv: the table has no column what"),
        (["empty.csv"], "empty.csv: the table has no column what"),
        (["times.csv"], "times.csv: the table has no column t0"),
        (["binary.csv"], "binary.csv: cannot read the table"),
    ],
)
def test_what_is_no_file_of_a_gpu_is_named(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in (
        ("other", b"a,b\n1,2\n"),
        ("empty", b""),
        ("times", b"what,name,bytes,count,places,blocks\n"),
        ("binary", b"\xff\xfe"),
    ):
        (tmp_path / f"{name}.csv").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["reductions", *arguments])
    with pytest.raises(SystemExit, match="2"):
        ends_with_status(main)
    assert message in capsys.readouterr().err
