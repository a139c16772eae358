"""Collects every mistake of a listing and reports them in one `UserError`, each with its line and a caret."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from isa.errors import UserError

SHOWN = 20  # mistakes: a text that has more is hardly a listing


@dataclass
class Diagnostics:
    """The mistakes found so far in one text."""

    source: str
    path: str = ""
    found: dict[tuple[int, int, str], tuple[int, str]] = field(
        default_factory=dict
    )  # (line, column, message) -> (width of the caret, hint)

    def add(self, line: int, column: int, message: str, *, width: int = 1, hint: str = "") -> None:
        """Note a mistake at a 1-based line and column (column 0 = the whole line)."""
        self.found.setdefault((line, column, message), (width, hint))

    def raise_if_any(self) -> None:
        """Raise one UserError that shows the mistakes, in the order of the text, and counts those beyond SHOWN."""
        if not self.found:
            return
        mistakes = sorted(self.found.items(), key=lambda item: item[0][:2])
        (line, column, message), (width, hint) = mistakes[0]
        if len(mistakes) == 1:
            raise UserError(message + self._excerpt(line, column, width), path=self.path, line=line, column=column, hint=hint)
        parts = [f"{len(mistakes)} mistakes"]
        for (line, column, message), (width, hint) in mistakes[:SHOWN]:
            where = ":".join(str(part) for part in (self.path, line, column) if part)
            parts.append(f"{where}: {message}{self._excerpt(line, column, width)}" + (f"\n  {hint}" if hint else ""))
        if len(mistakes) > SHOWN:
            parts.append(f"... and {len(mistakes) - SHOWN} more; is this file a listing?")
        raise UserError("\n".join(parts), path=self.path)

    def _excerpt(self, line: int, column: int, width: int) -> str:
        lines = self.source.split("\n")
        if not 1 <= line <= len(lines):
            return ""
        text = lines[line - 1].replace("\t", " ").rstrip()
        return f"\n    {text}\n    {' ' * (column - 1)}{'^' * max(width, 1)}" if column else f"\n    {text}"


def nearest(word: str, names: Iterable[str]) -> str:
    """Return "did you mean X or Y?" for the names most like `word`, or an empty string."""
    close = difflib.get_close_matches(word.upper(), names := list(names), n=2, cutoff=0.6) or difflib.get_close_matches(
        word, names, n=2, cutoff=0.6
    )
    return f"did you mean {' or '.join(close)}?" if close else ""
