"""Mini-SASS text to statements, line by line, so that every mistake of a listing is seen in one go.

1. comments are blanked, columns kept; 2. lark reads each line; 3. mistakes of syntax go to `Diagnostics`.
"""

import functools
import re
from importlib import resources
from typing import Any, NamedTuple

from lark import Lark, Token, UnexpectedInput
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from isa.diagnostics import Diagnostics
from isa.operands import Operand, OperandBuilder, OperandError

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|#[^\n]*", re.DOTALL)
WORDS = {
    "OPCODE": "an opcode",
    "DOTTED": "a directive",
    "LABEL": "a label",
    "GUARD": "a guard @P0..@P6",
    "REGISTER": "a register",
    "PREDICATE": "a predicate",
    "NUMBER": "a number",
    "NAME": "a name",
    "QUOTED": "`(label)",
    "$END": "the end of the line",
    "COMMA": "','",
    "LSQB": "'['",
    "RSQB": "']'",
    "VBAR": "'|'",
    "SEMICOLON": "';'",
    "PLUS": "'+'",
    "C": "c[bank][offset]",
}
SIGNS = {"MINUS", "TILDE", "BANG", "VBAR"}


class Statement(NamedTuple):
    """One line: labels, then an instruction, a directive or nothing."""

    line: int  # 1-based
    labels: tuple[tuple[str, int], ...]  # name, column
    guard: str  # "@!P0", "" = none
    opcode: str  # with modifiers; "" = none
    column: int  # of the opcode or directive
    operands: tuple[Operand, ...]
    directive: str  # ".shared"; "" = none
    arguments: tuple[Token, ...]  # of the directive


class LineBuilder(OperandBuilder):
    """Turns the line rules of grammar.lark into `Statement`s (line number 0; `statements` fills it in)."""

    def start(self, children: list[Any]) -> Statement:
        statement, labels = EMPTY, []
        for child in children:
            if isinstance(child, Statement):
                statement = child
            elif child.type == "LABEL":
                labels.append((child[:-1].rstrip(), child.column))
        return statement._replace(labels=tuple(labels))

    def instruction(self, children: list[Any]) -> Statement:
        guard = str(children.pop(0)) if children[0].type == "GUARD" else ""
        opcode = children.pop(0)
        return Statement(0, (), guard, str(opcode), opcode.column, tuple(children), "", ())

    def dotted(self, children: list[Any]) -> Statement:
        return Statement(0, (), "", "", children[0].column, (), str(children[0]), tuple(child[0] for child in children[1:]))

    def argument(self, children: list[Any]) -> list[Any]:
        return children


EMPTY = Statement(0, (), "", "", 0, (), "", ())


@functools.cache
def _lark() -> Lark:
    grammar = resources.files("isa").joinpath("grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", transformer=LineBuilder())


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
    parse = _lark().parse
    found = []
    for line, content in enumerate(blank_comments(text, diagnostics).splitlines(), start=1):
        if not content or content.isspace():
            continue
        try:
            found.append(parse(content)._replace(line=line))  # type: ignore[attr-defined]
        except OperandError as error:
            diagnostics.add(line, error.column, str(error), hint=error.hint)
        except UnexpectedInput as error:
            _syntax_error(line, content, error, diagnostics)
    return found


def _syntax_error(line: int, content: str, error: UnexpectedInput, diagnostics: Diagnostics) -> None:
    if isinstance(error, UnexpectedToken):
        at_end = error.token.type == "$END"
        column, expected = (len(content.rstrip()) + 1 if at_end else error.column), error.accepts or error.expected
        found, width = ("the end of the line", 1) if at_end else (repr(str(error.token)), len(error.token))
    elif isinstance(error, UnexpectedCharacters):
        column, expected, width = error.column, error.allowed or set(), 1
        found = repr(content[column - 1])
    else:  # pragma: no cover - lark's LALR parser raises the two above
        raise error
    words = sorted({WORDS.get(name, name) for name in expected} - {WORDS.get(name, name) for name in SIGNS})
    diagnostics.add(line, column, f"unexpected {found}", width=width, hint=f"expected {', '.join(words)}")
