"""The lab's server: what a page may ask, what it is told, and what it may not."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sim
from isa.errors import UserError
from sim.cli import app
from sim.cli.lab import EXAMPLE
from sim.lab import exercises, export, kept, knobs, state, work
from sim.lab.server import Setting, application
from sim.lab.workers import Limits
from sim.result.causes import StallCause

pytest.importorskip("httpx2", reason="Starlette's test client needs httpx2: pip install 'simtlab[test]'")
testclient = pytest.importorskip("starlette.testclient", reason="the lab's server is not installed: pip install 'simtlab[lab]'")
psutil = pytest.importorskip("psutil")
TestClient = testclient.TestClient
GPUS = {name: name for name in sim.gpus()}
EXERCISES = exercises.load()
SPIN = ".kernel spin\n.param ptr x\nMOV R2, c[0x0][x]\nMOV R3, c[0x0][x+4]\n.Loop:\nIADD R1, R1, 1\nLDG.E R4, [R2]\nBRA .Loop\n"
ARRAY = 'grid = 1\nblock = 32\n[[args]]\nname = "x"\nshape = 64\n'
WORDS = ".kernel f\n.shared 256\nS2R R0, SR_TID.X\nIADD R1, R0, 1\nSHL R2, R0, 2\nSTS [R2], R1\nEXIT"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """Return a client of a server with one worker and more time for a request than a busy machine needs."""
    with TestClient(application(setting(seconds=120.0)), base_url="http://127.0.0.1") as opened:
        yield opened


def setting(seconds: float) -> Setting:
    return Setting(state.State(listing=EXAMPLE), GPUS, EXERCISES, limits=Limits(seconds=seconds, memory=1 << 29, processes=1))


def run(client: TestClient, listing: str = EXAMPLE, **more: Any) -> dict[str, Any]:
    return client.post("/run", json={"state": {"listing": listing} | more}).json()


def test_a_change_gives_the_page_of_its_run_and_the_lines_waits(client: TestClient) -> None:
    answer = run(client, warps=3, machines=[{"gpu": "gtx480", "set": {"sms": 1, "units.fp32.latency": 30}}])["result"]
    launch = state.launch(state.State(listing=EXAMPLE, warps=3)).launch
    expected = sim.run(launch, sim.gpu("gtx480").replace({"sms": 1, "units.fp32.latency": 30}))
    assert answer["cycles"] == [expected.cycles]
    assert answer["issues"] == 3 * 11
    fma = next(line for line in answer["lines"] if line["line"] == 6)
    waited = expected.stalls_by_instruction[[i.index for i in expected.program.instructions if i.line == 6]].sum(axis=0)
    assert fma["issues"] == 3 * 8  # the eight copies that .rept makes are one line
    assert sum(share for _, share in fma["segments"]) == pytest.approx(100)  # nothing waits longer
    assert fma["says"].startswith(f"issued 24 times; wait: {waited[StallCause.WAIT]:,} warp-cycles")
    page = client.get(f"/page/{answer['page']}")
    assert f"{expected.cycles:,}" in page.text
    assert "every number, its meaning and its source" not in page.text  # the sliders say that


def test_equal_states_are_simulated_once_while_their_page_is_kept(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    one = run(client, warps=5)
    assert run(client, warps=5) == one
    assert run(client, warps=5, machines=[{"set": {"sms": 1}}])["result"]["page"] != one["result"]["page"]
    monkeypatch.setattr(kept, "MOST_PAGES", 1)
    run(client, warps=6)
    again = run(client, warps=5)["result"]
    assert again["page"] != one["result"]["page"]
    assert again["cycles"] == one["result"]["cycles"]
    assert client.get(f"/page/{again['page']}").status_code == 200
    error = run(client, "FFMX")
    assert error == run(client, "FFMX")
    assert error["error"]


def test_two_machines_and_why_one_is_faster(client: TestClient) -> None:
    answer = run(client, machines=[{"set": {"sms": 1}}, {"set": {"sms": 1, "units.fp32.latency": 9}}])["result"]
    assert answer["cycles"][0] - answer["cycles"][1] == 8 * 9
    assert answer["difference"]["says"].startswith("B is ")
    assert next(one["change"] for one in answer["difference"]["causes"] if one["cause"] == "wait") < 0
    assert "units.fp32.latency=9" in client.get(f"/page/{answer['page']}").text


def test_mistakes_name_their_text_and_line(client: TestClient) -> None:
    error = run(client, ".kernel a\nFFMX R0, R1, R2;\nFADD R0,, 1;\nEXIT;")["error"]
    assert (error["where"], [place["line"] for place in error["places"]]) == ("listing", [2, 3])
    toml = run(client, launch="grid = 1\nblock = 2x")["error"]
    assert (toml["where"], [place["line"] for place in toml["places"]]) == ("launch", [2])
    assert "core.schedulers = 99 is not legal" in run(client, machines=[{"set": {"core.schedulers": 99}}])["error"]["text"]
    assert "no GPU is called" in run(client, machines=[{"gpu": "nope"}])["error"]["text"]
    assert "core.schedulers" in run(client, machines=[{"set": {"core.scheduler": 2}}])["error"]["text"]


def test_results_are_compared_where_the_launch_says_what_they_should_be(client: TestClient) -> None:
    copy = EXERCISES["04_bytes_in_flight"]
    assert run(client, copy.listing, launch=copy.launch)["result"]["values"] == "Results equal NumPy's: dst."
    broken = run(client, copy.listing.replace("STG.E [R6], R4", "STG.E [R6], R0"), launch=copy.launch)["result"]["values"]
    assert broken.startswith("Wrong: dst[0] is 0.0, and should be 0.6")
    assert run(client, copy.listing, launch=copy.launch, warps=2)["result"]["values"] == ""


@pytest.mark.parametrize(
    ("listing", "more", "says"),
    [
        (EXAMPLE, {"launch": "grid = 5000\nblock = 32"}, "the lab takes 4,096 warps"),
        (EXAMPLE, {"launch": "grid = [60, 60, 60]\nblock = 1024"}, "warps; the lab takes 4,096"),
        (EXAMPLE.replace("rept 8", "rept 4000"), {"blocks": 64}, "warp instructions; the lab takes 200,000"),
        (SPIN, {"launch": ARRAY.replace("64", "99999999999")}, "arrays of over 64 MiB"),
        (SPIN, {"launch": ARRAY.replace("shape = 64", 'file = "/etc/passwd"')}, "the lab reads no files"),
        (SPIN, {"launch": ARRAY + '[expect]\nx = {file = "../secret.npy"}\n'}, "the lab reads no files"),
        (SPIN, {"launch": ARRAY + "[expect]\nx = \"__import__('os').getcwd()\"\n"}, "only arguments, numbers, operators"),
        (EXAMPLE, {"machines": [{"gpu": "/etc/passwd"}]}, "no GPU is called"),
        (EXAMPLE, {"machines": [{"gpu": "../gpus/gtx480"}]}, "no GPU is called"),
        (EXAMPLE, {"machines": [{"set": {"core.policy": "os.system"}}]}, "is not legal"),
        (EXAMPLE, {"name": "../../x"}, "name: string should match pattern"),
        (EXAMPLE + "#" * 70_000, {}, "listing: string should have at most 64000 characters"),
        (EXAMPLE, {"machines": []}, "at least 1"),
        (EXAMPLE, {"folder": "/"}, "folder: extra inputs are not permitted"),
        ("__import__('os').system('true')", {}, "expected a directive"),
        (SPIN, {"launch": ARRAY.replace("64", '"99999999999"')}, "arrays of over 64 MiB"),
        (SPIN, {"launch": ARRAY + 'dtype = "(,"'}, "not a number type of NumPy"),
        (EXAMPLE, {"launch": "grid = 1\nblock = 32\nfunction = [1]"}, "function: input should be a valid string"),
        (EXAMPLE, {"launch": f"grid = {'9' * 5000}\nblock = 32"}, "not a TOML file"),
        (EXAMPLE, {"launch": f"grid = {'[' * 3000}"}, "not a TOML file"),
    ],
)
def test_what_is_too_large_or_reaches_outside_is_refused(client: TestClient, listing: str, more: dict[str, Any], says: str) -> None:
    assert says in run(client, listing, **more)["error"]["text"]


@pytest.mark.slow
def test_a_program_without_end_is_ended_and_the_next_one_runs() -> None:
    with TestClient(application(setting(seconds=10.0)), base_url="http://127.0.0.1") as client:
        began = time.monotonic()
        error = run(client, SPIN, launch=ARRAY)["error"]["text"]
        assert "this took over 10 s and was ended" in error
        assert time.monotonic() - began < 100  # ten seconds, and what a busy machine adds
        assert run(client)["result"]["cycles"]


def test_names_and_texts_cannot_act(client: TestClient) -> None:
    """What a listing says is text wherever it comes: a page of a run lives in a sandbox, and has it escaped."""
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    listing = EXAMPLE.replace("# A chain", f"# {evil}").replace("S2R R0, SR_TID.X", f"S2R R0, SR_TID.X # {evil}")
    answer = run(client, listing)["result"]
    page = client.get(f"/page/{answer['page']}")
    assert "alert(" not in page.text
    for sandboxed in (page, client.get("/frame")):
        assert sandboxed.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    error = run(client, f".kernel a\n{evil}\nEXIT;")["error"]
    assert evil in error["text"]  # as text: the page puts it where no HTML is read
    scripts = " ".join(path.read_text() for path in (Path(state.__file__).parent / "assets").glob("*.js"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", scripts)
    front = client.get("/")
    assert "unsafe-inline" not in front.headers["content-security-policy"]
    assert not re.search(r"<script>|\son\w+=|style=", front.text)


@pytest.mark.parametrize(
    "address", ["/assets/../server.py", "/assets/%2e%2e/server.py", "/page/..%2f..", "/page/nope", "/sim/lab/server.py"]
)
def test_nothing_but_the_page_s_own_files_is_served(client: TestClient, address: str) -> None:
    assert client.get(address).status_code == 404


def test_requests_of_other_sites_are_refused(client: TestClient) -> None:
    body = json.dumps({"state": {"listing": EXAMPLE}})
    assert client.post("/run", content=body, headers={"content-type": "text/plain"}).status_code == 415
    assert client.post("/run", content=body, headers={"content-type": "application/json", "host": "evil.example"}).status_code == 400
    assert client.post("/run", content=body, headers={"content-type": "application/json", "host": "testserver"}).status_code == 400
    assert client.post("/start", json={}, headers={"host": "[::1]:8321"}).status_code == 200
    assert client.post("/run", content="x" * 300_000, headers={"content-type": "application/json"}).status_code == 413
    assert client.post("/run", content="[" * 100_000, headers={"content-type": "application/json"}).status_code == 400
    assert "send a JSON object" in client.post("/run", json=[1]).json()["error"]["text"]


def test_a_request_that_is_overtaken_is_not_carried_out(client: TestClient) -> None:
    def ask(number: int) -> dict[str, Any]:
        return client.post("/run", json={"state": {"listing": EXAMPLE}, "client": "a", "number": number}).json()

    assert "result" in ask(5)
    assert ask(4) == {"overtaken": True}
    assert "result" in ask(6)


def test_registers_follow_the_warp(client: TestClient) -> None:
    steps = client.post("/registers", json={"state": {"listing": EXAMPLE}, "block": 0, "warp": 0}).json()["result"]["steps"]
    assert [step["issued"] for step in steps] == list(range(11))
    assert steps[1]["registers"]["R0"] == list(range(32))
    assert steps[2]["registers"]["R1"][1] == 0x3F800000  # 1.0
    error = client.post("/registers", json={"state": {"listing": EXAMPLE}, "block": 9, "warp": 0}).json()["error"]["text"]
    assert "no warp 0 of block 9" in error
    long = {"listing": EXAMPLE.replace("rept 8", "rept 4200")}
    error = client.post("/registers", json={"state": long, "block": 0, "warp": 0}).json()["error"]["text"]
    assert "the lab shows the registers of 4,000" in error


def test_shared_memory_follows_all_warps_of_the_block(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"listing": WORDS, "warps": 2, "blocks": 2}
    found = client.post("/registers", json={"state": one, "block": 1, "warp": 0}).json()["result"]["shared"]
    assert (found["columns"], found["banks"], found["whole"]) == (32, True, True)
    seen = {warp: (issued, words) for warp, issued, words in found["stores"]}
    assert seen == {warp: (4, [[k, k + 1] for k in range(32 * warp, 32 * warp + 32)]) for warp in range(2)}
    g80 = client.post("/registers", json={"state": one | {"machines": [{"gpu": "g80"}]}, "block": 0, "warp": 0}).json()["result"]["shared"]
    assert g80["columns"] == 16
    monkeypatch.setattr(work, "MOST_WORDS", 40)
    short = work.registers(state.read(one), GPUS, 0, 1)["shared"]
    assert (len(short["stores"]), short["whole"]) == (1, False)


def test_sliders_tell_range_unit_and_source(client: TestClient) -> None:
    found = client.post("/knobs", json={"gpu": "h100"}).json()
    latency = next(knob for knob in found["machine"] if knob["field"] == "dram.latency")
    assert latency["low"] < latency["value"] == sim.gpu("h100").dram.latency < latency["high"]
    assert latency["unit"] == "cycles"
    source = sim.gpu("h100").source_of("dram.latency")
    assert source is not None
    assert latency["source"] == f"{source.kind}: {source.text}"
    assert "chains.csv" in latency["source"]
    policy = next(knob for knob in found["machine"] if knob["field"] == "core.policy")
    assert "lrr" in policy["choices"]
    assert found["opcodes"]["FFMA"]["usage"] == "Rd, a, b, c"
    assert found["opcodes"]["FFMA"]["latency"] == 4


@pytest.mark.parametrize("name", sim.gpus())
def test_the_ends_of_every_slider_are_legal(name: str) -> None:
    gpu = sim.gpu(name)
    for knob in knobs.machine(gpu):
        for end in knob["choices"] or (knob["low"], knob["high"]):
            gpu.replace({knob["field"]: end})
        assert knob["choices"] or (knob["unit"] and knob["low"] <= knob["value"] <= knob["high"]), knob["field"]
    assert all(knob["unit"] for knob in knobs.launch(gpu))


def test_sliders_of_exercises_reach_what_their_questions_ask() -> None:
    """The 33rd block; twice the latency; what else is free is described, too."""
    for name, exercise in EXERCISES.items():
        gpu = sim.gpu(exercise.gpu)
        found = {knob["field"]: knob for knob in [*knobs.launch(gpu), *knobs.machine(gpu)]}
        assert set(exercise.free) <= set(found), name
        moves = exercise.observe.against | ({exercise.observe.smallest: exercise.answer} if exercise.observe.smallest else {})
        for field, value in moves.items():
            knob = found[field]
            assert value in knob["choices"] if knob["choices"] else knob["low"] <= value <= knob["high"], (name, field)


@pytest.mark.parametrize(
    ("name", "changes", "metric", "texts"),
    [
        ("01_latency", [{"units.fp32.latency": 19}], "cycles", ["16 more"]),
        ("02_threads", [{"warps": n} for n in (4, 8, 16, 18)], "ipc", ["4 warps 0.24", "8 warps 0.47", "16 warps 0.90", "from 18 on 1.00"]),
        ("03_instructions", [{"warps": n} for n in (4, 6, 8)], "ipc", ["4 warps is 0.57", "6 0.84", "8 0.99"]),
        ("04_bytes_in_flight", [{"dram.latency": 1200}, {"dram.bandwidth": 4 * 177.4}], "cycles", ["(1,466)", "saves 62 cycles"]),
        (
            "11_interval_analysis",
            [{"blocks": n} for n in (8, 20, 40, 44)],
            "ipc",
            ["8 warps 0.21", "20 warps 0.50", "40 warps 0.93", "44 warps 0.95"],
        ),
    ],
)
def test_the_page_shows_the_numbers_that_explanations_name(name: str, changes: list[dict[str, Any]], metric: str, texts: list[str]) -> None:
    exercise = EXERCISES[name]
    base = work.observe(exercise.state(), GPUS, metric)
    for change, text in zip(changes, texts, strict=True):
        seen = work.observe(exercise.state(change), GPUS, metric)
        shown = {"more": seen - base, "cycles": base - seen}.get(text.split()[-1], seen)
        said = re.findall(r"[\d.]+", text.replace(",", ""))[{"more": 0, "cycles": 0}.get(text.split()[-1], -1)]
        assert text in exercise.explanation
        assert round(shown, 2) == float(said), text


def test_the_answer_of_an_exercise_comes_after_the_guess(client: TestClient) -> None:
    begin = client.post("/start", json={}).text
    assert "explanation" not in begin
    assert '"answer"' not in begin
    assert '"slots"' not in begin
    assert '"cycles":[36,72]' in begin
    judged = client.post("/answer", json={"exercise": "06_bank_conflicts", "guess": 2}).json()["result"]
    assert judged["right"]
    assert judged["answer"] == 2
    assert not client.post("/answer", json={"exercise": "06_bank_conflicts", "guess": 3}).json()["result"]["right"]
    huge = '{"exercise": "06_bank_conflicts", "guess": 1' + "0" * 400 + "}"
    assert "no number" in client.post("/answer", content=huge, headers={"content-type": "application/json"}).json()["error"]["text"]
    assert "no such exercise" in client.post("/answer", json={"exercise": "../x", "guess": 3}).json()["error"]["text"]


def test_a_drawing_is_compared_cell_by_cell(client: TestClient) -> None:
    def draw(drawn: Any, name: str = "03_instructions") -> dict[str, Any]:
        return client.post("/answer", json={"exercise": name, "drawn": drawn}).json()

    issues = [40, 42, 44, 62, 64, 66]
    right = draw([issues, issues[::-1]])["result"]
    assert (right["right"], right["missed"], right["excess"], right["slots"]) == (True, 0, 0, [issues, issues])
    wrong = draw([[40, 41, 42], [*issues, 69, 69]])["result"]
    assert (wrong["right"], wrong["missed"], wrong["excess"]) == (False, 4, 2)
    assert draw([[], []])["result"]["missed"] == 12
    for bad in (None, [], [issues], [issues, 3], [issues, ["40"]], [issues, [True]]):
        assert "drawn is a list" in draw(bad)["error"]["text"] or "cycles are numbers" in draw(bad)["error"]["text"]
    assert "no such exercise, or no number" in draw([[2]], "06_bank_conflicts")["error"]["text"]


def test_issue_slots_to_draw_are_those_of_the_simulator() -> None:
    drawn = {name: exercise.draw for name, exercise in EXERCISES.items() if exercise.draw}
    assert len(drawn) >= 2
    for name, drawing in drawn.items():
        assert EXERCISES[name].drawn(GPUS) == drawing.slots
        assert EXERCISES[name].shown(name)["draw"] == {
            "question": drawing.question,
            "cycles": drawing.cycles,
            "warps": drawing.warps,
        }
    assert EXERCISES["02_threads"].drawn(GPUS) == []


@pytest.mark.parametrize("name", EXERCISES)
def test_the_answer_of_an_exercise_is_what_the_simulator_gives(name: str) -> None:
    exercise = EXERCISES[name]
    assert exercises.agrees(exercise.answer, exercise.observed(GPUS))
    assert exercise.judged(exercise.answer)["right"]
    assert not exercise.judged(exercise.answer * (1.01 + exercise.tolerance) + 1e-6)["right"]
    known = {"gpu", "warps", "blocks", "registers", "shared"} | set(sim.gpu(exercise.gpu).names())
    assert set(exercise.free) <= known


def test_the_files_of_a_state_give_the_same_cycles(tmp_path: Path) -> None:
    one = EXERCISES["04_bytes_in_flight"].state({"warps": 4, "blocks": 7, "dram.latency": 900, "core.policy": "lrr"})
    for name, text in export.files(one).items():
        (tmp_path / name).write_text(text)
    result = tmp_path / "result.json"
    words = (tmp_path / "README.txt").read_text().split()[1:]
    done = CliRunner().invoke(
        app, [str(tmp_path / word) if word.startswith("exercise") else word for word in words] + ["--json", str(result)]
    )
    assert done.exit_code == 0, done.output
    assert json.loads(result.read_text())["cycles"] == work.run(one, GPUS)["cycles"][0]


def test_mistakes_of_the_command_line_are_one_message(tmp_path: Path) -> None:
    (tmp_path / "long.sass").write_text(EXAMPLE + "#" * 70_000)
    for words, says in (
        ([str(tmp_path / "no.sass")], "cannot read it: No such file"),
        ([str(tmp_path / "long.sass")], "long.sass: it has over 64,000 characters, the most that the lab takes"),
        (["--gpu", "nope"], "no GPU is called 'nope'"),
        (["--exercises", str(tmp_path)], "no exercises here"),
        (["--host", 70 * "é"], "port 8321: this is not an address"),
        (["kernel.cu"], "the lab takes listings, no CUDA"),
    ):
        done = CliRunner().invoke(app, ["lab", *words])
        assert (done.exit_code, says in done.stderr) == (2, True), done.stderr
    (tmp_path / "bad.toml").write_text('title = "x"\n')
    assert "field required" in CliRunner().invoke(app, ["lab", "--exercises", str(tmp_path)]).stderr
    with pytest.raises(UserError, match="no GPU"):
        state.machine(state.Machine(gpu="x"), GPUS)


def test_without_the_extra_there_is_one_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    done = CliRunner().invoke(app, ["lab"])
    assert done.exit_code == 2
    assert done.stderr == "error: the lab needs starlette, which is not installed\n  pip install 'simtlab[lab]'\n"


@pytest.mark.slow
def test_the_command_serves_this_computer_alone_opens_the_page_and_ends_with_its_workers(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from sim.cli import main; main()", "lab", "--port", "0", "--workers", "1", "--open"]
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": os.environ | {"BROWSER": f"{browser} %s"}}
    with subprocess.Popen(command, **pipes, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = re.fullmatch(r"lab: (http://127\.0\.0\.1:\d+/) \(end it with Ctrl-C\)\n", process.stdout.readline())
        assert address
        for _ in range(100):
            with contextlib.suppress(OSError), urllib.request.urlopen(address[1]) as page:
                assert "simtlab lab" in page.read().decode()
                break
            time.sleep(0.1)
        for _ in range(100):
            if opened.exists() and opened.read_text():
                break
            time.sleep(0.1)
        assert opened.read_text() == f"{address[1]}\n"
        own = psutil.Process(process.pid)
        listening = [one.laddr.ip for one in own.net_connections() if one.status == psutil.CONN_LISTEN]
        workers = own.children(recursive=True)
        assert listening == ["127.0.0.1"]
        assert workers
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        assert process.wait(30) in (0, 130)
        assert process.stderr.read().count("\n") <= 1  # that kernels are being compiled
    assert not psutil.wait_procs(workers, 10)[1]


def test_exercises_with_mistakes_are_named(tmp_path: Path) -> None:
    begin = "\ufeff" + (exercises.FOLDER / "01_latency.toml").read_text()
    for change, says in (
        (("answer = ", "answer = inf #"), "answer: input should be a finite number"),
        (('title = "', 'blocks = 9999\ntitle = "'), "blocks: input should be less than or equal to 4096"),
        (('metric = "cycles"', 'smallest = "warps"\nmetric = "cycles"'), "smallest needs the values to try"),
        (('metric = "cycles"', 'metric = "cycles"\nreplace = {S99 = "S1"}'), "the listing has no S99"),
        (("cycles = [36, 72]", "cycles = [36, 172]"), "draw: value error, cycles: the first and the last of at most 64"),
        (("slots = [[36, 54, 72]]", "slots = [[36, 54, 72], []]"), "slots: for each of the warps"),
        (("slots = [[36, 54, 72]]", "slots = [[36, 54, 73]]"), "slots: for each of the warps"),
        (("warps = [0]", "warps = [3]"), "draw: block 0 has no warp 3"),
        (('metric = "cycles"', 'metric = "stall.barrier"\nagainst = {warps = 2}'), "stall.barrier is 0, so there is no ratio to it"),
    ):
        assert change[0] in begin
        (tmp_path / "one.toml").write_text(begin.replace(*change), encoding="utf-8")
        done = CliRunner().invoke(app, ["lab", "--exercises", str(tmp_path), "--check"])
        assert (done.exit_code, says in done.stderr) == (2, True), done.output

    (tmp_path / "one.toml").write_text(begin.replace("slots = [[36, 54, 72]]", "slots = [[36, 54]]"), encoding="utf-8")
    done = CliRunner().invoke(app, ["lab", "--exercises", str(tmp_path), "--check"])
    assert (done.exit_code, "WRONG  one: issue slots, simulated [[36, 54, 72]]" in done.stdout) == (1, True)


def test_sizes_over_several_lines_are_replaced_in_the_files_of_a_state() -> None:
    text = 'grid = [\n  1,\n  2,\n]\nblock = 64\n[[args]]\nname = "x"\n[expect]\nx = "x + 1"\n[iterations]\n".Loop" = 3\n'
    one = state.State(listing=EXAMPLE, launch=text, blocks=3)
    assert tomllib.loads(export.launch(one)) == {"grid": 3, "block": 64, "args": [{"name": "x"}], "iterations": {".Loop": 3}}
    assert export.launch(one.model_copy(update={"blocks": None})) == text


def test_answers_do_not_wait_for_the_browser_to_acknowledge_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nagle's algorithm with delayed acknowledgements: 40 ms for each answer after the first of a connection."""
    seen: list[int] = []
    read = (socket.IPPROTO_TCP, socket.TCP_NODELAY)
    monkeypatch.setattr("uvicorn.Server.run", lambda _, sockets: seen.extend(one.getsockopt(*read) for one in sockets))
    monkeypatch.setattr("sim.cli.lab.announce", lambda _: None)
    done = CliRunner().invoke(app, ["lab", "--port", "0"])
    assert done.exit_code == 0, done.output
    assert [bool(one) for one in seen] == [True]
