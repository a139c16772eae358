"""The opcode reference, made from the tables: operands, meaning, modifiers, unit, and how long a dependent waits on each GPU."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from isa.diagnostics import nearest
from isa.errors import UserError
from isa.meanings import every_opcode, meaning
from isa.opcodes import Opcode
from isa.vocabulary import Unit
from sim.gpus.model import Gpu
from sim.report.tables import table_of

if TYPE_CHECKING:
    from rich.table import Table

MATRICES = ("hmma", "imma", "dmma")  # opcodes whose shape chooses the unit: units.hmma_1688_f16, ...
ERAS = {"": "", "before_volta": "before Volta", "volta": "from Volta on"}
SHOWN = 8  # modifiers that a table shows of a group

PAGE = """# Opcodes

Every opcode that a listing may hold, made from the table that the reader of listings uses (`isa/opcodes.toml`). In operands, `[...]` may be
left out, `a b c` are sources: a register, a number or `c[bank][offset]`; Rs must be a register. Modifiers of one line exclude each other.
`simtlab opcodes NAME` prints one."""
CYCLES = """From an instruction's issue to that of the first one that needs its result, when nothing else is in the way; of memory, for an
access that misses every cache; of branches, to the warp's next instruction. `simtlab gpus show NAME` gives the sources of these numbers."""


def known(name: str) -> str:
    """Return an opcode's name as the table has it, modifiers left out. Raises UserError for one that it lacks."""
    wanted = name.upper().partition(".")[0]
    if wanted not in (opcodes := every_opcode()):
        raise UserError(f"unknown opcode {name}", hint=nearest(wanted, opcodes) or "simtlab opcodes lists all")
    return wanted


def facts(name: str, gpu: Gpu) -> dict[str, Any]:
    """Return what an opcode is, and on one GPU its pipe, its latency in cycles (None: no such unit there) and that number's field."""
    row = every_opcode()[name]
    return {
        "usage": row.usage,
        "meaning": meaning(name),
        "unit": row.unit.name.lower(),
        "modifiers": {group: [f".{one}" for one in spellings] for group, spellings in row.modifiers.items()},
        "required": list(row.required),
        **timing(row, gpu),
    }


def timing(row: Opcode, gpu: Gpu) -> dict[str, Any]:
    """Return pipe, latencies by unit and the field that tells the first; without any where the GPU lacks the unit."""
    found = {unit.name.lower(): gpu.latency(unit) for unit in units(row) if unit.name.lower() in gpu.units}
    if not found:
        return {"pipe": "", "latency": None, "latencies": {}, "field": ""}
    first = Unit[next(iter(found)).upper()]
    return {"pipe": gpu.serving(first).pipe, "latency": found[first.name.lower()], "latencies": found, "field": gpu.latency_field(first)}


def units(row: Opcode) -> list[Unit]:
    """Return the units that an opcode may go to: one, or of products of matrices one for each shape."""
    kind = row.unit.name.lower().partition("_")[0]
    return [unit for unit in Unit if unit.name.lower().startswith(f"{kind}_")] if kind in MATRICES else [row.unit]


def cycles(found: dict[str, Any]) -> str:
    """Return the latencies as a person reads them: 4, 17 to 24, or -."""
    values = sorted(set(found["latencies"].values()))
    return "-" if not values else f"{values[0]}" if len(values) == 1 else f"{values[0]} to {values[-1]}"


def overview() -> "Table":
    """Return all opcodes, a line each."""
    rows = [(name, row.usage, row.unit.name.lower(), meaning(name)) for name, row in every_opcode().items()]
    return table_of(("opcode", "operands", "unit", "meaning"), rows)


def text_of(name: str, gpus: dict[str, Gpu]) -> str:
    """Return the page of one opcode as text. gpus: by the names to show."""
    row = every_opcode()[name]
    lines = [f"{name} {row.usage}", f"  {meaning(name)}."]
    if row.era:
        lines.append(f"  This form: {ERAS[row.era]}.")
    lines += [f"  modifiers  {line}" if not place else f"             {line}" for place, line in enumerate(modifiers(row))]
    lines.append(f"  unit       {', '.join(unit.name.lower() for unit in units(row)) if row.unit else 'none'}")
    by_cycles: dict[str, list[str]] = {}
    for gpu_name, gpu in gpus.items():
        by_cycles.setdefault(cycles(timing(row, gpu)), []).append(gpu_name)
    lines.append("  cycles until a dependent issues, where nothing is in the way:")
    ordered = sorted(by_cycles.items(), key=lambda pair: (pair[0] == "-", int(pair[0].partition(" ")[0]) if pair[0] != "-" else 0))
    lines += [f"    {'not timed' if waits == '-' else waits:>9}  {', '.join(those)}" for waits, those in ordered]
    return "\n".join(lines)


def modifiers(row: Opcode) -> Iterable[str]:
    """Yield the modifiers of each group: those that exclude each other; which groups must be written."""
    for group, spellings in row.modifiers.items():
        shown = [f".{one}" for one in spellings]
        text = " ".join(shown if len(shown) <= 2 * SHOWN else [*shown[:SHOWN], "...", shown[-1]])
        yield f"{text}{' (one is needed)' if group in row.required else ''}"


def page(gpus: dict[str, Gpu]) -> str:
    """Return the Markdown page of all opcodes, and of the cycles of every unit on GPUs, by name."""
    parts = [PAGE, "", _row(["opcode", "operands", "meaning", "modifiers", "unit"]), _row(["---"] * 5)]
    for name, row in every_opcode().items():
        said = f"{meaning(name)}{f' ({ERAS[row.era]})' if row.era else ''}"
        groups = "<br>".join(f"`{line}`" for line in modifiers(row))
        parts.append(_row([f"`{name}`", f"`{row.usage}`", said, groups, row.unit.name.lower()]))
    parts += ["", "## Cycles by unit", "", CYCLES, "", _row(["unit", *gpus]), _row(["---"] * (1 + len(gpus)))]
    for unit in (one for one in Unit if one):
        times = [str(gpu.latency(unit)) if unit.name.lower() in gpu.units else "-" for gpu in gpus.values()]
        parts.append(_row([f"`{unit.name.lower()}`", *times]))
    return "\n".join(parts) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
