"""What a CUDA source calls a kernel's parameters, of which compiled code has no names. Read as text, without the preprocessor."""

import re
from typing import NamedTuple

from isa.sass.choose import source_name

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
KERNEL = re.compile(r"\b__global__\b[^;{]*?\b(\w+)\s*\(")
ATTRIBUTE = re.compile(r"\b__(launch_bounds|cluster_dims|block_size|maxnreg)__\s*\([^)]*\)")
QUALIFIERS = ("const", "volatile", "__restrict__", "__restrict", "__grid_constant__", "signed", "struct")
FIXED = re.compile(r"(?:std::)?(u?)int(8|16|32|64)_t")
SCALARS = {
    "float": "f32",
    "double": "f64",
    "__half": "f16",
    "half": "f16",
    "bool": "u8",
    "char": "i8",
    "short": "i16",
    "int": "i32",
    "": "i32",  # signed, const
    "long": "i64",
    "size_t": "u64",
}


class Parameter(NamedTuple):
    """One parameter. type: as arguments are typed on the command line, "f32" or "u64"; "" = another. is_pointer: to such elements."""

    name: str
    type: str
    is_pointer: bool


def parameters(source: str, function: str) -> tuple[Parameter, ...] | None:
    """Return the parameters of a kernel, in order; None where the text does not say them.

    source: CUDA C++. function: the kernel's name as the compiled code has it, mangled or not.
    """
    text = ATTRIBUTE.sub(" ", COMMENT.sub(" ", source))
    found = {_listed(text, match.end()) for match in KERNEL.finditer(text) if match[1] == source_name(function).rpartition("::")[2]}
    declared = [_parameter(part) for part in found.pop()] if len(found) == 1 else [None]
    return tuple(one for one in declared if one) if None not in declared else None


def _listed(text: str, start: int) -> tuple[str, ...]:
    """Return the declarations from behind an opening parenthesis to the one that closes it."""
    depth, parts, begin = 1, [], start
    for place in range(start, len(text)):
        depth += (text[place] in "([{<") - (text[place] in ")]}>")
        if depth == 0 or (depth == 1 and text[place] == ","):
            parts.append(text[begin:place].strip())
            begin = place + 1
        if depth == 0:
            break
    return tuple(part for part in parts if part not in ("", "void"))


def _parameter(declaration: str) -> Parameter | None:
    """Return the parameter that a declaration declares, None for one without a name."""
    match = re.fullmatch(r"(.*?[\s*&>])(\w+)\s*(\[[^]]*\])?\s*", declaration.partition("=")[0], re.DOTALL)
    if match is None or match[2] in (*QUALIFIERS, *SCALARS, "unsigned"):
        return None
    words = [word for word in match[1].replace("*", " ").split() if word not in QUALIFIERS]
    unsigned, fixed = "unsigned" in words, FIXED.fullmatch(" ".join(words))
    plain = [word for word in words if word != "unsigned"]
    name = "long" if set(plain) in ({"long"}, {"long", "int"}) else "short" if set(plain) == {"short", "int"} else " ".join(plain)
    type_ = f"{fixed[1] or 'i'}{fixed[2]}" if fixed else SCALARS.get(name, "")
    return Parameter(match[2], type_.replace("i", "u") if unsigned else type_, "*" in match[1] or match[3] is not None)
