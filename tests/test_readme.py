"""The commands of the README and of the pages that it leads to run, and print what stands there.

In a ```console block, `$` lines are commands and what follows is their output; a line `...` stands for any lines.
`pytest --update-golden` writes the present output into the page, keeping the lines that `...` hides hidden.
"""

import difflib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from sim.cli import app

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
EXAMPLES = ROOT / "programs" / "EXAMPLES.md"
ACCURACY = ROOT / "programs" / "measurements" / "VALIDATION.md"
SPEED = ROOT / "sim" / "timing" / "PERFORMANCE.md"
CHANGES = ROOT / "CONTRIBUTING.md"  # names a command that it adds; test_contributing.py runs it
PAGES = (README, EXAMPLES)  # with console examples
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
MOST_LINES = 150  # of the README
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
WRITTEN = re.compile(r"(?<![\w./])(mistakes\.sass|\w+\.png)\b")
NUMBER = re.compile(r"[\d.,█▌]+")  # or a bar
PYTHON = re.compile(r"```python\n(.*?)```.*?```text\n(.*?)```", re.DOTALL)


def examples() -> list[Any]:
    """Return page and number of each console example; those of other pages than the README are slow."""
    found = [(page, number) for page in PAGES for number in range(len(BLOCK.findall(page.read_text())))]
    return [pytest.param(*one, marks=[] if one[0] == README else pytest.mark.slow) for one in found]


def shell(command: str, folder: Path) -> str:
    """Run one command as a user would in the repository, with its own `simtlab` first on the path; return all it prints."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "120"}
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return "\n".join(line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("compiling the simulator"))


def run_block(block: str, folder: Path) -> tuple[list[str], str]:
    """Return the commands of a block and what they print together, files of the user's written to a folder of the test's."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    printed = [shell(WRITTEN.sub(rf"{folder}/\1", command), folder) for command in commands]
    return commands, "\n".join(part for part in printed if part).replace(f"{folder}/", "")


