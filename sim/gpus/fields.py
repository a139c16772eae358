"""Dotted field names of a model: what a field means, which values are legal, which known name is nearest to a wrong one."""

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from isa.errors import UserError
from sim.gpus.section import NUMBER

CLOSE, ALIKE = 0.66, 0.6  # of difflib, of last parts and of whole names: one letter of three is another
ENDINGS = {"bytes_per_cycle": "bytes per cycle", "bytes": "bytes", "_us": "us"} | dict.fromkeys(
    ("_cycles", "latency", "interval", "_read", "near"), "cycles"
)
UNIT = re.compile(r"(?:^|, |: )(cycles|bytes|GB/s|MHz)\b")  # in a description: at its beginning, or behind a comma or colon


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the name of `known` most like `name`, of those whose last part is hardly different; "" when none is, or none stands out."""
    by_last_part: dict[str, list[str]] = {}
    for candidate in known:
        by_last_part.setdefault(_last(candidate), []).append(candidate)
    same = by_last_part.get(_last(name), [])
    if len(same) == 1:
        return same[0]
    close = difflib.get_close_matches(_last(name), list(by_last_part), n=3, cutoff=CLOSE)
    found = [candidate for part in close for candidate in by_last_part[part]]
    likeness = {one: 1.0 if one.endswith(f".{name}") else difflib.SequenceMatcher(None, name, one).ratio() for one in found}
    best = max(found, key=lambda one: likeness[one], default="")
    return best if likeness.get(best, 0.0) >= ALIKE else ""


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


class ContradictionError(UserError):
    """Each value is legal by itself, but not beside the others."""


@functools.cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of `model`; made once, for it takes longer than all the rest of validating a GPU."""
    return model.model_json_schema()


