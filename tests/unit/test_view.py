"""The page of `simtlab view`, in a browser: it opens, draws, zooms, steps, and names the cause of a known cycle."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import sim
from isa.errors import UserError
from programs.intervals import loops
from sim.cli import app
from sim.lab import exercises, state
from sim.launch.file import load_launch
from sim.report.tracks import tracks
from sim.report.view.page import page
from sim.result.result import Result
from tests.unit.conftest import PATIENCE
from tests.unit.report_runs import add_one, chain, chain_on

PROGRAMS = Path(__file__).parents[2] / "programs"
EVERYTHING = (0, 1 << 60)
DRAWN = "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"  # a change is drawn in the next frame


class Opened:
    """A page in the browser at the size of a laptop's screen; what went wrong on it fails the test that opened it."""

    def __init__(self, browser: Any, file: Path, fragment: str = "") -> None:
        self.tab = browser.new_page(viewport={"width": 1280, "height": 900})
        self.tab.set_default_timeout(PATIENCE)
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.tab.on("console", lambda message: self.wrong.append(message.text) if message.type in ("error", "warning") else None)
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.goto(f"{file.as_uri()}#{fragment}")
        self.tab.wait_for_selector("body[data-ready]")

    @property
    def state(self) -> dict[str, str]:
        """What the address says after the next frames are drawn."""
        self.tab.evaluate(DRAWN)
        return dict(part.split("=") for part in self.tab.evaluate("location.hash")[1:].split("&"))

    def text(self, selector: str) -> str:
        self.tab.evaluate(DRAWN)
        return self.tab.inner_text(selector)

    def close(self) -> None:
        self.tab.close()
        assert self.wrong == []
        assert [url for url in self.asked if not url.startswith(("file:", "data:"))] == []


def write(tmp_path: Path, result: Result, *, with_chains: bool = False) -> Path:
    file = tmp_path / "page.html"
    file.write_text(page([result], with_chains=with_chains), encoding="utf-8")
    return file


def notes_loop() -> Result:
    """Return the loop of the lecture notes: I1 waits 400 cycles for R2, which I0 loads."""
    return sim.run(load_launch(PROGRAMS / "intervals" / "simple_loop.toml").launch, loops.device(), timeline=EVERYTHING)


def test_a_phase_says_no_more_than_what_came(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, write(tmp_path, notes_loop()))
    says = "(cycle) => phaseSentence({ phaseIn: () => ({ number: 1, first: 10, last: 20 }), rowNames: ['mbar 0x8'] }, 0, cycle)"
    found = [opened.tab.evaluate(says, cycle).split("Phase 1: ")[1] for cycle in (5, 15, 20)]
    counted = "It counts from cycle 10 to 20, 10 cycles; once it is complete, warps that wait for it go on."
    now = ("nothing has arrived yet", "arrivals or bytes are missing", "nothing more arrives in this phase")
    assert found == [f"{one}. {counted}" for one in now]
    opened.close()


def test_the_cause_of_a_known_cycle_and_its_chain(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, write(tmp_path, notes_loop()), "cycle=200&warp=b0w0")
    assert opened.tab.get_attribute("#panel", "data-cause") == "long_scoreboard"
    assert "Warp 0 of block 0 waits for global or local memory, or an mbarrier, before I1" in opened.text("#panel .what")
    assert "Waits 399 cycles, from 1; issues in cycle 400, 200 from here." in opened.text("#panel .more")
    assert opened.text("#panel .chain li").startswith("R2 comes from I0")
    opened.tab.click("#panel .chain li")
    assert opened.state["cycle"] == "0"
    assert "issues I0" in opened.text("#panel .what")
    opened.close()


def test_chains_say_what_was_busy_in_every_cycle_of_every_warp(browser: Any, tmp_path: Path) -> None:
    """The page's causes are those of `result.why`, whatever the cycle; the panel shows its links."""
    result = add_one(sim.gpu("gtx480"), 3)
    opened = Opened(browser, write(tmp_path, result, with_chains=True), "cycle=120&warp=b0w1")
    script = """async () => {
        const { causes, runs } = JSON.parse(document.getElementById("data").textContent), run = await Run.from(runs[0]);
        const says = (warp, cycle) => (run.at(warp, cycle).cause < 0 ? "" : causes[run.at(warp, cycle).cause].name);
        return run.rowNames.map((_, warp) => Array.from({ length: run.cycles }, (_, cycle) => says(warp, cycle)));
    }"""
    issued = set(zip(result.timeline.warp.tolist(), result.timeline.cycle.tolist(), strict=True))
    for warp, said in enumerate(opened.tab.evaluate(script)):
        ended = result.recording.moments.ends[0, warp].cycle
        expected = ["selected" if (warp, cycle) in issued else result.why((0, warp), cycle).cause for cycle in range(ended)]
        assert said == expected + [""] * (result.cycles - ended)
    first = result.why((0, 1), 120).links[0].text
    assert first in opened.text("#panel .chain li >> nth=0")
    assert opened.state["cycle"] == "120"
    opened.tab.check("#path input")
    assert opened.state["path"] == "1"
    assert "Critical path of add_one" in opened.text("#below")
    opened.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--against", "lrr"], "--against lrr: not of the form name=value"),
        (["--against", "warps=many"], "--against warps=many: not a number"),
        (["--against", "core.scheduler=2"], "core.schedulers"),
        (["--from", "9", "--to", "3"], "the window ends before it begins"),
        (["--sms", "7"], "nothing issued there in the window; the run used SMs 0 to 0"),
        (["--to", "99", "--chains"], "chains of causes need the timeline of the whole run"),
        (["--output", "nowhere/page.html"], "there is no folder nowhere"),
    ],
)
def test_mistakes_are_refused(options: list[str], message: str, tmp_path: Path) -> None:
    given = ["view", str(PROGRAMS / "intervals" / "simple_loop.sass"), "--output", str(tmp_path / "page.html"), *options]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_window_shows_the_waits_that_its_end_cuts(tmp_path: Path) -> None:
    """The loop's first load returns in cycle 400: a page of cycles 0 to 99 still knows what its warp waits for."""
    file = tmp_path / "page.html"
    options = ["view", PROGRAMS / "intervals" / "simple_loop.sass", "--gpu", "textbook", "--to", "99", "--sms", "0", "--output", file]
    done = CliRunner().invoke(app, [str(option) for option in options])
    assert done.exit_code == 0, done.output
    assert "cycles 0 to 99 on SM 0: 2 of " in file.read_text()


