"""Timelines for other programs: each file keeps the rules of its format, and says what the timeline says."""

import csv
import gzip
import io
import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import sim
from sim.cli import app
from sim.cli import timeline as command
from sim.launch.file import load_launch
from sim.report.exports import konata, perfetto, table
from sim.report.slices import NOT_SELECTED, SELECTED, slices
from sim.report.tracks import tracks
from sim.report.view import data
from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result
from tests.unit.report_runs import add_one, chain

PROGRAMS = Path(__file__).parents[2] / "programs"
EVERYTHING = (0, 1 << 60)
THROTTLES = {"math_pipe_throttle", "mio_throttle", "lg_throttle", "dispatch_stall", "not_selected"}  # a timeline tells only their sum


def barrier() -> Result:
    return add_one(sim.gpu("textbook"), 4)


def dual_issue() -> Result:
    return sim.simulate(chain(3, 1), sim.gpu("gtx460").replace({"sms": 2, "limits.blocks": 1}), timeline=EVERYTHING)


def copy() -> Result:
    """Return blocks that follow each other on two SMs, with loads that queue."""
    launch = load_launch(PROGRAMS / "copy" / "copy_1_float.toml", grid=[40]).launch
    return sim.run(launch, sim.gpu("gtx480").replace({"sms": 2}), timeline=EVERYTHING)


def part_of_a_copy() -> Result:
    """Return a window that begins when warps already run and ends before they do."""
    launch = load_launch(PROGRAMS / "copy" / "copy_1_float.toml", grid=[40]).launch
    return sim.run(launch, sim.gpu("gtx480").replace({"sms": 2}), timeline=(300, 900))


RUNS = pytest.mark.parametrize("run", [barrier, dual_issue, copy, part_of_a_copy])


def page_data(result: Any) -> dict[str, Any]:
    return data.run(result, tracks(result), (0, result.cycles))


@RUNS
def test_a_perfetto_trace_keeps_the_rules_of_the_trace_event_format(run: Any) -> None:
    result = run()
    trace = json.loads(perfetto.text(result))
    by_phase: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in trace["traceEvents"]:
        by_phase[event["ph"]].append(event)
    assert set(by_phase) <= {"M", "X", "C", "s", "f"}
    named = {(e["pid"], e["tid"]) for e in by_phase["M"] if e["name"] == "thread_name"}
    assert {e["pid"] for e in by_phase["M"] if e["name"] == "process_name"} == {pid for pid, _ in named}
    assert len({tid for _, tid in named}) == len(named)
    on_thread: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in by_phase["X"]:
        assert type(event["ts"]) is int
        assert event["dur"] >= 1
        on_thread[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert set(on_thread) == named
    for spans in on_thread.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(spans)), "slices of a thread overlap or go back"
    check_flows(by_phase["s"], by_phase["f"], on_thread)
    check_counters(by_phase["C"])


def check_flows(starts: list[Any], ends: list[Any], on_thread: dict[tuple[int, int], list[tuple[int, int]]]) -> None:
    """Each arrow has one start and one end, the end not earlier, both where their thread has a slice."""
    assert sorted(e["id"] for e in starts) == sorted(e["id"] for e in ends)
    assert len({e["id"] for e in starts}) == len(starts)
    begin = {e["id"]: e["ts"] for e in starts}
    assert all(begin[e["id"]] < e["ts"] and e["bp"] == "e" for e in ends)
    heads = {key: {start for start, _ in spans} for key, spans in on_thread.items()}
    assert all(e["ts"] in heads[e["pid"], e["tid"]] for e in [*starts, *ends])


def check_counters(events: list[Any]) -> None:
    """Each counter goes forward in time, is never negative and ends at zero."""
    series: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for event in events:
        (value,) = event["args"].values()
        series[event["pid"], event["name"]].append((event["ts"], value))
    assert series
    for points in series.values():
        assert all(a < b for (a, _), (b, _) in pairwise(points))
        assert min(value for _, value in points) == 0 == points[-1][1]


@pytest.mark.parametrize("run", [barrier, copy])
def test_slices_add_up_to_the_closed_account(run: Any) -> None:
    result = run()
    found, total = slices(tracks(result)), dict.fromkeys(CAUSE_NAMES, 0)
    for cause, begin, end in zip(found.cause.tolist(), found.begin.tolist(), found.end.tolist(), strict=True):
        total[CAUSE_NAMES[cause]] += end - begin
    for name in set(CAUSE_NAMES) - THROTTLES - {"drain"}:
        assert total[name] == result.stalls.get(name, 0), name
    assert total[CAUSE_NAMES[NOT_SELECTED]] == sum(result.stalls.get(name, 0) for name in THROTTLES)
    assert total[CAUSE_NAMES[SELECTED]] == len(result.timeline.cycle)