def leaves(model: type[BaseModel], table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the dotted name of every field of `model`; the keys of dictionaries of sections are those of `table`."""
    root = _schema(model)
    yield from _leaves(root, root, table, "")


@functools.cache
def names(model: type[BaseModel], pipes: tuple[str, ...], units: tuple[str, ...]) -> tuple[str, ...]:
    """Return the dotted names of a GPU's fields, sources left out; made once: every variant in a sweep asks for them."""
    table = {"pipes": dict.fromkeys(pipes), "units": dict.fromkeys(units)}
    return tuple(name for name in leaves(model, table) if not name.startswith("source"))


def meaning(model: type[BaseModel], name: str) -> str:
    """Return what the field `name` is and which values are legal; "" when there is no such field."""
    node = _node(model, name)
    return "; ".join(text for text in (node.get("description", ""), legal(_schema(model), node)) if text)


def unit(model: type[BaseModel], name: str) -> str:
    """Return the unit in which a field of a GPU is given, as its description says; "" for a number of things, a word, or no field."""
    if said := next((unit for ending, unit in ENDINGS.items() if name.endswith(ending)), ""):
        return said
    found = UNIT.search(meaning(model, name).partition(";")[0])
    return found[1] if found else ""


def choices(model: type[BaseModel], name: str) -> list[Any]:
    """Return the words that the field `name` may be, none for a number."""
    node = _required(_node(model, name))
    return list(node.get("enum", []))


def bounds(model: type[BaseModel], name: str) -> tuple[float | None, float | None, bool]:
    """Return the lowest and the highest legal value of the field `name`, None where there is none, and whether it is a whole number."""
    node = _required(_node(model, name))
    whole = node.get("type") == "integer"
    above = node.get("exclusiveMinimum")
    low = node.get("minimum") if above is None else above + 1 if whole else above
    return low, node.get("maximum"), whole


def said(model: type[BaseModel], name: str, key: str) -> str:
    """Return what the schema says of the field `name` under a key of our own, "" when nothing."""
    return str(_node(model, name).get(key, ""))


@functools.cache
def needed(model: type[BaseModel], name: str) -> str:
    """Return which need of `sim.lowering.needs` a run must meet to read the field `name`, as its section says."""
    root = _schema(model)
    parent, _, leaf = name.rpartition(".")
    found: dict[str, str] = _section(root, _node(model, parent) if parent else root).get("needs", {})
    return found.get(leaf, found.get("", "nothing"))


@functools.cache
def _node(model: type[BaseModel], name: str) -> dict[str, Any]:
    """Return the JSON-schema node of the field or section `name`; {} when there is none."""
    root = _schema(model)
    node: dict[str, Any] = root
    for part in name.split("."):
        section = _section(root, node)
        node = section.get("properties", {}).get(part) or section.get("additionalProperties") or {}
        if not isinstance(node, dict):
            return {}
    return node


def legal(root: dict[str, Any], node: dict[str, Any]) -> str:
    """Return the legal values of a JSON-schema node in words."""
    node = _required(node)
    if "const" in node:
        return f"{node['const']}, nothing else"
    if "enum" in node:
        return "one of " + ", ".join(str(value) for value in node["enum"])
    if node.get("type") in ("integer", "number"):
        return _range(node)
    if node.get("type") == "array":
        return "a list; each " + legal(root, node.get("items", {}))
    return {"string": "text", "boolean": "true or false", "object": "a table"}.get(node.get("type", ""), "")


def user_error(error: ValidationError, model: type[BaseModel], table: Mapping[str, Any], path: str = "") -> UserError:
    """Turn pydantic's report about `table` into one message in the words of the schema."""
    messages, hints, halves = [], [], dict[str, list[str]]()
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            near = nearest(name, leaves(model, table))
            messages.append(f"unknown field {name}")
            hints.append(f"did you mean {near}? {meaning(model, near)}" if near else "")
        elif problem["type"] == "missing" and _may_be_absent(model, section := name.rpartition(".")[0]):
            halves.setdefault(section, []).append(name)
        elif problem["type"] == "missing":
            needed = list(required(model, name)) or [name]
            messages += [f"{field} is missing" for field in needed]
            hints += [f"{field}: {meaning(model, field) or 'a section'}" for field in needed]
        elif problem["type"] == "value_error":  # from our own validators: a whole sentence
            messages.append(str(problem["ctx"]["error"]))
        else:
            known = next((near for near in _prefixes(name) if meaning(model, near)), name)
            messages.append(f"{name} = {problem['input']!r} is not legal")
            of_text = f'; write it as text: {name} = "{problem["input"]}", with --set \'{name}="{problem["input"]}"\''
            asked = of_text if problem["type"] == "string_type" and isinstance(problem["input"], int | float) else ""
            asked = _as_number(problem["input"]) if problem["type"] == NUMBER and isinstance(problem["input"], str) else asked
            hints.append(f"{known}: {meaning(model, known) or _section_words(model, table, known)}{asked}")
    for section, lacking in halves.items():
        messages.append(f"a GPU has a whole section {section}, or none; still missing: {', '.join(lacking)}")
        hints.append(f"leave {section} out, or give all of it, as `simtlab gpus show h100` lists it")
    if len(messages) == 1 and hints and hints[0]:
        return UserError(f"{messages[0]}; {hints[0]}", path=path)
    kind = ContradictionError if all(problem["type"] == "value_error" for problem in error.errors()) else UserError
    return kind("; ".join(messages), path=path, hint="\n  ".join(dict.fromkeys(hint for hint in hints if hint)))


def _as_number(text: str) -> str:
    """Return how a text that stands for a number is to be written, as a clause; "" when it stands for none."""
    plain = re.sub(r"[,' ]", "", text)
    if not re.fullmatch(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", plain):
        return ""
    return "; a number has no quotes" if plain == text else f"; write {plain}"


def required(model: type[BaseModel], name: str) -> Iterator[str]:
    """Yield the fields that the section `name` must have; nothing for a field, and for a table whose sections bear names of their own."""
    root = _schema(model)
    node: dict[str, Any] = root
    for part in name.split("."):
        node = _section(root, node).get("properties", {}).get(part, {})
    for field in _section(root, node).get("required", ()):
        yield from list(required(model, f"{name}.{field}")) or [f"{name}.{field}"]


def _section_words(model: type[BaseModel], table: Mapping[str, Any], name: str) -> str:
    """Return what a whole section may be and what its fields are called."""
    absent = "'none' takes it away" if _may_be_absent(model, name) else "it cannot be taken away"
    return f"a section, {absent}; its fields: {', '.join(leaf for leaf in leaves(model, table) if leaf.startswith(f'{name}.'))}"


def _may_be_absent(model: type[BaseModel], name: str) -> bool:
    """Return whether a GPU may be without the section `name`."""
    return {"type": "null"} in _schema(model).get("properties", {}).get(name, {}).get("anyOf", ())


def _prefixes(name: str) -> Iterator[str]:
    """Yield `name`, then the sections it lies in, innermost first."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(len(parts), 0, -1))


def _required(node: dict[str, Any]) -> dict[str, Any]:
    """Return the non-null alternative of an optional node."""
    return next((option for option in node.get("anyOf", []) if option.get("type") != "null"), node)


def _section(root: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Return the definition that a node refers to, or the node."""
    node = _required(node)
    reference = node.get("$ref") or next((part["$ref"] for part in node.get("allOf", []) if "$ref" in part), "")
    return root["$defs"][reference.rsplit("/", 1)[-1]] if reference else node


def _leaves(root: dict[str, Any], node: dict[str, Any], table: object, prefix: str) -> Iterator[str]:
    section = _section(root, node)
    inner = section.get("additionalProperties")
    values = table if isinstance(table, Mapping) else {}
    if "properties" in section:
        for name, field in section["properties"].items():
            yield from _leaves(root, field, values.get(name), f"{prefix}.{name}".lstrip("."))
    elif isinstance(inner, dict) and "$ref" in inner:
        for name in values:
            yield from _leaves(root, inner, values[name], f"{prefix}.{name}")
    else:
        yield prefix


def _range(node: dict[str, Any]) -> str:
    low, high, above = node.get("minimum"), node.get("maximum"), node.get("exclusiveMinimum")
    kind = "an integer" if node["type"] == "integer" else "a number"
    if low is not None and high is not None:
        return f"{kind} from {low} to {high}"
    if above is not None and high is not None:
        return f"{kind} above {above:g} and at most {high:g}"
    if above is not None:
        return f"{kind} above {above:g}"
    return kind if low is None else f"{kind} of at least {low}"


class Documented(NamedTuple):
    """One field. default: None where a machine must have the field, or may lack it (then `required` is false)."""

    name: str
    required: bool
    default: Any
    legal: str
    meaning: str


def documented(model: type[BaseModel], table: Mapping[str, Any]) -> Iterator[Documented]:
    """Yield every field of `model`; the keys of dictionaries of sections are those of `table`."""
    root = _schema(model)
    for name in leaves(model, table):
        node: dict[str, Any] = root
        for part in name.split("."):
            section = _section(root, node)
            required = part in section.get("required", ())
            node = section.get("properties", {}).get(part) or section.get("additionalProperties") or {}
        yield Documented(name, required, node.get("default"), legal(root, node), node.get("description", ""))
