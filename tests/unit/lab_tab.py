"""A lab on this computer, and a page of it in a browser, as several tests open them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import sim
from sim.cli.lab import EXAMPLE
from sim.lab import exercises, state
from sim.lab.server import Setting, application
from sim.lab.workers import Limits
from tests.unit.conftest import PATIENCE

LOADED = "body[data-drawn]"


@contextmanager
def served() -> Iterator[str]:
    """Serve a lab, and return its address."""
    uvicorn = pytest.importorskip("uvicorn", reason="the lab's server is not installed: pip install 'simtlab[lab]'")
    setting = Setting(
        state.State(listing=EXAMPLE), {name: name for name in sim.gpus()}, exercises.load(), limits=Limits(seconds=120.0, processes=1)
    )
    server = uvicorn.Server(uvicorn.Config(application(setting), port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    server.should_exit = True
    thread.join()


class Tab:
    """A page of the lab; what went wrong on it fails the test that opened it."""

    def __init__(self, browser: Any, address: str, width: int = 1280, height: int = 720, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.context.set_default_timeout(PATIENCE)
        self.page, self.wrong = self.context.new_page(), []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda message: self.wrong.append(message.text) if message.type == "error" else None)
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.goto(address)
        self.page.wait_for_selector(LOADED)

    def drawn(self, act: Callable[[], Any]) -> str:
        """Do something, wait until the timeline of it is there, and return what the head says."""
        before = self.page.get_attribute("body", "data-drawn")
        act()
        self.page.wait_for_selector(f"body[data-drawn]:not([data-drawn='{before}'])")
        return str(self.page.inner_text("#busy"))

    def counts(self, selector: str, count: int) -> None:
        """Wait until so many elements are there."""
        drive = pytest.importorskip("playwright.sync_api")
        drive.expect(self.page.locator(selector)).to_have_count(count, timeout=PATIENCE)

    def says(self, selector: str, text: str) -> None:
        """Wait until an element that is to be seen has a text; the page's content security policy forbids to evaluate a condition in it."""
        self.page.wait_for_selector(f'{selector}:has-text("{text}")')

    def slider(self, place: str, label: str) -> Any:
        return self.page.locator(f"#{place} .knob", has_text=label).locator("input[type=number]")

    def frame(self) -> Any:
        return self.page.frame_locator("#frames iframe:not(.coming)")

    def close(self) -> None:
        self.context.close()
        assert self.wrong == []
