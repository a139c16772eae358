"""`coalescing`: a lecture's examples in both readings, the older generations' rules, and an H100's counters.

What was said, and where, is in published.toml; the counters are in h100_*.csv.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from isa.errors import UserError
from programs.published import published, rows
from programs.reproduction import Check, Reproduction
from sim.analysis import banks, patterns
from sim.analysis.coalescing import FULL_MASK, LANES, Access, Rule, analyse
from sim.gpus.path import LINE, SECTOR
from sim.report.words import count, percent

FOLDER = Path(__file__).parent
TOLERANCE = 0.5  # percentage points: the slides round 33.3 to 33


def reproduce(gpu: str | None = None) -> Reproduction:
    """Compare every statement with the enumerated sectors and lines. Raises UserError for a GPU: each row says whose rule it is."""
    if gpu is not None:
        raise UserError(f"each of these rows names its own rule, {gpu} has only one", hint="leave --gpu out, or use simtlab coalesce --gpu")
    said = published(FOLDER)
    checks = [lecture_row(row) for row in said["lecture"]]
    checks += [_counted(row) for row in said["counted"]]
    checks += [_older(row) for row in said["older"]]
    checks += [*_h100_sectors(said["h100"]), *_h100_wavefronts(said["h100"])]
    return Reproduction(title="Memory coalescing: one warp's accesses, lecture and hardware", checks=tuple(checks), notes=NOTES)


def _accesses(row: Mapping[str, Any], rule: Rule = "sectors") -> list[Access]:
    """Return the accesses that a statement covers."""
    found = [patterns.pattern(name) for name in row["patterns"]]
    return [analyse(one.addresses, FULL_MASK, one.width, rule) for one in found]


def lecture_row(row: Mapping[str, Any]) -> Check:
    """Judge a slide's statement by the reading that it is about: every access it covers must agree."""
    accesses = _accesses(row)
    said = [count(row["transactions"], "transaction")] if "transactions" in row else []
    said += [f"{row['bytes']} B"] if "bytes" in row else []
    passed = all(_agrees(row, access) for access in accesses)
    return Check(f"{row['what']}", ", ".join([*said, f"{row['percent']:g}%"]), _both(accesses[0]), passed, row.get("note", ""))


def _agrees(row: Mapping[str, Any], access: Access) -> bool:
    by_lines = row["reading"] == "lines"
    number, size = (len(access.lines), LINE) if by_lines else (len(access.sectors), SECTOR)
    share = 100 * (access.line_efficiency if by_lines else access.efficiency)
    exact = row.get("transactions", number) == number and row.get("bytes", number * size) == number * size
    return exact and abs(share - row["percent"]) < TOLERANCE


def _counted(row: Mapping[str, Any]) -> Check:
    accesses = _accesses(row)
    passed = all((len(access.sectors), len(access.lines)) == (row["sectors"], row["lines"]) for access in accesses)
    said = f"{count(row['sectors'], 'sector')}; {count(row['lines'], 'line')}"
    return Check(f"by hand: {row['what']}", said, _both(accesses[0]), passed, row.get("note", ""))


def _older(row: Mapping[str, Any]) -> Check:
    wanted = {int(size): number for size, number in row["transactions"].items()}
    found = [Counter(segment.bytes for segment in access.transactions) for access in _accesses(row, row["rule"])]
    return Check(row["what"], _sizes(wanted), _sizes(found[0]), all(sizes == wanted for sizes in found))


def _h100_sectors(launch: Mapping[str, int]) -> Iterator[Check]:
    """Yield requests and sectors of each launch: every warp starts at a multiple of 128 bytes, so all move alike."""
    warps = launch["blocks"] * launch["threads"] // LANES
    for row in counters("h100_sectors.csv"):
        found = patterns.pattern(f"stride:{row['stride']}", offset=row["offset"])
        sectors = warps * len(analyse(found.addresses).sectors)
        what = f"H100, stride {row['stride']}, offset {row['offset']}: loads and stores"
        loads, stores = (row["load_requests"], row["load_sectors"]), (row["store_requests"], row["store_sectors"])
        passed = loads == stores == (warps, sectors)
        yield Check(what, f"{loads[0]:,} requests, {loads[1]:,} sectors", f"{warps:,} requests, {sectors:,} sectors", passed)


def _h100_wavefronts(launch: Mapping[str, int]) -> Iterator[Check]:
    """Yield, for each stride, the wavefronts beyond those of stride 1: what else the kernel does with shared memory falls out."""
    first, *others = counters("h100_wavefronts.csv")
    loads = launch["shared_warps"] * launch["shared_loads"]
    for row in others:
        extra = loads * (banks.wavefronts(patterns.pattern(f"stride:{row['stride']}").addresses) - 1)
        measured = row["wavefronts"] - first["wavefronts"]
        what = f"H100, shared memory, stride {row['stride']}: wavefronts beyond stride 1"
        yield Check(what, f"{measured:,}", f"{extra:,}", measured == extra)


def counters(name: str) -> list[dict[str, int]]:
    """Return the rows of a table of this folder: what an H100 counted in each launch."""
    return [{key: int(value) for key, value in row.items()} for row in rows(FOLDER / name)]


def _both(access: Access) -> str:
    """Return both readings of an access."""
    sectors = f"{count(len(access.sectors), 'sector')}, {percent(access.efficiency)}"
    return f"{sectors}; {count(len(access.lines), 'line')}, {percent(access.line_efficiency)}"


def _sizes(sizes: Mapping[int, int]) -> str:
    return ", ".join(f"{sizes[size]} x {size} B" for size in sorted(sizes, reverse=True))


NOTES = (
    "Each lecture row is judged in the reading that its numbers are: 32-byte L2 sectors, or 128-byte L1 lines where they are those. The "
    "one slide whose percentage belongs to the other reading is the stride above 32: its L2 sectors are 12.5% used, its L1 lines 3.125%; "
    "and 32 transactions occur from stride 8 on, not only above 32. What the slides call an L2 cache line of 32 bytes is a sector of it.",
    "Nothing here is fitted: sectors, lines and wavefronts follow from the addresses alone.",
)
