"""One warp access to global memory, or all of a listing's: the drawing of its segments, efficiency at each level, what would help."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sim.analysis.accesses import GlobalSite
from sim.analysis.coalescing import HALF_WARP, LANES, Access
from sim.gpus.path import LINE, SECTOR
from sim.report.words import count, percent

LABELS = "0123456789abcdefghijklmnopqrstuv"  # one character per lane
SEVERAL, UNUSED, UNMOVED = "*", "░", " "
WORD = 4  # bytes per character
LINES_DRAWN = 8
TEXT_WIDTH = 100
LEGEND = "One character is 4 bytes: 0-9 a-v the thread that uses them, * several threads, ░ moved but not used, blank not moved."


def report(access: Access) -> str:
    """Return the drawing of one access, the table of its levels and the advice."""
    return "\n\n".join([drawing(access), levels(access), textwrap.fill(advice(access), TEXT_WIDTH)])


def drawing(access: Access) -> str:
    """Return threads above, memory below: a row per 128-byte line touched, a box per 32-byte sector."""
    rows = {line: _row(access, line) for line in _lines_moved(access)}
    first = min(rows, default=0)
    margin = max(len("address"), len(str(max(rows, default=0) - first)))
    text = [f"{label:<{margin}}  {row}" for label, row in (("threads", _boxes(_thread_row(access.mask))), ("address", _offsets()))]
    drawn = [f"{line - first:>{margin}}  {row}" for line, row in rows.items()]
    if len(drawn) > LINES_DRAWN:
        drawn[LINES_DRAWN - 2 : -1] = [f"{'...':>{margin}}  {len(drawn) - LINES_DRAWN + 1} more lines of 128 bytes"]
    return "\n".join(line.rstrip() for line in [*text, *drawn, LEGEND])


def levels(access: Access) -> str:
    """Return how many segments move at each level, and how much of them is used."""
    asked = f"{count(access.asked, 'byte')} asked for by {count(len(access.lanes), 'thread')}, {access.useful:,} of them distinct"
    moved = f"; the load/store unit takes them in {access.passes} pass{'es' * (access.passes != 1)}"
    rows = [_level(*row) for row in _level_rows(access)]
    return "\n".join([asked + moved, f"{'level':<32} {'count':>6} {'bytes moved':>12} {'useful':>8}", *rows, *_half_warps(access)])


def advice(access: Access) -> str:
    """Return, in words, what is wasted and what would mend it."""
    if not access.lanes:
        return "No thread is active: nothing moves."
    if access.efficiency == 1.0:
        return _nothing_wasted(access)
    if access.rule == "cc10":
        return _never_combined(access)
    if len({access.addresses[lane] for lane in access.lanes}) == 1 and len(access.lanes) > 1:
        return (
            f"All threads use the same {access.width} bytes: {_segments(access)} will do for the warp, and nothing smaller can move. "
            "Values that every thread reads come from constant memory without a load."
        )
    return _too_much(access)


def listing(sites: Sequence[GlobalSite]) -> str:
    """Return every load and store of a listing, those that waste most bytes first, then the worst request's drawing and advice."""
    if not sites:
        return "The listing executes no load and no store of global memory."
    worst = sites[0]
    title = f"The least efficient request of line {worst.instruction.line}: {worst.instruction.text}"
    return "\n\n".join([_table(sites), f"{title}\n\n{report(worst.worst)}"])


def _table(sites: Sequence[GlobalSite]) -> str:
    """Return a row per load and store: averages per request, the useful share at each level, the bytes wasted in all."""
    by_sector, width = sites[0].worst.rule == "sectors", max(len(site.instruction.text) for site in sites)
    columns = ["sectors", "lines", "useful", "of lines"] if by_sector else ["transactions", "useful"]
    rows = ["Loads and stores, most wasted bytes first; segments are averages per request"]
    rows.append(
        f"{'line':>5}  {'instruction':<{width}}  {'requests':>10}" + "".join(f"  {name:>8}" for name in columns) + "     wasted bytes"
    )
    for site in sites:
        per = [site.sectors, site.lines] if by_sector else [site.transactions]
        shares = [site.efficiency, site.line_efficiency] if by_sector else [site.efficiency]
        cells = [f"{number / site.requests:.2f}" for number in per] + [percent(share) for share in shares]
        text = "".join(f"  {cell:>{max(len(name), 8)}}" for name, cell in zip(columns, cells, strict=True))
        rows.append(f"{site.instruction.line:>5}  {site.instruction.text:<{width}}  {site.requests:>10,}{text}  {site.wasted:>15,}")
    return "\n".join(rows)


