"""Pages of the site: those of the repository, and those that are made of tables and docstrings."""

import re
import subprocess
import tomllib
from pathlib import Path

from isa.errors import UserError
from sim.report.words import CAUSE_MEANINGS, SLOT_MEANINGS
from sim.result.causes import SLOT_CAUSE_NAMES, StallCause

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = (".md", ".png")
API = (
    ("sim", "Run, simulate, sweep"),
    ("isa", "Listings and programs"),
    ("sim.launch.launch.Launch", "A launch"),
    ("sim.gpus.model.Gpu", "A GPU"),
    ("sim.gpus.occupancy.Occupancy", "Occupancy"),
    ("sim.traces.trace.Trace", "What was executed"),
    ("sim.result.result.Result", "What a run found"),
    ("sim.control_words.finding.Finding", "What lint found"),
)

INTRODUCTION = """# API

What `import isa, sim` gives. All of it is typed. `sim.gpus()` returns the names of the presets; a user's mistake raises `isa.UserError`,
whose text says where and what to do."""


def kept() -> list[Path]:
    """Return the pages and pictures of the repository, relative to its root. Raises UserError outside a repository."""
    try:
        listed = ["git", "ls-files", "-co", "--exclude-standard", *(f"*{suffix}" for suffix in SUFFIXES)]
        done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise UserError("the site is made of the repository's pages", hint="clone it, and run this there") from None
    return [Path(name) for name in done.stdout.splitlines() if (ROOT / name).exists()]


def on_site(name: Path, names: list[Path]) -> str:
    """Return a page of the repository with links to folders and files that the site does not hold as plain text."""

    def link(found: re.Match[str]) -> str:
        target = found[2].partition("#")[0]
        file = (ROOT / name).parent / target
        other = target and ":" not in target and file.exists() and file.resolve().relative_to(ROOT) not in names
        return found[1] if other else found[0]

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", link, (ROOT / name).read_text(encoding="utf-8"))


def counters() -> dict[str, str]:
    """Return the meaning of each counter: the table of sim/README.md."""
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (.+) \|$", (ROOT / "sim" / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {name: meaning for names, meaning in rows for name in re.findall(r"`(\w+)`", names)}


def glossary() -> str:
    """Return the page of causes and counters."""
    slots = {name: SLOT_MEANINGS[name] for name in SLOT_CAUSE_NAMES[len(StallCause) :]}
    parts = [
        "# Glossary\n\nNames are Nsight Compute's where it has one. This page is made of the tables that reports print from.",
        "## Stall causes\n\nWhere a warp-cycle went. Each warp-cycle between a warp's start and exit has exactly one cause: a warp ...",
        _table("cause", {cause.name.lower(): f"{CAUSE_MEANINGS[cause.name.lower()]}" for cause in StallCause}),
        "## Issue slots\n\nWhere a scheduler-cycle without an issue went: the cause of the warp that issues next, or one of these.",
        _table("cause", slots),
        "## Counters\n\nWhat `result.counters` holds.",
        _table("counter", counters()),
    ]
    return "\n\n".join(parts) + "\n"


def _table(first: str, rows: dict[str, str]) -> str:
    return "\n".join([f"| {first} | meaning |", "|---|---|", *(f"| `{name}` | {meaning} |" for name, meaning in rows.items())])


def api() -> str:
    """Return the page that mkdocstrings fills from docstrings."""
    parts = [f"## {title}\n\n::: {name}" for name, title in API]
    return "\n\n".join([INTRODUCTION, *parts]) + "\n"


def pictures() -> list[dict[str, str]]:
    """Return the gallery: name, title and command of each figure; the command's `--figure FILE` is added."""
    return tomllib.loads(Path(__file__).with_name("gallery.toml").read_text(encoding="utf-8"))["figure"]


def gallery(drawn: bool) -> str:
    """Return the page of figures, each with its command. drawn: show the figures."""
    parts = ["# Gallery\n\nEvery figure is drawn by the command under it when this site is built."]
    for one in pictures():
        shown = f"![{one['title']}](figures/{one['name']}.png)\n\n" if drawn else ""
        parts.append(f"## {one['title']}\n\n{shown}```sh\nsimtlab {one['command']} {one['option']} {one['name']}.png\n```")
    return "\n\n".join(parts) + "\n"