def test_a_trace_names_what_a_known_warp_waits_for() -> None:
    """In the loop of the lecture notes I1 waits from cycle 1 to 400 for what I0 loads."""
    from programs.intervals import loops

    result = sim.run(load_launch(PROGRAMS / "intervals" / "simple_loop.toml").launch, loops.device(), timeline=EVERYTHING)
    events = json.loads(perfetto.text(result))["traceEvents"]
    first = next(e for e in events if e["ph"] == "X" and e["cat"] == "stall")
    assert (first["name"], first["ts"], first["dur"]) == ("long_scoreboard", 1, 399)
    arrow = next(e for e in events if e["ph"] == "f")
    assert (arrow["name"], arrow["ts"]) == ("R2", 400)
    busy = [(e["ts"], e["args"]["loads"]) for e in events if e["ph"] == "C" and e["name"] == "loads in flight"]
    assert busy[:2] == [(0, 1), (400, 0)]


def test_barriers_in_shared_memory_have_threads_of_their_own() -> None:
    result = sim.run(load_launch(PROGRAMS / "cuda" / "hgemm_tma.sm_90.sass").launch, sim.gpu("h100"), timeline=EVERYTHING)
    events = json.loads(perfetto.text(result))["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    bars = [(names[e["pid"], e["tid"]], e["name"], e["ts"], e["ts"] + e["dur"]) for e in events if e.get("cat") == "mbarrier"]
    assert len(bars) == len(result.phases.over)
    full = [bar for bar in bars if bar[0] == "block 0 mbarrier 0x400"]
    assert [name for _, name, *_ in full] == ["phase 0", "phase 1"]
    first = result.phases.barrier == 0x400
    assert [over for *_, over in full] == result.phases.over[first & (result.phases.block == 0)].tolist()
    drawn = {row: name for row, name in enumerate(page_data(result)["rowNames"]) if "0x" in name}
    assert len(drawn) == 4 * 8  # blocks; stages, full and empty
    assert [phase[1:] for phase in page_data(result)["phases"]][:2] == [[0, *full[0][2:]], [1, *full[1][2:]]]


@RUNS
def test_a_kanata_log_keeps_the_rules_of_its_format(run: Any) -> None:
    result = run()
    lines = konata.text(result).splitlines()
    assert lines[0] == "Kanata\t0004"
    assert lines[1].startswith("C=\t")
    now, alive, retired, stages, executed = int(lines[1].split("\t")[1]), set(), {}, {}, []
    introduced = 0
    for line in lines[2:]:
        command, number, *rest = line.split("\t")
        who = int(number)
        if command == "C":
            assert who > 0
            now += who
            continue
        if command == "I":
            assert who == introduced, "identifiers count up"
            assert len(rest) == 2
            introduced += 1
            alive.add(who)
            continue
        assert who in alive, f"{line}: not introduced, or retired"
        if command == "S":
            lane, stage = rest
            assert lane in ("0", "1")
            assert (who, lane) not in stages, f"{line}: the lane's stage before has not ended"
            stages[who, lane] = stage
            executed += [now] if stage == "X" else []
        elif command == "E":
            assert stages.pop((who, rest[0])) == rest[1]
        elif command == "W":
            assert int(rest[0]) < who
            assert rest[1] == "0"
        elif command == "R":
            retired[who] = int(rest[0])
            assert rest[1] == "0"
            alive.remove(who)
        else:
            assert command == "L"
            assert rest[0] in ("0", "1")
    assert not alive
    assert not stages
    assert sorted(retired.values()) == list(range(len(result.timeline.cycle)))
    assert executed == sorted(result.timeline.cycle.tolist())


@RUNS
def test_tables_hold_the_timeline(run: Any) -> None:
    result = run()
    rows = list(csv.DictReader(io.StringIO(table.as_csv(result))))
    read = parquet.read_table(io.BytesIO(table.as_parquet(result))).to_pydict()
    assert list(read) == list(rows[0])
    for name, column in result.timeline._asdict().items():
        expected = [CAUSE_NAMES[cause] for cause in column] if name == "cause" else column.tolist()
        assert read[name] == expected
        assert [row[name] for row in rows] == [str(value) for value in expected]
    assert read["text"] == [result.program.instructions[i].text for i in result.timeline.instruction]


def test_a_run_too_long_for_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MOST_ISSUES", 100)
    options = ["timeline", PROGRAMS / "volkov" / "ffma_ilp1.sass", "--warps", "1", "--arg", "iterations=1", "--csv", tmp_path / "t.csv"]
    done = CliRunner().invoke(app, [str(option) for option in options])
    assert done.exit_code == 2
    assert "too many for one file" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_command_writes_every_file_and_the_whole_run(tmp_path: Path) -> None:
    files = {
        "--perfetto": tmp_path / "t.json.gz",
        "--konata": tmp_path / "t.log",
        "--csv": tmp_path / "t.csv",
        "--parquet": tmp_path / "t.parquet",
    }
    options = ["timeline", PROGRAMS / "volkov" / "ffma_ilp1.sass", "--warps", "2", "--arg", "iterations=1"]
    done = CliRunner().invoke(app, [str(o) for o in [*options, *(part for pair in files.items() for part in pair)]])
    assert done.exit_code == 0, done.output
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["perfetto", "konata", "csv", "parquet"]
    issues = len(files["--csv"].read_text().splitlines()) - 1
    assert f"({issues:,} issues)" in done.stdout
    slices_of_issues = [e for e in json.loads(gzip.decompress(files["--perfetto"].read_bytes()))["traceEvents"] if e.get("cat") == "issue"]
    assert len(slices_of_issues) == issues > 100
