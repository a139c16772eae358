"""The site is built from the pages of the repository without a broken link; what it makes itself leaves nothing out."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import isa
import sim
from sim.docs import pages
from sim.docs.build import rest
from tests.test_readme import COMMANDS

ROOT = Path(__file__).resolve().parents[1]


def test_the_site_is_built_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "sim.docs", "--no-figures", "--output", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    api = (tmp_path / "api" / "index.html").read_text(encoding="utf-8")
    elsewhere = {"UserError", "gpus"}  # of isa; hidden by the package of that name, and told of above the rest
    assert not [name for name in sim.__all__ if name not in elsewhere and f'id="sim.{name}"' not in api]
    missing = [link for page in tmp_path.rglob("*.html") for link in broken(page)]
    assert not missing


def test_a_mistake_ends_with_status_2_and_one_message(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    for name in ("sim", "isa"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))  # without the pages beside them
    command = [sys.executable, "-m", "sim.docs", "--no-figures"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(tmp_path)}
    )
    assert (done.returncode, done.stderr.count("error:")) == (2, 1)
    assert "Traceback" not in done.stderr


def broken(page: Path) -> list[str]:
    """Return the links and pictures of a built page that lead to no file."""
    links = re.findall(r'(?:href|src)="([^"#?:]+)["#?]', page.read_text(encoding="utf-8"))
    inside = [link for link in links if not link.startswith("/") and "figures/" not in link]
    return [f"{page.name}: {link}" for link in inside if not (page.parent / link).exists()]


def test_pages_that_the_navigation_does_not_name_come_last() -> None:
    assert rest("") == [{"More": [str(name) for name in pages.kept() if name.suffix == ".md"]}]
    assert rest(str([str(name) for name in pages.kept()])) == []


@pytest.mark.parametrize("gpu", ["h100", "textbook"])
def test_the_glossary_names_every_counter_of_a_result(gpu: str) -> None:
    program = isa.load(ROOT / "programs" / "volkov" / "ffma_ilp1.sass")
    launch = sim.Launch(program, grid=(1,), block=(32,), args=(np.zeros(32, np.float32), np.float32(1), np.float32(1), np.uint32(1)))
    counters = set(sim.run(launch, sim.gpu(gpu)).counters)
    assert counters - set(pages.counters()) == set()


def test_the_gallery_s_commands_exist_with_their_options() -> None:
    for one in pages.pictures():
        words = shlex.split(f"{one['command']} {one['option']}")
        options = {name for parameter in COMMANDS[words[0]].params for name in parameter.opts}
        assert not {word for word in words if word.startswith("--")} - options
