"""How large files and functions are, and how many parameters functions have: `python -m tests.sizes` prints the largest of each.

A NamedTuple's fields are no parameters, nor is `self`; a kernel (`sim/compiled/kernel.py`) may have one more. `test_sizes.py` holds the
limits.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {"lines of a file": 300, "lines of a function": 60, "parameters": 8, "parameters of a kernel": 9}
KERNELS = {"inner", "outlined", "kernel"}  # their decorators
SHOWN = 15


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the functions of a file, methods and inner ones too, by their dotted names."""

    def below(node: ast.AST, name: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        for child in ast.iter_child_nodes(node):
            inner = f"{name}{child.name}." if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else name
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield inner[:-1], child
            yield from below(child, inner)

    return below(ast.parse(path.read_text(encoding="utf-8")), "")


@cache
def measure() -> dict[str, Counter[str]]:
    """Return, for each limit, the size of everything it holds for, by file or by file::function."""
    found: dict[str, Counter[str]] = {name: Counter() for name in LIMITS}
    for path in sorted(file for room in ("isa", "sim", "programs") for file in (ROOT / room).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        found["lines of a file"][name] = path.read_text(encoding="utf-8").count("\n")
        for function, node in functions(path):
            arguments = node.args
            is_kernel = any(isinstance(each, ast.Name) and each.id in KERNELS for each in node.decorator_list)
            kind = "parameters of a kernel" if is_kernel else "parameters"
            named = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            found["lines of a function"][f"{name}::{function}"] = (node.end_lineno or node.lineno) - node.lineno + 1
            found[kind][f"{name}::{function}"] = len([each for each in named if each not in ("self", "cls")])
    return found


def report() -> str:
    """Return the largest of each kind, those over the limit marked, and the lines of Python in all."""
    found = measure()
    parts = []
    for name, limit in LIMITS.items():
        over = sum(size > limit for size in found[name].values())
        rows = [f"{size:6}  {'over' if size > limit else '    '}  {what}" for what, size in found[name].most_common(SHOWN)]
        parts.append("\n".join([f"{name}: at most {limit}, {over} over", *rows]))
    lines = found["lines of a file"]
    sums = ", ".join(
        f"{room} {sum(n for file, n in lines.items() if file.startswith(f'{room}/')):,}" for room in ("isa", "sim", "programs")
    )
    return "\n\n".join([*parts, f"lines of Python: {sums}"])


if __name__ == "__main__":
    print(report())
