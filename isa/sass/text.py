"""The text of `cuobjdump -sass` and `nvdisasm` (`-c`, `-hex`, `-plr`, full) -> functions."""

import re
from pathlib import Path
from typing import NoReturn

from isa.architecture import KNOWN, family
from isa.errors import UserError
from isa.sass.builder import Builder
from isa.sass.function import RawFunction
from isa.sass.statement import StatementError, statement

ADDRESS = re.compile(r"\s*/\*([0-9a-fA-F]{4,8})\*/\s+(?=[^\s.])")
WORD = re.compile(r"\s*/\*\s*0x([0-9a-fA-F]{16})\s*\*/\s*")
LABEL = re.compile(r"([.$\w][^\s:]*):\s*")
FUNCTION = re.compile(r"\s*Function\s*:\s*(.*)")
SECTION = re.compile(r"\s*\.section\s+\"?([^\s,\"]+)\"?.*")
CODE_FOR = re.compile(r"\s*(?:code for|\.target|arch =)\s+(\S+)\s*")
FLAGS = re.compile(r"\s*\.headerflags\s.*?EF_CUDA_SM(\d+).*")
SIZE = re.compile(r"\s*\.size\s+[^\s,]+,\s*\((\S+) - \S+\)\s*")
END = re.compile(r"\s*\.{5,}\s*")
IGNORED = re.compile(r"\s*(?://.*|\.[a-z].*|=+|Fatbin \w+ code:|\w[\w ]* =.*|/\*[0-9a-fA-F]{4,}\*/\s+\..*)?")
COMPILER_MADE = re.compile(r"code for sm_\d+|^\s*\.headerflags|^\s*/\*[0-9a-fA-F]{4,}\*/", re.MULTILINE)
COLUMNS = re.compile(r"// [|+]")  # -plr: register columns beside the code
NO_ARCHITECTURE = "keep the lines `code for sm_NN` or `.headerflags` that the disassembler prints first"
CUT = "the listing is cut: print it again and use all of it"
EMPTY = "print one with `cuobjdump -sass FILE` or `nvdisasm -c -hex FILE`"


def is_disassembly(text: str) -> bool:
    """True when text looks like what a disassembler prints, whole or in part."""
    return COMPILER_MADE.search(text) is not None


def read(path: str | Path) -> list[RawFunction]:
    """Read every function of a listing file. Raises UserError."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UserError(f"cannot read the listing: {reason}", path=str(path)) from None
    return parse(text, str(path))


def parse(text: str, path: str = "", architecture: str = "") -> list[RawFunction]:
    """Return the functions of a listing, in the order of the text.

    path only names the file in messages; architecture ("sm_75") is used where the text does not say. Raises UserError.
    """
    reader = _Reader(path, architecture)
    for line, content in enumerate(text.splitlines(), 1):
        reader.read_line(line, content)
    reader.close()
    if not reader.functions:
        raise UserError("the listing holds no instructions", path=path, hint=EMPTY)
    return reader.functions


class _Reader:
    """Walks the lines of a listing; `functions` is what it found."""

    def __init__(self, path: str, architecture: str) -> None:
        self.path = path
        self.functions: list[RawFunction] = []
        self.builder: Builder | None = None  # the function that is open
        self.name = Path(path).stem or "kernel"  # of code without a header
        self.architecture = architecture
        self.needs_dots = False  # at the end of the open function, as cuobjdump prints them
        self.end_labels: list[str] = []  # behind the open function, as nvdisasm names them
        self.is_code = True  # False inside the data sections of nvdisasm
        self.line = 0

    def read_line(self, line: int, content: str) -> None:
        self.line = line
        if "// " in content and (columns := COLUMNS.search(content)):
            content = content[: columns.start()]
        if match := ADDRESS.match(content):
            if self.is_code:
                self._instruction(int(match[1], 16), content[match.end() :])
        elif match := WORD.fullmatch(content):
            if self.is_code:
                self._code().add_word(int(match[1], 16), line)
        elif self._header(content) or not self.is_code or self._label(content) or IGNORED.fullmatch(content):
            pass
        elif self.builder is not None:
            self._fail(f"expected an instruction, a label or a directive, found {content.strip()[:60]!r}", "paste the listing unchanged")

    def close(self, is_at_end: bool = False) -> None:
        """Finish the open function. is_at_end: at the dots that cuobjdump prints behind each."""
        if self.builder is not None and self.builder.instructions:
            missing = [label for label in self.end_labels if label not in self.builder.labels]
            if missing or (self.needs_dots and not is_at_end):
                end = f"label {missing[0]}" if missing else "the line of dots"
                self._fail(f"{end} at the end of function {self.name} is missing", CUT)
            self.functions.append(self.builder.build())
        self.builder, self.needs_dots, self.end_labels = None, False, []

    def _header(self, content: str) -> bool:
        """Obey a line that opens a function or names the architecture."""
        if match := FUNCTION.fullmatch(content):
            self._open(match[1].strip())
            self.needs_dots = True
        elif match := SECTION.fullmatch(content):
            self.is_code = match[1].startswith(".text.")
            if self.is_code:
                self._open(match[1].removeprefix(".text."))
            else:
                self.close()
        elif match := CODE_FOR.fullmatch(content):
            self.close()
            self.architecture = match[1]
        elif match := FLAGS.fullmatch(content):
            if not re.fullmatch(rf"sm_{match[1]}[af]?", self.architecture):
                self.architecture = f"sm_{match[1]}"
        elif match := SIZE.fullmatch(content):
            self.end_labels.append(match[1])
        elif END.fullmatch(content):
            self.close(is_at_end=True)
        else:
            return False
        return True

    def _open(self, name: str) -> None:
        self.close()
        self.name, self.is_code = name, True

    def _instruction(self, address: int, text: str) -> None:
        comment = text.rfind("/*")
        match = WORD.fullmatch(text, comment) if comment >= 0 else None
        try:
            parts = statement((text[:comment] if match else text).strip())
        except StatementError as error:
            self._fail(str(error), "paste the listing unchanged, with whole lines")
        self._code().add(address, parts, int(match[1], 16) if match else None, self.line)

    def _label(self, content: str) -> bool:
        match = LABEL.fullmatch(content)
        if match is None:
            return False
        if self.architecture and not match[1].startswith(".text."):
            self._code().add_label(match[1], self.line)
        return True

    def _code(self) -> Builder:
        """Return the open function; open it at its first line of code."""
        if self.builder is None:
            if not self.architecture:
                self._fail("the listing does not say for which architecture it is", NO_ARCHITECTURE)
            encoding = family(self.architecture)
            if encoding is None:
                self._fail(f"architecture {self.architecture} is not known", f"listings for {KNOWN} are read")
            self.builder = Builder(self.name, self.architecture, encoding, self.path)
        return self.builder

    def _fail(self, message: str, hint: str) -> NoReturn:
        raise UserError(message, path=self.path, line=self.line, hint=hint)