def as_dict(access: Access) -> dict[str, Any]:
    """Return an access as plain values."""
    return access._asdict() | {
        "transactions": [segment._asdict() for segment in access.transactions],
        "asked": access.asked,
        "moved": access.moved,
        "efficiency": access.efficiency,
        "line_efficiency": access.line_efficiency,
    }


def site_as_dict(site: GlobalSite) -> dict[str, Any]:
    """Return what a listing's load or store moves as plain values."""
    names = ("requests", "transactions", "sectors", "lines", "asked", "useful", "moved", "efficiency", "line_efficiency")
    return {"line": site.instruction.line, "instruction": site.instruction.text} | {name: getattr(site, name) for name in names}


def users(access: Access) -> dict[int, str]:
    """Return the label of each 4-byte word that is used, by its address: the thread's, or SEVERAL."""
    found: dict[int, str] = {}
    for lane in access.lanes:
        start = access.addresses[lane]
        for word in range(start // WORD * WORD, start + access.width, WORD):
            found[word] = SEVERAL if word in found else LABELS[lane]
    return found


def sectors_moved(access: Access) -> set[int]:
    """Return the addresses of all 32-byte sectors that the transactions move."""
    return {sector for start, size in access.transactions for sector in range(start, start + size, SECTOR)}


def _lines_moved(access: Access) -> list[int]:
    return sorted({sector // LINE * LINE for sector in sectors_moved(access)})


def _row(access: Access, line: int) -> str:
    """Return the boxes of one 128-byte line."""
    used, moved = users(access), sectors_moved(access)
    words = range(line, line + LINE, WORD)
    return _boxes("".join(used.get(word, UNUSED if word // SECTOR * SECTOR in moved else UNMOVED) for word in words))


def _thread_row(mask: int) -> str:
    return "".join(LABELS[lane] if mask >> lane & 1 else "-" for lane in range(LANES))


def _boxes(words: str) -> str:
    size = SECTOR // WORD
    return "".join(f"[{words[k : k + size]}]" for k in range(0, len(words), size))


def _offsets() -> str:
    return "".join(f"+{offset:<{SECTOR // WORD + 1}}" for offset in range(0, LINE, SECTOR))


def _level_rows(access: Access) -> list[tuple[str, int, int, float]]:
    if access.rule != "sectors":
        return [("memory transactions", len(access.transactions), access.moved, access.efficiency)]
    return [
        ("L2 sectors of 32 bytes", len(access.sectors), SECTOR * len(access.sectors), access.efficiency),
        ("L1 lines of 128 bytes, if whole", len(access.lines), LINE * len(access.lines), access.line_efficiency),
    ]


def _level(name: str, number: int, moved: int, useful: float) -> str:
    return f"{name:<32} {number:>6,} {moved:>12,} {percent(useful):>8}"


def _half_warps(access: Access) -> list[str]:
    """Return the transactions by size, for the rules whose transactions differ in size and may repeat each other."""
    if access.rule == "sectors":
        return []
    sizes = Counter(segment.bytes for segment in access.transactions)
    times = Counter(sector for start, size in access.transactions for sector in range(start, start + size, SECTOR))
    often = max(times.values(), default=0)
    text = "transactions: " + (", ".join(f"{number} x {size} bytes" for size, number in sorted(sizes.items(), reverse=True)) or "none")
    return [text + (f"; the same 32 bytes move up to {often} times" if often > 1 else "")]


def _nothing_wasted(access: Access) -> str:
    text = f"Every byte of the {_segments(access)} is used: nothing to mend."
    starts = [access.addresses[lane] for lane in access.lanes]
    if starts != sorted(starts):
        text += " In which order the threads use them does not matter."
    if access.rule == "sectors" and access.line_efficiency < 1.0:
        text += f" An L1 that fills whole lines would move {LINE * len(access.lines)} bytes for {access.useful}."
    return text


def _never_combined(access: Access) -> str:
    """Return the advice where compute capability 1.0 and 1.1 serve every thread of a half-warp alone."""
    generation = "Compute capability 1.0 and 1.1"
    if access.width < WORD:
        return (
            f"{generation} never combine accesses of {access.width * 8} bits: each thread moves 32 bytes for {access.width}. "
            "Let each thread take 32 bits, such as a char4 or a short2."
        )
    cure = _aligned() if _distance(access) == access.width else _reordered()
    return (
        f"{generation} combine the {HALF_WARP} threads of a half-warp only when thread k uses word k of an aligned segment; "
        f"here {_segments(access)} move for {access.useful} bytes. {cure}"
    )


def _too_much(access: Access) -> str:
    """Return the advice where segments are moved in part for nothing."""
    distance = _distance(access)
    share = f"{access.useful:,} of the {access.moved:,} bytes moved are used ({percent(access.efficiency)})"
    fewest = -(-access.useful // SECTOR) * SECTOR
    if access.moved == fewest:
        part = f"{count(len(access.lanes), 'thread')} of the warp took part"
        return f"{part}: {share}, and nothing smaller can move. Let more threads share the work."
    if distance is not None and abs(distance) == access.width:
        return _misaligned(access)
    if distance:
        return _strided(access, abs(distance), share)
    return f"The addresses are scattered: {_segments(access)} move where {fewest:,} bytes would do; {share}. {_gathered()}"


def _misaligned(access: Access) -> str:
    segment, name = (SECTOR, "a sector") if access.rule == "sectors" else (HALF_WARP * access.width, "a segment")
    begin = min(access.addresses[lane] for lane in access.lanes) % segment
    why = f"begin {begin} bytes into {name}" if begin else f"end within {name}"
    cache = " The neighbouring warp uses the rest, so a cache can win it back." if access.rule == "sectors" else ""
    return (
        f"The {access.useful} bytes that the warp uses {why}, so {_segments(access)} move, of which {percent(access.efficiency)} "
        f"is used.{cache} {_aligned()}"
    )


def _strided(access: Access, distance: int, share: str) -> str:
    lines, cache = "", ""
    if access.rule == "sectors" and access.line_efficiency < access.efficiency:
        lines = f" As whole 128-byte L1 lines it is {percent(access.line_efficiency)}."
    if access.rule == "sectors" and distance < LINE:
        cache = " If the kernel soon uses what lies between, a cache makes up for it."
    alone = distance >= SECTOR and access.rule == "sectors"
    between = "each thread has a sector to itself" if alone else "what lies between moves for nothing"
    return f"Neighbouring threads are {distance:,} bytes apart, so {between}: {share}.{lines}{cache} {_reordered()}"


def _segments(access: Access) -> str:
    """Return "8 sectors (256 bytes)"."""
    noun = "sector" if access.rule == "sectors" else "transaction"
    return f"{count(len(access.transactions), noun)} ({access.moved:,} bytes)"


def _aligned() -> str:
    return "Start arrays and their rows at multiples of 128 bytes: pad the rows, or shift the index."


def _reordered() -> str:
    return (
        "Let neighbouring threads use neighbouring words: a structure of arrays instead of an array of structures, a transposed array, "
        "or a tile that is loaded in order and reordered in shared memory."
    )


def _gathered() -> str:
    return "Sort the indices so that neighbouring threads use neighbouring words, or load a tile in order and gather from shared memory."


def _distance(access: Access) -> int | None:
    """Return the bytes from one lane to the next, None when they are not evenly spaced or only one is active."""
    if len(access.lanes) < 2:
        return None
    pairs = zip(access.lanes, access.lanes[1:], strict=False)
    steps = {(access.addresses[b] - access.addresses[a]) / (b - a) for a, b in pairs}
    step = steps.pop()
    return int(step) if not steps and step == int(step) else None
