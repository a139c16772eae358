"""The lab in a browser: edit, slide, mistake, step, exercise, link, two machines, at the size of a laptop and with the keyboard alone."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sim.cli.lab import EXAMPLE
from sim.lab import state
from tests.unit.lab_tab import Tab, served
from tests.unit.test_lab import WORDS

pytestmark = pytest.mark.slow
FOCUSED = "(at => at.id || at.getAttribute('aria-label') || at.tagName)(document.activeElement)"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return the address of a lab on this computer."""
    with served() as found:
        yield found


@pytest.mark.parametrize(("width", "height", "scheme"), [(1280, 720, "light"), (1600, 1000, "dark")])
def test_slide_edit_step_and_link(browser: Any, address: str, width: int, height: int, scheme: str) -> None:
    tab = Tab(browser, address, width, height, scheme)
    page = tab.page
    assert "JavaScript" not in tab.frame().locator("body").inner_text()
    assert "the lowest roof is that of fp32 peak" in tab.frame().locator("body").inner_text().lower()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight")
    field = tab.slider("of-machine", "FP32 latency")
    field.fill("30")
    assert tab.drawn(lambda: field.press("Enter")).startswith("276 cycles")  # 8 results, 12 cycles more each: 180 + 96
    text = page.input_value("#listing-pane textarea")
    assert tab.drawn(lambda: page.fill("#listing-pane textarea", text.replace("rept 8", "rept 4"))).startswith("156 cycles")
    page.click("#registers summary")
    page.wait_for_selector("#registers table")
    cycle = int(page.inner_text("#registers .where").split("cycle ")[1].split(":")[0])
    page.keyboard.press("Alt+ArrowRight")
    tab.says("#registers .where", f"cycle {cycle + 1}:")
    page.keyboard.press("Alt+n")
    page.wait_for_selector("#registers .changed")
    link = page.url
    tab.close()
    again = Tab(browser, link, width, height, scheme)
    assert "rept 4" in again.page.input_value("#listing-pane textarea")
    assert again.slider("of-machine", "FP32 latency").input_value() == "30"
    assert again.page.inner_text("#busy").startswith("156 cycles")
    again.close()


def test_shared_memory_of_the_block_is_that_of_the_cursor_s_cycle(browser: Any, address: str) -> None:
    """What a warp sees there comes from the other one, too, once that has issued its store."""
    tab = Tab(browser, address)
    page = tab.page
    tab.drawn(lambda: page.fill("#listing-pane textarea", WORDS))
    field = tab.slider("of-launch", "warps per block")
    field.fill("2")
    tab.drawn(lambda: field.press("Enter"))
    page.click("#registers summary")
    rows = page.locator("#registers h3 ~ table tr")

    def step(key: str, cells: list[list[int]], changed: int, theirs: int) -> None:
        page.keyboard.press(f"Alt+{key}")
        tab.counts("#registers h3 ~ table tr", len(cells) + bool(cells))
        for row, words in enumerate(cells, 1):
            assert rows.nth(row).locator("td").all_inner_texts()[1:] == [f"{word:x}" for word in words]
        assert page.locator("#registers h3 ~ table td.changed").count() == changed
        assert page.locator("#registers h3 ~ table td.theirs").count() == theirs

    own, other = [list(range(first, first + 32)) for first in (1, 33)]
    for _ in range(20):
        page.keyboard.press("Alt+p")
    tab.says("#registers .where", " 1 instruction issued")
    step("n", [], 0, 0)
    step("n", [], 0, 0)
    step("n", [own], 32, 0)  # the store of warp 0, of which the one of warp 1 is not there yet
    step("n", [own, other], 0, 32)
    tab.close()


def test_mistakes_are_marked_at_their_lines_and_the_old_timeline_stays(browser: Any, address: str) -> None:
    tab = Tab(browser, address)
    tab.page.fill("#listing-pane textarea", EXAMPLE.replace("FFMA", "FFMX"))
    tab.page.wait_for_selector("#mistake:not([hidden])")
    assert tab.page.inner_text("#listing-pane .line.wrong .note").strip() == "unknown opcode FFMX"
    assert tab.page.locator("#frames iframe:not(.coming)").count() == 1
    assert tab.page.inner_text("#busy") == "the timeline is that before the mistake"
    tab.drawn(lambda: tab.page.fill("#listing-pane textarea", EXAMPLE))
    assert tab.page.locator("#mistake").is_hidden()
    tab.page.click("#listing-pane textarea")
    tab.page.keyboard.press("Control+Home")
    for _ in range(5):
        tab.page.keyboard.press("ArrowDown")
    assert tab.page.inner_text("#help").startswith("This line: issued 8 times; wait: 136 warp-cycles (100%). FFMA")
    assert "FFMA Rd, a, b, c: Rd = a * b + c, in float32, rounded once. Unit fp32" in tab.page.inner_text("#help")
    tab.close()


