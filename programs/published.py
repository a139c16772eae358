"""What was published or measured, as data beside the listings, and what of it a preset was fitted to."""

import csv
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from isa.errors import UserError
from sim.gpus.model import Gpu


def published(folder: Path, name: str = "published.toml") -> dict[str, Any]:
    """Return a table of a reproduction's folder; where it holds several GPUs' numbers, keyed by preset."""
    return tomllib.loads((folder / name).read_text(encoding="utf-8"))


def rows(path: Path, columns: Iterable[str] = ()) -> Iterator[dict[str, str]]:
    """Yield the rows of a comma-separated table by column name; lines that begin with # are comments.

    columns: which it must have. Raises UserError for a table without them, or one that cannot be read.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            table = csv.DictReader(line for line in file if not line.startswith("#"))
            for column in columns:
                if column not in (table.fieldnames or ()):
                    raise UserError(f"the table has no column {column}", path=str(path))
            yield from table
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UserError(f"cannot read the table: {reason}", path=str(path)) from None


def fitted_to(gpu: Gpu, field: str) -> str:
    """Return what the field of a preset is fitted to, in the words of its source; "" when it is not fitted."""
    source = gpu.source_of(field)
    return source.text if source and source.kind == "fitted" else ""


def ends_with_status(main: Callable[[], None]) -> None:
    """Run what a module that is a command prints; a user's mistake ends it with its words and status 2."""
    try:
        main()
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
