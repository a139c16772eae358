"""What was published or measured, as data beside the listings, and what of it a preset was fitted to."""

import csv
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sim.gpus.model import Gpu


def published(folder: Path, name: str = "published.toml") -> dict[str, Any]:
    """Return a table of a reproduction's folder; where it holds several GPUs' numbers, keyed by preset."""
    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


def rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a comma-separated table by column name; lines that begin with # are comments."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def fitted_to(gpu: Gpu, field: str) -> str:
    """Return what the field of a preset is fitted to, in the words of its source; "" when it is not fitted."""
    source = gpu.source_of(field)
    return source.text if source and source.kind == "fitted" else ""