def test_chains_of_part_of_a_run_are_refused(tmp_path: Path) -> None:
    result = sim.simulate(chain(1, 1), sim.gpu("gtx480"), timeline=(0, 10))
    with pytest.raises(UserError, match="need the timeline of the whole run"):
        page([result], [(0, 10)], with_chains=True)


def test_keys_and_buttons_step_the_cursor(browser: Any, tmp_path: Path) -> None:
    result = add_one(sim.gpu("textbook"), 3)
    opened = Opened(browser, write(tmp_path, result), "cycle=10&warp=b0w1")
    for key, cycle in (("ArrowRight", "11"), ("ArrowRight", "12"), ("ArrowLeft", "11")):
        opened.tab.keyboard.press(key)
        assert opened.state["cycle"] == cycle
    issues = result.timeline.cycle[result.timeline.warp == 1]
    opened.tab.click("button[data-action=next-issue]")
    assert int(opened.state["cycle"]) == issues[issues > 11].min()
    assert opened.tab.get_attribute("#panel", "data-cause") == "selected"
    opened.tab.keyboard.press("ArrowDown")
    assert opened.state["warp"] == "b0w2"
    opened.tab.fill("#cycle", "3")
    opened.tab.press("#cycle", "Enter")
    assert opened.state["cycle"] == "3"
    opened.close()


def test_the_wheel_zooms_and_dragging_moves(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, write(tmp_path, notes_loop()), "from=0&to=400")
    box = opened.tab.locator(".rows canvas").bounding_box()
    opened.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    opened.tab.mouse.wheel(0, -300)
    zoomed = opened.state
    first, end = int(zoomed["from"]), int(zoomed["to"])
    assert end - first == pytest.approx(400 / 1.25**3, abs=2)
    opened.tab.mouse.down()
    opened.tab.mouse.move(box["x"] + box["width"] / 2 - 200, box["y"] + 40, steps=4)
    opened.tab.mouse.up()
    moved = opened.state
    assert int(moved["from"]) > first + 20
    assert int(moved["to"]) - int(moved["from"]) == pytest.approx(end - first, abs=1)
    opened.tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + 40)
    assert int(moved["from"]) < int(opened.state["cycle"]) < int(moved["to"])
    opened.tab.click("button[data-action=all]")
    assert int(opened.state["to"]) > 400
    opened.close()


# By how much the charts reach into what lies below them, the panel leaves the window, and a chart's drawing its place.
OVERLAPS = """(box => [
    box('#panel').top - box('.charts').bottom,
    innerHeight - box('#panel').bottom,
    ...[...document.querySelectorAll('.chart:not([hidden])')].map((at) => at.clientHeight - at.querySelector('.uplot canvas').offsetHeight),
])(name => document.querySelector(name).getBoundingClientRect())"""


def test_nothing_lies_over_the_charts_whatever_the_number_of_warps_and_the_size_of_the_window(browser: Any, tmp_path: Path) -> None:
    for warps in (1, 2, 3, 8, 24):
        opened = Opened(browser, write(tmp_path, chain_on(sim.gpu("gtx480"), 1, warps, (0, 400))))
        for size in ((1280, 900), (1280, 720), (1600, 1000)):
            opened.tab.set_viewport_size({"width": size[0], "height": size[1]})
            opened.tab.evaluate(DRAWN)
            assert min(opened.tab.evaluate(OVERLAPS)) >= -1, (warps, size)
        opened.close()


def test_hovering_says_what_the_warp_does(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, write(tmp_path, notes_loop()), "from=0&to=400")
    box = opened.tab.locator(".rows canvas").bounding_box()
    opened.tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    assert "long_scoreboard" in opened.text("#tip")
    assert "R2 comes from I0" in opened.text("#tip")
    opened.close()


