"""The measured tables of this folder: comma-separated, comment lines first."""

import csv
from collections.abc import Iterator
from pathlib import Path

H100 = Path(__file__).parent / "h100"


def rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a table by column name; lines that begin with # are comments."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))
