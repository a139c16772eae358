"""Tables of GPUs: the presets side by side, every field of one with its meaning and source, the differences of two."""

import json
from difflib import get_close_matches
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any

from isa.errors import UserError
from isa.vocabulary import Unit
from sim.gpus.fields import documented, meaning, unit
from sim.gpus.model import Gpu
from sim.report.tables import table_of

if TYPE_CHECKING:
    from rich.table import Table


def overview(gpus: dict[str, Gpu]) -> "Table":
    """Return the presets, one row each."""
    columns = ("name", "product", "chip", "CC", "SMs", "ALU MHz", "schedulers", "FP32/SM", "warps/SM", "GB/s", "peak Tflop/s")
    rows = [
        (
            *(name, gpu.name, gpu.chip, gpu.compute_capability, gpu.sms, f"{gpu.clock.core_mhz:g}", gpu.core.schedulers),
            *(gpu.lanes(Unit.FP32), gpu.limits.warps, f"{gpu.dram.bandwidth:g}", f"{gpu.peak_fp32_flops / 1e12:.2f}"),
        )
        for name, gpu in gpus.items()
    ]
    return table_of(columns, rows)


def facts(gpu: Gpu, section: str | None = None) -> list[dict[str, Any]]:
    """Return every field of `gpu` in order: name, value, unit, meaning (with legal values), kind and text of its source.

    section: only these, as "l2" or "pipes.tensor", or one field. Raises UserError for none, with the nearest names.
    """
    chosen = [name for name in gpu.names() if section is None or f"{name}.".startswith(f"{section}.")]
    if section is not None and all(value(gpu, name) is None for name in chosen):
        raise _no_section(gpu, section, bool(chosen))
    return [
        {
            "field": name,
            "value": value(gpu, name),
            "unit": unit(Gpu, name),
            "meaning": meaning(Gpu, name),
            "kind": source.kind if (source := gpu.source_of(name)) else "",
            "source": source.text if source else "",
        }
        for name in chosen
    ]


def _no_section(gpu: Gpu, section: str, is_known: bool) -> UserError:
    """Return the mistake of asking for what a GPU has not. is_known: others may have it."""
    if is_known:
        return UserError(f"{gpu.name} has no {section}", hint="`simtlab gpus fields` says what it would hold")
    names = list(gpu.names())
    sections = dict.fromkeys(name[:end] for name in names for end, letter in enumerate(name) if letter == ".")
    near = [name for name in (*sections, *names) if name.partition(".")[2] == section] or get_close_matches(section, sections, cutoff=0.7)
    near = near or get_close_matches(section, names, cutoff=0.7)
    all_ = ", ".join(name for name in sections if "." not in name)
    nearest = f"did you mean {' or '.join(near)}? " if near else ""
    return UserError(f"{gpu.name} has no section or field '{section}'", hint=f"{nearest}sections: {all_}")


PAGE = """# Every field of a GPU

What a TOML file of a machine may say, in `--set FIELD=VALUE` and `gpu.replace({...})`, too. Units stand in the meaning; cycles are of
`clock.core_mhz`. A machine of one's own from nothing needs the fields marked *required*; those of optional sections (`l1`, `l2`) only where
it has the section. `simtlab gpus show NAME` gives a preset's values with their sources."""


def page() -> str:
    """Return a Markdown page with every field: its default, legal values and meaning; NAME stands for the name of a pipe, or of a unit."""
    names: dict[str, Any] = {"pipes": {"NAME": {}}, "units": {"NAME": {}}, "source": {}}
    rows = sorted(
        (one for one in documented(Gpu, names) if one.name != "source"), key=lambda one: "." in one.name
    )  # those of no section first
    parts = [PAGE]
    for section, members in groupby(rows, key=lambda one: one.name.partition(".")[0] if "." in one.name else ""):
        parts.append(f"## {section or 'The GPU'}\n\n| field | default | legal | meaning |\n|---|---|---|---|")
        for one in members:
            default = "*required*" if one.required else "absent" if one.default is None else f"`{json.dumps(one.default)}`"
            parts[-1] += f"\n| `{one.name}` | {default} | {one.legal} | {one.meaning.replace('|', '/')} |"
    return "\n\n".join(parts) + "\n"


def fields(gpu: Gpu, section: str | None = None) -> "Table":
    """Return `facts` as a table, each section under its name; absent optional fields are left out."""
    present = [fact for fact in facts(gpu, section) if fact["value"] is not None]
    rows: list[tuple[str, ...]] = []
    for name, members in groupby(present, key=lambda fact: fact["field"].partition(".")[0] if "." in fact["field"] else ""):
        rows += [("",), (f"[{name}]",)] if name and section is None else []
        rows += [
            (f["field"], shown(f["value"]), f["unit"], f["meaning"], f"{f['kind']}: {f['source']}" if f["kind"] else "") for f in members
        ]
    columns = ("field", "value", "unit", "meaning; legal values", "source")
    table = table_of(columns, rows, title=f"{gpu.name} ({gpu.chip})", caption=gpu.note if section is None else None)
    table.columns[0].no_wrap = True
    return table


def differences(one: Gpu, other: Gpu) -> list[tuple[str, Any, Any]]:
    """Return (field, value of one, value of other) for every field in which they differ; None where one has no such field."""
    names = dict.fromkeys([*one.names(), *other.names()])
    pairs = [(name, value(one, name), value(other, name)) for name in names if name != "note"]
    return [(name, a, b) for name, a, b in pairs if a != b]


def difference_table(one: Gpu, other: Gpu) -> "Table":
    """Return `differences` as a table, with meanings."""
    rows = [(name, shown(a), shown(b), meaning(Gpu, name)) for name, a, b in differences(one, other)]
    return table_of(("field", one.name, other.name, "meaning; legal values"), rows)


def value(gpu: Gpu, name: str) -> Any:
    """Return the value of a field by its dotted name, None when the GPU leaves it out."""

    def step(place: Any, part: str) -> Any:
        return place.get(part) if isinstance(place, dict) else getattr(place, part, None)

    return reduce(step, name.split("."), gpu)


def shown(found: Any) -> str:
    """Return a field's value as a person reads it, "-" for one that is absent or empty."""
    if isinstance(found, float):
        return f"{found:g}"
    if isinstance(found, dict):
        return ", ".join(f"{key}: {item}" for key, item in found.items()) or "-"
    if isinstance(found, tuple):
        return ", ".join(map(str, found)) or "-"
    return "-" if found is None else str(found)