def test_the_page_reads_back_every_issue_of_every_warp(browser: Any, tmp_path: Path) -> None:
    gpu = sim.gpu("gtx460").replace({"sms": 2, "limits.blocks": 2})
    result = sim.simulate(chain(6, 1), gpu, timeline=EVERYTHING)  # dual issue, blocks that follow each other
    opened = Opened(browser, write(tmp_path, result))
    names = ["cycle", "end", "ready", "since", "eligible", "cause", "lanes", "instruction", "producer", "dependence"]
    script = f"""async () => {{
        const run = await Run.from(JSON.parse(document.getElementById("data").textContent).runs[0]);
        return {names}.map((name) => Array.from(run[name]));
    }}"""
    got = dict(zip(names, opened.tab.evaluate(script), strict=True))
    found = tracks(result)
    rows = found.rows._asdict() | {"end": found.rows.dispatched, "producer": found.producer, "dependence": found.dependence}
    for name in names:
        assert np.array_equal(got[name], rows[name]), name
    opened.close()


def test_two_runs_lie_beside_each_other(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "two.html"
    options = ["view", PROGRAMS / "reduce_shared.sass", "--grid", "4", "--against", "policy=lrr", "--against", "sms=2", "--output", file]
    done = CliRunner().invoke(app, [str(option) for option in options])
    assert done.exit_code == 0, done.output
    opened = Opened(browser, file, "cycle=300&run=B")
    assert opened.tab.locator(".run canvas").count() == 2 + 2 * 3  # the rows, and three charts each
    assert "run B" in opened.text("#panel .where")
    assert "policy=lrr, sms=2" in opened.text("header")
    assert re.search(r"core\.policy\s+gtr\s+lrr", opened.text("#below"))
    opened.close()


def test_lanes_that_do_not_execute_are_seen(browser: Any, tmp_path: Path) -> None:
    exercise = exercises.load()["10_divergence"].state()
    result = sim.run(state.launch(exercise).launch, sim.gpu("gtx480"), timeline=EVERYTHING)
    opened = Opened(browser, write(tmp_path, result), "cycle=60&warp=b0w0&from=56&to=62")
    assert "active lanes 17.9 of 32" in opened.text("header").replace("\n", " ")
    script = """async () => {
        const run = await Run.from(JSON.parse(document.getElementById("data").textContent).runs[0]);
        return lanesPerIssue(run, [0], 0, run.cycles, run.cycles);
    }"""
    issued = dict(zip(result.timeline.cycle.tolist(), result.timeline.lanes.tolist(), strict=True))
    lanes = [issued[max(before for before in issued if before <= cycle)] for cycle in range(result.cycles)]
    assert set(lanes) == {8, 24, 32}
    assert opened.tab.evaluate(script) == pytest.approx(lanes)
    assert opened.tab.locator(".lanes.chart canvas").is_visible()
    first = min(cycle for cycle, active in issued.items() if active == 24)
    opened.tab.evaluate("([from, to]) => { location.hash = `cycle=0&from=${from}&to=${to}`; }", [first - 4, first + 4])
    begin, end = (float(opened.state[name]) for name in ("from", "to"))
    column = """share => {
        const canvas = document.querySelector(".rows canvas"), middle = LEFT + share * (canvas.clientWidth - LEFT - RIGHT);
        const at = canvas.getContext("2d").getImageData(middle, TOP + 1, 1, 22).data;
        return Array.from({ length: 22 }, (_, k) => at[4 * k]);
    }"""
    shades = opened.tab.evaluate(column, (first + 0.1 - begin) / (end - begin))
    assert shades[2] == 0x8C  # a fourth of the lanes does not execute it
    assert shades[15] == 0
    opened.close()
    alone = Opened(browser, write(tmp_path, add_one(sim.gpu("gtx480"), 3)))
    assert alone.tab.locator(".lanes.chart").is_hidden()
    assert "active lanes" not in alone.text("header")
    alone.close()


def test_200_000_events_stay_small(browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Size is asserted; times of a shared machine are printed (pytest -s)."""
    launch = load_launch(PROGRAMS / "volkov" / "ffma_ilp1.toml", grid=[2], block=[192]).launch
    result = sim.run(launch, sim.gpu("gtx480").replace({"sms": 1}), timeline=EVERYTHING)
    assert len(result.timeline.cycle) > 200_000
    file = write(tmp_path, result)
    assert file.stat().st_size < 5e6
    opened = Opened(browser, file)
    paint = opened.tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    drawn = opened.tab.evaluate("performance.getEntriesByName('drawn')[0].startTime")
    with capsys.disabled():
        print(
            f"\n{len(result.timeline.cycle):,} issues: {file.stat().st_size / 1e6:.2f} MB, first paint {paint:.0f} ms, drawn {drawn:.0f} ms"
        )
    opened.close()


def test_pages_need_no_simpy() -> None:
    """The extra `view` does not bring it: chains alone need it."""
    code = "import sys; sys.modules['simpy'] = None; import sim.lab.work, sim.cli.view"
    subprocess.run([sys.executable, "-c", code], check=True)
