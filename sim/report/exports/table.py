"""A timeline as a table, a row per issue in order of time: CSV, or Parquet for larger ones."""

import csv
import io
from typing import Any

from isa.errors import UserError
from sim.report.tracks import recorded
from sim.result.causes import CAUSE_NAMES
from sim.result.result import Result


def columns(result: Result) -> dict[str, list[Any]]:
    """Return the columns of `Result.timeline`, the cause by name, and the line and text of each instruction.

    Raises UserError when the run recorded no timeline.
    """
    timeline = recorded(result)
    found = {name: column.tolist() for name, column in timeline._asdict().items()}
    instructions = [result.program.instructions[i] for i in found["instruction"]]
    found["cause"] = [CAUSE_NAMES[cause] for cause in found["cause"]]
    return found | {"line": [i.line for i in instructions], "text": [i.text for i in instructions]}


def as_csv(result: Result) -> str:
    """Return the table as comma-separated text with a line of names first."""
    found = columns(result)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(found)
    writer.writerows(zip(*found.values(), strict=True))
    return file.getvalue()


def as_parquet(result: Result) -> bytes:
    """Return the table as a Parquet file. Raises UserError without pyarrow."""
    check_pyarrow()
    import pyarrow
    from pyarrow import parquet

    found: dict[str, Any] = dict(columns(result))
    for name in ("cause", "text"):
        found[name] = pyarrow.array(found[name]).dictionary_encode()
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(found), file)
    return file.getvalue()


def check_pyarrow() -> None:
    """Raise UserError when pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise UserError("Parquet needs pyarrow, which is not installed", hint="pip install 'simtlab[tables]', or write CSV") from None