def test_a_line_under_the_mouse_shows_its_waits_and_its_issues(browser: Any, address: str) -> None:
    tab = Tab(browser, address)
    area, canvas = tab.page.locator("#listing-pane textarea"), tab.frame().locator(".rows canvas")
    drawing = "canvas => new Promise((drawn) => setTimeout(() => drawn(canvas.toDataURL()), 200))"
    every = canvas.evaluate(drawing)
    area.hover(position={"x": 200, "y": 17 * 5 + 8})
    assert area.get_attribute("title") == "issued 8 times; wait: 136 warp-cycles (100%)"
    assert canvas.evaluate(drawing) != every  # the other lines' issues are pale
    area.hover(position={"x": 200, "y": 17 * 4 + 8})
    assert (area.get_attribute("title"), canvas.evaluate(drawing)) == ("", every)  # .rept is none
    area.hover(position={"x": 200, "y": 17 * 3 + 8})
    tab.page.mouse.move(2, 2)
    assert canvas.evaluate(drawing) == every
    tab.close()


def test_an_exercise_hides_the_timeline_until_a_number_is_said(browser: Any, address: str) -> None:
    tab = Tab(browser, address)
    tab.page.select_option("#exercises", "01_latency")
    tab.page.wait_for_selector(".veiled:not([hidden])")
    assert tab.page.locator("#frames iframe:not(.coming)").count() == 0
    tab.counts(":is(#of-launch, #of-machine) .knob", 2)  # once the server has described them
    tab.page.click("button.hint")
    assert tab.page.locator(".hints li").count() == 1
    tab.page.wait_for_timeout(1000)
    tab.page.fill("#guess", "100")
    began = time.monotonic()
    tab.drawn(lambda: tab.page.press("#guess", "Enter"))
    assert int(tab.page.get_attribute("body", "data-ms")) < 1000 * (time.monotonic() - began)  # since the commitment, not the last slider
    bottoms = "[...document.querySelectorAll('.verdict, #exercise')].map(at => at.getBoundingClientRect().bottom)"
    assert max(tab.page.evaluate(bottoms)) == tab.page.evaluate(bottoms)[0]  # all of the verdict is in sight
    assert tab.page.evaluate("(at => at.scrollWidth <= at.clientWidth)(document.querySelector('#exercise .slots'))")
    assert tab.page.inner_text(".verdict").startswith("Not quite: you said 100, the simulator 324 cycles.")
    assert tab.page.locator("#frames iframe:not(.coming)").count() == 1
    tab.close()


def test_issue_slots_are_drawn_with_the_keyboard_and_compared(browser: Any, address: str) -> None:
    tab = Tab(browser, address)
    page = tab.page
    page.select_option("#exercises", "03_instructions")
    page.wait_for_selector("#drawing:not([hidden])")
    assert page.locator(".slots input").count() == 2 * 30
    page.focus(".slots input")
    for key in ("Space", *["ArrowRight"] * 2, "Space", *["ArrowRight"] * 3, "Space", "ArrowDown", "ArrowLeft", "Space"):
        page.keyboard.press(key)
    assert page.inner_text("#drawing .cell") == "warp 1, cycle 44"
    page.keyboard.press("Tab")  # past the other cells
    assert page.evaluate("document.activeElement.textContent") == "commit the drawing"
    assert page.locator("#frames iframe:not(.coming)").count() == 0
    tab.drawn(lambda: page.keyboard.press("Enter"))
    assert page.inner_text(".drawn").startswith("Not quite: 9 missed (striped), 1 too many (red). Three issues")
    marked = page.evaluate("[...document.querySelectorAll('.slots input')].filter(({ className }) => className).map((at) => at.ariaLabel)")
    assert [mark for mark in marked if "not marked" not in mark] == [
        *("warp 0, cycle 40: right", "warp 0, cycle 42: right", "warp 0, cycle 45: marked, does not issue", "warp 1, cycle 44: right"),
    ]
    assert len(marked) == 4 + 9
    page.select_option("#exercises", "06_bank_conflicts")
    page.wait_for_selector("#drawing", state="hidden")
    tab.close()


