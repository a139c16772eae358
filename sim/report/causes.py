"""A run's critical path and a warp's longest waits, for a person."""

from isa.program import Program
from sim.causes.explain import Chain, CriticalPath, Part
from sim.report.words import CAUSE_MEANINGS, bar, count

# Stages that the end-to-end latencies of a GPU contain: to shorten one of them alone moves its cycles to another.
CONTAINED = ("lsu.latency", "interconnect.latency", "the look-up in L1", "the way from the SM's port to the registers")
MEANINGS = {**CAUSE_MEANINGS, "no_warp": "waits for its block to start"}  # "a warp ..."
ABSORBED = (
    "\n  dram.refresh begins at set times: what was done while it lasted is not on the path; what was done before helps only if the access "
    "then comes before the refresh"
)
END_TO_END = "dram.latency, l2.latency, l1.latency and memory.shared_load"


def text(path: CriticalPath, program: Program, rows: int = 8) -> str:
    """Return the critical path in three tables: by cause, by hardware, by line."""
    lines = tuple(Part(f"line {line:>4}  {part.name}" if line else part.name, *part[1:]) for line, part in path.lines)
    return "\n\n".join(
        [
            f"Critical path of {program.name}: {count(path.cycles, 'cycle')}, as long as the run. Only what shortens it helps.",
            _table("What it waited for: share, cycles, in how many pieces", path.causes, path.cycles, rows, MEANINGS),
            _table("What was busy, by the field of the GPU that says how long", path.resources, path.cycles, rows, {}) + _contained(path),
            _table("Whose work it was, by instruction", lines, path.cycles, rows, {}),
        ]
    )


def longest(chain: Chain) -> str:
    """Return the longest wait on the path. The tables count its cycles for the instructions whose work the warp waited for, not its own."""
    lines = sorted({line for one in chain.links if (line := one.producer_line) is not None and line != chain.line})
    if not lines:
        return f"Longest wait of a warp on it:\n\n{chain}"
    whose = f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}" if len(lines) > 1 else f"line {lines[0]}"
    return f"Longest wait of a warp on it (the table counts its cycles for {whose}, whose work the warp waited for):\n\n{chain}"


def _table(title: str, parts: tuple[Part, ...], cycles: int, rows: int, meanings: dict[str, str]) -> str:
    """Return the largest parts as bars; what is left out in one line."""
    width = max(len(part.name) for part in parts[:rows])
    lines = [title]
    for name, n, times in parts[:rows]:
        share = n / cycles
        lines.append(f"  {share:6.1%} {bar(share)} {name:<{width}} {n:>9,} in {times:>6,}  {meanings.get(name, '')}".rstrip())
    left = sum(part.cycles for part in parts[rows:])
    return "\n".join([*lines, *([f"  {left / cycles:6.1%} {len(parts) - rows} more"] if left else [])])


def _contained(path: CriticalPath) -> str:
    """Return a note on resources whose time is part of an end-to-end latency."""
    found = [part.name for part in path.resources if part.name in CONTAINED and "." in part.name]
    misses = {"dram.latency", "l2.latency"} <= {part.name for part in path.resources}
    more = "; dram.latency contains l2.latency too" if misses else ""
    contained = f"\n  {' and '.join(found)}: contained in {END_TO_END}, which are end to end{more}" if found else ""
    return contained + (ABSORBED if any(part.name == "dram.refresh" for part in path.resources) else "")
