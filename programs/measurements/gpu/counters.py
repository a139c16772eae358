"""Counters: our names for them, Nsight Compute's names, how its table is read, and how ours is written."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Sizes = tuple[tuple[int, ...], tuple[int, ...]] | None  # grid and block
PROFILER = (
    *("--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"),
    *("--cache-control", "all", "--target-processes", "all"),
)
CYCLES = {"cycles": "sm__cycles_active.max"}
STALLS = (  # as in sim.result.causes, but what an instruction that issues is charged
    *("barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle", "long_scoreboard", "math_pipe_throttle"),
    *("membar", "mio_throttle", "no_instruction", "not_selected", "short_scoreboard", "sleeping", "wait"),
)
PIPES = ["alu", "fma", "fmaheavy", "fmalite", "fp16", "fp64", "lsu", "xu", "uniform", "cbu", "adu"]
METRICS = CYCLES | {
    "cycles_average": "sm__cycles_active.avg",
    "elapsed_cycles": "sm__cycles_elapsed.max",
    "nanoseconds": "gpu__time_duration.sum",
    "warp_instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "shared_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1_hit_rate": "l1tex__t_sector_hit_rate.pct",
    "l2_hit_rate": "lts__t_sector_hit_rate.pct",
    "l2_sectors_read": "lts__t_sectors_op_read.sum",
    "l2_sectors_written": "lts__t_sectors_op_write.sum",
    "dram_bytes_read": "dram__bytes_read.sum",
    "dram_bytes_written": "dram__bytes_write.sum",
    "achieved_occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue_active": "smsp__issue_active.sum",
    **{f"stall_{name}": f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio" for name in STALLS},
    **{f"pipe_{name}": f"sm__inst_executed_pipe_{name}.sum" for name in PIPES},
}


def read(text: str, metrics: dict[str, str]) -> Iterator[dict[str, float]]:
    """Yield, for each launch in the raw table of `ncu --csv --page raw`, its counters by our names; what was not counted is left out."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    table = csv.DictReader(lines)
    for row in table:
        if row["ID"]:  # the first row behind the head gives units
            yield {name: float(row[metric].replace(",", "")) for name, metric in metrics.items() if _is_number(row.get(metric))}


def sizes(text: str) -> list[Sizes]:
    """Return the grid and the block of each launch in the same table; None where it does not say."""
    table = csv.DictReader([line for line in text.splitlines() if line.startswith('"')])
    return [_sizes(row.get("Grid Size"), row.get("Block Size")) for row in table if row["ID"]]


def _sizes(*texts: str | None) -> Sizes:
    found = [tuple(int(number) for number in re.findall(r"\d+", text or "")) for text in texts]
    return (found[0], found[1]) if all(len(one) == 3 for one in found) else None


def _is_number(text: str | None) -> bool:
    return bool(text) and text.replace(",", "").replace(".", "", 1).replace("e+", "", 1).replace("-", "").isdigit()  # type: ignore[union-attr]


def write(table: list[dict[str, Any]], path: Path) -> Path:
    """Write rows as comma-separated values; a column that only some have is empty for the others."""
    columns = list(dict.fromkeys(name for one in table for name in one))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _number(value) for name, value in one.items()} for one in table)
    return path


def _number(value: Any) -> Any:
    return value if not isinstance(value, float) else int(value) if value.is_integer() else round(value, 3)
