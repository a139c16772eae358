"""What several tests of pages share: a browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a headless Chromium: the machine's own, or the one that playwright has installed."""
    drive = pytest.importorskip("playwright.sync_api", reason="playwright, which drives the browser, is not installed")
    with drive.sync_playwright() as session:
        found = next(filter(None, map(shutil.which, BROWSERS)), session.chromium.executable_path)
        if not Path(found).exists():
            pytest.skip("no browser: install Chromium (apt install chromium, or playwright install chromium)")
        running = session.chromium.launch(executable_path=found, args=FLAGS)
        yield running
        running.close()