def test_two_machines_with_what_differs(browser: Any, address: str) -> None:
    tab = Tab(browser, address)
    tab.drawn(lambda: tab.page.click("#second"))
    field = tab.slider("of-second", "FP32 latency")
    field.fill("9")
    assert tab.drawn(lambda: field.press("Enter")).startswith("180 and 108 cycles")
    assert tab.page.inner_text("#difference").startswith(
        "B is 1.67 times as fast. B less A, cycles: tail −40 (no warp is left on this scheduler), wait −31 (the next warp waits for"
    )
    assert tab.frame().locator(".run").count() == 2
    opened = "() => { const { state, name } = lab.exercises[0]; lab.show(state, name); return lab.now().machines.map(({ set }) => set); }"
    before = tab.page.evaluate("lab.now().machines.map(({ set }) => set)")
    assert [len(before), before[1]] == [2, {"units.fp32.latency": 9}]
    assert len(tab.page.evaluate(opened)) == 1  # at once, before the server has described an exercise's sliders
    assert tab.page.evaluate("Object.keys(lab.ofSecond.values).length + document.querySelectorAll('#of-second .knob').length") == 0
    tab.close()


def test_the_keyboard_alone_reaches_everything(browser: Any, address: str) -> None:
    tab = Tab(browser, address)
    seen = set()
    for _ in range(60):
        tab.page.keyboard.press("Tab")
        focused = tab.page.evaluate(FOCUSED)
        seen.add(focused)
        if "listing, SASS" in focused:
            tab.page.keyboard.press("Escape")
    assert {"exercises", "link", "save-page", "gpu", "second", "chains", "tab-launch", "listing, SASS", "SUMMARY", "IFRAME"} <= seen
    assert {"FP32 latency, cycles", "FP32 latency, slider"} <= seen
    tab.close()


def test_the_next_run_is_drawn_in_the_frame_that_was_loaded_before_it(browser: Any, address: str) -> None:
    tab = Tab(browser, address)
    spare = tab.page.locator("#frames iframe.coming")
    for text in (EXAMPLE.replace("rept 8", "rept 2"), EXAMPLE.replace("rept 8", "rept 3")):
        assert spare.count() == 1
        assert spare.evaluate("frame => frame.inert")  # the keyboard passes it by
        spare.evaluate("frame => { window.loaded = frame; }")
        tab.drawn(lambda text=text: tab.page.fill("#listing-pane textarea", text))
        assert tab.page.evaluate("document.querySelector('#frames iframe:not(.coming)') === window.loaded && !window.loaded.inert")
    tab.frame().locator(".warps canvas").wait_for()  # charts come after the timeline
    tab.close()


def test_everything_is_saved_with_the_keyboard(browser: Any, address: str) -> None:
    tab = Tab(browser, address)
    for button, name, begin in (
        ("save-page", "timeline.html", b"<!DOCTYPE html>"),
        ("save-picture", "kernel.png", b"\x89PNG"),
        ("save-notebook", "kernel.ipynb", b'{\n "cells"'),
    ):
        tab.page.focus("#link")
        for _ in range(10):
            if tab.page.evaluate(FOCUSED) == button:
                break
            tab.page.keyboard.press("Tab")
        with tab.page.expect_download() as saved:
            tab.page.keyboard.press("Enter")
        assert saved.value.suggested_filename == name
        assert Path(saved.value.path()).read_bytes().startswith(begin)
        tab.says("#busy", f"saved {name}")
    tab.close()


def test_a_link_with_malice_does_nothing(browser: Any, address: str) -> None:
    """What a link holds is checked by the server, and shown as text."""
    tab = Tab(browser, address)
    evil = "<img src=x onerror=alert(1)>"
    shown = {"name": evil, "listing": f"{EXAMPLE}# {evil}", "machines": [{"gpu": "gtx480", "set": {}}], "exercise": evil}
    fragment = tab.page.evaluate("state => toFragment(state)", shown)
    page = tab.page
    page.goto(f"{address}#{fragment}")
    page.wait_for_selector("#mistake:not([hidden])")
    assert "name: string should match pattern" in page.inner_text("#mistake")
    assert page.locator("#listing-pane img, #mistake img").count() == 0
    for machines in (5, [], [None], [{"gpu": 3}]):
        fragment = page.evaluate(
            "state => toFragment(state)", shown | {"name": "kernel", "launch": state.DEFAULT_LAUNCH, "machines": machines}
        )
        tab.drawn(lambda link=f"{address}#{fragment}": page.goto(link))
    page.goto(f"{address}#s=AAAA")
    tab.close()
