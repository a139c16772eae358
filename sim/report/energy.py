"""The estimate of a run's energy (`sim.analysis.energy`) in words: what happened, how often, and what a published table says it takes."""

import textwrap

from sim.analysis.energy import BITS, Energy
from sim.report.words import joules

LEVELS = {"shared": "shared memory", "l1": "L1", "l2": "L2", "dram": "DRAM"}
NAMED = 6  # operations without a number
WIDTH = 100


def text_of(energy: Energy) -> str:
    """Return the table of events, headed by whose numbers they are, and followed by what is not in the sum."""
    table, total = energy.table, energy.joules
    head = f"Energy: {joules(total)}, an ESTIMATE with the numbers of: {table.title}, {table.node}"
    lines = [head, f"  {'event':<15}{'count':>16}  {'of':<20}{'pJ each':>9}{'energy':>12}{'share':>8}"]
    for event in energy.events:
        name = LEVELS.get(event.name, event.name) if event.unit == BITS else event.name
        numbers = f"{event.times:>16,.0f}  {event.unit:<20}{event.picojoules:>9.4g}{joules(event.joules):>12}"
        lines.append(f"  {name:<15}{numbers}{event.joules / total if total else 0:>8.1%}")
    return "\n".join([*lines, *textwrap.wrap(_left_out(energy), WIDTH)])


def _left_out(energy: Energy) -> str:
    """Return what the sum lacks, and where its numbers come from."""
    table, lacking = energy.table, list(energy.uncounted)
    without = ", ".join(lacking[:NAMED]) + (f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else "")
    share = f"the {1 - energy.counted:.1%} of other" if energy.counted else "all other"
    missing = f", and {share} thread instructions for which the table has no number ({without})" if lacking else ""
    note = f"; {table.note}" if table.note else ""
    return f"Accesses count by the bits they move. Not in it: leakage, clocks, idle lanes and SMs{missing}. Source: {table.source}{note}."
