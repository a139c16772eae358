"""Which statement of the documents comes out where: STATEMENTS.md, made of statements.toml and what `reproduce --all --json` wrote.

python -m programs.documents.statements all.json        # writes the page; a check that nothing has is an error
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from isa.errors import UserError
from programs.published import published

FOLDER = Path(__file__).parent
PAGE = FOLDER / "STATEMENTS.md"
HEAD = """# Every number of the five documents, and the command that reproduces it

Made by `python -m programs.documents.statements FILE` of what `simtlab reproduce --all --json FILE` wrote; the tests compare the page with
`statements.toml` and run the short experiments again. What a number is fitted to, its experiment's output says.
"""


class Row(NamedTuple):
    """One statement; `run` and `check` name what gives it, or `none` says why nothing does."""

    document: str
    place: str
    says: str
    run: str = ""
    check: str = ""
    none: str = ""


def rows() -> Iterator[Row]:
    """Yield the statements in the documents' order."""
    for document in published(FOLDER, "statements.toml")["document"]:
        for row in document["rows"]:
            yield Row(document["title"], **row)


def line(row: Row, published_: str = "-", simulated: str = "-") -> str:
    """Return the row of the page's table."""
    command = f"`simtlab reproduce {row.run}`" if row.run else f"not simulated: {row.none}"
    return "| " + " | ".join(part.replace("|", "/") for part in (row.place, row.says, command, published_, simulated)) + " |"


def page(found: Mapping[str, Any]) -> str:
    """Return the page. found: reproductions by name, as `reproduce --all --json` writes them. Raises UserError for a missing check."""
    parts, title = [HEAD], ""
    for row in rows():
        if row.document != title:
            title = row.document
            parts.append(f"\n## {title}\n\n| where | states | command | published | simulated |\n|---|---|---|---|---|")
        parts.append(line(row, *values(row, found)))
    return "\n".join(parts) + "\n"


def values(row: Row, found: Mapping[str, Any]) -> tuple[str, str]:
    """Return what was published and what was simulated."""
    if not row.run:
        return "-", "-"
    checks = found[row.run]["checks"] if row.run in found else ()
    check = next((one for one in checks if one["what"] == row.check), None)
    if check is None:
        raise UserError(f"{row.run} has no check '{row.check}'", hint=f"for the statement '{row.says}' ({row.place})")
    return check["published"], check["simulated"] + (" (missed)" if check["passed"] is False else "")


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), encoding="utf-8")