def matches(expected: list[str], got: list[str]) -> bool:
    """Return whether the lines are equal, `...` standing for any number of lines."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(matches(expected[1:], got[k:]) for k in range(len(got) + 1))
    return bool(got) and expected[0].rstrip() == got[0].rstrip() and matches(expected[1:], got[1:])


def shortened(expected: list[str], got: list[str]) -> list[str]:
    """Return the lines of `got` that stand where `expected` shows lines, and `...` where it hides them.

    Lines are paired by their words, whatever numbers and bars they hold; a line without a partner is shown, not hidden.
    """
    before, after = ([line if line == "..." else " ".join(NUMBER.sub(" ", line).split()) for line in lines] for lines in (expected, got))
    found: list[str] = []
    for _, first, last, start, end in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if "..." not in expected[first:last]:
            found += got[start:end]
            continue
        above = expected[first:last].index("...")
        below = expected[first:last][::-1].index("...")
        found += [*got[start : start + above], "...", *got[max(end - below, start + above) : end]]
    return found


@pytest.mark.parametrize(("page", "number"), examples(), ids=lambda value: getattr(value, "stem", value))
def test_a_console_example_prints_what_the_page_says(page: Path, number: int, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    block = BLOCK.findall(page.read_text())[number]
    commands, got = run_block(block, tmp_path)
    expected = [line for line in block.splitlines() if not line.startswith("$ ")]
    if pytestconfig.getoption("--update-golden") and not matches(expected, got.splitlines()):
        lines = shortened(expected, [line.rstrip() for line in got.splitlines()])
        fresh = "".join(f"{line}\n" for line in [*(f"$ {command}" for command in commands), *lines])
        page.write_text(page.read_text().replace(block, fresh))
        return
    assert matches(expected, got.splitlines()), f"{commands}\n{got}"


def test_an_update_keeps_hidden_what_is_hidden() -> None:
    shown = ["time 12 cycles", "...", "occupancy 66.7%", "", "Memory", "..."]
    got = ["time 34 cycles", "issued 5", "peak 6%", "occupancy 50.0%", "", "Memory", "loads 7", "stores 8"]
    assert shortened(shown, got) == ["time 34 cycles", "...", "occupancy 50.0%", "", "Memory", "..."]
    assert shortened(["time 12 cycles", "end"], ["time 34 cycles", "new", "end"]) == ["time 34 cycles", "new", "end"]


def test_the_python_example_prints_what_the_page_says(pytestconfig: pytest.Config) -> None:
    text = EXAMPLES.read_text()
    code, expected = PYTHON.findall(text)[0]
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if pytestconfig.getoption("--update-golden"):
        EXAMPLES.write_text(text.replace(f"```text\n{expected}```", f"```text\n{done.stdout}```"))
        return
    assert done.stdout == expected


def test_the_two_commands_are_single_lines_that_name_extras_that_exist() -> None:
    text, project = README.read_text(), (ROOT / "pyproject.toml").read_text()
    for marker in ("main command", "test command"):
        found = re.search(rf"<!-- {marker} -->\n```sh\n([^\n]+)\n```", text)
        assert found, f"README.md has no {marker} on one line"
        (extras,) = re.findall(r"'\.\[([\w,]+)\]'", found.group(1))
        for extra in extras.split(","):
            assert re.search(rf"^{extra} = \[", project, re.MULTILINE)


def test_the_readme_is_short() -> None:
    assert README.read_text().count("\n") < MOST_LINES


@pytest.mark.parametrize(("heading", "page"), [("Accuracy", ACCURACY), ("Speed", SPEED)])
def test_the_numbers_of_the_readmes_tables_stand_in_the_page_that_it_names(heading: str, page: Path) -> None:
    section = re.split(r"^## ", README.read_text(), flags=re.MULTILINE)
    (text,) = (part for part in section if part.startswith(heading))
    cells = [row.split("|")[1:-1] for row in text.splitlines() if row.startswith("| ")][1:]
    assert str(page.relative_to(ROOT)) in text
    assert len(cells) >= 5
    said = set(re.findall(r"\d[\d,.]*\d|\d", page.read_text()))
    missing = {number for row in cells for cell in row for number in re.findall(r"\d[\d,.]*\d|\d", cell)} - said
    assert not missing


def pages() -> list[Path]:
    """Return every page of documentation in the repository."""
    kept = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in kept.stdout.split()]


def commands_of(text: str) -> list[str]:
    """Return the `simtlab` commands of a page: in shell blocks (continued lines joined), in spans of code and in tables."""
    joined = text.replace("\\\n", " ")
    lines = [line for block in re.findall(r"```(?:sh|console)\n(.*?)```", joined, re.DOTALL) for line in block.splitlines()]
    typed = [line.removeprefix("$ ") for line in lines if re.match(r"(\$ )?simtlab ", line)]
    return typed + re.findall(r"`(simtlab [^`\n]*)`", re.sub(r"```.*?```", "", joined, flags=re.DOTALL))


@pytest.mark.parametrize("page", [page for page in pages() if page != CHANGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_that_a_page_names_exist_with_their_options(page: Path) -> None:
    """Not run here: the words after `simtlab` must be a command, and every --option one of its own."""
    known = {name: {text for one in command.params for text in one.opts + one.secondary_opts} for name, command in COMMANDS.items()}
    for line in commands_of(page.read_text()):
        words = shlex.split(line.replace("...", " "), comments=True)[1:]
        if words and words[0].islower() and words[0] not in ("--help", "--version"):
            assert words[0] in known, f"{page.name}: {line}"
            options = {word.partition("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)}
            assert not options - known[words[0]] - {"--help"}, f"{page.name}: {line}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_a_page_names_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    linked = [link for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if ":" not in link]
    assert not [link for link in linked if not (page.parent / link).exists()]
    named = re.findall(r"`((?:isa|sim|programs|tests|notebooks)/[\w./]+)`", text)
    assert not [name for name in named if not (ROOT / name).exists()]
