"""The README's commands run, and print what it says they print.

In a ```console block, `$` lines are commands and what follows is their output; a line `...` stands for any lines.
`pytest --update-golden` writes the present output into the README, keeping the lines that `...` hides hidden.
"""

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"[\d.,█▌]+")  # or a bar
PYTHON = re.compile(r"```python\n(.*?)```.*?```text\n(.*?)```", re.DOTALL)


def examples() -> list[str]:
    return BLOCK.findall(README.read_text())


def shell(command: str, folder: Path) -> str:
    """Run one command as a user would in the repository, with its own `simtlab` first on the path; return all it prints."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "120"}
    done = subprocess.run(command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return "\n".join(line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("compiling the simulator"))


def run_block(block: str, folder: Path) -> tuple[list[str], str]:
    """Return the commands of a block and what they print together, mistakes.sass written to a folder of the test's."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    printed = [shell(re.sub(r"\bmistakes\.sass", str(folder / "mistakes.sass"), command), folder) for command in commands]
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


@pytest.mark.parametrize("number", range(len(examples())))
def test_a_console_example_prints_what_the_readme_says(number: int, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    block = examples()[number]
    commands, got = run_block(block, tmp_path)
    expected = [line for line in block.splitlines() if not line.startswith("$ ")]
    if pytestconfig.getoption("--update-golden") and not matches(expected, got.splitlines()):
        lines = shortened(expected, [line.rstrip() for line in got.splitlines()])
        fresh = "".join(f"{line}\n" for line in [*(f"$ {command}" for command in commands), *lines])
        README.write_text(README.read_text().replace(block, fresh))
        return
    assert matches(expected, got.splitlines()), f"{commands}\n{got}"


def test_an_update_keeps_hidden_what_is_hidden() -> None:
    shown = ["time 12 cycles", "...", "occupancy 66.7%", "", "Memory", "..."]
    got = ["time 34 cycles", "issued 5", "peak 6%", "occupancy 50.0%", "", "Memory", "loads 7", "stores 8"]
    assert shortened(shown, got) == ["time 34 cycles", "...", "occupancy 50.0%", "", "Memory", "..."]
    assert shortened(["time 12 cycles", "end"], ["time 34 cycles", "new", "end"]) == ["time 34 cycles", "new", "end"]


def test_the_python_example_prints_what_the_readme_says(pytestconfig: pytest.Config) -> None:
    code, expected = PYTHON.findall(README.read_text())[0]
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if pytestconfig.getoption("--update-golden"):
        README.write_text(README.read_text().replace(f"```text\n{expected}```", f"```text\n{done.stdout}```"))
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


def test_the_files_that_the_readme_names_exist() -> None:
    named = re.findall(r"`((?:isa|sim|programs|tests|notebooks)/[\w./]+)`", README.read_text()) + re.findall(
        r"\]\(([\w./]+)\)", README.read_text()
    )
    assert not [name for name in named if not (ROOT / name).exists()]
