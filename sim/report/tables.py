"""Tables for a terminal, all with one look."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def table_of(
    columns: Iterable[str],
    rows: Iterable[Iterable[Any]],
    title: str | None = None,
    caption: str | None = None,
    words: Collection[str] | None = None,
) -> "Table":
    """Return a table; nothing in it is cut. words: the columns of words, None = all; the others are numbers, aligned on the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=title, caption=caption, title_justify="left", caption_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if words is None or column in words else "right", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))  # Text: brackets in a value are no markup
    return table
