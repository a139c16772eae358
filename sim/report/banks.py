"""One warp access to shared memory, or all of a listing's: lanes by bank and wavefront, conflicts, what would help."""

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sim.analysis.accesses import SharedSite
from sim.analysis.banks import GEOMETRY, Rule, Wavefront, fewest, schedule
from sim.report.coalescing import LABELS, SEVERAL, TEXT_WIDTH
from sim.report.words import count

IDLE = "."
WAVEFRONTS_DRAWN = 8
LEGEND = "One column is a bank: 0-9 a-v the thread that it serves, * several threads, . idle."


class SharedAccess(NamedTuple):
    """One warp access to shared memory under a rule."""

    addresses: np.ndarray  # int64 [32] bytes
    mask: int
    width: int  # bytes per lane
    rule: Rule

    @property
    def wavefronts(self) -> list[Wavefront]:
        """The passes over the banks, in order."""
        return schedule(*self)

    @property
    def fewest(self) -> int:
        """Wavefronts without a conflict."""
        return fewest(self.mask, self.width, self.rule)


def report(access: SharedAccess) -> str:
    """Return the drawing of one access and the advice."""
    return f"{drawing(access)}\n\n{textwrap.fill(advice(access), TEXT_WIDTH)}"


def drawing(access: SharedAccess) -> str:
    """Return banks across, wavefronts down, in each place the thread that is served."""
    banks, wavefronts = GEOMETRY[access.rule].banks, access.wavefronts
    rows = [f"{number:>9}  {row(wavefront, banks)}" for number, wavefront in enumerate(wavefronts, 1)]
    if len(rows) > WAVEFRONTS_DRAWN:
        rows[WAVEFRONTS_DRAWN - 2 : -1] = [f"{'...':>9}  {len(rows) - WAVEFRONTS_DRAWN + 1} more wavefronts"]
    ruler = "".join(f"{bank:<8}" for bank in range(0, banks, 8)).rstrip()
    return "\n".join([f"{'bank':>9}  {ruler}", "wavefront", *rows, LEGEND])


def row(wavefront: Wavefront, banks: int) -> str:
    """Return one wavefront as one character per bank."""
    text = [IDLE] * banks
    for place in wavefront:
        text[place.bank] = LABELS[place.lanes[0]] if len(place.lanes) == 1 else SEVERAL
    return "".join(text)


def advice(access: SharedAccess) -> str:
    """Return, in words, what the conflicts cost and what would mend it."""
    wavefronts, least = len(access.wavefronts), access.fewest
    if wavefronts <= least:
        why = f": {count(access.width * 8, 'bit')} per thread need them" if least > 1 else ""
        return f"No bank conflict: {count(wavefronts, 'wavefront')}{why}. Threads that use the same word share it."
    idle = 1 - sum(len(wavefront) for wavefront in access.wavefronts) / (wavefronts * GEOMETRY[access.rule].banks)
    return (
        f"Bank conflicts: {wavefronts} wavefronts where {least} would do, so the banks take {wavefronts / least:.3g} times as long, and "
        f"{idle:.0%} of the bank cycles pass idle. Different words of one bank are served one after the other. Pad each row of the array "
        "by one word, so that neighbouring threads' words fall into different banks; an odd stride in words has no conflict."
    )


def listing(sites: Sequence[SharedSite], rule: Rule) -> str:
    """Return every load and store of shared memory, those with most conflicts first, then the worst request's drawing and advice."""
    if not sites:
        return "The listing executes no load and no store of shared memory."
    width = max(len(site.instruction.text) for site in sites)
    rows = ["Shared-memory loads and stores, most conflicts first; wavefronts are averages per request"]
    rows.append(f"{'line':>5}  {'instruction':<{width}}  {'requests':>10}  {'wavefronts':>10}  {'at least':>8}  {'conflicts':>12}")
    for site in sites:
        per = f"{site.wavefronts / site.requests:>10.2f}  {site.fewest / site.requests:>8.2f}"
        rows.append(f"{site.instruction.line:>5}  {site.instruction.text:<{width}}  {site.requests:>10,}  {per}  {site.conflicts:>12,}")
    title = f"The request of line {sites[0].instruction.line} with most wavefronts: {sites[0].instruction.text}"
    return "\n\n".join(["\n".join(rows), title, report(SharedAccess(*sites[0].worst, rule))])


def as_dict(access: SharedAccess) -> dict[str, Any]:
    """Return an access as plain values."""
    return {
        "addresses": access.addresses.tolist(),
        "mask": access.mask,
        "width": access.width,
        "rule": access.rule,
        "wavefronts": [[place._asdict() for place in wavefront] for wavefront in access.wavefronts],
        "fewest": access.fewest,
    }


def site_as_dict(site: SharedSite) -> dict[str, Any]:
    """Return what a listing's load or store costs as plain values."""
    names = ("requests", "wavefronts", "fewest", "conflicts")
    return {"line": site.instruction.line, "instruction": site.instruction.text} | {name: getattr(site, name) for name in names}
