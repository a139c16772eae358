"""The one exception of a user's mistake. The command line prints its message and exits with status 2; never a traceback."""


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
