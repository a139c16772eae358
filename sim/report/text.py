"""The report of a run, for a person: how long, how full, where the warps' time went, what would help."""

import textwrap

import numpy as np

from isa.vocabulary import Operation, Space, Special, Unit
from sim.analysis.accesses import in_windows
from sim.analysis.lanes import WHOLE, branches, idle_lanes, lanes
from sim.causes.advice import advise, utilisation
from sim.causes.places import MATRIX_PIPES, PHASE, after_looks
from sim.causes.shape import waves
from sim.lowering.accesses import is_cached
from sim.report.heading import changes, control, heading
from sim.report.memory import chart
from sim.report.occupancy import limit_sentence
from sim.report.words import CAUSE_MEANINGS, bar, count, seconds, slot_meaning
from sim.result.causes import CAUSE_NAMES, StallCause
from sim.result.result import Result

SHOWN = 3  # lines of divergent branches
CLOCKS = (Special.CLOCKLO, Special.CLOCKHI, Special.GLOBALTIMERLO, Special.GLOBALTIMERHI)
PLACES = (Special.SMID, Special.VIRTUALSMID)
MOST_PRINTED = 100  # lines of the program's printf()
WAITS = [cause for cause in StallCause if cause is not StallCause.SELECTED]


def report(result: Result) -> str:
    """Return the report that `simtlab run` prints."""
    parts = [
        heading(result),
        summary(result),
        account("Where the warps' time went", "warp-cycles", result.stalls, CAUSE_MEANINGS),
        account("What the issue slots did", "slots", result.issue_slots, {name: slot_meaning(name) for name in result.issue_slots}),
        slowest(result),
        idle(result),
        parting(result),
        memory(result),
        not_known(result),
        timed_as_global(result),
        cached_all_the_same(result),
        *(textwrap.fill(one.sentence, 100) for one in advise(result)),
        printed(result),
    ]
    return "\n\n".join(part for part in parts if part)


def not_known(result: Result) -> str:
    """Return what depends on time or place, of which a program knows nothing while it is executed; nothing when nothing does."""
    encoded = result.program.encoded
    read = set(encoded.function[encoded.operation == Operation.S2R].tolist())
    notes = []
    if read & set(map(int, CLOCKS)):
        moments = (
            f"; the cycle of each of the {count(len(result.clock_reads), 'clock read')} is in --json" if len(result.clock_reads) else ""
        )
        what = "the program reads a clock, and got the number of warp instructions executed before, not a measurement: it is executed"
        notes.append(f"note: {what} before it is timed{moments}")
    if read & set(map(int, PLACES)):
        notes.append("note: the program reads the number of its SM, and got 0 every time: it is executed before blocks are placed")
    if result.trace is not None and result.trace.spun:
        rounds = f"{result.trace.spun:,} warp instructions of such waits were executed and are left out"
        what = "cycles and counts of this program follow from the order in which warps took turns here and predict nothing"
        notes.append(f"note: warps waited in loops for stores of others: {what}; {rounds}")
    if calls := int(result.issues_by_instruction[encoded.operation == Operation.DRIVER_CALL].sum()):
        what = f"{count(calls, 'call')} of functions that the driver brings (printf, malloc, ...)"
        notes.append(f"note: {what}: what these take was not measured, each counts as one instruction")
    return "\n".join(textwrap.fill(note, 100) for note in notes)


def printed(result: Result) -> str:
    """Return what the program's printf() wrote, its first lines."""
    lines = result.printed.splitlines()
    more = [f"[{len(lines) - MOST_PRINTED:,} more lines: --json has them]"] if len(lines) > MOST_PRINTED else []
    return "\n".join(["The program printed:", *lines[:MOST_PRINTED], *more]) if lines else ""


