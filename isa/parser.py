"""Mini-SASS text to statements, line by line, so that every mistake of a listing is seen in one go.

1. comments are blanked, columns kept; 2. a line that is one instruction is split by the grammar's terminals, lark reads the others;
3. lark reads each operand not seen before. Where an operand stands in its line is worked out when a message asks for it (`located`).
"""

import functools
import re
from importlib import resources
from typing import Any, NamedTuple

from lark import Lark, UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from isa.diagnostics import Diagnostics
from isa.operands import Operand, OperandBuilder, OperandError
from isa.refused import refusal

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|#[^\n]*", re.DOTALL)
COMMA = re.compile(r",(?![^{]*\})")  # not inside a set {3,2}
LABEL = re.compile(r"\s*([A-Za-z_.$][\w.$]*)[ \t]*:")
WORDS = {  # lark's names of the terminals that a message may ask for
    "OPCODE": "an opcode",
    "DOTTED": "a directive",
    "LABEL": "a label",
    "GUARD": "a guard @P0..@P6",
    "OPERANDS": "operands",
    "REGISTER": "a register",
    "PREDICATE": "a predicate",
    "NUMBER": "a number",
    "NAME": "a name",
    "LSQB": "'['",
    "RSQB": "']'",
    "VBAR": "'|'",
    "PLUS": "'+'",
    "C": "c[bank][offset]",
    "$END": "the end of the line",
}


class Word(NamedTuple):
    """An argument of a directive: a name or a number."""

    text: str
    column: int
    is_name: bool


class Statement(NamedTuple):
    """One line: labels, then an instruction, a directive or nothing."""

    line: int  # 1-based
    labels: tuple[tuple[str, int], ...]  # name, column
    guard: str  # "@!P0", "" = none
    opcode: str  # with modifiers; "" = none
    column: int  # of the opcode or directive
    operands: tuple[Operand, ...]  # columns counted from each one's own start: see `located`
    directive: str  # ".shared"; "" = none
    arguments: tuple[Word, ...]  # of the directive
    text: str = ""  # the operands as written
    text_column: int = 0


class LineBuilder(OperandBuilder):
    """Turns the line rules of grammar.lark into `Statement`s of line 0."""

    def line(self, children: list[Any]) -> Statement:
        statement, labels = EMPTY, []
        for child in children:
            if isinstance(child, Statement):
                statement = child
            else:
                labels.append((child[:-1].rstrip(), child.column))
        return statement._replace(labels=tuple(labels)) if labels else statement

    def instruction(self, children: list[Any]) -> Statement:
        guard = str(children.pop(0)) if children[0].type == "GUARD" else ""
        opcode, *rest = children
        text, column = (str(rest[0]), rest[0].column) if rest else ("", 0)
        return Statement(0, (), guard, str(opcode), opcode.column, _operands(text, column), "", (), text, column)

    def dotted(self, children: list[Any]) -> Statement:
        return Statement(0, (), "", "", children[0].column, (), str(children[0]), tuple(children[1:]))

    def argument(self, children: list[Any]) -> Word:
        return Word(str(children[0]), children[0].column, children[0].type == "NAME")


EMPTY = Statement(0, (), "", "", 0, (), "", ())


@functools.cache
def _lark() -> Lark:
    grammar = resources.files("isa").joinpath("grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", start=["line", "operand"], transformer=LineBuilder())


@functools.cache
def _instruction_line() -> re.Pattern[str]:
    """Return what a line without labels that holds one instruction looks like: rule `instruction` of the grammar, by its terminals."""
    label, guard, opcode, operands = (_lark().get_terminal(name).pattern.to_regexp() for name in ("LABEL", "GUARD", "OPCODE", "OPERANDS"))
    blank = r"[ \t\r\f]*+"  # what the grammar ignores
    return re.compile(rf"{blank}(?!{label})(?:(?P<guard>{guard}){blank})?(?P<opcode>(?>{opcode})){blank}(?P<operands>{operands})?;?{blank}")


def blank_comments(text: str, diagnostics: Diagnostics) -> str:
    """Return the text with comments replaced by spaces, so that lines and columns stay."""
    blanked = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    if (start := blanked.find("/*")) >= 0:
        line = blanked.count("\n", 0, start) + 1
        diagnostics.add(line, start - blanked.rfind("\n", 0, start), "this comment is not closed", width=2, hint="close it with */")
        blanked = blanked[:start]
    return blanked


