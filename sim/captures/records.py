"""What the preloaded library writes of a launch, a folder of raw buffers -> `Capture`. `python -m sim.captures.records FOLDER...`

`launch.txt` has a line per fact: record 1; kernel NAME; launch N; grid, block, cluster X Y Z; shared_dynamic BYTES; cooperative 0|1;
attribute NAME VALUE; gpu NAME; architecture sm_NN; driver, sms, core_khz, memory_khz N; parameters HEX; allocation memory|device|constant
ADDRESS(hex) BYTES NAME for each piece of memory; last, when the launch ended: repeatable 0|1 and result CUresult. `before` and `after`: the
pieces one after another. `kernel.cubin`: the module's machine code.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from isa.errors import UserError
from sim.captures.file import SUFFIX, Capture, write
from sim.captures.table import Table

NUMBERS = ("launch", "shared_dynamic", "cooperative", "driver", "sms", "core_khz", "memory_khz", "repeatable", "result")
SIZES = ("grid", "block", "cluster")
MACHINE = {"gpu": "name"} | {name: name for name in ("architecture", "driver", "sms", "core_khz", "memory_khz")}
NOT_ENDED = 999  # CU_ERROR_UNKNOWN: the program ended before the launch did


def read(folder: Path, command: Sequence[str] = ()) -> Capture:
    """Return the capture of a record. command: of the program, kept in it. Raises UserError for a folder that holds none."""
    try:
        facts = _facts((folder / "launch.txt").read_text("utf-8", errors="replace"))
        table = Table.model_validate(_table(facts, list(command)))
        before = _pieces((folder / "before").read_bytes(), table)
        after = _pieces((folder / "after").read_bytes(), table) if table.error == 0 else None
        return Capture(table, (folder / "kernel.cubin").read_bytes(), before, after, folder)
    except OSError as error:
        raise UserError(f"no record of a launch: {error.strerror}", path=error.filename or str(folder)) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"no record of a launch: {'.'.join(map(str, first['loc']))}: {first['msg']}", path=str(folder)) from None
    except (ValueError, KeyError, IndexError) as error:
        raise UserError(f"no record of a launch: {error}", path=str(folder)) from None


def _facts(text: str) -> dict[str, Any]:
    """Return the lines by their first word; those that may repeat as lists."""
    facts: dict[str, Any] = {"attribute": [], "allocation": []}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if name in ("attribute", "allocation"):
            facts[name].append(value)
        else:
            facts[name] = int(value) if name in NUMBERS else tuple(map(int, value.split())) if name in SIZES else value
    if facts.get("record") != "1":
        raise ValueError("launch.txt does not begin with `record 1`")
    return facts


def _table(facts: dict[str, Any], command: list[str]) -> dict[str, Any]:
    allocations = []
    for line in facts["allocation"]:
        kind, address, size, name = (line + " ").split(" ", 3)
        allocations.append({"address": int(address, 16), "size": int(size), "kind": kind, "name": name.strip()})
    repeatable = facts.get("repeatable")
    return {
        **{name: facts[name] for name in ("kernel", *SIZES, "shared_dynamic", "parameters")},
        "cooperative": bool(facts.get("cooperative", 0)),
        "attributes": {name: int(value) for name, value in (line.split() for line in facts["attribute"])},
        "allocations": allocations,
        "error": facts.get("result", NOT_ENDED),
        "repeatable": None if repeatable is None else bool(repeatable),
        "gpu": {ours: facts[name] for name, ours in MACHINE.items() if name in facts},
        "origin": {"command": command, "launch": facts.get("launch", 0)},
    }


def _pieces(data: bytes, table: Table) -> list[np.ndarray]:
    sizes = [one.size for one in table.allocations]
    if len(data) != sum(sizes):
        raise ValueError(f"memory of {len(data):,} bytes; launch.txt says {sum(sizes):,}")
    return np.split(np.frombuffer(data, np.uint8), np.cumsum(sizes)[:-1]) if sizes else []


def main(arguments: Sequence[str]) -> int:
    """Write a capture for each folder, beside it; return the exit status: 2, with one message, when a folder holds no record."""
    for argument in arguments:
        folder = Path(argument)
        path = folder.with_name(folder.name + SUFFIX)
        try:
            sys.stdout.write(f"{path}: {write(read(folder), path):,} bytes\n")
        except UserError as error:
            sys.stderr.write(f"error: {error}\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
