"""GPUs by name or file: a preset of this folder, or a user's TOML, either of which may say `extends = "another"`."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from isa.errors import UserError, read_toml
from sim.gpus.clocks import renamed, rescaled
from sim.gpus.fields import nearest
from sim.gpus.model import Gpu

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """Return the names of the presets."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load(name_or_path: str | Path) -> Gpu:
    """Return a preset by name, or the GPU of a TOML file. Raises UserError for a name, file, key or value that cannot be."""
    path = _find(str(name_or_path))
    if path.parent == FOLDER:
        edited = tuple((file, file.stat().st_mtime_ns) for file in sorted(FOLDER.glob("*.toml")))
        return _preset(path, edited).model_copy(deep=True)
    return _load(path)


@lru_cache(maxsize=32)
def _preset(path: Path, edited: tuple[tuple[Path, int], ...]) -> Gpu:
    """Return a preset, for copies of it. edited: all presets and when each was, ns, for it may extend any of them."""
    return _load(path)


def _load(path: Path) -> Gpu:
    """Return the GPU of a file."""
    table = _resolve(path, ())
    try:
        return Gpu.from_table(table, path=str(path))
    except UserError as error:
        raise UserError(error.message, path=error.path, line=_line(path, error.message), hint=error.hint) from None


def _find(name: str, beside: Path | None = None) -> Path:
    """Return the file of a preset or a path; relative paths of `extends` are taken from the file that says it."""
    preset = FOLDER / f"{name}.toml"
    if re.fullmatch(r"\w+", name) and preset.exists():
        return preset
    path = beside.parent / name if beside else Path(name)
    if path.is_file():
        return path
    if name.endswith(".toml"):
        raise UserError(f"no such GPU file: {path}", path=str(beside or ""), hint=f"presets: {', '.join(names())}")
    near = nearest(name.lower(), names())
    near = near if _model(near) == _model(name.lower()) or not re.search(r"\d", name) else ""
    hint = (f"did you mean {near}? " if near else "") + f"presets: {', '.join(names())}; or give a .toml file"
    raise UserError(f"no GPU is called '{name}'", path=str(beside or ""), hint=hint)


def _model(name: str) -> str:
    """Return the letters and the first digit of a GPU's name: with others it is another product, and no slip."""
    return "".join(re.findall(r"^\D*\d?", name))


def _resolve(path: Path, children: tuple[Path, ...]) -> dict[str, Any]:
    """Return the table of `path` laid over the table it extends."""
    if path in children:
        raise UserError("'extends' leads back to this file", path=str(path), hint="a chain of files must end at one that extends nothing")
    table = read_toml(path)
    if isinstance(table.get("clock"), Mapping):
        table["clock"] = renamed(table["clock"])
    parent = table.pop("extends", None)
    if parent is None:
        return table
    if not isinstance(parent, str):
        raise UserError(f"extends = {parent!r} is not the name of a GPU", path=str(path), hint='write extends = "gtx480"')
    origin = _find(parent, beside=path)
    base = _resolve(origin, (*children, path))
    changed = _at_clocks(base, table, origin, path)
    return _overlay(_merge(base, changed), table, path.name)


def _at_clocks(base: Mapping[str, Any], table: Mapping[str, Any], origin: Path, path: Path) -> dict[str, Any]:
    """Return what the clocks of `table` change in the numbers of `base`, the table of the file `origin`, each with its source."""
    clocks = {name: value for name, value in (table.get("clock") or {}).items() if (base.get("clock") or {}).get(name, value) != value}
    if not clocks:
        return {}
    whole = Gpu.from_table(base, path=str(origin)).model_dump()
    changed: dict[str, Any] = {"source": {}}
    for name, value in rescaled(Gpu, whole, clocks).items():
        section, field = name.split(".")
        changed.setdefault(section, {})[field] = value
        text = f"{whole[section][field]:g} in {origin.name}, at the clocks set in {path.name}"
        changed["source"][name] = {"kind": "derived", "text": text}
    return changed


def _overlay(base: dict[str, Any], table: dict[str, Any], file: str) -> dict[str, Any]:
    """Lay `table` over `base`. A number that `table` sets loses the source that `base` gave it, and needs its own."""
    own = table.get("source", {})
    result = _merge(base, table)
    source = result.get("source")
    if not isinstance(source, dict) or not isinstance(own, dict):
        return result
    for name in _paths({key: value for key, value in table.items() if key != "source"}):
        if not any(name == key or name.startswith(key + ".") for key in own):
            source[name] = {"kind": "assumed", "text": f"set in {file}, which gives no source"}
        elif name not in own:
            source.pop(name, None)
    return result


def _merge(base: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in table.items():
        both = isinstance(value, Mapping) and isinstance(base.get(key), Mapping)
        result[key] = _merge(base[key], value) if both and key != "register_unit_exceptions" else value
    return result


def _paths(table: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of the numbers in `table`."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _paths(value, f"{prefix}{key}.")
        elif isinstance(value, int | float):
            yield f"{prefix}{key}"


def _line(path: Path, message: str) -> int:
    """Return the line that assigns the field a message names, 0 when that is not clear."""
    named = re.search(r"\b(?:\w+\.)+([a-z_]\w*)\b|field (\w+)(?![\w.])|^(\w+) = ", message)
    key = next(filter(None, named.groups()), "") if named else ""
    lines = [number for number, text in enumerate(path.read_text().splitlines(), 1) if key and re.match(rf'\s*"?{key}"?\s*=', text)]
    return lines[0] if len(lines) == 1 else 0
