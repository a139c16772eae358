"""How the lab and the page of `simtlab view` look, to those who see them in part or not at all, too: axe-core finds nothing serious."""

import io
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sim
from sim.report.view.page import page as view
from sim.result.result import Result
from tests.conftest import GOLDEN
from tests.unit.conftest import PATIENCE
from tests.unit.lab_tab import Tab, served
from tests.unit.report_runs import add_one

pytestmark = pytest.mark.slow
GRAVE = ("serious", "critical")
KEPT, COMPARED, REACH = 4, (128, 80), 2  # pictures are kept at a fourth of their size; compared as cells, each with those so near
# Mean difference of 255: other fonts and sizes of controls make up to 1.4, a part that is missing 2 (charts) to 16 (the left half).
MEAN = 1.6


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return the address of a lab on this computer."""
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def axe() -> str:
    """Return the script of axe-core."""
    pytest.importorskip("axe_playwright_python", reason="axe-core is not installed: pip install axe-playwright-python")
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def photographed(tab: Tab) -> Any:
    """Return a picture of a page, at a fourth of its size, without what differs from run to run: how long it took."""
    from PIL import Image

    tab.page.evaluate("document.getElementById('busy').textContent = ''; document.activeElement.blur()")
    tab.page.mouse.move(2, 2)
    tab.page.wait_for_timeout(500)  # charts come after the timeline
    return Image.open(io.BytesIO(tab.page.screenshot())).convert("RGB").reduce(KEPT)


def far(one: Any, other: Any) -> float:
    """Return by how much the cells of two pictures leave, on average, the range of colours that the other has around the same place."""
    from PIL import Image

    a, b = (np.asarray(picture.resize(COMPARED, Image.Resampling.BOX)).astype(int) for picture in (one, other))
    return float(np.maximum(_outside(a, b), _outside(b, a)).max(axis=2).mean())


def _outside(cells: np.ndarray, others: np.ndarray) -> np.ndarray:
    wide = np.pad(others, ((REACH, REACH), (REACH, REACH), (0, 0)), mode="edge")
    near = np.lib.stride_tricks.sliding_window_view(wide, (2 * REACH + 1, 2 * REACH + 1), axis=(0, 1))
    return np.maximum(np.maximum(near.min(axis=(3, 4)) - cells, cells - near.max(axis=(3, 4))), 0)


def drawn_exercise(tab: Tab) -> None:
    tab.page.select_option("#exercises", "03_instructions")
    tab.page.wait_for_selector("#drawing:not([hidden])")
    for cell in (0, 2, 5, 30, 54):
        tab.page.locator(".slots input").nth(cell).check()
    tab.drawn(lambda: tab.page.click("#drawing button"))


def two_machines(tab: Tab) -> None:
    tab.drawn(lambda: tab.page.click("#second"))
    field = tab.slider("of-second", "FP32 latency")
    field.fill("9")
    tab.drawn(lambda: field.press("Enter"))
    tab.page.click("#registers summary")
    tab.page.wait_for_selector("#registers table")


@pytest.mark.parametrize(
    ("scheme", "width", "height", "act"), [("light", 1280, 720, drawn_exercise), ("dark", 1600, 1000, two_machines)], ids=["light", "dark"]
)
def test_the_lab_looks_as_it_did(
    browser: Any, address: str, request: pytest.FixtureRequest, scheme: str, width: int, height: int, act: Callable[[Tab], None]
) -> None:
    from PIL import Image

    tab, file = Tab(browser, address, width, height, scheme), GOLDEN / f"lab_{scheme}.png"
    act(tab)
    found = photographed(tab)
    if request.config.getoption("--update-golden"):
        found.quantize(256).save(file, optimize=True)
    kept = Image.open(file).convert("RGB")
    assert far(found, kept) < MEAN, "look at it; if it should be: pytest --update-golden"
    for part in ("#knobs", "#left", "header"):
        tab.page.evaluate("part => { document.querySelector(part).style.display = 'none'; }", part)
        assert far(photographed(tab), kept) > MEAN  # what is missing is seen
        tab.page.evaluate("part => { document.querySelector(part).style.display = ''; }", part)
    tab.close()


def violations(axe: str, frame: Any) -> list[str]:
    """Return what axe-core calls serious or critical in a page or a frame, each with the first element that it names."""
    frame.evaluate(f"{axe}; 0")
    found = frame.evaluate("axe.run(document, { iframes: false, resultTypes: ['violations'] })")
    assert len(found["passes"]) > 5
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"] if one["impact"] in GRAVE]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_in_the_lab_keeps_anybody_out(browser: Any, address: str, axe: str, scheme: str) -> None:
    tab = Tab(browser, address, scheme=scheme)
    page, found = tab.page, {}
    page.click("#registers summary")
    page.wait_for_selector("#registers table")
    found["registers"] = violations(axe, page)
    tab.drawn(lambda: page.click("#second"))
    found["two machines"] = violations(axe, page)
    frame = page.query_selector("#frames iframe:not(.coming)").content_frame()
    found["their timelines"] = violations(axe, frame)
    page.fill("#listing-pane textarea", ".kernel a\nFFMX R0\nFFMY R0\nFFMZ R0\nFADD R1\nEXIT")
    page.wait_for_selector("#mistake:not([hidden])")
    found["a mistake"] = violations(axe, page)
    page.select_option("#exercises", "03_instructions")
    page.wait_for_selector("#drawing:not([hidden])")
    page.wait_for_selector("#mistake", state="hidden")
    found["an exercise"] = violations(axe, page)
    page.click("button.hint")
    tab.drawn(lambda: page.click("#drawing button"))
    found["its answer"] = violations(axe, page)
    page.click("#keys")
    found["keys"] = violations(axe, page)
    assert not any(found.values()), found
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("with_chains", [False, True])
def test_nothing_in_the_page_of_view_keeps_anybody_out(browser: Any, tmp_path: Path, axe: str, scheme: str, with_chains: bool) -> None:
    results: list[Result] = [add_one(sim.gpu("gtx480"), 3)]
    if not with_chains:
        results.append(add_one(sim.gpu("gtx480").replace({"dram.latency": 900}), 3))
    file = tmp_path / "page.html"
    file.write_text(view(results, with_chains=with_chains), encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    assert violations(axe, page) == []
    context.close()


def test_what_keeps_somebody_out_is_found(browser: Any, axe: str) -> None:
    page = browser.new_page()
    page.set_content("<html lang=en><title>t</title><main><h1>t</h1><input><p style='color:#ccc'>pale</p></main>" + "<p>text</p>" * 6)
    assert [one.partition(":")[0] for one in violations(axe, page)] == ["color-contrast", "label"]
    page.close()