def statements(text: str, diagnostics: Diagnostics) -> list[Statement]:
    """Return the statements of a listing; syntax errors go to `diagnostics`."""
    lark, instruction = _lark(), _instruction_line().fullmatch
    found = []
    for line, content in enumerate(blank_comments(text, diagnostics).split("\n"), start=1):
        if not content or content.isspace():
            continue
        match = instruction(content)
        try:
            if match:
                guard, opcode, written = match.group("guard", "opcode", "operands")
                column = match.start("operands") + 1
                operands = _operands(written, column) if written else ()
                found.append(Statement(line, (), guard or "", opcode, match.start("opcode") + 1, operands, "", (), written or "", column))
                continue
            statement: Statement = lark.parse(content, start="line")  # type: ignore[assignment]
            found.append(statement._replace(line=line))
            continue
        except OperandError as error:
            name, *modifiers = match.group("opcode").split(".") if match else ("",)
            refused = refusal(name, modifiers)  # its operands may be of a kind that no other opcode has
            column, hint = (match.start("opcode") + 1, "") if match and refused else (error.column, error.hint)
            diagnostics.add(line, column, refused or str(error), hint=hint)
        except UnexpectedInput as error:
            column, message, width, hint = _explain(content, error)
            diagnostics.add(line, column, message, width=width, hint=hint)
        if label := LABEL.match(content):  # so that branches to this line are not reported too
            found.append(EMPTY._replace(line=line, labels=((label.group(1), label.start(1) + 1),)))
    return found


def located(statement: Statement) -> Statement:
    """Return a statement whose operands have columns of its line."""
    return statement._replace(operands=_located(statement.text, statement.text_column)) if statement.text else statement


def _operands(text: str, first: int) -> tuple[Operand, ...]:
    """Return the operands in a comma-separated text that starts at column `first`. Raises OperandError with columns of the line."""
    try:
        return operands_of(text) if text else ()
    except OperandError:
        return _located(text, first)


@functools.lru_cache(maxsize=1 << 15)
def operands_of(text: str) -> tuple[Operand, ...]:
    """Return the operands in a comma-separated text, columns counted from the start of each. Raises OperandError."""
    parts = COMMA.split(text) if "{" in text else text.split(",")
    return tuple([operand_of(part.strip()) for part in parts])


def _located(text: str, first: int) -> tuple[Operand, ...]:
    """Return the operands with columns of the line. Raises OperandError, with such a column."""
    operands, column = [], first
    for part in COMMA.split(text):
        stripped = part.strip()
        start = column + part.find(stripped)
        if not stripped:
            raise OperandError("an operand is missing before or after this comma", max(column - 1, first))
        try:
            operand = operand_of(stripped)
        except OperandError as error:
            raise OperandError(str(error), error.column + start - 1, error.hint) from None
        operands.append(operand._replace(column=operand.column + start - 1))
        column += len(part) + 1
    return tuple(operands)


@functools.lru_cache(maxsize=1 << 14)
def operand_of(text: str) -> Operand:
    """Return one operand, columns counted from its own start. Raises OperandError."""
    try:
        return _lark().parse(text, start="operand")  # type: ignore[return-value]
    except UnexpectedInput as error:
        column, message, _, hint = _explain(text, error)
        raise OperandError(message, column, hint.replace("the end of the line", "',' or the end of the line")) from None


def _explain(content: str, error: UnexpectedInput) -> tuple[int, str, int, str]:
    """Return column, message, caret width and hint of a syntax error."""
    if isinstance(error, UnexpectedToken):
        expected = error.accepts or error.expected
        if error.token.type == "$END":
            column, found, width = len(content.rstrip()) + 1, "end", 1
        else:
            word = error.token.split()[0]
            column, found, width = error.column, repr(word), len(word)
    elif isinstance(error, UnexpectedCharacters):
        expected = error.allowed or set()
        column, found, width = error.column, repr(content[error.column - 1]), 1
    else:  # pragma: no cover - lark's LALR parser raises the two above
        raise error
    words = sorted({WORDS[name] for name in expected if name in WORDS})
    return column, f"unexpected {found}", width, f"expected {', '.join(words)}" if words else ""