def cached_all_the_same(result: Result) -> str:
    """Return which loads still go through L1 where global loads do not: those that say so themselves; nothing when none do."""
    gpu, asked = result.gpu, any(change.startswith("l1.global_loads,") for change in changes(result.gpu))
    if not asked or gpu.l1 is None or gpu.l1.global_loads or not result.counters.get("l1_sectors"):
        return ""
    encoded = result.program.encoded
    loads = (encoded.operation == Operation.LOAD) & (encoded.space != Space.SHARED) & (result.issues_by_instruction > 0)
    found = [int(i) for i in np.flatnonzero(loads) if is_cached(gpu, result.program, int(i))]
    if not found:
        return ""
    first, more = result.program.instructions[found[0]], len(found) - 1
    others = f" and {count(more, 'other load')}" if more else ""
    what = (
        f"line {first.line} ({first.text.rstrip(';')}){others} go through L1 all the same: local memory, or a cache operator that says so"
    )
    return textwrap.fill(f"note: l1.global_loads = false is about loads without a cache operator; {what}. --set l1=none takes L1 away", 100)


def timed_as_global(result: Result) -> str:
    """Return which instructions found shared or local memory by generic addresses; nothing when none did, or nothing says."""
    found = in_windows(result.trace) if result.trace is not None else []
    if not found:
        return ""
    others = f" and {count(len(found) - 1, 'other instruction')}" if len(found) > 1 else ""
    what = f"line {found[0].line} ({found[0].text.rstrip(';')}){others} found shared or local memory by generic addresses"
    return textwrap.fill(f"note: {what}; timed as accesses of global memory", 100)


def summary(result: Result) -> str:
    """Return the main numbers, one per line."""
    counters, gpu = result.counters, result.gpu
    share = result.issue_slots.get("selected", 0) / counters["issue_slots"] if counters["issue_slots"] else 0.0
    matrix = {name: use for name, use in utilisation(result).items() if name in MATRIX_PIPES}
    lines = [
        ("time", f"{_cycles(result)} of the core clock; {seconds(result.seconds)} at {_clock(result)}{_overhead(result)}"),
        ("issued", f"{count(int(counters['warp_instructions']), 'warp instruction')}, {counters['ipc']:.3f} per cycle and SM (IPC)"),
        *([("FP32 peak", _fp32(result))] if counters["fp32_flops"] or not matrix else []),
        *((name, f"{use:.1%} used") for name, use in matrix.items()),
        ("issue slots", f"{share:.1%} used"),
        *(("control", sentence) for sentence in control(result)),
        ("occupancy", f"{limit_sentence(result.occupancy, gpu)}; achieved {counters['achieved_occupancy']:.1%}"),
        ("lanes", _lanes(result)),
        *([("waves", waves(result).sentence())] if waves(result).number > 1 else []),
    ]
    return "\n".join(f"{name:<12} {text}" for name, text in lines)


def _fp32(result: Result) -> str:
    return (
        f"{peak(result, int(result.counters['sms_used'])):.1%} of the {_sms_used(result)}, {peak(result, result.gpu.sms):.1%} of the chip"
    )


def _clock(result: Result) -> str:
    """Return the core clock, and why it is that where tensor cores keep it down."""
    clock = result.gpu.clock
    return f"{clock.core_mhz:g} MHz{' (clock.tensor_mhz: it multiplies matrices)' if clock.core_mhz == clock.tensor_mhz else ''}"


def _cycles(result: Result) -> str:
    """Return the cycles; of a sampled run with how far those of the whole one may be from them, in 95 of 100 cases."""
    bar = f" ± {round(result.sample.cycles_bar):,}" if result.sample is not None and not result.sample.whole else ""
    return f"{result.cycles:,}{bar} cycles"


def _lanes(result: Result) -> str:
    active, executing = lanes(result)
    return f"{active:.1f} of {result.gpu.core.warp_size} active per instruction, {executing:.1f} not predicated off"


def idle(result: Result) -> str:
    """Return the lines of a divergent run whose lanes are most idle; "" for one without idle lanes, and for a result without its trace."""
    found = idle_lanes(result.trace) if result.trace is not None and lanes(result).executing < WHOLE * result.gpu.core.warp_size else []
    if not found:
        return ""
    width = max(len(one.text) for one in found)
    rows = []
    for line, text, share, (active, executing) in found:
        rows.append(f"  line {line:>4}  {text:<{width}}  {share:>5.1%}  {active:>8.1f} {executing:>6.1f}")
    return "\n".join(["Idle lanes: share of all idle lanes, active and not predicated off per issue", *rows])


