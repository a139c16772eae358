"""What several tests of pages share: a browser."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]  # /dev/shm of a container is small
PATIENCE = 300_000  # milliseconds: what never comes fails the test, and not what comes late on a busy machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a headless Chromium: the machine's own, or the one that playwright has installed."""
    drive = pytest.importorskip("playwright.sync_api", reason="playwright, which drives the browser, is not installed")
    with drive.sync_playwright() as session:
        found = next(filter(None, map(shutil.which, BROWSERS)), session.chromium.executable_path)
        if not Path(found).exists() or subprocess.run([found, "--version"], capture_output=True, check=False).returncode:
            pytest.skip("no browser: install Chromium (apt install chromium, or playwright install chromium)")
        running = session.chromium.launch(executable_path=found, args=FLAGS, timeout=PATIENCE)
        yield running
        running.close()
