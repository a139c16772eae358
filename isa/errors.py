"""The one exception of a user's mistake. The command line prints its message and exits with status 2; never a traceback."""

import re
import tomllib
from pathlib import Path
from typing import Any

PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")  # how `tomllib` ends a message


class UserError(Exception):
    """What is wrong, where, and what to do about it, in one message.

    path, line, column (1-based; 0 = unknown) say where; `hint` is the remedy.
    """

    def __init__(self, message: str, *, path: str = "", line: int = 0, column: int = 0, hint: str = "") -> None:
        self.message, self.path, self.line, self.column, self.hint = message, path, line, column, hint
        where = ":".join(str(part) for part in (path, line, column) if part)
        super().__init__(f"{where}: {message}" if where else message)

    def __str__(self) -> str:
        return super().__str__() + (f"\n  {self.hint}" if self.hint else "")


def read_toml(path: Path, encoding: str = "utf-8") -> dict[str, Any]:
    """Return the table of a TOML file. Raises UserError for one that is none, OSError for one that cannot be read."""
    text = ""
    try:
        text = path.read_text(encoding)
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, brackets in brackets
        raise not_toml(error, str(path), text) from None


def not_toml(error: Exception, path: str, text: str, hint: str = "") -> UserError:
    """Return the mistake of a file that `tomllib` cannot read, or that is no UTF-8, at its line and column where the error says them.

    text: of the file; "" where it could not be read.
    """
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return UserError(f"not a TOML file: byte {error.object[error.start]:#04x} is not UTF-8", path=path, line=line, hint=hint)
    place, message = PLACE.search(str(error)), PLACE.sub("", str(error))
    line, column = (int(part or 0) for part in place.groups()) if place else (0, 0)
    if place and not line:
        line, message = max(len(text.splitlines()), 1), f"{message}, and there the file ends"
    return UserError(f"not a TOML file: {message}", path=path, line=line, column=column, hint=hint)