def parting(result: Result) -> str:
    """Return the branches that part lanes most; "" for a run without such, and for a result without its trace."""
    found = branches(result.trace) if result.trace is not None else None
    if not found or not found.parted:
        return ""
    width = max(len(text) for _, text, *_ in found.lines[:SHOWN])
    share = found.parted / found.executed
    head = f"Divergent branches: {found.parted:,} of {found.executed:,} executed ({share:.1%}); share of each line's own"
    return "\n".join([head, *(f"  line {line:>4}  {text:<{width}}  {n / all_:>6.1%}" for line, text, all_, n in found.lines[:SHOWN])])


def peak(result: Result, sms: int) -> float:
    """Return the share of the FP32 peak of `sms` SMs that the run reached, 0 to 1; a fused multiply-add counts two."""
    best = 2.0 * result.gpu.lanes(Unit.FP32) * sms * result.cycles
    return result.counters["fp32_flops"] / best if best else 0.0


def account(title: str, unit: str, causes: dict[str, int], meanings: dict[str, str]) -> str:
    """Return a closed account as a bar list, largest first."""
    total = sum(causes.values())
    lines = [f"{title} ({total:,} {unit})"]
    for name, n in sorted(causes.items(), key=lambda item: -item[1]):
        lines.append(f"  {n / total:6.1%} {bar(n / total)} {name:<18} {n:>13,}  {meanings[name]}")
    return "\n".join(lines)


def slowest(result: Result, rows: int = 3) -> str:
    """Return the instructions whose warps waited longest before issuing them; the copies that `.rept` makes of a line count as one."""
    waited, total = result.stalls_by_instruction[:, WAITS], int(result.stalls_by_instruction[:, WAITS].sum())
    lines: dict[tuple[int, str], list[int]] = {}
    for instruction in result.program.instructions:
        lines.setdefault((instruction.line, instruction.text), []).append(instruction.index)
    order = sorted(lines, key=lambda key: -waited[lines[key]].sum())
    chosen = [key for key in order[:rows] if waited[lines[key]].sum()]
    if not chosen:
        return ""
    width = max(len(text) for _, text in chosen)
    looked = after_looks(result.program)
    found = ["Waited longest: share of all waiting, cycles per issue, main cause"]
    for line, text in chosen:
        causes, issues = waited[lines[line, text]].sum(axis=0), int(result.issues_by_instruction[lines[line, text]].sum())
        main, cycles = int(np.argmax(causes)), int(causes.sum())
        main_cause = CAUSE_NAMES[WAITS[main]]
        cause = f"{main_cause} ({causes[main] / cycles:.0%})"
        phase = f", for {PHASE}" if main_cause == "long_scoreboard" and looked[lines[line, text]].any() else ""
        found.append(f"  line {line:>4}  {text:<{width}}  {cycles / total:>5.1%}  {cycles / max(issues, 1):>8.1f}  {cause}{phase}")
    return "\n".join(found)


def memory(result: Result) -> str:
    """Return the memory chart; for memory of a fixed latency the requests, and what that leaves out; "" when there were none."""
    loads, stores = int(result.counters["global_load_requests"]), int(result.counters["global_store_requests"])
    if result.gpu.memory.kind == "hierarchy" or not loads + stores:
        return chart(result)
    return textwrap.fill(
        f"Global memory: {count(loads, 'load request')}, {count(stores, 'store request')}. Memory is a fixed latency of "
        f"{result.gpu.memory.global_load} cycles here (memory.kind = 'fixed'): neither caches nor bandwidth are modelled.",
        100,
    )


def _overhead(result: Result) -> str:
    extra, overhead = result.elapsed_cycles - result.cycles, result.gpu.launch_cycles
    waits = {"of launch overhead": overhead, "until the last blocks and stores are done": extra - overhead}
    parts = [f"{cycles:,} cycles {what}" for what, cycles in waits.items() if cycles]
    return f", with {' and '.join(parts)}" if parts else ""


def _sms_used(result: Result) -> str:
    used = int(result.counters["sms_used"])
    return "SM used" if used == 1 else f"{used} SMs used"
