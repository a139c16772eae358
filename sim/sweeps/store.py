"""Rows of a sweep on disk: each chunk a Parquet file of its own as it is done, one table in the order of the points at the end.

While a sweep runs, OUTPUT.parts/ holds what is done; a file appears there whole or not at all. A sweep that finds such files, or
the table of an earlier one, takes over every row whose key is among its own points.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from isa.errors import UserError
from sim.sweeps.axes import Point
from sim.sweeps.work import FIRST, LAST, Row

MOST_PARTS = 100  # of a level, before they are made one


class Part(NamedTuple):
    """A file of rows."""

    path: Path
    table: Any


def arrow() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet. Raises UserError when they are missing."""
    try:
        import pandas  # noqa: F401  the table that a sweep returns
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise UserError(f"a sweep needs {error.name}, which is not installed", hint="pip install 'simtlab[tables]'") from None
    return pyarrow, pyarrow.parquet


class Store:
    """What is known of a sweep's points. output: a Parquet file, None = only in memory."""

    def __init__(self, output: Path | None) -> None:
        self.pyarrow, self.parquet = arrow()
        self.output = output
        self.parts = output.with_name(output.name + ".parts") if output else None
        self.tables: list[Any] = []  # of the output, and of what is not on disk
        self.levels: list[list[Part]] = [[]]  # parts by how often they were made of others
        self.written = 0
        if output and self.parts:
            try:
                self.parts.mkdir(exist_ok=True)
            except OSError as error:
                raise UserError(f"cannot write: {error.strerror}", path=str(self.parts)) from None
            files = sorted(self.parts.glob("*.parquet"))
            self.tables = [self._read(output)] if output.exists() else []
            self.levels[0] = [Part(path, self._read(path)) for path in files]
            self.written = 1 + max((int(path.stem) for path in files), default=-1)
        self.keys = {key for table in self._tables() for key in table["key"].to_pylist()}

    def add(self, rows: Sequence[Row]) -> None:
        """Keep the rows of a chunk; on disk, if there is an output."""
        fresh = [row for row in rows if row["key"] not in self.keys]
        self.keys.update(row["key"] for row in fresh)
        if not fresh:
            return
        table = self.pyarrow.Table.from_pylist(fresh)
        if self.parts is None:
            self.tables.append(table)
            return
        self._write_part(0, table)

    def finish(self, keys: Sequence[str], points: Sequence[Point], axes: Sequence[str]) -> Any:
        """Return the table of the points, in their order, and put it in place of the parts. keys: of the points."""
        found = self._joined(self._tables())
        place = {key: number for number, key in enumerate(found["key"].to_pylist())}
        table = found.take([place[key] for key in keys])
        names = sorted((name for name in table.column_names if name not in axes), key=_place)
        values = {name: self.pyarrow.array([point.values.get(name) for point in points]) for name in axes}
        table = self.pyarrow.table(values | {name: table[name] for name in names})
        if self.output and self.parts:
            self._write(table, self.output)
            shutil.rmtree(self.parts)
        return table

    def _tables(self) -> list[Any]:
        return [*self.tables, *(part.table for level in self.levels for part in level)]

    def _joined(self, tables: Sequence[Any]) -> Any:
        return self.pyarrow.concat_tables(tables, promote_options="permissive")

    def _write_part(self, level: int, table: Any) -> None:
        """Write a part; where there are many of a level, make one of the next of them.

        An interrupt in between leaves rows twice, of which one is taken. A row is written once per level: of a million chunks, three times.
        """
        assert self.parts
        if level == len(self.levels):
            self.levels.append([])
        self.levels[level].append(Part(self.parts / f"{self.written:08}.parquet", table))
        self.written += 1
        self._write(table, self.levels[level][-1].path)
        if len(self.levels[level]) >= MOST_PARTS:
            old, self.levels[level] = self.levels[level], []
            self._write_part(level + 1, self._joined([part.table for part in old]).combine_chunks())
            for part in old:
                part.path.unlink()

    def _read(self, path: Path) -> Any:
        try:
            table = self.parquet.ParquetFile(path).read()
        except (OSError, self.pyarrow.ArrowInvalid):
            table = None
        if table is None or "key" not in table.column_names:
            raise UserError("this file holds no results of a sweep", path=str(path), hint="name another output, or remove it")
        return table

    def _write(self, table: Any, path: Path) -> None:
        part = path.with_name(path.name + ".writing")
        try:
            self.parquet.write_table(table, part)
            os.replace(part, path)
        except OSError as error:
            raise UserError(f"cannot write: {error.strerror}", path=str(path)) from None


def _place(name: str) -> tuple[int, str]:
    """Return where a column stands: the run, then counters by name, then the accounts."""
    if name in FIRST:
        return FIRST.index(name), ""
    return len(FIRST) + (1 + LAST.index(name) if name in LAST else 0), name
